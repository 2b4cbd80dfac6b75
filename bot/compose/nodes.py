"""YAML with positions: what a compose file says, before anything is filled in.

A file becomes a tree of `Scalar`, `Sequence` and `Mapping`. Anchors, aliases and merge keys are resolved in the way in
which Docker Compose reads them; `!reset` and `!override` are noted with their paths. A tree never changes: aliases
share their target.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.compose.lines import SourceText
from bot.compose.scalars import Timestamp
from bot.compose.template import Template
from bot.provenance import Position, Reason, Word

Path = tuple[str, ...]


class Text(str):
    """A string of a compose, with the scalar that it came from and what interpolation did to it."""

    __slots__ = ("notes", "scalar")

    scalar: Scalar
    notes: tuple[Reason, ...]


_INDEX = re.compile(r"\[?([0-9]{1,9})\]?")
_NAMED = re.compile(r"[ =:]")
"""What ends the name of a variable at the beginning of a note about it."""

_PIECE = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Pieces:
    """The blank-separated pieces of a value: where each begins, and the file line on which it is written."""

    starts: list[int]
    lines: list[int]

    def line_at(self, offset: int) -> int:
        """The line of the piece at an offset of the value (of the first, before it)."""
        return self.lines[max(bisect_right(self.starts, offset) - 1, 0)]


@dataclass(slots=True, eq=False)
class Scalar:
    """A scalar. `value` is a `Text` for a string; `template` is set when a string has variables to fill in.

    `line` and `column` count from 1 and are those of its first character (the `|` of a block). `style` is YAML's
    indicator: `'`, `"`, `|`, `>` or "" (plain).
    """

    value: Text | int | float | bool | Timestamp | None
    template: Template | None
    source: SourceText
    line: int
    column: int
    end_line: int
    style: str
    word: Word | None = None

    @property
    def position(self) -> Position:
        """Where it begins."""
        return Position(self.source.path, self.line, self.column)

    def lines(self, text: str) -> tuple[int, ...]:
        """The file line of each line of the scalar's value `text`."""
        return self.source.value_lines(self.style, self.line, self.end_line, text)

    def pieces(self, text: str) -> Pieces | None:
        """The lines of a value's pieces, when its line ends were folded into spaces.

        None where that cannot be told: variables or escapes made more or fewer pieces than are written.
        """
        if self.end_line <= self.line or "\n" in text.rstrip("\n"):
            return None
        rows = self.source.lines[self.line - 1 : self.end_line]
        rows[0] = "" if self.style == ">" else rows[0][self.column - 1 :]
        starts = [found.start() for found in _PIECE.finditer(text)]
        lines = [line for line, row in enumerate(rows, self.line) for _ in row.split()]
        # A block's last row is the first that no longer belongs to it.
        written = (len(lines) - len(rows[-1].split()), len(lines)) if self.style == ">" else (len(lines),)
        return Pieces(starts, lines) if starts and len(starts) in written else None

    def notes_of_pieces(self, text: Text) -> Callable[[int], tuple[Reason, ...]]:
        """What interpolation did to the blank-separated piece at an offset of the filled value; to the whole of it,
        where filling made more or fewer pieces than are written.
        """
        if self.template is None or not text.notes:
            return lambda _: text.notes
        written, filled = ([found.start() for found in _PIECE.finditer(value)] for value in (str(self.value), text))
        if len(written) != len(filled):
            return lambda _: text.notes
        names: dict[int, set[str]] = {}
        for variable in self.template.variables:
            names.setdefault(bisect_right(written, variable.offset), set()).add(variable.name)

        about: dict[str, list[int]] = {}
        for place, note in enumerate(text.notes):
            about.setdefault(_NAMED.split(note.text, 1)[0], []).append(place)

        def notes(offset: int) -> tuple[Reason, ...]:
            own = names.get(bisect_right(filled, offset), ())
            return tuple(text.notes[place] for place in sorted(place for name in own for place in about.get(name, ())))

        return notes


@dataclass(slots=True, eq=False)
class Sequence:
    """A list."""

    items: list[Node]
    source: SourceText
    line: int


@dataclass(slots=True, eq=False)
class Mapping:
    """A mapping with string keys; `lines` is the line of each key (of a merged key: where it is written)."""

    entries: dict[str, Node]
    lines: dict[str, int]
    source: SourceText
    line: int


Node = Scalar | Sequence | Mapping


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document of a file. `cleared` are the paths that `!reset` or `!override` take out of what was there."""

    root: Node
    cleared: tuple[Path, ...] = field(default=())


def entry(node: Node | None, key: str) -> Node | None:
    """The value of a key, None when there is none or this is no mapping."""
    return node.entries.get(key) if isinstance(node, Mapping) else None


def find_line(root: Node, path: Path) -> int | None:
    """The line of the value at `path`, or of the nearest ancestor that is in this document. None for no part of it."""
    node: Node = root
    line: int | None = None
    for part in path:
        if isinstance(node, Mapping) and part in node.entries:
            line = node.lines[part]
            node = node.entries[part]
        elif isinstance(node, Sequence) and (found := _INDEX.fullmatch(part)) and int(found[1]) < len(node.items):
            node = node.items[int(found[1])]
            line = node.line
        else:
            break
    return line


def size(node: Node) -> int:
    """How many values a node holds, itself and shared ones included."""
    if isinstance(node, Scalar):
        return 1
    children = node.items if isinstance(node, Sequence) else node.entries.values()
    return 1 + sum(map(size, children))
