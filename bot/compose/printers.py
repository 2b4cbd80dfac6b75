"""Printers: small functions that turn canonical values into the JSON data that Compose prints."""

from __future__ import annotations

import math
from collections.abc import Callable

from bot.compose.casts import to_boolean, to_float, to_integer64
from bot.compose.command_line import split
from bot.compose.scalars import go_text, round_to_float32
from bot.compose.units import format_duration, parse_duration, parse_size
from bot.compose.values import MISSING, Value, text_like

Printer = Callable[[Value], Value]


class Unprintable(ValueError):
    """A value that Compose cannot decode. `path` leads to it from the field (`.interval`, `[0].count`)."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path


class Unsupported(Exception):
    """A value that Compose accepts and cannot print."""


def within(path: str, printer: Printer, value: Value) -> Value:
    """Runs a printer on what lies at `path`, so that its complaint names the place."""
    try:
        return printer(value)
    except Unprintable as error:
        raise Unprintable(error.message, path + error.path) from None
    except ValueError as error:
        raise Unprintable(str(error), path) from None


def guarded(printer: Printer) -> Printer:
    """A printer whose complaints are Compose's."""
    return lambda value: within("", printer, value)


def _or_nothing(printed: Value) -> Value:
    """What Go's `omitempty` leaves out."""
    return printed if printed not in ("", 0, False, None) and printed != [] and printed != {} else MISSING


def optional(printer: Printer) -> Printer:
    """A printer that leaves empty values out."""
    return lambda value: _or_nothing(within("", printer, value))


def text(value: Value) -> Value:
    """A string."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Unprintable(f"expected type 'string', got unconvertible type '{_go_kind(value)}'")
    return value


def word(value: Value) -> Value:
    """A string, for which Compose also takes a number."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text(value)


def _go_kind(value: Value) -> str:
    return {bool: "bool", float: "float64", int: "int", dict: "map[string]interface {}"}.get(
        type(value), "[]interface {}"
    )


def integer(value: Value) -> Value:
    """A whole number; Compose cuts off a fraction."""
    if isinstance(value, str):
        return to_integer64(value)
    return int(value or 0)


def single_float(value: Value) -> Value:
    """A number of 32 bits."""
    number = to_float(value) if isinstance(value, str) else value or 0
    if not math.isfinite(number):
        raise Unsupported(f"json: unsupported value: {go_text(float(number))}")
    rounded = round_to_float32(float(number))
    return int(rounded) if rounded == int(rounded) else rounded


def flag(value: Value) -> Value:
    """A boolean, or a word for one."""
    return to_boolean(value) if isinstance(value, str) else bool(value)


def size(value: Value) -> Value:
    """Bytes, as text; none for zero."""
    if isinstance(value, str):
        value = parse_size(value)
    return str(value) if value and isinstance(value, int) else ""  # Compose reads a float as no size at all


def duration(value: Value) -> Value:
    """A duration, in Go's notation."""
    return format_duration(parse_duration(value)) if isinstance(value, str) else value


def short_duration(value: Value) -> Value:
    """A duration that is left out when it is zero."""
    nanoseconds = parse_duration(value)
    return format_duration(nanoseconds) if nanoseconds else ""


def list_of(item: Printer) -> Printer:
    """A list, or a single item as a list of one."""

    def printer(value: Value) -> Value:
        items = value if isinstance(value, list) else [] if value is None else [value]
        return [within(f"[{index}]", item, one) for index, one in enumerate(items)]

    return printer


def record(**fields: Printer) -> Printer:
    """A mapping with these fields; a printer that answers `MISSING` leaves its field out."""

    def printer(value: Value) -> Value:
        if not isinstance(value, dict):
            return {}
        printed = {}
        for name, item in value.items():
            field = fields.get(name)
            if field is not None:
                shown = within(f".{name}", field, item)
                if shown is not MISSING:
                    printed[name] = shown
        return printed

    return printer


def map_of(item: Printer) -> Printer:
    """A mapping of names to whatever the printer prints."""

    def printer(value: Value) -> Value:
        if not isinstance(value, dict):
            return {}
        return {key: within(f"[{key}]", item, one) for key, one in value.items()}

    return printer


def pairs(value: Value) -> Value:
    """Labels and the like: a map, or a list of `NAME=value`, to strings."""
    if isinstance(value, dict):
        return {name: "" if item is None else text_like(go_text(item), item) for name, item in value.items()}
    if isinstance(value, list):
        split_items = (item.partition("=") for item in value if isinstance(item, str))
        return {name: text for name, _, text in split_items}
    return {}


def command_words(value: Value) -> list[str] | None:
    """A command as the list of its words; None for one that is not set. Raises ValueError."""
    if value is None or isinstance(value, list):
        return value
    if not value:
        return []
    return [text_like(word, value) for word, _ in split(value)]


def options(value: Value) -> Value:
    """Options of a driver: numbers become text."""
    if not isinstance(value, dict):
        return {}
    return {name: "" if item is None else text_like(go_text(item), item) for name, item in value.items()}


TEXT = optional(text)
TEXTS = optional(list_of(text))
WORDS = optional(list_of(word))
PAIRS = optional(pairs)
INTEGER = optional(integer)
FLOAT = optional(single_float)
FLAG = optional(flag)
SIZE = optional(size)
OPTIONS = optional(options)
SHORT_DURATION = optional(short_duration)
COMMAND = guarded(command_words)
