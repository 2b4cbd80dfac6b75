"""The forms that GitHub's answers have: what is something else is no answer."""

from __future__ import annotations

from typing import Any

from bot.github.errors import Unavailable


def items_of(data: object) -> list[dict[str, Any]]:
    """The objects of a list. Raises `Unavailable` for what is no list."""
    if not isinstance(data, list):
        raise Unavailable("GitHub answers something else than a list")
    return [item for item in data if isinstance(item, dict)]


def object_of(data: object) -> dict[str, Any]:
    """An object. Raises `Unavailable` for what is none."""
    if not isinstance(data, dict):
        raise Unavailable("GitHub answers something else than an object")
    return data
