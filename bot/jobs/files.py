"""A commit's files as the resolver sees them, of which only some have been fetched."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from bot.github.model import Blob, ChangedFile, RepositoryTree, TreeEntry
from bot.tree import UnreadableFile, folders_above, follow_links

_LINK = "120000"
NOT_FETCHED = "the file has not been fetched yet"


class FetchedTree:
    """The files of a commit. Implements `bot.tree.Tree`.

    A file that was not fetched can't be read, and `asked` remembers it: what the resolver asks for is found out by
    letting it run. `blobs` may be added to between two runs.
    """

    def __init__(self, entries: Mapping[str, TreeEntry], blobs: Mapping[str, Blob]) -> None:
        self._entries = entries
        self._blobs = blobs
        self._links = {path for path, entry in entries.items() if entry.mode == _LINK}
        self._paths = tuple(sorted(entries))
        self._folders: frozenset[str] | None = None
        self.asked: dict[str, str] = {}
        """The blobs that were missing, by the path under which they were asked for."""

    def read(self, path: str) -> str | None:
        """The text of a file. Raises `UnreadableFile`, also for one that was not fetched."""
        entry = self._entries.get(self._resolved(path))
        return None if entry is None else self._text(path, entry)

    def paths(self) -> Iterable[str]:
        """Every file, sorted."""
        return self._paths

    def is_directory(self, path: str) -> bool:
        """Whether some file lies below `path`."""
        if not path:
            return True
        if self._folders is None:
            self._folders = folders_above(self._paths)
        try:
            return self._resolved(path) in self._folders
        except UnreadableFile:
            return False

    def _text(self, path: str, entry: TreeEntry) -> str:
        blob = self._blobs.get(entry.sha)
        if blob is None:
            self.asked[entry.path] = entry.sha
            raise UnreadableFile(path, NOT_FETCHED)
        if blob.text is None:
            raise UnreadableFile(path, blob.problem or "the file has no text")
        return blob.text

    def _resolved(self, path: str) -> str:
        """`path` with the symbolic links in it followed, inside of the tree."""
        if not self._links:
            return path
        return follow_links(path, lambda here: self._text(path, self._entries[here]) if here in self._links else None)


def perhaps_links(changes: Iterable[ChangedFile]) -> list[str]:
    """The changed files that may be symbolic links now, or no longer: the list of changes has no modes. A link's
    content is one line that does not end.
    """
    return [
        change.path
        for change in changes
        if change.status == "changed" or (change.status == "added" and _ONE_LINE.fullmatch(change.patch or ""))
    ]


_ONE_LINE = re.compile(r"@@ -0,0 \+1 @@\n\+[^\n]+\n\\ No newline at end of file\n?")


def proposed(
    base: RepositoryTree, changes: Iterable[ChangedFile], links: Collection[str] = frozenset()
) -> Mapping[str, TreeEntry]:
    """What would be there after the merge: the changed files of the head over the tip of the base.

    A file keeps the mode that it had, and a new one is a plain file, unless it is one of `links`.
    """
    entries = dict(base.entries)
    moved: dict[str, TreeEntry] = {}
    for change in changes:
        if change.status == "removed":
            entries.pop(change.path, None)
        elif change.status == "renamed" and change.previous_path:
            before = entries.pop(change.previous_path, None)
            if before is not None:
                moved[change.path] = before
    for change in changes:
        if change.status == "removed" or not change.sha or _is_submodule(change):
            continue
        before = moved.get(change.path) or base.entries.get(change.path)
        kept = before.mode if before is not None and change.status != "changed" else "100644"
        mode = _LINK if change.path in links else kept
        entries[change.path] = TreeEntry(change.path, change.sha, None, mode)
    return entries


_SUBMODULE = re.compile(r"@@ [^\n]* @@(?:\n[+-]Subproject commit [0-9a-f]{40}(?:[0-9a-f]{24})?){1,2}\n?")


def _is_submodule(change: ChangedFile) -> bool:
    """Whether the change is of nothing but a submodule's commit: a file whose text speaks of one is still a file."""
    return change.patch is not None and _SUBMODULE.fullmatch(change.patch) is not None
