"""Durations and sizes, as Docker Compose reads and prints them."""

from __future__ import annotations

import re

from bot.compose.casts import to_float
from bot.compose.scalars import go_quoted

_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 24 * 3600 * 10**9,
    "w": 7 * 24 * 3600 * 10**9,
}
_STEP = re.compile(r"(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?P<unit>[^0-9.]*)")
_LIMIT = 2**63 - 1
_MAX_DIGITS = 20


def parse_duration(text: str) -> int:
    """Nanoseconds of `1m30s`. Raises ValueError in Go's words."""
    rest = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    if rest == "0":
        return 0
    if not rest:
        raise ValueError(f"time: invalid duration {go_quoted(text)}")
    total = 0
    one: int = 10**_MAX_DIGITS
    position = 0
    while position < len(rest):
        step = _STEP.match(rest, position)
        if not step or not (step["whole"] or step["part"]):
            raise ValueError(f"time: invalid duration {go_quoted(text)}")
        if not step["unit"]:
            raise ValueError(f"time: missing unit in duration {go_quoted(text)}")
        if step["unit"] not in _NANOSECONDS:
            raise ValueError(f"time: unknown unit {go_quoted(step['unit'])} in duration {go_quoted(text)}")
        whole, part = (step["whole"] or "").lstrip("0"), (step["part"] or "")[:_MAX_DIGITS]
        if len(whole) > _MAX_DIGITS:
            raise ValueError(f"time: invalid duration {go_quoted(text)}")
        total += int(whole + part or "0") * (one // 10 ** len(part)) * _NANOSECONDS[step["unit"]]
        position = step.end()
    value = total // one
    if value > _LIMIT:
        raise ValueError(f"time: invalid duration {go_quoted(text)}")
    return -value if text.startswith("-") else value


def format_duration(nanoseconds: int) -> str:
    """`1m30s`, in Go's notation."""
    sign, value = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if not value:
        return "0s"
    for unit, size in (("ns", 10**3), ("µs", 10**6), ("ms", 10**9)):
        if value < size:
            return f"{sign}{_decimal(value, size // 10**3)}{unit}"
    minutes, rest = divmod(value, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(rest, 10**9)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{text}"
    return f"{sign}{minutes}m{text}" if minutes else f"{sign}{text}"


def _decimal(value: int, size: int) -> str:
    whole, part = divmod(value, size)
    if not part:
        return str(whole)
    return f"{whole}.{str(part).rjust(len(str(size)) - 1, '0').rstrip('0')}"


_SIZE = re.compile(r"(?P<number>.*[0-9.])(?P<space> ?)(?P<suffix>[^0-9.]*)", re.DOTALL)
_SUFFIX = re.compile("(?P<power>[bkmgtp]?)(?P<binary>i?)(?P<byte>b?)")
_POWERS = "bkmgtp"


def parse_size(text: str) -> int:
    """Bytes of `1.5g`: units are powers of 1024 whatever they are called. Raises ValueError in Compose's words."""
    found = _SIZE.fullmatch(text)
    if not found or not found["number"].strip(" "):
        raise ValueError(f"invalid size: '{text}'")
    number, suffix = found["number"], found["suffix"].lower()
    value = to_float(number)
    if value < 0:
        raise ValueError(f"invalid size: '{text}'")
    if not suffix:
        return int(value) if value <= _LIMIT else -_LIMIT - 1
    match = _SUFFIX.fullmatch(suffix)
    if not match or (match["power"] in ("", "b") and len(suffix) > 1):
        raise ValueError(f"invalid suffix: '{suffix}'")
    size = value * 1024 ** _POWERS.index(match["power"] or "b")
    return int(size) if size <= _LIMIT else -_LIMIT - 1  # as Go converts a float that is too large
