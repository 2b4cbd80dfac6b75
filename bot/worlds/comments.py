"""Comments of a compose: where people document its seams, and offer values for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from bot.provenance import Position

_OFFER = re.compile(r"(?<![\w$/.-])([A-Za-z_][A-Za-z0-9_]*)=([^\s`'\"|;,()\[\]{}<>#]+|\"[^\"]*\"|'[^']*')")
_PLACEHOLDER = re.compile(r"<[^<>]*>|(?<=\s)(?:\.\.\.|…)")
"""What stands in a documented value for one that the reader is to think of."""

_DENIED = re.compile(r"[`'\".,:)\s]*(?:(?:is|are)\s*(?:not\b|n['’]t\b)|must\s+not\b|cannot\b|never\b)", re.I)
_DENYING = re.compile(r"(?:\bnot|n['’]t|\bnever|\bavoid)\s+(?:(?:set|use|pass|try|choose)(?:ting)?\s+)?[`'\"]?$", re.I)
_NEAR = 80
"""Characters before a value in which a word may speak against it: a comment can be as long as its file."""

_SETS = re.compile(r"\b(?:sets?|exports?|defines?)\b", re.I)
_COMMENT = re.compile(r"(?:^|(?<=\s))#+(.*)$")


@dataclass(frozen=True, slots=True)
class Offer:
    """A comment that offers a variable as a toggle: `SPEC=off disables it`.

    `denied` says that it speaks against this value (`SPEC=0 is not allowed`): the variable is the user's all
    the same, and the value is a candidate.
    """

    name: str
    value: str
    position: Position
    text: str
    denied: bool = False


@lru_cache(maxsize=512)
def comments(path: str, text: str) -> Mapping[Position, str]:
    """Every comment of a file, those inside an embedded script too. A `#` inside quotes may be taken for one: what is
    read from a comment is only ever a candidate.
    """
    found = {}
    for number, line in enumerate(text.split("\n"), 1):
        if "#" in line and (match := _COMMENT.search(line)):
            found[Position(path, number)] = match[1].strip()
    return MappingProxyType(found)


@lru_cache(maxsize=512)
def offers(path: str, text: str) -> tuple[Offer, ...]:
    """Every `NAME=value` in the comments of a file, in their order; what only looks like one is a candidate too.

    A value with a placeholder (`--name <id>`) is none: nobody sets it as it is written.
    """
    found = []
    for position, comment in comments(path, text).items():
        for match in _OFFER.finditer(comment) if "=" in comment else ():
            value = match[2].strip("\"'").rstrip(".…:*")
            if value and not value.startswith("$") and not _PLACEHOLDER.search(match[2]):
                denied = _DENIED.match(comment, match.end()) or _DENYING.search(
                    comment[max(match.start() - _NEAR, 0) : match.start()]
                )
                found.append(Offer(match[1], value, position, comment, denied is not None))
    return tuple(found)


def says_who_sets(comment: str, name: str) -> bool:
    """Whether a comment says that a script sets the variable, rather than offering it to the user (`NAME=1`)."""
    return _SETS.search(comment) is not None and re.search(rf"\b{re.escape(name)}\b(?!=)", comment) is not None
