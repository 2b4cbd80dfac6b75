"""Numbers as texts: read within the bounds of what a shell or a program holds."""

from __future__ import annotations

from bot.shell.state import Refusal

MAX_DIGITS = 40
"""Digits of the longest number that is read; 64 bits have 19 decimal ones, and leading zeros are rare."""


def whole(text: str, base: int = 10) -> int:
    """The whole number that a text of ASCII digits (with a sign and blanks around) stands for.

    Raises `Refusal` for one so long that programs disagree on what to make of it.
    """
    if len(text) > MAX_DIGITS:
        raise Refusal(f"a number of {len(text)} characters is not read")
    return int(text, base)


def is_digits(text: str | None) -> bool:
    """Whether a text is a row of decimal digits, as C programs read them."""
    return text is not None and text.isascii() and text.isdecimal()
