"""Brace expansion: `a{b,c}d` and `{1..9..2}`, on the parts of a word, before anything else is expanded."""

from __future__ import annotations

import re
from itertools import pairwise

from bot.shell.numbers import MAX_DIGITS
from bot.shell.syntax import Parameter, Part, Text

MAX_WORDS = 4096
"""More words than any command line of an engine has."""

MAX_BRACES = 200
"""Opening braces in one word: each costs a walk over the word."""

_LETTERS = re.compile(r"[A-Za-z0-9_]+")
_RANGE = re.compile(r"(?:(-?[0-9]+)\.\.(-?[0-9]+)|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?[0-9]+))?\Z")

# A word is taken apart into pieces: single unquoted characters, and every other part as it is.
_Token = str | Part


def expand_braces(parts: list[Part]) -> list[list[Part]] | None:
    """The words that the parts make, each as parts; None when they are more than `MAX_WORDS`."""
    pieces: list[_Token] = []
    for part in parts:
        if isinstance(part, Text) and not part.quoted:
            pieces.extend(part.text)
        else:
            pieces.append(part)
    if pieces.count("{") > MAX_BRACES:
        return None
    try:
        words = _expand(pieces, 0)
    except _TooMany:
        return None
    return [_join(word) for word in words]


class _TooMany(Exception):
    pass


def _join(pieces: list[_Token]) -> list[Part]:
    parts: list[Part] = []
    for piece in pieces:
        if not isinstance(piece, str):
            parts.append(piece)
        elif parts and isinstance(parts[-1], Text) and not parts[-1].quoted:
            parts[-1] = Text(parts[-1].text + piece, False)
        else:
            parts.append(Text(piece, False))
    return _glued(parts)


def _glued(parts: list[Part]) -> list[Part]:
    """`$x{a,b}` is `$xa $xb`: a bare name takes the letters that expansion put behind it."""
    for index in range(len(parts) - 1):
        name, following = parts[index], parts[index + 1]
        if not isinstance(name, Parameter) or not isinstance(following, Text) or following.quoted:
            continue
        letters = _LETTERS.match(following.text)
        if letters and name.text == f"${name.name}" and name.name.isidentifier():
            whole = name.name + letters.group()
            parts[index] = Parameter(whole, name.line, text=f"${whole}")
            parts[index + 1] = Text(following.text[letters.end() :], False)
    return parts


def _expand(pieces: list[_Token], depth: int) -> list[list[_Token]]:
    if depth > 40:
        raise _TooMany
    for start, piece in enumerate(pieces):
        if piece != "{":
            continue
        if start and pieces[start - 1] == "$":
            continue
        found = _alternatives(pieces, start)
        if found is None:
            continue
        alternatives, end = found
        middles = [word for one in alternatives for word in _expand(one, depth + 1)]
        tails = _expand(pieces[end:], depth + 1)
        if len(middles) * len(tails) > MAX_WORDS:
            raise _TooMany
        head = pieces[:start]
        return [[*head, *middle, *tail] for middle in middles for tail in tails]
    return [pieces]


def _alternatives(pieces: list[_Token], start: int) -> tuple[list[list[_Token]], int] | None:
    """What stands between the brace at `start` and its partner, split at commas, and the position behind it."""
    level = 0
    commas: list[int] = []
    for at in range(start, len(pieces)):
        piece = pieces[at]
        if piece == "{":
            level += 1
        elif piece == "}":
            level -= 1
            if level == 0:
                if commas:
                    bounds = [start, *commas, at]
                    return [pieces[left + 1 : right] for left, right in pairwise(bounds)], at + 1
                sequence = _sequence(pieces[start + 1 : at])
                return (sequence, at + 1) if sequence is not None else None
        elif piece == "," and level == 1:
            commas.append(at)
    return None


def _sequence(pieces: list[_Token]) -> list[list[_Token]] | None:
    if not all(isinstance(piece, str) for piece in pieces):
        return None
    found = _RANGE.match("".join(piece for piece in pieces if isinstance(piece, str)))
    if not found:
        return None
    if any(len(digits or "") > MAX_DIGITS for digits in (found[1], found[2], found[5])):
        raise _TooMany
    step = int(found[5] or 0)
    if found[1] is not None:
        first, last = int(found[1]), int(found[2])
        padded = [text for text in (found[1], found[2]) if re.match(r"-?0[0-9]", text)]
        width = max(len(found[1]), len(found[2])) if padded else 0
        return [list(_padded(number, width)) for number in _numbers(first, last, step)]
    return [[chr(number)] for number in _numbers(ord(found[3]), ord(found[4]), step)]


def _numbers(first: int, last: int, step: int) -> range:
    step = abs(step) or 1
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    if len(numbers) > MAX_WORDS:
        raise _TooMany
    return numbers


def _padded(number: int, width: int) -> str:
    return f"{number:0{width}d}"
