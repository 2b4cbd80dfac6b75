"""What git holds of a repository, read without a checkout: a revision, or the index."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from bot.repositories import git
from bot.repositories.objects import BlobCache, ObjectReader
from bot.repositories.text import TOO_LARGE, decode
from bot.tree import MAX_FILE_BYTES, UnreadableFile, folders_above, follow_links

_LINK = "120000"
_SUBMODULE = "160000"
_KINDS = frozenset({"blob", "commit", "tree"})


class BlobTree:
    """Files whose contents are blobs, from the repository's root. Implements `bot.tree.Tree`.

    `listing` is what `git ls-tree -z` or `git ls-files -s -z` prints. Submodules are left out. Symbolic links are
    followed inside the tree; one that leaves it is listed and is an `UnreadableFile`. Close it, or use it as a context
    manager, to end its git process.
    """

    def __init__(self, repository: Path, listing: bytes, cache: BlobCache | None = None) -> None:
        self.repository = repository
        self._objects = ObjectReader(repository)
        self._cache = BlobCache() if cache is None else cache
        self._blobs, self._links = _listed(listing)
        self._directories: frozenset[str] | None = None
        self._paths: tuple[str, ...] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the git process. The tree stays usable: it is started again when needed."""
        self._objects.close()

    def read(self, path: str) -> str | None:
        """The text of a file. Raises `UnreadableFile`, and `RepositoryError` for a damaged repository."""
        blob = self.identity(path)
        if blob is None:
            return None
        return self._text(path, blob)

    def paths(self) -> Iterable[str]:
        """Every file, sorted; of the symbolic links those that do not end at a folder or at nothing."""
        if self._paths is None:
            self._paths = tuple(
                sorted([*self._blobs, *(link for link in self._links if self._ends_at_no_folder(link))])
            )
        return self._paths

    def is_directory(self, path: str) -> bool:
        """Whether some file lies below `path`."""
        if not path:
            return True
        try:
            target = self._resolve(path)
        except UnreadableFile:
            return False
        return target == "" or target in self._all_directories()

    def identity(self, path: str) -> str | None:
        """The id of the blob behind `path`, which is the same wherever the content is; None when there is no file.

        Raises `UnreadableFile` for a symbolic link out of the tree.
        """
        return self._blobs.get(path) or (self._blobs.get(self._resolve(path)) if self._links else None)

    def _text(self, path: str, blob: str) -> str:
        known = self._cache.get(blob)
        if known is None:
            known = self._load(path, blob)
            self._cache.put(blob, known)
        if isinstance(known, UnreadableFile):
            raise UnreadableFile(path, known.message)
        return known

    def _load(self, path: str, blob: str) -> str | UnreadableFile:
        found = self._objects.read(blob, MAX_FILE_BYTES)
        if found is None:
            raise UnreadableFile(path, "the clone does not hold the file's content (a partial clone?)")
        if found.content is None:
            return UnreadableFile("", TOO_LARGE)
        try:
            return decode(found.content)
        except UnreadableFile as error:
            return error

    def _resolve(self, path: str) -> str:
        """`path` with every symbolic link in it followed. A path that no file can have stays as it is."""
        if not self._links:
            return path

        def target_of(here: str) -> str | None:
            link = self._links.get(here)
            return None if link is None else self._text(path, link)

        return follow_links(path, target_of)

    def _ends_at_no_folder(self, link: str) -> bool:
        try:
            return self._resolve(link) in self._blobs
        except UnreadableFile:
            return True  # listed, so that whoever needs the file learns why it can't be read

    def _all_directories(self) -> frozenset[str]:
        if self._directories is None:
            self._directories = folders_above(self._blobs)
        return self._directories


class RevisionTree(BlobTree):
    """The files of one commit. `repository` is any folder of a clone, or a bare repository.

    Raises `UnknownRevision` and `NotARepository` when made.
    """

    def __init__(self, repository: Path, revision: str, cache: BlobCache | None = None) -> None:
        self.revision = revision
        self.commit = git.commit(repository, revision)
        _, listing = git.run(repository, "ls-tree", "-r", "-z", "--full-tree", self.commit)
        super().__init__(repository, listing, cache)


class IndexTree(BlobTree):
    """The files that the next commit will have: the index, whatever else lies in the checkout.

    `repository` is any folder of a checkout. Raises `NotARepository` when made.
    """

    def __init__(self, repository: Path, cache: BlobCache | None = None) -> None:
        top = git.work_tree(repository)
        if top is None:
            raise git.NotARepository(repository, "not a checkout of a git repository")
        _, listing = git.run(top, "ls-files", "-s", "-z", index=True)
        super().__init__(top, listing, cache)


def _listed(listing: bytes) -> tuple[dict[str, str], dict[str, str]]:
    """The blobs of files and of links, by path. An entry has mode, type and blob in a tree, mode, blob and stage in
    the index.
    """
    blobs: dict[str, str] = {}
    links: dict[str, str] = {}
    for record in listing.split(b"\0"):
        try:
            entry, tab, path = record.decode("utf-8").partition("\t")
        except UnicodeDecodeError:  # a name that no compose can write
            continue
        if tab:
            mode, middle, last = entry.split(" ")
            if mode != _SUBMODULE:
                (links if mode == _LINK else blobs)[path] = last if middle in _KINDS else middle
    return blobs, links
