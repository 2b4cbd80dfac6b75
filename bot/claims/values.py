"""Values as people write them, and whether they contradict those that the engine ends up with."""

from __future__ import annotations

import re

_COUNT = re.compile(r"(\d+(?:\.\d+)?)\s?([KM]?)", re.IGNORECASE)
_FORMATS = (
    ("fp8_e4m3", re.compile(r"fp8[_/ -]?e4m3|fp8_inc", re.IGNORECASE)),
    ("fp8_e5m2", re.compile(r"fp8[_/ -]?e5m2", re.IGNORECASE)),
    ("fp8", re.compile(r"fp8", re.IGNORECASE)),
    ("nvfp4", re.compile(r"nvfp4", re.IGNORECASE)),
    ("int8", re.compile(r"int8", re.IGNORECASE)),
    ("int4", re.compile(r"int4", re.IGNORECASE)),
    ("16 bits", re.compile(r"bf16|bfloat16|fp16|float16|half|auto", re.IGNORECASE)),
    ("turboquant", re.compile(r"turboquant|tq[234]", re.IGNORECASE)),
)
_ALIKE = {("fp8", "fp8_e4m3"), ("fp8", "fp8_e5m2"), ("fp8_e4m3", "fp8")}
"""Formats as claimed and as set: `fp8` is said of either, and is set as E4M3."""

ROUGHLY = 0.1
"""How far a value may be from one that is said to be about that."""


def count(text: str) -> int | None:
    """A number of tokens: `262144`, `262,144`, `128K` as 128,000."""
    match = _COUNT.fullmatch(text.replace(",", "").replace("_", "").strip())
    if match is None:
        return None
    return round(float(match[1]) * {"": 1, "K": 1000, "M": 1_000_000}[match[2].upper()])


def cache_format(text: str) -> str | None:
    """The family of a KV cache format, however it is spelt; None for one that is not known."""
    return next((name for name, pattern in _FORMATS if pattern.match(text)), None)


def same_cache(claimed: str, value: object) -> bool | None:
    """Whether a cache format is the claimed one; None when that cannot be told."""
    actual = cache_format(value) if isinstance(value, str) else None
    if actual is None:
        return None
    return claimed == actual or (claimed, actual) in _ALIKE


def same_count(claimed: int, value: object, words: str, approximate: bool) -> bool | None:
    """Whether a number is the claimed one. `128K` is said of 128,000 and of 131,072, and of what rounds to either."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    if claimed == value or (approximate and abs(claimed - value) <= ROUGHLY * value):
        return True
    match = re.search(r"(\d+(?:\.\d+)?)\s?([KM])\b", words, re.IGNORECASE)
    if match is None:
        return False
    step = 10.0 ** -len(match[1].partition(".")[2])
    units = (1000, 1024) if match[2].upper() == "K" else (1_000_000, 1024 * 1024, 1024 * 1000)
    return any(abs(float(match[1]) - value / unit) < step for unit in units)


def same_release(claimed: str, release: str) -> bool:
    """Whether a release is the claimed one: `0.25` is said of every 0.25.x."""
    return release == claimed or release.startswith(f"{claimed}.") or claimed.startswith(f"{release}+")
