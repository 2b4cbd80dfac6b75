"""Text that a stranger wrote, made harmless where somebody reads it.

Escape sequences steer a terminal, line ends forge lines of a log, and marks of direction show text in another order
than it has: none of them is ever needed to read a compose.
"""

from __future__ import annotations


def printable(text: str) -> str:
    r"""The text on one line, each character that does not print in its escaped form (`\x1b`, `\n`, `\u202e`)."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text.replace("\t", " ")
    )
