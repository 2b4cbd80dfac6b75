"""What an entry of `include:` asks for: which files, read in which directory and with which environment."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from bot.compose.checks import most_specific
from bot.compose.documents import Documents
from bot.compose.faults import Fault
from bot.compose.layers import Scope
from bot.compose.schema import TOP_LEVEL
from bot.compose.values import Value

MAX_CHAIN = 50
"""Files that extend or include one another: more is a cycle through variables, or no compose that people wrote."""


class IncludeCycle(Fault):
    """Files include one another in a ring: there is no end to what any of them holds, so nothing of it is resolved."""


@dataclass(frozen=True, slots=True)
class Group:
    """Files that are merged. `directory` is where their relative paths start, in the tree; `stack` includes them."""

    directory: str
    scope: Scope
    stack: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Inclusion:
    """The files of one entry, as a group of their own. `away` is its directory as seen from the group that includes."""

    files: tuple[str, ...]
    group: Group
    away: str


def inclusion(documents: Documents, value: Value, path: str, group: Group) -> Inclusion:
    """What an entry in the file `path` of a group asks for. Raises `Fault`."""
    entry = {"path": value} if isinstance(value, str) else value
    failures = TOP_LEVEL["include"].failures([entry], ("include",))
    if failures or not isinstance(entry, dict) or not entry.get("path"):
        worst = str(most_specific(failures)) if failures else "include.0 missing property 'path'"
        raise Fault("schema", f"validating {documents.shown(path)}: {worst}")
    names = [entry["path"]] if isinstance(entry["path"], str) else entry["path"]
    files = tuple(documents.locate(group.directory, name) for name in names)
    if files[0] in group.stack or files[0] == path:
        stack = [*group.stack, path, files[0]]
        shown = [*map(documents.shown, dict.fromkeys(stack[:-1])), documents.shown(stack[-1])]
        raise IncludeCycle("cycle", "include cycle detected:\n" + "\n include ".join(shown))
    if len(group.stack) > MAX_CHAIN:
        raise Fault("too-large", f"more than {MAX_CHAIN} files include one another")
    away = entry.get("project_directory") or posixpath.dirname(names[0]) or "."
    directory = documents.locate(group.directory, away)
    scope = Scope((*group.scope.files, _environment(documents, entry, directory, group)))
    return Inclusion(files, Group(directory, scope, (*group.stack, path)), away)


def _environment(documents: Documents, entry: dict[str, Value], directory: str, group: Group) -> tuple[str, ...]:
    files = entry.get("env_file")
    if not files:
        default = posixpath.join(directory, ".env")
        return (default,) if documents.is_file(default) else ()
    found: list[str] = []
    for file in [files] if isinstance(files, str) else files:
        target = documents.locate(group.directory, file)
        if not documents.is_file(target):
            shown = documents.shown(target)
            if documents.tree.is_directory(target):
                raise Fault("not-found", f"{shown} is not a file")
            raise Fault("not-found", f"stat {shown}: no such file or directory")
        found.append(target)
    return tuple(found)
