"""Releases of vLLM as lists of patches state them: `0.25.1`, `v0.25`, `0.25.x`, `>=0.25.0,<0.26.0`."""

from __future__ import annotations

import re

_VERSION = r"v?[01]\.\d{1,3}(?:\.(?:\d{1,3}|x\b)){0,2}"
_RELEASES = re.compile(rf"(?<![\w.])(?:[<>=]=?\s*)?{_VERSION}(?:\s*,\s*[<>=]=?\s*{_VERSION})*(?![\w]|\.\d)")
_MEANT = re.compile(r"\s*(?:[<>=~^!]+\s*v?\d|v\d|[01][.,]\d)[^\s]*\s*")
_BOUND = re.compile(r"([<>]=?)\s*v?(\d+)\.(\d+)(?:\.(\d+))?")


def releases_in(text: str) -> tuple[str, ...]:
    """The releases and ranges that a text states, as they are written."""
    return tuple(_RELEASES.findall(text))


def is_unread(text: str) -> bool:
    """Whether a text is meant as a release and nothing in it can be read as one. A date or a card is not meant so."""
    return _MEANT.fullmatch(text) is not None and not releases_in(text)


def is_empty(stated: str) -> bool:
    """Whether the bounds of a range leave no release between them."""
    low: tuple[int, int, int] | None = None
    high: tuple[int, int, int] | None = None
    strict = False
    for sign, major, minor, patch in _BOUND.findall(stated):
        bound = (int(major), int(minor), int(patch or 0))
        if sign[0] == ">":
            low = bound if low is None else max(low, bound)
        else:
            high = bound if high is None else min(high, bound)
        strict = strict or sign in "<>"
    return low is not None and high is not None and (high < low or (high == low and strict))
