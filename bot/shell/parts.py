"""The parts of words, put together: neighbours joined, constants found, escapes undone."""

from __future__ import annotations

import re
from itertools import groupby

from bot.shell.syntax import (
    Double,
    Part,
    Text,
    Word,
)

_ASSIGNMENT_PREFIX = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")

_GLOB = frozenset("*?[")

_WILD = frozenset("*?")

_ESCAPE_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip

_OCTAL = re.compile(r"[0-7]{1,3}")

_HEX = {
    "x": re.compile(r"[0-9a-fA-F]{1,2}"),
    "u": re.compile(r"[0-9a-fA-F]{1,4}"),
    "U": re.compile(r"[0-9a-fA-F]{1,8}"),
}


class LocaleDependent(Exception):
    """A character that is written in one way under UTF-8 and in another without."""


def make_word(parts: list[Part], line: int, text: str) -> Word:
    """A word of these parts, with what can be said of it once for all."""
    merged = merge(parts)
    constant = _constant(merged)
    prefix = _ASSIGNMENT_PREFIX.match(text)
    return Word(tuple(merged), line, text, constant, assignment_like=prefix.end() if prefix else 0)


def merge(parts: list[Part]) -> list[Part]:
    """The same parts, with neighbouring literals of one kind joined."""
    if len(parts) < 2:
        return parts
    merged: list[Part] = []
    for quoted, group in groupby(parts, lambda part: part.quoted if isinstance(part, Text) else None):
        alike = list(group)
        if quoted is None or len(alike) == 1:
            merged += alike
        else:
            merged.append(Text("".join(part.text for part in alike if isinstance(part, Text)), quoted))
    return merged


def _constant(parts: list[Part]) -> str | None:
    pieces: list[str] = []
    closes = any(isinstance(part, Text) and not part.quoted and "]" in part.text for part in parts)
    glob = _GLOB if closes else _WILD
    for index, part in enumerate(parts):
        if isinstance(part, Double) and all(isinstance(inner, Text) for inner in part.parts):
            pieces.extend(inner.text for inner in part.parts if isinstance(inner, Text))
            continue
        if not isinstance(part, Text):
            return None
        if not part.quoted and (glob.intersection(part.text) or (part.text.startswith("~") and index == 0)):
            return None
        if not part.quoted and ("~" in part.text or ("(" in part.text)):
            return None
        pieces.append(part.text)
    return "".join(pieces)


def ansi_escape(text: str, at: int) -> tuple[bytes, int]:
    """The bytes of the escape whose letter stands at `at` (as in `$'…'`), and the position behind it."""
    letter = text[at]
    if letter in _ESCAPE_LETTERS:
        return _ESCAPE_LETTERS[letter].encode(), at + 1
    octal = _OCTAL.match(text, at)
    if octal:
        return bytes([int(octal.group(), 8) & 0xFF]), octal.end()
    if letter in _HEX:
        if letter == "x" and text.startswith("{", at + 1):
            return b"\\x", at + 1
        digits = _HEX[letter].match(text, at + 1)
        if digits:
            number = int(digits.group(), 16)
            if letter == "x":
                return bytes([number]), digits.end()
            if number > 0xFF:
                raise LocaleDependent(f"\\{letter}{digits.group()} depends on the locale")
            if number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF:
                return chr(number).encode(), digits.end()
        return ("\\" + letter).encode(), at + 1
    if letter == "c" and at + 1 < len(text):
        return bytes([ord(text[at + 1].upper()) & 0x1F if text[at + 1].isascii() else 0]), at + 2
    return ("\\" + letter).encode(), at + 1
