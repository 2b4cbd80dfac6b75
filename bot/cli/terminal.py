"""Lines for people, on a terminal or in a pipe: the one way by which commands print what files say."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from bot.printable import printable

_WHOLE_LINES = 10_000
"""Columns of what is no terminal: what reads it wants lines as they are."""

Span = str | tuple[str, str]
"""A piece of a line: its text, or its text and its style."""


class Terminal:
    """Standard output. Styled and wrapped on a terminal; a pipe gets whole lines, however long.

    Whatever is printed may come from a hostile file: it cannot end its line, nor hold an escape sequence.
    """

    def __init__(self) -> None:
        found = Console(highlight=False, emoji=False, markup=False)
        if not found.is_terminal:
            found = Console(highlight=False, emoji=False, markup=False, width=_WHOLE_LINES)
        self._console = found

    def line(self, *spans: Span) -> None:
        """One line, without blanks at its end; an empty one without spans."""
        text = Text.assemble(*map(_harmless, spans))
        text.rstrip()
        self._console.print(text)

    def columns(self, rows: Iterable[tuple[Span, ...]]) -> None:
        """Rows in columns as wide as their content; what does not fit on a terminal wraps."""
        cells = [[_harmless(span) for span in row] for row in rows]
        widths = [max(len(text) for text, _ in column) for column in zip(*cells, strict=True)]
        for row in cells:
            padded = ((text.ljust(width + 2), style) for (text, style), width in zip(row, widths, strict=True))
            self.line("  ", *padded)


def _harmless(span: Span) -> tuple[str, str]:
    text, style = (span, "") if isinstance(span, str) else span
    return printable(text), style
