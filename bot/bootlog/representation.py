"""Reads `key=value, key=value` as vLLM prints its configuration, and dictionaries as Python prints them.

Only what is whole counts: in a log that somebody cut, the last value may be half of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

MAX_ITEMS = 2_000
"""Keys of one configuration; real ones have some forty, and their arguments a hundred."""

_KEY = re.compile(r"\s*([A-Za-z_]\w{0,80})\s*=")
_ENTRY = re.compile(r"\s*'([A-Za-z_]\w{0,80})'\s*:\s*")
_OPEN = {"(": ")", "[": "]", "{": "}"}
_STEP = re.compile(r"[^'\"()\[\]{},<>]+|.", re.DOTALL)
_QUOTES = {quote: re.compile(rf"{quote}(?:[^{quote}\\]|\\.)*+{quote}", re.DOTALL) for quote in "'\""}


def assignments(text: str, last: str) -> Mapping[str, str]:
    """The values of `key=value, …` by key, as they are printed, up to the key `last`: what stands behind it may be a
    stranger's text. A key that stands twice is left out.
    """
    return _once(_until(last, _items(text, 0, _KEY, "")))


def entries(text: str) -> Mapping[str, str]:
    """The values of a printed dictionary by key, as they are printed."""
    start = text.find("{")
    return _once(_items(text, start + 1, _ENTRY, "}")) if start >= 0 and not text[:start].strip() else {}


def call(text: str) -> tuple[str, Mapping[str, str]] | None:
    """The name and the arguments of a printed `Name(key=value, …)`; None for anything else."""
    found = re.match(r"([A-Za-z_]\w{0,80})\(", text)
    if found is None or not text.endswith(")"):
        return None
    return found[1], _once(_items(text, found.end(), _KEY, ")"))


def _until(last: str, items: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for name, value in items:
        yield name, value
        if name == last:
            return


def _once(items: Iterator[tuple[str, str]]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    twice: set[str] = set()
    for name, value in items:
        twice |= {name} & found.keys()
        found[name] = value
    return {name: value for name, value in found.items() if name not in twice}


def _items(text: str, at: int, key: re.Pattern[str], end: str) -> Iterator[tuple[str, str]]:
    """Keys with their values one after the other, up to the first thing that is neither."""
    for _ in range(MAX_ITEMS):
        name = key.match(text, at)
        if name is None:
            return
        value, after = _value(text, name.end(), key, end)
        if value is None:
            return
        yield name[1], value
        at = after


def _value(text: str, at: int, key: re.Pattern[str], end: str) -> tuple[str | None, int]:
    """A value and where the next key begins. A value is over at a comma before a key, or where its surroundings end;
    None for one of which the end is missing.
    """
    depth: list[str] = []
    begin = at
    while step := _STEP.match(text, at):
        piece = step[0]
        if piece in ("'", '"') and (at == begin or text[at - 1] in "([{ =,:"):
            closed = _closed(text, at)
            if closed is None:
                return None, at
            at = closed
            continue
        if not depth and piece == "," and key.match(text, at + 1):
            return text[begin:at].strip(), at + 1
        if not depth and piece == end:
            return text[begin:at].strip(), at + 1
        if piece in _OPEN:
            depth.append(_OPEN[piece])
        elif depth and piece == depth[-1]:
            depth.pop()
            if not depth and not end and text[begin] in _OPEN and not key.match(text, at + 2):
                return text[begin : at + 1].strip(), at + 1  # the last value, whatever stands behind it
        at = step.end()
    return None, at


def _closed(text: str, at: int) -> int | None:
    """Where the quoted text that begins here is over."""
    found = _QUOTES[text[at]].match(text, at)
    return None if found is None else found.end()
