"""Sentences with holes: `{release}`, `{spec_decode.method}`, `{argument}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bot.engine.model import PROPERTIES

MAX_VALUE = 200
"""A value in a sentence is cut after so many characters: it may come from a hostile file."""

BUILTIN = frozenset({"service", "file", "slug", "release", "asked", "image", "world", "variables", "seam"})

_HOLE = re.compile(r"\{([a-z][a-z0-9_.]*)\}")
_PROPERTIES = frozenset(PROPERTIES)


class Template:
    """A sentence of a rule, cut at its holes once."""

    __slots__ = ("_parts", "holes", "text")

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        self._parts = _HOLE.split(self.text)
        self.holes = frozenset(self._parts[1::2])

    def unknown_holes(self, fields_allowed: bool) -> list[str]:
        """Holes that nothing will fill. Fields of observations can have any name, so with them every hole is good."""
        return [] if fields_allowed else sorted(self.holes - BUILTIN - _PROPERTIES)

    def fill(self, values: Mapping[str, Any]) -> str:
        """The sentence with its holes filled; a hole without a value says so."""
        if not self.holes:
            return self.text
        parts = list(self._parts)
        parts[1::2] = [spoken(values[name]) if name in values else "(unknown)" for name in self._parts[1::2]]
        return "".join(parts)


def spoken(value: object) -> str:
    """A value as a sentence says it: on and off for switches, none for nothing.

    On one line, cut, and without backquotes: it may come from a hostile file, and stands in Markdown between them.
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "none"
    text = ", ".join(spoken(item) for item in value) if isinstance(value, list | tuple) else str(value)
    text = " ".join(text.replace("`", "'").split())
    return text if len(text) <= MAX_VALUE else f"{text[: MAX_VALUE - 1]}…"
