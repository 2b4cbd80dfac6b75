"""From the lines of a value back to the lines of the file that it was written in."""

from __future__ import annotations

MAX_EXCERPT = 160
"""Characters of a source line that a reason shows: one line of a comment on a pull request."""


class SourceText:
    """The text of one file, by lines."""

    __slots__ = ("_excerpts", "_lines", "path", "text")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._lines: list[str] | None = None
        self._excerpts: dict[int, str] = {}

    @property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        if self._lines is None:
            self._lines = self.text.split("\n")
        return self._lines

    def excerpt(self, line: int) -> str:
        """Line `line` (from 1) without indentation, shortened. Each word of a command that is one line asks for it."""
        known = self._excerpts.get(line)
        if known is None:
            known = self._excerpts[line] = self._shortened(line)
        return known

    def _shortened(self, line: int) -> str:
        if not 0 < line <= len(self.lines):
            return ""
        text = self.lines[line - 1].strip()
        return text if len(text) <= MAX_EXCERPT else f"{text[: MAX_EXCERPT - 1]}…"

    def value_lines(self, style: str, start: int, end: int, value: str) -> tuple[int, ...]:
        """The file line of each line of `value`, a scalar of this style that stands at lines `start` to `end`."""
        count = value.count("\n") + 1
        if style == "|":
            return tuple(min(line, max(start + 1, end)) for line in range(start + 1, start + 1 + count))
        if count == 1:
            first = start + 1 if style == ">" else start
            return (first,)
        found = self._folded(start + 1, end) if style == ">" else self._flow(style, start, end)
        found += [found[-1]] * (count - len(found))
        return tuple(found[:count])

    def _folded(self, start: int, end: int) -> list[int]:
        """The line at which each line of a folded block begins."""
        rows = [row.rstrip("\r") for row in self.lines[start - 1 : end]]
        indent = min((len(row) - len(row.lstrip(" ")) for row in rows if row.strip()), default=0)
        begins = [start]
        previous: str | None = None
        blanks = 0
        for number, row in enumerate((row[indent:] for row in rows), start):
            if not row:
                blanks += 1
                continue
            more = row[0] in " \t" or (previous is not None and previous[0] in " \t")
            if previous is None:
                begins = [start + offset for offset in range(blanks)] + [number]
            elif more:
                begins += [number - blanks + offset for offset in range(blanks + 1)]
            elif blanks:
                begins += [number - blanks + offset for offset in range(1, blanks)] + [number]
            previous, blanks = row, 0
        return begins

    def _flow(self, style: str, start: int, end: int) -> list[int]:
        """The line at which each line of a quoted or plain scalar begins: an escape, or blank lines, break it."""
        begins = [start]
        blanks = 0
        for number, row in enumerate(self.lines[start - 1 : end], start):
            if number > start and not row.strip():
                blanks += 1
                begins.append(number + 1)
                continue
            if blanks:
                begins[-1] = number
            blanks = 0
            if style == '"':
                begins += [number] * _newline_escapes(row)
        return begins


def _newline_escapes(row: str) -> int:
    count = 0
    position = row.find("\\")
    while position >= 0:
        count += row[position + 1 : position + 2] == "n"
        position = row.find("\\", position + 2)
    return count
