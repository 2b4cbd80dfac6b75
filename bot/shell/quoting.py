"""Text quoted so that a shell reads it back: `printf %q`, `${X@Q}`, and `${X@E}`."""

from __future__ import annotations

import re

from bot.shell.parts import ansi_escape

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LETTERS = {"\a": "a", "\b": "b", "\x1b": "E", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v"}
_BACKSLASHED = frozenset(" \t!\"$&'()*,;<>?[\\]^`{|}")


def _dollar_quoted(text: str) -> str:
    pieces = ["$'"]
    for one in text:
        if one in _LETTERS:
            pieces.append("\\" + _LETTERS[one])
        elif one in "\\'":
            pieces.append("\\" + one)
        elif _CONTROL.match(one):
            pieces.append(f"\\{ord(one):03o}")
        else:
            pieces.append(one)
    return "".join(pieces) + "'"


def backslash_quoted(text: str) -> str:
    """As `printf %q` writes it."""
    if not text:
        return "''"
    if _CONTROL.search(text) or not text.isascii():
        return _dollar_quoted(text) if _CONTROL.search(text) else _plain(text)
    return _plain(text)


def _plain(text: str) -> str:
    pieces = ["\\" + one if one in _BACKSLASHED else one for one in text]
    if text[0] in "#~":
        pieces[0] = "\\" + text[0]
    return re.sub(r"([:=])~", r"\1\\~", "".join(pieces))


def single_quoted(text: str) -> str:
    """As `${X@Q}` writes it."""
    if _CONTROL.search(text):
        return _dollar_quoted(text)
    return "'" + text.replace("'", "'\\''") + "'"


def unescaped(text: str) -> str:
    """The escapes of `$'…'` undone: `${X@E}`."""
    pieces = bytearray()
    at = 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            piece, at = ansi_escape(text, at + 1)
            pieces += piece
        else:
            pieces += text[at].encode()
            at += 1
    return pieces.decode("utf-8", "replace")
