"""Values that know where they came from, and the symbols that stand for what nobody here can know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.provenance import Position, Reason, Word

MAX_REASONS = 8
"""A chain longer than this explains nothing any more."""

_SHORT = 160


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A text that is interpreted, and the file that it stands in.

    `lines` maps the text's lines to lines of the file where they differ (a script inside a compose).
    """

    path: str
    texts: tuple[str, ...]
    lines: tuple[int, ...] = ()

    def line(self, line: int) -> int:
        """The file's line for a line of the text."""
        if not self.lines:
            return line
        return self.lines[min(line, len(self.lines)) - 1] if line > 0 else self.lines[0]

    def position(self, line: int) -> Position:
        """The place of a line in its file."""
        return Position(self.path, self.line(line))

    def reason(self, line: int) -> Reason:
        """The line as a reason."""
        text = self.texts[line - 1].strip() if 0 < line <= len(self.texts) else ""
        return Reason("shell", self.path, self.line(line), text if len(text) <= _SHORT else text[: _SHORT - 1] + "…")


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """The line of a condition that decided, what the variables in it were then, and the assumptions in these."""

    source: Source
    line: int
    held: tuple[tuple[str, str | None], ...] = ()
    assumed: tuple[Reason, ...] = ()

    def reasons(self) -> tuple[Reason, ...]:
        """The line, what held there, and what that is assumed by."""
        first = self.source.reason(self.line)
        told = [f"{name} is not set" if text is None else f"{name}={text}" for name, text in self.held]
        if not told:
            return (first, *self.assumed)
        return (first, Reason("shell", first.path, first.line, ", ".join(told)), *self.assumed)


Origin = Reason | tuple[Source, int] | Guard
"""A reason, or the place that will be one: most values never have to explain themselves."""


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A value that only the running container has.

    A symbol that is computed from another one (`${X,,}`) says how: once `base` is known, so is the symbol.
    `output` marks what a program printed, `hopeful` the status of a program that is taken to succeed where
    its failure would end the script.
    """

    name: str
    output: bool = False
    base: Value | None = None
    derive: Callable[[str], str] | None = None
    hopeful: bool = False


class Value:
    """A string, or a sequence of strings and symbols where it is not known.

    `text` is None when some part is a symbol. `lines` and `splits` are as in `Word`. Values are
    never changed. `word` is the word that a value was made from or told as, so that it can be handed on as it is;
    `rested` is the value once more under the assumption that it was last asked for with: each way asks for that anew.
    """

    __slots__ = ("lines", "origin", "parts", "rested", "splits", "text", "word")

    def __init__(
        self,
        text: str | None,
        origin: tuple[Origin, ...] = (),
        parts: tuple[str | Symbol, ...] = (),
        lines: tuple[int, ...] = (),
        splits: bool = False,
    ) -> None:
        self.splits = splits
        self.word: Word | None = None
        self.rested: tuple[Reason, Value] | None = None
        self.text = text
        self.origin = origin
        self.parts = parts
        self.lines = lines

    @property
    def pieces(self) -> tuple[str | Symbol, ...]:
        """The parts, a known text being one of them."""
        return self.parts if self.text is None else (self.text,)

    def template(self) -> str:
        """The text with `${NAME}` in the places of symbols."""
        if self.text is not None:
            return self.text
        return "".join(part if isinstance(part, str) else f"${{{part.name}}}" for part in self.parts)

    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols in the value."""
        return () if self.text is not None else tuple(part for part in self.parts if isinstance(part, Symbol))

    def with_origin(self, origin: tuple[Origin, ...]) -> Value:
        """The same value with other reasons."""
        return Value(self.text, origin, self.parts, self.lines, self.splits)

    def resting_on(self, assumption: Reason) -> Value:
        """The same value with an assumption among its reasons."""
        if self.rested is None or self.rested[0] != assumption:
            if assumption in self.origin:
                return self
            self.rested = (assumption, self.with_origin((*self.origin, assumption)))
        return self.rested[1]

    def __repr__(self) -> str:
        return f"Value({self.template()!r})"


EMPTY = Value("")


def join_origins(values: list[Value]) -> tuple[Origin, ...]:
    """The origins of several values, each once, in order."""
    first = values[0].origin if values else ()
    if all(value.origin == first for value in values):
        return first
    seen: dict[Origin, None] = {}
    for value in values:
        for origin in value.origin:
            seen.setdefault(origin)
    return tuple(seen)


def concatenate(values: list[Value]) -> Value:
    """One value out of several, side by side."""
    if len(values) == 1:
        return values[0]
    if not values:
        return EMPTY
    if all(value.text is not None for value in values):
        return Value("".join(value.text for value in values if value.text is not None), join_origins(values))
    parts: list[str | Symbol] = []
    for value in values:
        for part in value.pieces:
            if isinstance(part, str):
                if not part:
                    continue
                if parts and isinstance(parts[-1], str):
                    parts[-1] = parts[-1] + part
                    continue
            parts.append(part)
    return Value(None, join_origins(values), tuple(parts))


def reasons(origin: tuple[Origin, ...]) -> tuple[Reason, ...]:
    """What a value's origin says to a person: each place once, the nearest ones when there are too many."""
    found: dict[Reason, None] = {}
    for one in origin:
        if isinstance(one, Reason):
            found.setdefault(one)
        elif isinstance(one, Guard):
            for reason in one.reasons():
                found.setdefault(reason)
        else:
            found.setdefault(one[0].reason(one[1]))
    kept = tuple(found)
    if len(kept) <= MAX_REASONS:
        return kept
    left_out = kept[1 : 1 - MAX_REASONS]
    return (kept[0], *(one for one in left_out if one.kind == "assumption"), *kept[1 - MAX_REASONS :])


def assumptions(origin: tuple[Origin, ...]) -> tuple[Reason, ...]:
    """The assumptions among a value's origins, and behind the conditions that led to it."""
    found: list[Reason] = []
    for one in origin:
        if isinstance(one, Guard):
            found.extend(one.assumed)
        elif isinstance(one, Reason) and one.kind == "assumption":
            found.append(one)
    return tuple(found)
