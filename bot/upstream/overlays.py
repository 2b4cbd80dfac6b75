"""Whether vendored patches still fit another release: their targets and anchors, looked for in its source."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Literal

from bot.catalog import Catalog
from bot.learn.source import SourceTree
from bot.tree import Tree, UnreadableFile
from bot.upstream.edits import Edit, edits_of, target_of

AnchorState = Literal["present", "applied", "gone", "target-gone", "ambiguous", "outdated", "unknown"]
"""`present`: once, so the edit fits. `applied`: the source has the new text already. `ambiguous`: more than once.
`outdated`: a whole file that is laid over one which has changed.
"""

MIN_APPLIED = 12
"""Characters that a new text needs to be recognised: shorter ones stand anywhere."""

FUZZ = 2
"""Lines of context that `patch` lets go of by itself."""

MAX_SCRIPTS = 500
"""Scripts of a repository that are read."""

MAX_TEXT = 4 * 1024 * 1024
"""Characters of all of them together."""

_FOLDER = re.compile(r"(?:^|/)(?:patch(?:es|sets?)?|overlays?|vendored)/", re.IGNORECASE)
_PACKAGES = ("/site-packages/", "/dist-packages/")
_MODULE = re.compile(r"vllm/(?:[\w-]+/)*[\w-]+\.py")
_ENDINGS = (".py", ".sh", ".bash", ".patch", ".diff")


@dataclass(frozen=True, slots=True)
class AnchorCheck:
    """One edit of a vendored script against a source. `target` is the file there, empty when it is not known. With
    `whole` the script is a module that takes the place of another.
    """

    script: str
    line: int
    target: str
    state: AnchorState
    why: str
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """A vendored script or module; `text` is None where it could not be read, `why` then says why.

    `over` is the module of the package that a mount lays it over, where one does.
    """

    path: str
    text: str | None
    why: str = ""
    over: str = ""


def check_overlays(tree: Tree, catalog: Catalog, source: SourceTree) -> tuple[AnchorCheck, ...]:
    """Every edit of every vendored script of a repository, against the source of a release."""
    return check_scripts(read_scripts(tree, scripts_of(tree, catalog)), source)


def check_scripts(scripts: Iterable[Script], source: SourceTree) -> tuple[AnchorCheck, ...]:
    """Every edit of some scripts, against the source of a release."""
    found: list[AnchorCheck] = []
    for script in scripts:
        if script.text is None:
            found.append(AnchorCheck(script.path, 1, "", "unknown", script.why))
        else:
            found.extend(check_script(script.path, script.text, source, script.over))
    return tuple(found)


def read_scripts(
    tree: Tree, paths: Iterable[str], mounted: Mapping[str, str] = MappingProxyType({})
) -> tuple[Script, ...]:
    """Scripts with their text. `mounted` has the place in the container for each file and folder that is mounted."""
    found: list[Script] = []
    room = MAX_TEXT
    for path in paths:
        script = _read(tree, path, _over(path, mounted))
        room -= len(script.text or "")
        if room < 0:
            script = replace(script, text=None, why="there are more patches than are read")
        found.append(script)
    return tuple(found)


def _read(tree: Tree, path: str, over: str) -> Script:
    try:
        return Script(path, tree.read(path) or "", over=over)
    except UnreadableFile as error:
        return Script(path, None, error.message, over)


def _over(path: str, mounted: Mapping[str, str]) -> str:
    """The module of the package that a mount lays a file over; empty where none does."""
    parts = path.split("/")
    for depth in range(len(parts), 0, -1):
        place = mounted.get("/".join(parts[:depth]))
        if place is not None and (found := _installed("/".join((place.rstrip("/"), *parts[depth:])))):
            return found
    return ""


def _installed(place: str) -> str:
    """The module of the package that lies at a place in the container; empty where none does. The last folder of
    packages counts: a pattern that tried each would take the square of the path's length.
    """
    found, folder = max((place.rfind(folder), folder) for folder in _PACKAGES)
    module = place[found + len(folder) :]
    return module if found >= 0 and _MODULE.fullmatch(module) else ""


def scripts_of(tree: Tree, catalog: Catalog, mounted: Iterable[str] = ()) -> tuple[str, ...]:
    """The files of patches: those that `patches.yml` lists, what lies in a folder of patches, and the scripts among
    the files and folders that are `mounted`.
    """
    listed = {file for patch in catalog.patches if not patch.deprecated for file in patch.files}
    near = frozenset((*listed, *mounted)) - {"", "."}
    paths = (path for path in tree.paths() if path.endswith(_ENDINGS))
    return tuple(islice((path for path in paths if _FOLDER.search(path) or lies_in(path, near)), MAX_SCRIPTS))


def lies_in(path: str, places: Container[str]) -> bool:
    """Whether a path is one of some places, or lies below one."""
    parts = path.split("/")
    return any("/".join(parts[:depth]) in places for depth in range(1, len(parts) + 1))


def modules_of(scripts: Iterable[Script]) -> frozenset[str]:
    """The modules of a release that checking the scripts may look at."""
    found: set[str] = set()
    for script in scripts:
        found.update(_whole(script)[0])
        for edit in edits_of(script.path, script.text or ""):
            found.update(path for target in edit.targets for path in _places(target))
    return frozenset(found)


def _whole(script: Script) -> tuple[tuple[str, ...], bool]:
    """The modules that a file may take the place of, and whether it surely takes that of one: what it is mounted over,
    else what its own path says below a folder of patches.
    """
    if script.over:
        return (script.over,), True
    folder = _FOLDER.search(script.path) if script.path.endswith(".py") else None
    if folder is None:
        return (), False
    parts = script.path[folder.end() :].split("/")
    if "vllm" in parts[:-1]:
        last = len(parts) - 1 - parts[::-1].index("vllm")
        return ("/".join(parts[last:]),), True
    return tuple("/".join(("vllm", *parts[start:])) for start in range(len(parts) - 1)), False


def check_script(path: str, text: str, source: SourceTree, over: str = "") -> tuple[AnchorCheck, ...]:
    """The edits of one script, in their order: a later one may build on an earlier. A module that takes the place of
    one of the package (`over`, where a mount says so) is held against that as a whole.
    """
    places, sure = _whole(Script(path, text, over=over))
    target = next((place for place in places if source.read(place) is not None), None)
    if target is not None or sure:
        return (_whole_file(path, text, target or places[0], source),)
    working: dict[str, str] = {}
    found = tuple(_check(path, edit, source, working) for edit in edits_of(path, text))
    if "vllm" in f"{path} {text}".lower():
        return found
    return tuple(
        replace(one, state="unknown", why="the script does not say that it is about vLLM")
        if one.state == "target-gone"
        else one
        for one in found
    )


def _whole_file(path: str, text: str, target: str, source: SourceTree) -> AnchorCheck:
    """A file that takes the place of one of the package."""
    there = source.read(target)
    if there is None:
        return AnchorCheck(path, 1, target, "target-gone", "the source has no such file", whole=True)
    if there.strip() == text.strip():
        return AnchorCheck(path, 1, target, "applied", "the source has this very file", whole=True)
    why = "it takes the place of a whole file, which differs: compare them"
    return AnchorCheck(path, 1, target, "unknown", why, whole=True)


def outdated(check: AnchorCheck, old: SourceTree, new: SourceTree) -> AnchorCheck:
    """The same, told when it takes the place of a whole file that is another one in the new source: it hides what
    changed there.
    """
    before, after = old.read(check.target), new.read(check.target)
    if not check.whole or check.state != "unknown" or before is None or before == after:
        return check
    return replace(check, state="outdated", why="it takes the place of a whole file, which the new source has changed")


def _check(path: str, edit: Edit, source: SourceTree, working: dict[str, str]) -> AnchorCheck:
    if edit.old is None:
        return AnchorCheck(path, edit.line, edit.targets[0] if edit.targets else "", "unknown", edit.why)
    if not edit.targets:
        return AnchorCheck(path, edit.line, "", "unknown", "which file it edits is not understood")
    there = [target for one in edit.targets if (target := _existing(one, source)) is not None]
    if not there:
        return AnchorCheck(path, edit.line, edit.targets[0], "target-gone", "the source has no such file")
    results = [_in_file(path, edit, target, source, working) for target in there]
    best = min(results, key=lambda check: _ORDER.index(check.state))
    if best.state == "gone" and len(there) < len(edit.targets):
        return AnchorCheck(path, edit.line, best.target, "unknown", "one of the files that it may edit is gone")
    if best.state == "present" and edit.new is not None:
        working[best.target] = _now(best.target, source, working).replace(edit.old, edit.new, 1)
    return best


_ORDER: tuple[AnchorState, ...] = ("applied", "present", "ambiguous", "gone", "target-gone", "outdated", "unknown")


def _existing(target: str, source: SourceTree) -> str | None:
    return next((path for path in _places(target) if source.read(path) is not None), None)


def _places(target: str) -> tuple[str, str]:
    """Where a written target may lie: as it is written, or in the package."""
    return target_of(target), target_of(f"vllm/{target}")


def _now(target: str, source: SourceTree, working: dict[str, str]) -> str:
    return working[target] if target in working else source.read(target) or ""


def _in_file(path: str, edit: Edit, target: str, source: SourceTree, working: dict[str, str]) -> AnchorCheck:
    text, old, new = _now(target, source, working), edit.old or "", edit.new
    count = text.count(old)
    if (
        new is not None
        and len(new.strip()) >= MIN_APPLIED
        and new in text
        and count <= text.count(new) * new.count(old)
    ):
        return AnchorCheck(path, edit.line, target, "applied", "the source has the new text already")
    if count == 1:
        return AnchorCheck(path, edit.line, target, "present", "the text that it replaces is there, once")
    if count:
        if edit.by_line:
            return AnchorCheck(path, edit.line, target, "unknown", f"its context is there {count} times; lines decide")
        return AnchorCheck(path, edit.line, target, "ambiguous", f"the text that it replaces is there {count} times")
    if edit.by_line and any(part and _fuzzy(part, text) for part in (old, new)):
        return AnchorCheck(path, edit.line, target, "unknown", "it is there only when some of its context is let go")
    return AnchorCheck(path, edit.line, target, "gone", "the text that it replaces is not there")


def _fuzzy(old: str, text: str) -> bool:
    """Whether `patch` might apply a hunk all the same: it lets go of two lines of context at either end, and of
    differences in white space where it is told to.
    """
    lines = _plain(old).split("\n")
    plain = _squeezed(text)
    return any(
        "\n".join(lines[first : len(lines) - last]) in plain
        for first in range(FUZZ + 1)
        for last in range(FUZZ + 1)
        if len(lines) > first + last + 1
    )


@lru_cache(maxsize=4)
def _squeezed(text: str) -> str:
    """`_plain` of a module, which several hunks are looked for in."""
    return _plain(text)


def _plain(text: str) -> str:
    """The text with white space as single spaces, line by line."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))
