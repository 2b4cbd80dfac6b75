"""Markdown made of parts, of which as many are kept as there is room for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.markdown import clipped

_SEPARATOR = "\n\n"
_ROOM_FOR_A_WORD = 240
"""Bytes kept free to say what was left out."""

_MAX_NAMED = 120
"""Bytes of the titles of what was left out."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text: lines (`rows`) under a `title`, below `head` (the head of a table), folded away or not. Without
    rows there is nothing to show. Rows are separated by a line end, or by an empty line when `apart`.
    """

    title: str
    rows: tuple[str, ...]
    head: tuple[str, ...] = ()
    folded: bool = False
    apart: bool = False

    def text(self, kept: int, missing: str = "") -> str:
        """The Markdown of the first `kept` rows, and a word on what is missing."""
        rows = (_SEPARATOR if self.apart else "\n").join(self.rows[:kept])
        body = "\n".join((*self.head, rows)) if rows else ""
        body = _SEPARATOR.join(part for part in (body, missing) if part)
        if self.folded:
            return f"<details><summary>{self.title}</summary>\n\n{body}\n\n</details>"
        return f"### {self.title}\n{body}" if self.title else body


def paragraph(text: str) -> Section:
    """A part without a title."""
    return Section("", (text,) if text else ())


def fitted(sections: Iterable[Section], size: int) -> str:
    """The sections in at most `size` bytes of UTF-8. Whole rows are left out, from the end of each section, and a word
    says how many.
    """
    parts: list[str] = []
    dropped: list[str] = []
    room = size - _ROOM_FOR_A_WORD
    for section in sections:
        if not section.rows:
            continue
        text = _fit(section, room)
        if text:
            parts.append(text)
            room -= _size(text) + len(_SEPARATOR)
        else:
            dropped.append(section.title)
    if dropped:
        names = clipped(", ".join(filter(None, dropped)), _MAX_NAMED)
        parts.append(f"_Left out for want of room{f': {names}' if names else ''}._")
    return clipped(_SEPARATOR.join(parts), size)


def _fit(section: Section, room: int) -> str:
    whole = section.text(len(section.rows))
    if _size(whole) <= room:
        return whole
    low, high = 0, len(section.rows) - 1
    while low < high:  # the most rows that fit
        middle = (low + high + 1) // 2
        if _size(_cut(section, middle)) <= room:
            low = middle
        else:
            high = middle - 1
    return _cut(section, low) if low else ""


def _cut(section: Section, kept: int) -> str:
    return section.text(kept, f"_{len(section.rows) - kept} more do not fit here._")


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
