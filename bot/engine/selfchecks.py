"""What a configuration class refuses of its own values; the conditions are those of `bot.learn.selfchecks`.

Conditions are evaluated in three-valued logic: None where a value is not known.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from bot.engine.conversion import holds_unknown
from bot.engine.facts import Config
from bot.engine.unknown import UNKNOWN

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda item, container: item in container,
    "not in": lambda item, container: item not in container,
    "+": operator.add,
    "count": lambda container, item: container.count(item),
}


def own_refusal(values: Mapping[str, Any], config: Config) -> str | None:
    """What the class says when it refuses these values for certain, else None."""
    for check in config.checks:
        if _truth(_value(check["when"], values, config)) is True:
            return str(check["text"])
    return None


def _truth(value: Any) -> bool | None:
    return None if value is UNKNOWN else bool(value)


def _value(condition: Any, values: Mapping[str, Any], config: Config) -> Any:
    """The value of a condition or an operand, `UNKNOWN` when it is not known."""
    match condition:
        case ["value", value]:
            return value
        case ["field", name, *rest]:
            return _field(name, rest, values, config)
        case ["not", inner]:
            truth = _truth(_value(inner, values, config))
            return UNKNOWN if truth is None else not truth
        case ["and", *parts]:
            truths = [_truth(_value(part, values, config)) for part in parts]
            return False if False in truths else UNKNOWN if None in truths else True
        case ["or", *parts]:
            truths = [_truth(_value(part, values, config)) for part in parts]
            return True if True in truths else UNKNOWN if None in truths else False
        case [name, left, right]:
            first, second = _value(left, values, config), _value(right, values, config)
            if holds_unknown(first) or holds_unknown(second):
                return UNKNOWN
            try:
                return _OPERATORS[name](first, second)
            except (TypeError, AttributeError):
                return UNKNOWN
        case _:
            return UNKNOWN


def _field(name: str, rest: list[str], values: Mapping[str, Any], config: Config) -> Any:
    if name in values:
        found = values[name]
    else:
        default = config.fields[name].default
        found = default.value if default.known else UNKNOWN
    for key in rest:
        if not isinstance(found, Mapping) or key not in found:
            return UNKNOWN
        found = found[key]
    return found
