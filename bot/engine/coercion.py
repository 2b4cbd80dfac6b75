"""From a word to a value: argparse's converters, and the checks that the configuration classes declare."""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bot.engine.facts import Config, Facts, Field, Type
from bot.engine.unknown import UNKNOWN

MAX_DEPTH = 60
"""Nesting of a JSON argument that is read; real ones have three levels."""

_HUMAN = re.compile(r"(\d+(?:\.\d+)?)([kKmMgGtT])")
_HUMAN_IN_JSON = re.compile(r"\b\d+(?:\.\d+)?[kKmMgGtT]\b")
_JSON_STRING = re.compile(r'("(?:[^"\\]|\\.)*")')
_MAPPING_TEXT = re.compile(r"(?s)^\s*{.*}\s*$")
_SCALE = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_NEVER_JSON = frozenset({"Callable", "type", "Type", "SupportsHash"})
"""Classes whose values no word and no JSON can be."""

_TRUE = frozenset({"1", "true", "t", "yes", "y", "on"})
_FALSE = frozenset({"0", "false", "f", "no", "n", "off"})


_LIMITS: Mapping[str, tuple[Callable[[float, float], bool], str]] = {
    "gt": (operator.gt, "greater than"),
    "ge": (operator.ge, "greater than or equal to"),
    "lt": (operator.lt, "less than"),
    "le": (operator.le, "less than or equal to"),
    "multiple_of": (lambda value, step: math.isfinite(value) and value % step == 0, "a multiple of"),
}


class RefusalError(ValueError):
    """The release does not take a value. `path` is the key inside a JSON argument, dotted."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path

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
        return int(float(number) * _SCALE[suffix])
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

    A `config:NAME` is only read as JSON here; `check_config` does the rest.
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


# -- what the configuration classes accept


@dataclass(frozen=True, slots=True)
class _Check:
    facts: Facts
    json: bool


def check_config(value: Any, name: str, facts: Facts, *, json_mode: bool = True) -> Any:
    """A mapping as the configuration class `name` takes it: enum members by name, numbers as numbers.

    Raises `RefusalError` for unknown keys and for values of the wrong type or out of range. A class that is not known
    takes anything.
    """
    config = facts.config(name)
    if config is None or value is UNKNOWN:
        return value
    return _config(_Check(facts, json_mode), value, config, 0)


def check_field(value: Any, field: Field, facts: Facts) -> Any:
    """A value of a flag as its configuration field takes it. Raises `RefusalError`."""
    return _field(_Check(facts, False), value, field, 0)


def _config(check: _Check, value: Any, config: Config, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise RefusalError("nested too deeply")
    if not isinstance(value, dict):
        raise RefusalError(f"input should be an object, for {config.name}")
    result: dict[str, Any] = {}
    for key, inner in value.items():
        field = config.fields.get(key)
        if field is None:
            if config.extra == "forbid":
                raise RefusalError(f"{config.name} has no such key", key)
            if config.extra == "allow":
                result[key] = inner
            continue
        try:
            result[key] = _field(check, inner, field, depth)
        except RefusalError as refusal:
            raise RefusalError(refusal.message, f"{key}.{refusal.path}" if refusal.path else key) from None
    for key, field in config.fields.items():
        if field.required and key not in value:
            raise RefusalError(f"{config.name} needs this key", key)
    return result


def _field(check: _Check, value: Any, field: Field, depth: int) -> Any:
    if value is UNKNOWN:
        return value
    validators = field.validators
    if validators:
        if "skipped" in validators:
            return value
        if "custom" in validators:
            return UNKNOWN
        if value is None and "nullable" in validators:
            return None
        if isinstance(value, str):
            value = _before(check, value, field)
            if value is None:
                return None
    result = _type(check, value, field.types, depth + 1)
    if field.limits:
        _limits(result, field.limits)
    return result


def _before(check: _Check, value: str, field: Field) -> Any:
    """What a validator makes of a string before its type is checked."""
    validators = field.validators
    if "lower" in validators:
        return value.lower()
    if "lower_underscore" in validators:
        return value.lower().replace("-", "_")
    if "by_name_or_auto" in validators and value.lower() == "auto":
        return None
    if "by_name" in validators or "by_name_or_auto" in validators:
        name = next((kind[1] for kind in field.types if kind[0] == "enum"), "")
        members = check.facts.enum(name)
        if members and value.upper() not in members:
            raise RefusalError(f"{value!r} is not one of {', '.join(members)}")
        return _Member(value.upper())
    return value


class _Member(str):
    """The name of an enum member, already looked up."""

    __slots__ = ()


def _limits(value: Any, limits: Mapping[str, float]) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    for name, limit in limits.items():
        holds, words = _LIMITS[name]
        if not holds(value, limit):
            raise RefusalError(f"input should be {words} {limit}")


def _type(check: _Check, value: Any, types: Type, depth: int) -> Any:
    """The first alternative that takes the value exactly, else the first that can be made of it."""
    if value is UNKNOWN or "any" in types:
        return value
    if isinstance(value, _Member):
        return str(value)
    if depth > MAX_DEPTH:
        raise RefusalError("nested too deeply")
    refusals: list[RefusalError] = []
    for exact in (True, False):
        for kind in types:
            if exact and not _is_exactly(value, kind):
                continue
            try:
                return _one(check, value, kind, depth)
            except RefusalError as refusal:
                refusals.append(refusal)
    deepest = max(refusals, key=lambda refusal: refusal.path.count(".") + bool(refusal.path))
    raise deepest


def _is_exactly(value: Any, kind: Any) -> bool:
    word = kind if isinstance(kind, str) else kind[0]
    match value:
        case None:
            return word == "none"
        case bool():
            return word == "bool"
        case int():
            return word == "int" or (word == "literal" and value in kind[1:])
        case float():
            return word == "float"
        case str():
            return word == "str" or (word == "literal" and value in kind[1:])
        case list():
            return word in ("list", "tuple", "set")
        case dict():
            return word in ("dict", "config")
        case _:
            return False


def _one(check: _Check, value: Any, kind: Any, depth: int) -> Any:
    word = kind if isinstance(kind, str) else kind[0]
    match word:
        case "none":
            if value is not None:
                raise RefusalError("input should be null")
            return None
        case "str":
            if not isinstance(value, str):
                raise RefusalError("input should be a string")
            return value
        case "int":
            return _as_int(value)
        case "float":
            return _as_float(value)
        case "bool":
            return _as_bool(value)
        case "literal":
            if not any(value == choice and type(value) is type(choice) for choice in kind[1:]):
                raise RefusalError(f"input should be one of {', '.join(map(repr, kind[1:]))}")
            return value
        case "enum":
            return _as_member(check, value, kind[1])
        case "config":
            config = check.facts.config(kind[1])
            return value if config is None else _config(check, value, config, depth + 1)
        case "list" | "set" | "tuple":
            return _as_items(check, value, kind, word, depth)
        case "dict":
            return _as_mapping(check, value, kind, depth)
        case "class" if kind[1].rpartition(".")[2] in _NEVER_JSON:
            raise RefusalError(f"input should be a {kind[1]}")
        case _:
            return value


def _as_int(value: Any) -> int:
    match value:
        case bool() | int():
            return int(value)
        case float() if value.is_integer():
            return int(value)
        case str():
            try:
                return int(value)
            except ValueError:
                try:
                    number = float(value)
                except ValueError:
                    raise RefusalError("input should be a valid integer") from None
                if number.is_integer() and "e" not in value.lower():
                    return int(number)
    raise RefusalError("input should be a valid integer")


def _as_float(value: Any) -> float:
    match value:
        case int() | float():
            return float(value)
        case str():
            try:
                return float(value)
            except ValueError:
                pass
    raise RefusalError("input should be a valid number")


def _as_bool(value: Any) -> bool:
    match value:
        case bool():
            return value
        case int() | float() if value in (0, 1):
            return bool(value)
        case str() if value.lower() in _TRUE | _FALSE:
            return value.lower() in _TRUE
    raise RefusalError("input should be a valid boolean")


def _as_member(check: _Check, value: Any, name: str) -> Any:
    """The name of the enum member that has a value."""
    members = check.facts.enum(name)
    if not members or None in members.values():
        known = [member for member, inner in members.items() if inner is not None and inner == value]
        return known[0] if known else value
    whole = all(isinstance(inner, int) for inner in members.values())
    if whole and not isinstance(value, bool):
        with suppress(RefusalError):
            value = _as_int(value)
    for member, inner in members.items():
        if inner == value and isinstance(inner, str) == isinstance(value, str):
            return member
    raise RefusalError(f"input should be {', '.join(repr(inner) for inner in members.values())}")


def _as_items(check: _Check, value: Any, kind: Any, word: str, depth: int) -> Any:
    if not isinstance(value, list):
        raise RefusalError(f"input should be a valid {word}")
    if isinstance(kind, str) or len(kind) < 2:
        return value
    if word == "tuple" and "..." not in kind:
        if len(value) != len(kind) - 1:
            raise RefusalError(f"input should have {len(kind) - 1} items")
        return [_item(check, item, kind[i + 1], i, depth) for i, item in enumerate(value)]
    return [_item(check, item, kind[1], i, depth) for i, item in enumerate(value)]


def _item(check: _Check, item: Any, types: Any, index: int, depth: int) -> Any:
    try:
        return _type(check, item, types if isinstance(types, list) else [types], depth + 1)
    except RefusalError as refusal:
        raise RefusalError(refusal.message, f"{index}.{refusal.path}" if refusal.path else str(index)) from None


def _as_mapping(check: _Check, value: Any, kind: Any, depth: int) -> Any:
    if not isinstance(value, dict):
        raise RefusalError("input should be a valid dictionary")
    if isinstance(kind, str) or len(kind) < 3:
        return value
    result = {}
    for key, item in value.items():
        try:
            result[key] = _type(check, item, kind[2], depth + 1)
        except RefusalError as refusal:
            raise RefusalError(refusal.message, f"{key}.{refusal.path}" if refusal.path else key) from None
    return result
