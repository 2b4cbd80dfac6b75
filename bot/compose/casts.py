"""Strings that become numbers and booleans: Docker Compose converts them where interpolation leaves them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.compose.scalars import go_quoted

Number = int | float | bool

_DECIMAL = re.compile("[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+(?:_[0-9]+)*\.?(?:[0-9]+(?:_[0-9]+)*)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = {"inf": math.inf, "infinity": math.inf, "nan": math.nan}
_WIDTH = 63


def to_integer(text: str, function: str = "Atoi") -> int:
    """A decimal number of 64 bits. Raises ValueError in Go's words."""
    if not _DECIMAL.fullmatch(text):
        raise ValueError(f"strconv.{function}: parsing {go_quoted(text)}: invalid syntax")
    value = int(text) if len(text) < 25 else 1 << 70
    if not -(1 << _WIDTH) <= value < 1 << _WIDTH:
        raise ValueError(f"strconv.{function}: parsing {go_quoted(text)}: value out of range")
    return value


def to_integer64(text: str) -> int:
    """The same, for fields that Compose reads with another function of Go's."""
    return to_integer(text, "ParseInt")


def to_float(text: str) -> float:
    """A decimal number. Raises ValueError in Go's words."""
    special = _NOT_FINITE.get(text.lower().lstrip("+-"))
    if special is not None and text.lower().lstrip("+-") in text.lower()[:9]:
        return -special if text.startswith("-") else special
    if not _FLOAT.fullmatch(text):
        raise ValueError(f"strconv.ParseFloat: parsing {go_quoted(text)}: invalid syntax")
    value = float(text.replace("_", ""))
    if math.isinf(value):
        raise ValueError(f"strconv.ParseFloat: parsing {go_quoted(text)}: value out of range")
    return value


def to_boolean(text: str) -> bool:
    """A word of YAML 1.1 for true or false. Raises ValueError."""
    word = text.lower()
    if word in ("y", "yes", "true", "on"):
        return True
    if word in ("n", "no", "false", "off"):
        return False
    raise ValueError(f"invalid boolean: {text}")


@dataclass(frozen=True, slots=True)
class Cast:
    """What happens to the strings at a place and below it. `children` are by key; `*` is any key, `[]` any item."""

    convert: Callable[[str], Number] | None = None
    children: dict[str, Cast] = field(default_factory=dict)

    def below(self, key: str) -> Cast:
        """The cast for a key of a mapping, or `[]`."""
        return self.children.get(key) or self.children.get("*") or NO_CAST


NO_CAST = Cast()


def _map(**children: Cast) -> Cast:
    return Cast(None, children)


def _items(**children: Cast) -> Cast:
    return Cast(None, {"[]": Cast(None, children)})


_INTEGER, _INTEGER64, _FLOAT_CAST, _BOOLEAN = Cast(to_integer), Cast(to_integer64), Cast(to_float), Cast(to_boolean)
_ROLLOUT = _map(parallelism=_INTEGER, max_failure_ratio=_FLOAT_CAST)
_EXTERNAL = Cast(None, {"*": _map(external=_BOOLEAN)})

SERVICE_CASTS: dict[str, Cast] = {
    **dict.fromkeys(
        (
            "cpu_count",
            "cpu_period",
            "cpu_quota",
            "cpu_rt_period",
            "cpu_rt_runtime",
            "cpu_shares",
            "oom_score_adj",
            "pids_limit",
        ),
        _INTEGER64,
    ),
    **dict.fromkeys(("cpu_percent", "cpus"), _FLOAT_CAST),
    **dict.fromkeys(("init", "oom_kill_disable", "privileged", "read_only", "stdin_open", "tty"), _BOOLEAN),
    "deploy": _map(
        replicas=_INTEGER,
        update_config=_ROLLOUT,
        rollback_config=_ROLLOUT,
        restart_policy=_map(max_attempts=_INTEGER),
        placement=_map(max_replicas_per_node=_INTEGER),
    ),
    "healthcheck": _map(retries=_INTEGER, disable=_BOOLEAN),
    "ports": _items(target=_INTEGER),
    "scale": _INTEGER,
    "ulimits": Cast(None, {"*": Cast(to_integer, {"hard": _INTEGER, "soft": _INTEGER})}),
    "volumes": _items(read_only=_BOOLEAN, volume=_map(nocopy=_BOOLEAN)),
}
"""The casts of a service, by field."""

TOP_LEVEL_CASTS: dict[str, Cast] = {
    "networks": Cast(
        None,
        {
            "*": _map(
                external=_BOOLEAN, internal=_BOOLEAN, attachable=_BOOLEAN, enable_ipv4=_BOOLEAN, enable_ipv6=_BOOLEAN
            )
        },
    ),
    "volumes": _EXTERNAL,
    "secrets": _EXTERNAL,
    "configs": _EXTERNAL,
}
"""The casts of the other top-level fields."""
