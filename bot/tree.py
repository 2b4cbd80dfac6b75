"""The one way in which the resolver reads files.

A tree is a checkout, a revision of a git repository, or files fetched by API: the pure stages do not know which.
Paths are relative to the root, use `/`, and never leave it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Protocol

MAX_FILE_BYTES = 2 * 1024 * 1024
"""A file over this size is refused, not read: no compose, script or profile comes near it."""

MAX_LINKS = 40
"""Symbolic links followed for one path: the limit that Linux has."""


class UnreadableFile(Exception):
    """A file exists and cannot be used: too large, binary, not UTF-8, or a symbolic link out of the tree.

    The message says which, without the path: `path` has it.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


class OutsideTree(Exception):
    """A path that leaves the repository."""

    def __init__(self, path: str) -> None:
        super().__init__(f"the path leaves the repository: {path}")
        self.path = path


class Tree(Protocol):
    """Read access to a repository."""

    def read(self, path: str) -> str | None:
        """The text of a file, or None when there is no such file. Raises `UnreadableFile`."""

    def paths(self) -> Iterable[str]:
        """Every file of the tree, sorted."""

    def is_directory(self, path: str) -> bool:
        """Whether some file lies below `path`. The root, `""`, is a directory."""


def is_within(path: str, places: Set[str]) -> bool:
    """Whether a path is one of these files and folders, or lies in one of them."""
    while path and path not in places:
        path = path.rpartition("/")[0]
    return bool(path)


def text_of(tree: Tree, path: str) -> str:
    """The text of a file; empty where there is none, or none that can be read."""
    try:
        return tree.read(path) or ""
    except UnreadableFile:
        return ""


def join(directory: str, path: str) -> str:
    """`path` as seen from `directory`, in normal form. Raises `OutsideTree`; absolute paths are outside too."""
    joined = posixpath.normpath(posixpath.join("/", directory, path))
    depth = posixpath.normpath(posixpath.join(directory or ".", path))
    if posixpath.isabs(path) or depth == ".." or depth.startswith("../"):
        raise OutsideTree(path)
    return joined.lstrip("/")


def follow_links(path: str, target_of: Callable[[str], str | None]) -> str:
    """`path` with every symbolic link in it followed, inside of the tree. One that no file can have stays as it is.

    `target_of` gives what the link at a path says, None where no link is. Raises `UnreadableFile`.
    """
    ahead = path.split("/")[::-1]
    if path != posixpath.normpath(path) or ahead[-1] in ("", ".."):
        return path
    behind: list[str] = []
    followed = 0
    while ahead:
        part = ahead.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not behind:
                raise UnreadableFile(path, "a symbolic link leaves the repository")
            behind.pop()
            continue
        behind.append(part)
        target = target_of("/".join(behind))
        if target is None:
            continue
        followed += 1
        if followed > MAX_LINKS:
            raise UnreadableFile(path, f"more than {MAX_LINKS} symbolic links, or a circle of them")
        if target.startswith("/"):
            raise UnreadableFile(path, "a symbolic link leaves the repository")
        behind.pop()
        ahead.extend(reversed(target.split("/")))
    return "/".join(behind)


def folders_above(paths: Iterable[str]) -> frozenset[str]:
    """Every folder that some path lies in, but for the root."""
    found: set[str] = set()
    for path in paths:
        folder = posixpath.dirname(path)
        while folder and folder not in found:
            found.add(folder)
            folder = posixpath.dirname(folder)
    return frozenset(found)


@dataclass(frozen=True)
class MemoryTree:
    """Files given as a mapping: for tests, batch requests, and files laid over another tree."""

    files: Mapping[str, str]
    below: Tree | None = None
    deleted: frozenset[str] = field(default_factory=frozenset)

    def read(self, path: str) -> str | None:
        """The text given for a path, else that of the tree below."""
        if path in self.files:
            return self.files[path]
        if self.below is None or path in self.deleted:
            return None
        return self.below.read(path)

    def paths(self) -> Iterable[str]:
        """Every file of both, sorted."""
        below = self.below.paths() if self.below else ()
        return sorted({*self.files, *(path for path in below if path not in self.deleted)})

    def is_directory(self, path: str) -> bool:
        """Whether some file of either lies below `path`."""
        prefix = f"{path}/" if path else ""
        return not path or any(name.startswith(prefix) for name in self.paths())
