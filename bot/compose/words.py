"""Strings with their reasons, for what a container is started with."""

from __future__ import annotations

from bisect import bisect_left

from bot.compose.command_line import split
from bot.compose.nodes import Scalar, Text
from bot.compose.values import Value, text_of
from bot.provenance import Reason, Word


def word(text: str) -> Word:
    """A string as a `Word`: the line that it comes from, and what interpolation did to it."""
    if not isinstance(text, Text):
        return Word(text)
    scalar = text.scalar
    if text is scalar.value:
        if scalar.word is None:
            scalar.word = _make(text, scalar, scalar.line)
        return scalar.word
    return _make(text, scalar, scalar.line)


def _make(text: Text, scalar: Scalar, line: int, lines: tuple[int, ...] | None = None) -> Word:
    if lines is None:
        lines = scalar.lines(text) if "\n" in text or scalar.style in ("|", ">") else (line,)
    source = scalar.source
    first = lines[0] if scalar.style in ("|", ">") else line
    reason = Reason("compose", source.path, first, source.excerpt(first))
    return Word(str(text), (reason, *text.notes), lines)


def command(value: Value, printed: list[str] | None) -> tuple[Word, ...] | None:
    """The words of a canonical command. A string is one scalar, but each of its words has a line."""
    if printed is None:
        return None
    if not isinstance(value, Text):
        return tuple([word(item) for item in printed])
    lines = value.scalar.lines(value)
    pieces, notes = value.scalar.pieces(value), value.scalar.notes_of_pieces(value)
    breaks = [offset for offset, character in enumerate(value) if character == "\n"] if "\n" in value else []
    words: list[Word] = []
    for text, offset in split(value):
        made = text_of(text, value.scalar, notes(offset))
        if pieces is not None:
            line = pieces.line_at(offset)
            words.append(_make(made, value.scalar, line, (line,) * (text.count("\n") + 1)))
            continue
        first = min(bisect_left(breaks, offset), len(lines) - 1)
        inner = lines[first : first + text.count("\n") + 1]
        words.append(_make(made, value.scalar, lines[first], inner))
    return tuple(words)
