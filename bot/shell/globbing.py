"""File names that a pattern matches in folders of the repository, which are mounted into the container."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bot.shell.patterns import compiled, is_literal, unquote

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter
    from bot.shell.machine import Machine

MAX_NAMES = 2_000
"""More names than any folder has over which an entrypoint walks."""

_BYTEWISE = frozenset({"C", "POSIX", "C.UTF-8", "C.utf8"})


def mounted(machine: Machine, on: Interpreter, pattern: str) -> list[str] | None:
    """The names that a pattern matches, in bash's order; None where they, or their order, are not known.

    A folder is taken to hold what the repository has in it. Where nothing in there matches, the names stay unknown:
    what a checkout holds beside the repository's files would be all that there is.
    """
    extended = "extglob" in on.shell.switches
    if "**" in pattern or "//" in pattern or pattern.endswith("/"):
        return None
    absolute = pattern.startswith("/")
    if not absolute and not on.shell.directory.startswith("/"):
        return None
    # Each way to the names so far, and the folder of the container that it means.
    found = [("/" if absolute else "", "/" if absolute else on.shell.directory)]
    pieces = [one for one in pattern.split("/") if one]
    seen: set[str] = set()
    for index, piece in enumerate(pieces):
        last = index == len(pieces) - 1
        if is_literal(piece, extended=extended):
            name = unquote(piece)
            found = [(shown + name + ("" if last else "/"), posixpath.join(place, name)) for shown, place in found]
            if last:
                found = [one for one in found if machine.exists(posixpath.normpath(one[1]))]
            continue
        matched: list[tuple[str, str]] = []
        for shown, place in found:
            names = _names(machine, posixpath.normpath(place))
            if names is None:
                return None
            seen.add(posixpath.normpath(place))
            matched += [
                (shown + name + ("" if last else "/"), posixpath.join(place, name))
                for name, is_folder in names.items()
                if (last or is_folder) and _matches(on, piece, name, extended=extended)
            ]
        found = matched
        if len(found) > MAX_NAMES:
            return None
    if not found or not seen:
        return None
    names_found = [shown for shown, _ in found]
    ordered = _ordered(on, names_found)
    if ordered is not None:
        for folder in sorted(seen):
            machine.note(on, f"{folder} is assumed to hold what the repository has there, and nothing else", on.line)
    return ordered


def shown_by_ls(machine: Machine, on: Interpreter, folder: str) -> list[str] | None:
    """What `ls` prints of a folder, in its order; None where that is not known."""
    names = _names(machine, folder)
    shown = _ordered(on, [name for name in names if not name.startswith(".")]) if names else None
    if shown is not None:
        machine.note(on, f"{folder} is assumed to hold what the repository has there, and nothing else", on.line)
    return shown


def _names(machine: Machine, folder: str) -> Mapping[str, bool] | None:
    """The names in a folder of a mount, after what the script has done in it."""
    names = machine.files.listing(folder)
    if names is None or machine.is_changed(folder):
        return None
    inside = folder.rstrip("/") + "/"
    current = {name: is_folder for name, is_folder in names.items() if inside + name not in machine.removed}
    for path in (*machine.overlay, *machine.directories):
        if path.startswith(inside):
            name, slash, _ = path[len(inside) :].partition("/")
            current[name] = bool(slash) or path in machine.directories or current.get(name, False)
    return current


def _matches(on: Interpreter, pattern: str, name: str, *, extended: bool) -> bool:
    if name.startswith(".") and not pattern.startswith((".", "\\.")) and "dotglob" not in on.shell.switches:
        return False
    on.machine.spend(len(name))
    expression = compiled(pattern, extended=extended, path=True, ignore_case="nocaseglob" in on.shell.switches)
    return expression.fullmatch(name) is not None


def _ordered(on: Interpreter, names: list[str]) -> list[str] | None:
    """The names as the container's locale sorts them; None where locales disagree and the environment names none."""
    ordered = sorted(names)
    locale = next((one for name in ("LC_ALL", "LC_COLLATE", "LANG") if (one := _text(on, name))), "")
    if locale in _BYTEWISE or len(names) == 1:
        return ordered
    if _rises([_letters_first(name) for name in ordered]) and _rises([_marks_first(name) for name in ordered]):
        return ordered
    return None


def _rises(keys: Sequence[Any]) -> bool:
    return all(one < following for one, following in pairwise(keys))


def _text(on: Interpreter, name: str) -> str:
    variable = on.shell.variables.get(name)
    value = variable.scalar() if variable is not None else None
    return value.text or "" if value is not None else ""


def _letters_first(name: str) -> str:
    """What older tables of languages sort by: letters and digits, whatever stands between them."""
    return "".join(one for one in name.casefold() if one.isalnum())


def _marks_first(name: str) -> tuple[tuple[int, str], ...]:
    """What newer tables sort by: marks before digits before letters of either case."""
    return tuple((0 if not one.isalnum() else 1 if one.isdigit() else 2, one) for one in name.casefold())
