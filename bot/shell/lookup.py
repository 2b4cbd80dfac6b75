"""Which file a program's name leads to, where files are mounted over those of the image."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from bot.shell import catalogue
from bot.shell.values import Value

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

_FIRST = (
    "/usr/local/nvidia/bin",
    "/usr/local/cuda/bin",
    "/usr/local/sbin",
    "/usr/local/bin",
)
_SYSTEM = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")
_OF_IMAGES = "/usr/local/bin"
"""Where images have what they were made for."""

_MERGED = {"/bin": "/usr/bin", "/sbin": "/usr/sbin"}
"""Links of a system whose programs all are below /usr."""

_PROGRAM_FOLDERS = (*_FIRST, *_SYSTEM)
"""Where the PATH of an image leads, when nothing sets it."""


class Hidden(Exception):
    """What a name leads to is decided by a mount whose content is not known, or by the image's own PATH."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def mounted_program(on: Interpreter, name: str, environment: Mapping[str, Value]) -> str | None:
    """The path of the mounted file that is run for `name`, None when the image has the program.

    Raises `Hidden` where that cannot be told.
    """
    machine = on.machine
    if machine.closed:
        return None
    if "/" in name:
        return _at(on, on.path(name))
    search = environment.get("PATH")
    if search is None and not machine.overlay and not machine.disturbed and not _is_near(machine.files.targets):
        return None
    folders, complete = _search_path(search)
    for folder in folders:
        if (found := _at(on, on.path(posixpath.join(folder, name)))) is not None:
            return found
    return None if complete else _in_path_of_image(on, name)


def _search_path(path: Value | None) -> tuple[list[str], bool]:
    """The folders that are known to be searched first, and whether they are all."""
    if path is None:
        return [], False
    if path.text is not None:
        return path.text.split(":"), True
    first = path.parts[0]
    return (first.split(":")[:-1] if isinstance(first, str) else []), False


def _in_path_of_image(on: Interpreter, name: str) -> str | None:
    """In an image's usual PATH its own programs come before those of the system."""
    for folder in _FIRST:
        if (found := _at(on, f"{folder}/{name}")) is not None:
            return found
    if name not in catalogue.COMMON and on.machine.files.exists(_OF_IMAGES) and _OF_IMAGES in on.machine.files.targets:
        raise Hidden(_OF_IMAGES)
    for folder in _SYSTEM:
        if (found := _at(on, f"{folder}/{name}")) is not None:
            if name in catalogue.COMMON:
                return found
            raise Hidden(found)
    for target in on.machine.files.targets:
        if posixpath.basename(target) == name and posixpath.basename(posixpath.dirname(target)) in ("bin", "sbin"):
            # Whether the image's PATH leads there, only the image knows.
            raise Hidden(target)
    return None


def _at(on: Interpreter, path: str) -> str | None:
    """The path, if a known file is there. Raises `Hidden` when something else than the image's own file is."""
    machine = on.machine
    folder, name = posixpath.split(path)
    for one in (path, posixpath.join(_MERGED[folder], name)) if folder in _MERGED else (path,):
        if one in machine.overlay or one in machine.disturbed or machine.files.is_covered(one):
            if machine.read(one) is not None:
                return one
            if one in machine.disturbed or one in machine.files.targets:
                raise Hidden(one)
    return None


@lru_cache(maxsize=256)
def _is_near(targets: frozenset[str]) -> bool:
    """Whether a mount at one of these places may decide which program a name leads to."""
    return any(
        posixpath.basename(posixpath.dirname(target)) in ("bin", "sbin")
        or posixpath.basename(target) in ("bin", "sbin")
        or any(folder.startswith(target + "/") for folder in _PROGRAM_FOLDERS)
        for target in targets
    )
