"""What GitHub takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """`inline` is the number of comments on lines and files that a pull request gets. The others are GitHub's own:
    `body` of a comment and `check` of a check's summary or text, in bytes of UTF-8 (GitHub counts characters of a
    comment, which are never more); `annotation` bytes of an annotation's message, `annotation_title` its characters.
    """

    inline: int = 20
    body: int = 65_000
    check: int = 65_000
    annotation: int = 60_000
    annotation_title: int = 255
    check_title: int = 250


GITHUB = Limits()
"""The usual ones."""
