"""Brace expansion: `a{b,c}d` and `{1..9..2}`, on the text of a word, before anything else in it is read.

Bash looks for braces in the text as it stands: one behind the dollar sign of `${…}` counts as opened too, and
quotes are told apart without regard to what they stand in. So do these functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable

MAX_WORDS = 4096
"""More words than any command line of an engine has."""

MAX_BRACES = 200
"""Opening braces in one word: each costs a walk over the word."""

MAX_TEXT = 1_000_000
"""Characters in the words that are made, and in the walks that make them."""

_READING = 20
"""What it costs to read a character of a command, measured in characters that are looked at."""

_MAX_DEPTH = 40
_MAX_DIGITS = 18
"""Any number of so many digits fits into 64 bits."""

_EXCITING = re.compile(r"[\\'\"`${},.<>]")
"""The characters at which a walk has to look."""

_MAYBE = re.compile(r"(?<!\$)\{(?s:.*)(?:,|\.\.)(?s:.*)\}")

_SIDES = re.compile(r"(.*?)\.\.(.*)\Z", re.S)
_LEFT_NUMBER = re.compile(r"\s*[-+]?[0-9]+\s*\Z")
_RIGHT = re.compile(r"(?:([-+]?[0-9]+)|([A-Za-z]))(?:\.\.(\s*[-+]?[0-9]+))?\Z")

Skip = Callable[[str, int], int]
"""Given a text and the place of `$(`, `<(` or `>(` in it: the place behind the closing parenthesis."""


class TooMany(Exception):
    """The word makes more words than are followed, or takes more walks."""


def may_expand(text: str) -> bool:
    """Whether it is worth looking at the braces of a word."""
    return "{" in text and _MAYBE.search(text) is not None


def expand_braces(text: str, skip: Skip) -> list[str]:
    """The texts of the words that a word makes, itself alone when none. Raises `TooMany`."""
    if text.count("{") > MAX_BRACES:
        raise TooMany
    return _Braces(skip).expand(text, 0)


class _Braces:
    """One expansion, with what it may still spend."""

    def __init__(self, skip: Skip) -> None:
        self.skip = skip
        self.left = MAX_TEXT

    def _spend(self, characters: int) -> None:
        self.left -= characters
        if self.left < 0:
            raise TooMany

    def expand(self, text: str, depth: int) -> list[str]:
        if depth > _MAX_DEPTH:
            raise TooMany
        start = 0
        while True:
            start = self._find(text, start, "{")
            if start == len(text):
                return [text]
            end = self._find(text, start + 1, "}")
            if end < len(text):
                break
            start += 1
        inside, behind = text[start + 1 : end], text[end + 1 :]
        if _has_comma(inside):
            middles = self._alternatives(inside, depth)
        else:
            sequence = _sequence(inside)
            middles = [text[start : end + 1]] if sequence is None else sequence
        tails = self.expand(behind, depth + 1) if behind else [""]
        if len(middles) * len(tails) > MAX_WORDS:
            raise TooMany
        words = [text[:start] + middle + tail for middle in middles for tail in tails]
        self._spend(sum(map(len, words)))
        return words

    def _alternatives(self, inside: str, depth: int) -> list[str]:
        found: list[str] = []
        start = 0
        while True:
            end = self._find(inside, start, ",")
            found += self.expand(inside[start:end], depth + 1)
            if len(found) > MAX_WORDS:
                raise TooMany
            if end == len(inside):
                return found
            start = end + 1

    def _find(self, text: str, at: int, wanted: str) -> int:
        """Where the wanted brace or comma stands on the level of `at`; the text's length when it does not."""
        begin, quoted, level = at, "", 0
        separated = wanted != "}"
        size = len(text)
        while at < size:
            found = _EXCITING.search(text, at)
            if found is None:
                at = size
                break
            at, character = found.start(), found.group()
            following = text[at + 1 : at + 2]
            if character == "\\" and quoted != "'":
                at += 2
            elif character == "$" and following == "{" and quoted != "'":
                level += not quoted
                at += 2
            elif character in "$<>" and following == "(" and (not quoted or (quoted == '"' and character == "$")):
                end = self.skip(text, at)
                self._spend(_READING * (end - at))
                at = end
            elif quoted:
                quoted = "" if character == quoted else quoted
                at += 1
            elif character in "\"'`":
                quoted = character
                at += 1
            elif character == wanted and not level and separated:
                if character != "{" or not _stands_alone(text, at):
                    break
                at += 1
            else:
                if character == "{":
                    level += 1
                elif character == "}":
                    level -= level > 0
                elif not level and (
                    character == "," or (following == "." == character and text[at + 2 : at + 3] != wanted)
                ):
                    separated = True
                at += 1
        at = min(at, size)
        self._spend(max(0, at - begin))
        return at


def _stands_alone(text: str, at: int) -> bool:
    """Whether an opening brace is `{}` at the start of a word or behind a blank, or has blanks around it."""
    before, behind = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    return (not before or before in " \t\n") and (not behind or behind in " \t\n}")


def _has_comma(inside: str) -> bool:
    """Whether a comma is there that no backslash stands before, be it in quotes or not."""
    return "," in re.sub(r"\\.", "", inside, flags=re.S)


def _sequence(inside: str) -> list[str] | None:
    """`1..9`, `a..e` and their kin with a step; None for any other text."""
    sides = _SIDES.match(inside)
    right = _RIGHT.match(sides[2]) if sides else None
    if not sides or not right:
        return None
    first, last, step = sides[1], right[1], right[3]
    if any(len(one or "") > _MAX_DIGITS for one in (first, last, step)):
        raise TooMany
    number = int(step) if step else 1
    if last is None:
        if len(first) != 1 or not (first.isascii() and first.isalpha()):
            return None
        if first.isupper() != right[2].isupper():
            # There are quotes between the upper and the lower letters.
            raise TooMany
        return [chr(one) for one in _numbers(ord(first), ord(right[2]), number)]
    if not _LEFT_NUMBER.match(first):
        return None
    width = max(len(first), len(last)) if any(re.match(r"-?0[0-9]", one) for one in (first, last)) else 0
    return [f"{one:0{width}d}" for one in _numbers(int(first), int(last), number)]


def _numbers(first: int, last: int, step: int) -> range:
    step = abs(step) or 1
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    if len(numbers) > MAX_WORDS:
        raise TooMany
    return numbers
