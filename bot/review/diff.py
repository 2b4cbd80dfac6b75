"""Which lines of a change a comment can sit on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unidiff.patch import PatchSet


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The lines of one file's new version that the diff shows: the added ones, and all (with context). `removed` are
    lines of the old version.
    """

    added: frozenset[int]
    shown: frozenset[int]
    removed: frozenset[int] = frozenset()

    def nearest_added(self, line: int) -> int | None:
        """The added line closest to `line`, the earlier of two that are equally close."""
        return min(self.added, key=lambda added: (abs(added - line), added), default=None)


def file_diffs(diff: str) -> Mapping[str, FileDiff]:
    """The files of a unified diff by their new path. A deleted file is not among them."""
    found: dict[str, FileDiff] = {}
    for file in PatchSet(diff):
        if file.is_removed_file:
            continue
        lines = [(line.target_line_no, line.is_added) for hunk in file for line in hunk]
        shown = frozenset(number for number, _ in lines if number is not None)
        added = frozenset(number for number, is_added in lines if number is not None and is_added)
        gone = (line.source_line_no for hunk in file for line in hunk if line.is_removed)
        found[file.path] = FileDiff(added, shown, frozenset(number for number in gone if number is not None))
    return found
