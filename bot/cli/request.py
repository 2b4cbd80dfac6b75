"""The parts of a batch request, read without trust in their shape. Each raises `BadRequest` for another type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class BadRequest(Exception):
    """A request that cannot be answered; the message says what is wrong with it and what to do."""


def text(request: Mapping[str, Any], key: str) -> str | None:
    """A text; None when it is not given."""
    value = request.get(key)
    if value is None or isinstance(value, str):
        return value
    raise BadRequest(f"`{key}` is a text, not {value!r}")


def needed_text(request: Mapping[str, Any], key: str) -> str:
    """A text that must be given."""
    value = text(request, key)
    if value is None:
        raise BadRequest(f"the request has no `{key}`")
    return value


def texts(request: Mapping[str, Any], key: str) -> dict[str, str]:
    """Names with their texts; empty when they are not given."""
    value = request.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(found, str) for found in value.values()):
        raise BadRequest(f'`{key}` is an object of texts, such as {{"NAME": "value"}}')
    return value


def words(request: Mapping[str, Any], key: str) -> list[str]:
    """A list of texts; empty when it is not given."""
    value = request.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise BadRequest(f"`{key}` is a list of texts")
    return value
