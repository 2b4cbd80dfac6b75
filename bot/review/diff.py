"""Which lines of a change a comment can sit on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The lines of one file's new version that the diff shows: the added ones, and all (with context). `removed` are
    lines of the old version. `hunks` are the shown lines hunk by hunk: a comment over several lines has to stay in one.
    """

    added: frozenset[int]
    shown: frozenset[int]
    removed: frozenset[int] = frozenset()
    hunks: tuple[range, ...] = ()

    def nearest_added(self, line: int) -> int | None:
        """The added line closest to `line`, the earlier of two that are equally close."""
        return _nearest(self.added, line)

    def nearest_shown(self, line: int) -> int | None:
        """The line that a comment can sit on and that is closest to `line`."""
        return _nearest(self.shown, line)

    def in_one_hunk(self, first: int, last: int) -> bool:
        """Whether one hunk shows all of these lines."""
        return any(first in hunk and last in hunk for hunk in self.hunks)


NOTHING_SHOWN = FileDiff(frozenset(), frozenset())
"""A file that changed and whose lines are not shown: it is too large, binary, or only renamed."""


def _nearest(lines: frozenset[int], line: int) -> int | None:
    return min(lines, key=lambda found: (abs(found - line), found), default=None)


def file_diffs(diff: str) -> Mapping[str, FileDiff]:
    """The files of a unified diff by their new path. A deleted file is not among them."""
    try:
        files = PatchSet(diff)
    except UnidiffParseError:
        return {}
    return {file.path: patch_diff("".join(map(str, file))) for file in files if not file.is_removed_file}


def patch_diffs(patches: Iterable[tuple[str, str | None]]) -> Mapping[str, FileDiff]:
    """The files of a change by their new path, from the `patch` that GitHub gives of each: hunks, without a head. It
    gives none of a file that is too large, binary, or only renamed.
    """
    return {path: patch_diff(patch) if patch else NOTHING_SHOWN for path, patch in patches}


def patch_diff(patch: str) -> FileDiff:
    """The lines of the hunks of one file. What is no hunk is left out."""
    added: set[int] = set()
    removed: set[int] = set()
    hunks: list[range] = []
    lines = iter(patch.split("\n"))
    for line in lines:
        head = _HUNK.match(line)
        if head is not None:
            hunks.append(_read_hunk(head, lines, added, removed))
    shown = frozenset(number for hunk in hunks for number in hunk)
    return FileDiff(frozenset(added), shown, frozenset(removed), tuple(hunk for hunk in hunks if hunk))


def _read_hunk(head: re.Match[str], lines: Iterator[str], added: set[int], removed: set[int]) -> range:
    """The lines of the new version that a hunk shows. Its head counts them, so that no content is taken for a head."""
    old, new = int(head[1]), int(head[3])
    first = new
    old_left, new_left = (1 if count is None else int(count) for count in (head[2], head[4]))
    while old_left > 0 or new_left > 0:
        line = next(lines, None)
        if line is None:  # the patch was cut
            break
        mark = line[:1]
        if mark == "+":
            added.add(new)
        elif mark == "-":
            removed.add(old)
        elif mark == "\\":
            continue
        if mark != "+":
            old, old_left = old + 1, old_left - 1
        if mark != "-":
            new, new_left = new + 1, new_left - 1
    return range(first, new)
