"""Diffs as GitHub shows them: which lines can carry a comment, and where a comment goes when the files change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

FILE_LINES = 20_000
FILE_BYTES = 500 * 1024
"""A file's diff over either has no `patch` (facts, section 5: diff limits)."""

_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_STATUSES: dict[str, Status] = {"A": "added", "D": "removed", "R": "renamed", "C": "copied", "T": "changed"}

Status = Literal["added", "removed", "modified", "renamed", "copied", "changed"]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a patch. `position` counts from the first hunk's header, further headers included."""

    position: int
    hunk: int
    left: int | None
    right: int | None


@dataclass(frozen=True)
class FileDiff:
    """One changed file. `sha` is the blob at the head (at the base for a removed file); `text` the hunks."""

    path: str
    previous: str | None
    status: Status
    sha: str
    text: str
    additions: int
    deletions: int

    @property
    def patch(self) -> str | None:
        """The hunks, where GitHub gives them: not for binary or large files, nor when no line differs."""
        if not self.text or len(self.text.encode("utf-8")) > FILE_BYTES or self.text.count("\n") >= FILE_LINES:
            return None
        return self.text

    @cached_property
    def lines(self) -> tuple[DiffLine, ...]:
        """The lines that can carry a comment: those inside hunks."""
        return tuple(_lines(self.patch or ""))

    def find(self, side: str, line: int) -> DiffLine | None:
        """The line of the diff with this number on this side."""
        for each in self.lines:
            if (each.right if side == "RIGHT" else each.left) == line:
                return each
        return None

    def excerpt(self, position: int) -> str:
        """`diff_hunk`: the hunk from its header down to a line."""
        rows = self.text.split("\n")
        first = max(index for index in range(position) if rows[index].startswith("@@"))
        return "\n".join(rows[first : position + 1])

    def new_number(self, line: int) -> int | None:
        """Where an old line is in the new file; None when it was changed or removed."""
        shift = 0
        for each in self.lines:
            if each.left == line:
                return each.right
        for start, count, new_start, new_count in _headers(self.text):
            if start + count > line:
                break
            shift = (new_start + new_count) - (start + count)
        return line + shift


def parse_diff(listing: str, patches: str) -> tuple[FileDiff, ...]:
    """From git's raw listing (fields ended by NUL) and its patch text of the same comparison, sorted by path."""
    texts = re.split(r"^diff --git .*\n", patches, flags=re.MULTILINE)[1:]
    files: list[FileDiff] = []
    fields = iter(listing.split("\0"))
    for text, about in zip(texts, fields, strict=False):
        _, _, old, new, code = about.split(" ")
        path, previous = next(fields), None
        if code[0] in "RC":
            previous, path = path, next(fields)
        hunks = re.search(r"^@@ ", text, re.MULTILINE)
        body = text[hunks.start() :].removesuffix("\n") if hunks else ""
        rows = body.split("\n")
        added, gone = sum(row.startswith("+") for row in rows), sum(row.startswith("-") for row in rows)
        sha = old if code[0] == "D" else new
        files.append(FileDiff(path, previous, _STATUSES.get(code[0], "modified"), sha, body, added, gone))
    return tuple(sorted(files, key=lambda file: file.path))


def _headers(patch: str) -> Iterator[tuple[int, int, int, int]]:
    for found in _HEADER.finditer(patch):
        if found.start() == 0 or patch[found.start() - 1] == "\n":
            start, count, new_start, new_count = found.groups("1")
            yield int(start), int(count), int(new_start), int(new_count)


def _lines(patch: str) -> Iterator[DiffLine]:
    hunk = left = right = 0
    for position, row in enumerate(patch.split("\n")):
        header = _HEADER.match(row)
        if header:
            hunk += 1
            left, right = int(header[1]), int(header[3])
        elif row.startswith("+"):
            yield DiffLine(position, hunk, None, right)
            right += 1
        elif row.startswith("-"):
            yield DiffLine(position, hunk, left, None)
            left += 1
        elif row.startswith(" "):
            yield DiffLine(position, hunk, left, right)
            left, right = left + 1, right + 1
