"""From a word to a value: what argparse's converters make of it."""

from __future__ import annotations

import json
import re
from typing import Any

from bot.engine.facts import Facts
from bot.engine.unknown import UNKNOWN

MAX_DEPTH = 60
"""Nesting of a JSON argument that is read; real ones have three levels."""

_HUMAN = re.compile(r"(\d+(?:\.\d+)?)([kKmMgGtT])")
_HUMAN_IN_JSON = re.compile(r"\b\d+(?:\.\d+)?[kKmMgGtT]\b")
_JSON_STRING = re.compile(r'("(?:[^"\\]|\\.)*")')
_MAPPING_TEXT = re.compile(r"(?s)^\s*{.*}\s*$")
_SCALE = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class RefusalError(ValueError):
    """The release does not take a value. `path` is the key inside a JSON argument, dotted."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path

    def again(self) -> RefusalError:
        """The same refusal without the place where it was raised, which holds on to all that was going on there."""
        return RefusalError(self.message, self.path)

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def human_integer(text: str) -> int:
    """`128k` is 128,000, `128K` is 131,072. Raises `RefusalError` for what is no integer."""
    text = text.strip()
    match = _HUMAN.fullmatch(text)
    if match is None:
        return integer(text)
    number, suffix = match.groups()
    if suffix.islower():
        try:
            return int(float(number) * _SCALE[suffix])
        except OverflowError:
            raise RefusalError("the number is too large") from None
    if "." in number:
        raise RefusalError(f"decimals are not allowed with binary suffixes like {suffix}")
    return integer(number) * _SCALE[suffix]


def integer(text: str) -> int:
    """As Python's `int`: spaces and underscores are fine. Raises `RefusalError`."""
    try:
        return int(text)
    except ValueError:
        raise RefusalError(f"invalid int value: {text[:200]!r}") from None


def convert(converter: str, text: str, facts: Facts) -> Any:
    """What the release's converter makes of a word. Raises `RefusalError`.

    A `config:NAME` is only read as JSON here; `coercion.check_config` does the rest.
    """
    match converter:
        case "str":
            return text
        case "int":
            return integer(text)
        case "float":
            try:
                return float(text)
            except ValueError:
                raise RefusalError(f"invalid float value: {text[:200]!r}") from None
        case "human_int":
            return human_integer(text)
        case "human_int_or_auto":
            return -1 if text.strip() == "-1" or text.strip().lower() == "auto" else human_integer(text)
        case "json" | "dict":
            return read_json(text)
        case "dict_or_str":
            return read_json(text) if _MAPPING_TEXT.match(text) else text
        case "lower_underscore":
            return text.lower().replace("-", "_")
        case "none_is_empty":
            return "" if text.lower() == "none" else text
        case "bool":
            return bool(text)
        case "opaque":
            return UNKNOWN
        case _:
            return read_json(_expanded(text) if "json" in facts.rules["human_integers"] else text)


def read_json(text: str) -> Any:
    """Raises `RefusalError` for what is not JSON, or is nested deeper than `MAX_DEPTH`."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "nested too deeply"
        raise RefusalError(f"{_short(text)} is not valid JSON ({reason})") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deep(value):
        raise RefusalError(f"{_short(text)} is nested too deeply")
    return value


def _is_deep(value: Any) -> bool:
    """Whether a value is nested deeper than `MAX_DEPTH`, found without recursion."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True


def _expanded(text: str) -> str:
    """`{"x": 80m}` with the number written out; strings are left alone."""
    parts = _JSON_STRING.split(text)
    for index in range(0, len(parts), 2):
        parts[index] = _HUMAN_IN_JSON.sub(lambda found: str(human_integer(found.group())), parts[index])
    return "".join(parts)


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:117]}..."


# -- JSON with unknowns inside


def read_partly_known(text: str, symbols: tuple[str, ...]) -> Any:
    """JSON text in which `${NAME}` stands for unknowns: each is taken for one value, or a part of one string.

    Whatever holds one is `UNKNOWN`; a mapping with an unknown key is so as a whole, and so is all of the text
    when it is not JSON even then.
    """
    mark = "\x00"
    for symbol in symbols:
        text = text.replace("${" + symbol + "}", mark)
    if "${" in text:
        text = re.sub(r"\$\{[^{}]*\}", mark, text)
    parts = _JSON_STRING.split(text)
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(f"[\\w.+-]*{mark}[\\w.+{mark}-]*", '"\\\\u0000"', parts[index])
    for index in range(1, len(parts), 2):
        parts[index] = parts[index].replace(mark, "\\u0000")
    try:
        return _hidden(read_json("".join(parts)))
    except RefusalError:
        return UNKNOWN


def _hidden(value: Any) -> Any:
    match value:
        case str() if "\x00" in value:
            return UNKNOWN
        case list():
            return [_hidden(item) for item in value]
        case dict():
            if any("\x00" in key for key in value):
                return UNKNOWN
            return {key: _hidden(item) for key, item in value.items()}
        case _:
            return value


def holds_unknown(value: Any) -> bool:
    """Whether a value is `UNKNOWN` or has one inside."""
    match value:
        case dict():
            return any(holds_unknown(item) for item in value.values())
        case list():
            return any(holds_unknown(item) for item in value)
        case _:
            return value is UNKNOWN
