"""What a release makes of one value: of a word behind a flag, or of the configuration that the engine makes of it."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from bot.engine.coercion import check_config, check_field
from bot.engine.conversion import RefusalError, convert, read_json
from bot.engine.facts import Facts, Flag
from bot.engine.settings import READ_BY_ENGINE, SPECULATION
from bot.engine.unknown import UNKNOWN


def adapter(text: str) -> Any:
    """A LoRA module: `name=path`, or JSON. Raises `RefusalError`."""
    if "=" in text and "," not in text:
        if text.count("=") > 1:
            raise RefusalError(f"{text!r} is not name=path")
        return text
    read = read_json(text) if text else text
    if text and not isinstance(read, dict):
        raise RefusalError(f"invalid fields: {text!r}")
    return read


@lru_cache(maxsize=8192)
def converted(facts: Facts, flag: Flag, text: str) -> tuple[Any, RefusalError | None, tuple[Any, RefusalError | None]]:
    """A word's value, or why the parser refuses it; and the same of the engine's configuration.

    The same words come again in every world of a compose.
    """
    try:
        if flag.optional and text in ("", "None"):
            value: Any = None
        else:
            value = checked_config(facts, flag, convert(flag.converter, text, facts))
        if flag.choices is not None and value not in flag.choices:
            raise RefusalError(f"invalid choice: {text!r} (choose from {', '.join(map(repr, flag.choices))})")
    except RefusalError as refusal:
        return None, refusal.again(), (None, None)
    return value, None, engine_value(facts, flag, value)


@lru_cache(maxsize=8192)
def engine_config_in_json(facts: Facts, config: str, text: str) -> tuple[Any, RefusalError | None]:
    """What a class of the engine's configuration makes of a JSON text, or why it refuses it."""
    return engine_config(facts, config, json.loads(text))


def engine_config(facts: Facts, config: str, value: Any) -> tuple[Any, RefusalError | None]:
    """What a class of the engine's configuration makes of a value, or why it refuses it."""
    try:
        return check_config(value, config, facts), None
    except RefusalError as refusal:
        return value, refusal.again()


def as_json(value: Any) -> str | None:
    """A value as JSON; None for one that JSON would change."""
    try:
        text = json.dumps(value)
        return text if json.loads(text) == value else None
    except (TypeError, ValueError, RecursionError):
        return None


def checked_config(facts: Facts, flag: Flag, value: Any) -> Any:
    """A value as the configuration class that a flag names takes it. Raises `RefusalError`."""
    if not flag.converter.startswith("config:"):
        return value
    return check_config(value, flag.converter.removeprefix("config:"), facts)


def engine_value(facts: Facts, flag: Flag, value: Any) -> tuple[Any, RefusalError | None]:
    """A value as the configuration field behind the flag takes it, or why it does not."""
    if value is None or value is UNKNOWN or flag.dest in READ_BY_ENGINE or flag.converter.startswith("config:"):
        return value, None
    declared = facts.field(flag.field) if flag.field else None
    if declared is None or flag.converter == "opaque" or flag.dest in SPECULATION:
        return value, None
    try:
        return check_field(value, declared, facts), None
    except RefusalError as refusal:
        return value, refusal.again()
