"""From expanded pieces to words: joining, field splitting, and what is left to match against file names."""

from __future__ import annotations

from bot.shell.patterns import quote
from bot.shell.values import Origin, Symbol, Value

_DEFAULT_SEPARATORS = " \t\n"
_EXTENDED_MARKS = ("?(", "*(", "+(", "@(", "!(")

Chunk = tuple[str | Symbol, bool]
"""A piece of a word, and whether it was quoted."""


class Fields:
    """Collects the pieces of one word; expansions outside of quotes are split into several.

    With `split` off everything becomes one field, as on the right of an assignment.
    """

    __slots__ = ("_current", "_origins", "_splits", "_whole", "done", "lists", "separators", "split")

    def __init__(self, separators: str, *, split: bool) -> None:
        self.separators = separators
        self.split = split
        self.lists = ""
        self.done: list[tuple[list[Chunk], list[Value], bool]] = []
        self._current: list[Chunk] | None = None
        self._origins: list[Value] = []
        self._splits = False

    def text(self, value: Value, quoted: bool) -> None:
        """A piece that is never split: literal text, or an expansion in quotes."""
        if self._current is None:
            self._current = []
        self._origins.append(value)
        for piece in value.pieces:
            self._current.append((piece, quoted))
        self._splits = self._splits or value.splits

    def expansion(self, value: Value) -> None:
        """The result of an expansion outside of quotes."""
        if not self.split:
            self.text(value, False)
            return
        for piece in value.pieces:
            if isinstance(piece, str):
                self._split(piece, value)
            else:
                if self._current is None:
                    self._current = []
                self._current.append((piece, False))
                self._origins.append(value)
                self._splits = True

    def _split(self, text: str, value: Value) -> None:
        separators = self.separators
        if not separators:
            if text:
                self.text(Value(text, value.origin), False)
            return
        blanks = [one for one in separators if one in _DEFAULT_SEPARATORS]
        at, end = 0, len(text)
        while at < end:
            start = at
            while at < end and text[at] not in separators:
                at += 1
            if at > start:
                if self._current is None:
                    self._current = []
                self._current.append((text[start:at], False))
                self._origins.append(value)
            if at >= end:
                return
            while at < end and text[at] in blanks:
                at += 1
            hard = at < end and text[at] in separators
            if hard:
                at += 1
                while at < end and text[at] in blanks:
                    at += 1
            if self._current is not None:
                self.finish()
            elif hard:
                self.done.append(([("", False)], [value], False))

    def several(self, values: list[Value], quoted: bool) -> None:
        """The elements of `$@`: each its own field, the first and last glued to what stands beside them."""
        for index, value in enumerate(values):
            if index:
                self.finish()
            if quoted:
                self.text(value, True)
            else:
                self.expansion(value)

    def drop_empty(self, start: int) -> None:
        """Takes the pieces of the current field from `start` on back, if they are all empty."""
        if self._current is not None and all(piece == "" for piece, _ in self._current[start:]):
            del self._current[start:]
            if not start:
                self._current, self._origins = None, []

    def finish(self) -> None:
        """Ends the current field."""
        if self._current is not None:
            self.done.append((self._current, self._origins, self._splits))
        self._current, self._origins, self._splits = None, [], False

    @property
    def chunks(self) -> list[Chunk]:
        """The pieces of the only field, when nothing was split."""
        return self._current or []

    @property
    def origins(self) -> list[Value]:
        """The values that the current field was made of."""
        return self._origins


def joined(chunks: list[Chunk], origin: tuple[Origin, ...], splits: bool = False) -> Value:
    """The value of a field."""
    if all(isinstance(piece, str) for piece, _ in chunks):
        return Value("".join(piece for piece, _ in chunks if isinstance(piece, str)), origin)
    parts: list[str | Symbol] = []
    for piece, _ in chunks:
        if isinstance(piece, str):
            if not piece:
                continue
            if parts and isinstance(parts[-1], str):
                parts[-1] = parts[-1] + piece
                continue
        parts.append(piece)
    return Value(None, origin, tuple(parts), (), splits)


def pattern_of(chunks: list[Chunk]) -> str | None:
    """The pattern that a field is, its quoted characters escaped; None when a symbol is in it."""
    pieces: list[str] = []
    for piece, quoted in chunks:
        if not isinstance(piece, str):
            return None
        pieces.append(quote(piece) if quoted else piece)
    return "".join(pieces)


def is_glob(chunks: list[Chunk], extended: bool) -> bool:
    """Whether a field has unquoted characters that make it a pattern of file names."""
    opened = False
    for piece, quoted in chunks:
        if quoted or not isinstance(piece, str):
            continue
        if "*" in piece or "?" in piece:
            return True
        # A bracket that is never closed is only a character.
        bracket = 0 if opened else piece.find("[")
        if bracket >= 0:
            opened = True
            if "]" in piece[bracket:]:
                return True
        if extended and any(mark in piece for mark in _EXTENDED_MARKS):
            return True
    return False
