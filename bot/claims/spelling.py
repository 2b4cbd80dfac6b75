"""Values written in the place of others, in the form in which people wrote those."""

from __future__ import annotations

import re

from bot.claims.model import Claim
from bot.claims.prose import Statement
from bot.claims.subjects import CACHE
from bot.claims.values import same_cache, same_count, same_release

_RELEASE = re.compile(r"(\d+\.\d+)\.\d+")
_PLAIN = re.compile(r"[\w./:-]+", re.ASCII)
_COUNT = re.compile(r"(?P<number>\d[\d,_]*)(?P<blank>\s?)(?P<unit>[KM]?)", re.IGNORECASE)
_HANGS_ON_IT = re.compile(
    r"\d\s?(?:[GMK]i?B\b|%|x\b|×|tok|tps|ms\b|min\b|pp\b|s\b)|"
    r"\b(?:tok/s|tps|measured|\w*validated|verified|tested|confirmed|benched|because|since|so that|hence|therefore|"
    r"first|only|newest|latest|oldest|until|which|includ\w+|contain\w+|carr(?:y|ies)|present|knee|optimal|sweet|native|"
    r"half|double|twice|quarter|equals?|same as|max(?:imum)? (?:for|of|that))\b",
    re.IGNORECASE,
)
"""What a statement says besides a value, and what may be true of this value alone: figures, reasons, superlatives."""

_REPORTS = frozenset({"status", "validated", "verified", "tested", "results", "measured"})
"""Keys of a header whose text reports what somebody has seen."""


def spelt_alone(statement: Statement, spelt: tuple[int, int]) -> tuple[int, int] | None:
    """The columns of a value, where it is all that the statement says of its subject: it stands there once, on one
    line, and without figures or reasons that hang on it.
    """
    begin, end = spelt
    value = statement.text[begin:end]
    rest = f"{statement.text[:begin]} \0 {statement.text[end:]}"
    again = re.search(rf"(?<![\d.]){re.escape(value)}(?![\w])", rest)
    first, last = statement.place(begin), statement.place(end - 1)
    if first.line != last.line or again or statement.key in _REPORTS:
        return None
    line = next(line.text for line in statement.lines if line.number == first.line)
    return None if _HANGS_ON_IT.search(rest) or _HANGS_ON_IT.search(line) else (first.column, last.column + 1)


def respelt(claim: Claim, old: str, actual: object) -> str | None:
    """How a person who wrote `old` would have written what is really so; None when that is not plain."""
    if claim.kind == "release":
        return _release(old, str(actual))
    if claim.kind == "image":
        kept = str(actual)
        return kept if _PLAIN.fullmatch(kept) and kept.partition(":")[0] == old.partition(":")[0] else None
    if claim.kind == "default" or claim.subject == CACHE:
        return str(actual) if _PLAIN.fullmatch(str(actual)) and actual != "auto" else None
    if isinstance(actual, int) and not isinstance(actual, bool) and actual > 0:
        return _count(old, actual)
    return None


def _release(old: str, actual: str) -> str | None:
    """`0.24.0` as `0.25.1`, `0.24` as `0.25`, `0.24.x` as `0.25.x`."""
    found = _RELEASE.fullmatch(actual)
    if found is None:
        return None
    if old.count(".") < 2:
        return found[1]
    return f"{found[1]}.x" if old.endswith(".x") else actual


def _count(old: str, actual: int) -> str | None:
    """A number with its separators and its unit: `65K` as `32K`, `262,144` as `131,072`."""
    found = _COUNT.fullmatch(old)
    if found is None:
        return None
    if not found["unit"]:
        mark = next((mark for mark in ",_" if mark in old), "")
        return f"{actual:,}".replace(",", mark)
    number = int(re.sub(r"[,_]", "", found["number"]))
    binary = number & (number - 1) == 0
    unit = {"K": 1, "M": 2}[found["unit"].upper()]
    step = 1024**unit if binary and actual % 1024**unit == 0 else 1000**unit
    if unit == 2 and actual % step:
        return None
    # 65,536 and 131,072 are called 65K and 131K: what is over is dropped
    return f"{actual // step}{found['blank']}{found['unit']}" if actual >= step else None


def says(claim: Claim, actual: object) -> bool:
    """Whether a claim with a number or a name is true of what is really so."""
    if claim.kind == "release":
        return same_release(str(claim.value), str(actual))
    if claim.kind in ("image", "default"):
        return str(claim.value).lower() == str(actual).lower()
    if claim.subject == CACHE:
        return same_cache(str(claim.value), actual) is True
    if not isinstance(claim.value, int):
        return False
    return same_count(claim.value, actual, claim.words, claim.approximate) is True
