"""Sentences with holes: `{release}`, `{spec_decode.method}`, `{argument}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bot.engine.model import PROPERTIES
from bot.markdown import is_prose
from bot.printable import printable

MAX_VALUE = 200
"""A value in a sentence is cut after so many characters: it may come from a hostile file."""

BUILTIN = frozenset({"service", "file", "slug", "release", "asked", "gpu", "image", "world", "variables", "seam"})

_HOLE = re.compile(r"\{([a-z][a-z0-9_.]*)\}")
_PROPERTIES = frozenset(PROPERTIES)


class Template:
    """A sentence of a rule, cut at its holes once. Sentences are Markdown, of which only code spans are used.

    What fills a hole may come from a hostile file. It stands in a code span: the one that the sentence has around the
    hole, else one of its own, unless it is plain prose.
    """

    __slots__ = ("_parts", "_quoted", "holes", "text")

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        self._parts = _HOLE.split(self.text)
        self._quoted = tuple(
            "".join(self._parts[:index:2]).count("`") % 2 == 1 for index in range(1, len(self._parts), 2)
        )
        self.holes = frozenset(self._parts[1::2])

    @property
    def balanced(self) -> bool:
        """Whether every code span is closed, and none is fenced by more than one backquote."""
        return self.text.count("`") % 2 == 0 and "``" not in self.text

    def unknown_holes(self, fields_allowed: bool) -> list[str]:
        """Holes that nothing will fill. Fields of observations can have any name, so with them every hole is good."""
        return [] if fields_allowed else sorted(self.holes - BUILTIN - _PROPERTIES)

    def fill(self, values: Mapping[str, Any]) -> str:
        """The sentence with its holes filled; a hole without a value says so."""
        if not self.holes:
            return self.text
        parts = list(self._parts)
        names = zip(self._parts[1::2], self._quoted, strict=True)
        parts[1::2] = [_filled(values[name], quoted) if name in values else "(unknown)" for name, quoted in names]
        return "".join(parts)


def _filled(value: object, quoted: bool) -> str:
    text = spoken(value)
    return text if quoted or is_prose(text) else f"`{text}`"


def spoken(value: object) -> str:
    """A value as a sentence says it: on and off for switches, none for nothing.

    On one line, cut, and without backquotes: it stands between them.
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "none"
    text = ", ".join(spoken(item) for item in value) if isinstance(value, list | tuple) else str(value)
    text = printable(" ".join(text.replace("`", "'").split()))
    return text if len(text) <= MAX_VALUE else f"{text[: MAX_VALUE - 1]}…"
