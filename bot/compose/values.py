"""Values after interpolation: plain data whose strings remember where they came from."""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from collections.abc import Sequence
from typing import Any

from bot.compose.dotenv import Asked
from bot.compose.lines import SourceText
from bot.compose.nodes import Scalar, Text
from bot.provenance import Reason

Value = Any
"""str (a `Text` where it came from a file), int, float, bool, None, Timestamp, list or dict of these.

Values are shared and never changed: every step answers new containers.
"""


class _Missing:
    """The absence of a field, which differs from null."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


def text_like(text: str, origin: object) -> str:
    """`text`, which was made of `origin`, with the same provenance."""
    if isinstance(origin, Text):
        made = Text(text)
        made.scalar = origin.scalar
        made.notes = origin.notes
        return made
    return text


def text_of(text: str, scalar: Scalar, notes: tuple[Reason, ...]) -> Text:
    """A string that stands at a scalar."""
    made = Text(text)
    made.scalar = scalar
    made.notes = notes
    return made


def pair(name: str, value: Value, text: str) -> str:
    """`NAME=text`, with the provenance of the value."""
    return text_like(f"{name}={text}", value)


class Stated(str):
    """The value of a variable that an environment file states, with its line there, and what that asks of the host."""

    __slots__ = ("asked", "reason")

    reason: Reason
    asked: tuple[Asked, ...]

    @classmethod
    def at(cls, value: str, source: SourceText, line: int, asked: Sequence[Asked] = ()) -> Stated:
        """A value that stands in this line."""
        made = cls(value)
        made.asked = tuple(asked)
        made.reason = Reason("compose", source.path, line, source.excerpt(line).removeprefix("export ").lstrip())
        return made


Environment = Dictionary[str, str]
