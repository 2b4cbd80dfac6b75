"""A checkout, or a plain folder."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from bot.repositories import git
from bot.repositories.text import TOO_LARGE, decode
from bot.tree import MAX_FILE_BYTES, UnreadableFile

MAX_FILES = 200_000
"""Files of a folder without git. More is no repository but, say, somebody's home."""

_NOT_OURS = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", ".mypy_cache"})


class DirectoryTree:
    """The files below a folder, as they are now. Implements `bot.tree.Tree`.

    Lists what git tracks or would offer to add; in a folder without git (or one that git ignores) everything but
    git's own data, virtual environments and installed packages. `read` answers for ignored files too, as Docker
    Compose does (a `.env` seldom is tracked). A link that leaves the folder is listed and is an `UnreadableFile`.
    Each file is read once: the tree is one state of the folder.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise git.RepositoryError(f"{root}: no such directory")
        self.root = root
        self._real = os.path.realpath(root)
        self._real_folders: dict[str, str] = {}
        self._texts: dict[str, str | None] = {}
        self._paths: tuple[str, ...] | None = None

    def read(self, path: str) -> str | None:
        """The text of a file. Raises `UnreadableFile`."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def paths(self) -> Iterable[str]:
        """Every listed file, sorted. Raises `RepositoryError` for a folder with more than `MAX_FILES`."""
        if self._paths is None:
            self._paths = tuple(sorted(self._list()))
        return self._paths

    def is_directory(self, path: str) -> bool:
        """Whether some file lies below `path`."""
        if not path:
            return True
        try:
            real = self._inside(path)
        except UnreadableFile:
            return False
        return real is not None and any(files for _, _, files in os.walk(real))

    def _read(self, path: str) -> str | None:
        real = self._inside(path)
        if real is None:
            return None
        try:
            # Not blocking: a named pipe must not stop the reader. Not following: a link put there since is not read.
            descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise UnreadableFile(path, error.strerror or "cannot be opened") from None
        try:
            content = _content(path, descriptor)
        finally:
            os.close(descriptor)
        if content is None:
            return None
        try:
            return decode(content)
        except UnreadableFile as error:
            raise UnreadableFile(path, error.message) from None

    def _inside(self, path: str) -> str | None:
        """The real path of a file of the tree; None for a name that no file of the tree has."""
        parts = path.split("/")
        if "\0" in path or path != posixpath.normpath(path) or parts[0] in ("", "..", ".git"):
            return None
        folder, _, name = path.rpartition("/")
        try:
            real = os.path.join(self._real_folder(folder), name)
            if os.path.islink(real):
                real = os.path.realpath(real)
        except (OSError, UnicodeEncodeError):
            return None
        if not self._holds(real):
            raise UnreadableFile(path, "a symbolic link leaves the repository")
        return real

    def _real_folder(self, folder: str) -> str:
        real = self._real_folders.get(folder)
        if real is None:
            real = self._real_folders[folder] = os.path.realpath(os.path.join(self._real, folder))
        return real

    def _holds(self, real: str) -> bool:
        """Whether a real path lies below the root, and not in git's own data."""
        below = self._real.rstrip(os.sep) + os.sep
        return real == self._real or (real.startswith(below) and real[len(below) :].partition(os.sep)[0] != ".git")

    def _list(self) -> Iterator[str]:
        names = self._listed_by_git() or self._walked()
        for name in names:
            if name.isprintable() and _NOT_OURS.isdisjoint(name.split("/")) and self._is_file(name):
                yield name

    def _is_file(self, name: str) -> bool:
        full = os.path.join(self._real, name)
        try:
            kind = os.lstat(full).st_mode
        except OSError:  # tracked, and deleted in the checkout
            return False
        return stat.S_ISREG(kind) or (stat.S_ISLNK(kind) and os.path.exists(full) and not os.path.isdir(full))

    def _listed_by_git(self) -> list[str] | None:
        try:
            _, output = git.run(
                self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"
            )
        except git.RepositoryError:
            return None
        return [os.fsdecode(name) for name in output.split(b"\0") if name]

    def _walked(self) -> Iterator[str]:
        count = 0
        for folder, folders, files in os.walk(self._real):
            folders[:] = [
                name
                for name in folders
                if name not in _NOT_OURS and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
            ]
            count += len(files)
            if count > MAX_FILES:
                raise git.RepositoryError(f"{self.root}: more than {MAX_FILES} files; name a smaller folder")
            below = os.path.relpath(folder, self._real)
            prefix = "" if below == os.curdir else f"{below.replace(os.sep, '/')}/"
            yield from (prefix + name for name in files)


def _content(path: str, descriptor: int) -> bytes | None:
    """What an open file holds; None for a directory."""
    kind = os.fstat(descriptor)
    if stat.S_ISDIR(kind.st_mode):
        return None
    if not stat.S_ISREG(kind.st_mode):
        raise UnreadableFile(path, "not a regular file")
    with open(descriptor, "rb", closefd=False) as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise UnreadableFile(path, TOO_LARGE)
    return content
