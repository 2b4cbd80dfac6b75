"""What the configuration classes accept: values checked against their declared types and limits, as pydantic does."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from bot.engine.conversion import MAX_DEPTH, RefusalError
from bot.engine.facts import Config, Facts, Field, Type
from bot.engine.selfchecks import own_refusal
from bot.engine.unknown import UNKNOWN

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


def check_config(value: Any, name: str, facts: Facts) -> Any:
    """A mapping as the configuration class `name` takes it: enum members by name, numbers as numbers.

    Raises `RefusalError` for unknown keys and for values of the wrong type or out of range. A class that is not known
    takes anything.
    """
    config = facts.config(name)
    if config is None or value is UNKNOWN:
        return value
    return _config(facts, value, config, 0)


def check_field(value: Any, field: Field, facts: Facts) -> Any:
    """A value of a flag as its configuration field takes it. Raises `RefusalError`."""
    return _field(facts, value, field, 0)


def _config(facts: Facts, value: Any, config: Config, depth: int) -> Any:
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
            result[key] = _field(facts, inner, field, depth)
        except RefusalError as refusal:
            raise RefusalError(refusal.message, f"{key}.{refusal.path}" if refusal.path else key) from None
    for key in config.required:
        if key not in value:
            raise RefusalError(f"{config.name} needs this key", key)
    own = own_refusal(result, config)
    if own is not None:
        raise RefusalError(own)
    return result


def _field(facts: Facts, value: Any, field: Field, depth: int) -> Any:
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
            value = _before(facts, value, field)
            if value is None:
                return None
    result = _type(facts, value, field.types, depth + 1)
    if field.limits:
        _limits(result, field.limits)
    for validator in validators:
        if validator.startswith("in:"):
            _listed(facts, result, validator.removeprefix("in:"))
    return result


def _listed(facts: Facts, value: Any, name: str) -> None:
    choices = facts.choices(name)
    if choices and value is not UNKNOWN and value not in choices:
        raise RefusalError(f"{value!r} is not one of {', '.join(map(str, choices))}")


def _before(facts: Facts, value: str, field: Field) -> Any:
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
        members = facts.enum(name)
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


def _type(facts: Facts, value: Any, types: Type, depth: int) -> Any:
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
                return _one(facts, value, kind, depth)
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


def _one(facts: Facts, value: Any, kind: Any, depth: int) -> Any:
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
            return _as_member(facts, value, kind[1])
        case "config":
            config = facts.config(kind[1])
            return value if config is None else _config(facts, value, config, depth + 1)
        case "list" | "set" | "tuple":
            return _as_items(facts, value, kind, word, depth)
        case "dict":
            return _as_mapping(facts, value, kind, depth)
        case "class" if kind[1].endswith("Path") and not isinstance(value, str):
            raise RefusalError("input should be a path")
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
        case int() | float() | str():
            with suppress(ValueError, OverflowError):
                return float(value)
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


def _as_member(facts: Facts, value: Any, name: str) -> Any:
    """The name of the enum member that has a value."""
    members = facts.enum(name)
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


def _as_items(facts: Facts, value: Any, kind: Any, word: str, depth: int) -> Any:
    if not isinstance(value, list):
        raise RefusalError(f"input should be a valid {word}")
    if isinstance(kind, str) or len(kind) < 2:
        return value
    if word == "tuple" and "..." not in kind:
        if len(value) != len(kind) - 1:
            raise RefusalError(f"input should have {len(kind) - 1} items")
        return [_item(facts, item, kind[i + 1], i, depth) for i, item in enumerate(value)]
    return [_item(facts, item, kind[1], i, depth) for i, item in enumerate(value)]


def _item(facts: Facts, item: Any, types: Any, index: int, depth: int) -> Any:
    try:
        return _type(facts, item, types if isinstance(types, list) else [types], depth + 1)
    except RefusalError as refusal:
        raise RefusalError(refusal.message, f"{index}.{refusal.path}" if refusal.path else str(index)) from None


def _as_mapping(facts: Facts, value: Any, kind: Any, depth: int) -> Any:
    if not isinstance(value, dict):
        raise RefusalError("input should be a valid dictionary")
    if isinstance(kind, str) or len(kind) < 3:
        return value
    result = {}
    for key, item in value.items():
        try:
            result[key] = _type(facts, item, kind[2], depth + 1)
        except RefusalError as refusal:
            raise RefusalError(refusal.message, f"{key}.{refusal.path}" if refusal.path else key) from None
    return result
