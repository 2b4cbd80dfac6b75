"""Splits a `command:` or `entrypoint:` that is one string, as Docker Compose does: like a shell, without being one.

Quotes and backslashes work; variables and substitutions stay text; at the first `;`, `&`, `|`, `<` or `>` outside of
quotes the command ends, and what follows is dropped without a word.
"""

from __future__ import annotations

import re
from itertools import islice

MAX_WORDS = 100_000
"""Words of one command, as many as values of a whole file. The kernel takes about as many, if they are short."""

_SPACE = frozenset(" \t\r\n")
_ENDS = frozenset(";&|<>")
_SPECIAL = re.compile(r"[\\\"'`()$;&|<>]")
_PLAIN_WORD = re.compile(r"[^ \t\r\n]+")


class BadCommandLine(ValueError):
    """A quote, a backslash or a substitution is not closed."""

    def __init__(self) -> None:
        super().__init__("invalid command line string")


class TooManyWords(Exception):
    """The command has more than `MAX_WORDS` words."""

    def __init__(self) -> None:
        super().__init__(f"a command of more than {MAX_WORDS} words")


def split(line: str) -> list[tuple[str, int]]:
    """The words, each with the offset at which it begins. Raises `BadCommandLine` and `TooManyWords`."""
    if _SPECIAL.search(line):
        return _Splitter(line).run()
    words = [(word[0], word.start()) for word in islice(_PLAIN_WORD.finditer(line), MAX_WORDS + 1)]
    if len(words) > MAX_WORDS:
        raise TooManyWords
    return words


class _Splitter:
    def __init__(self, line: str) -> None:
        self._line = line
        self._words: list[tuple[str, int]] = []
        self._buffer: list[str] = []
        self._start = 0
        self._begun = False
        # What is open: `"`, `'`, a backtick, or `(` for a substitution. Quotes can stand within a backtick.
        self._open: set[str] = set()

    def run(self) -> list[tuple[str, int]]:
        escaped = False
        for offset, character in enumerate(self._line):
            if escaped:
                escaped = False
                self._add(character)
            elif character == "\\" and "'" not in self._open:
                escaped = True
                self._mark(offset)
            elif character in _SPACE:
                self._space(character)
            elif character in _ENDS and not self._open:
                if character == ">" and self._buffer and self._buffer[0] in "0123456789":
                    self._begun = False  # `2>` redirects, it is no word
                break
            else:
                self._mark(offset)
                self._plain(character)
        if escaped or self._open:
            raise BadCommandLine
        self._end_word()
        return self._words

    def _mark(self, offset: int) -> None:
        if not self._begun and not self._buffer and not self._open:
            self._start = offset

    def _add(self, character: str) -> None:
        self._buffer.append(character)
        self._begun = True

    def _space(self, character: str) -> None:
        if self._open:
            self._buffer.append(character)
        elif self._begun:
            self._end_word()

    def _end_word(self) -> None:
        if self._begun:
            if len(self._words) == MAX_WORDS:
                raise TooManyWords
            self._words.append(("".join(self._buffer), self._start))
            self._buffer.clear()
            self._begun = False

    def _plain(self, character: str) -> None:
        opened = self._open
        if character == '"' and not opened & {"'", "("}:
            self._toggle_quote(character)
            return
        if character == "'" and not opened & {'"', "("}:
            self._toggle_quote(character)
            return
        if character == "`" and not opened & {"'", '"', "("}:
            self._toggle(character)
        elif character == ")" and not opened & {"'", '"', "`"}:
            self._toggle("(")
        elif character == "(" and not opened & {"'", '"', "`"}:
            if "(" in opened or self._buffer[-1:] != ["$"]:
                raise BadCommandLine
            opened.add("(")
            self._buffer.append("(")
            return
        self._add(character)

    def _toggle(self, mark: str) -> None:
        self._open.symmetric_difference_update(mark)

    def _toggle_quote(self, mark: str) -> None:
        self._begun = self._begun or mark in self._open
        self._toggle(mark)
