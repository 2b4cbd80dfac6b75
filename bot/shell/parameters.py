"""Reads `${…}`: the name, the operator, and the words behind it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from bot.shell.parts import make_word
from bot.shell.reader import NAME, PLAIN, SPECIAL, UNFOLLOWED, WordReader
from bot.shell.syntax import (
    BadSubstitution,
    Parameter,
    Part,
    Text,
    Word,
)

_NUMBER = re.compile(r"[0-9]+")
_OPERATORS = re.compile(r":[-=?+]|[-=?+]|##|#|%%|%|//|/|\^\^|\^|,,|,|@|:")
_WHOLE = re.compile(r"[\w$.,:/+-]+")
_READ_AGAIN = frozenset("$`\\\"'{}\001\177")
"""What means something in the text of `$'…'` once it stands in double quotes."""


class ParameterReader(WordReader):
    """Reads words with all their parameter expansions."""

    def braced(self, *, in_double: bool) -> Part:
        """`${…}` from its dollar sign."""
        start, line = self.at, self.line()
        self._deeper()
        self.at += 2
        try:
            part = self._parameter(line, in_double)
        finally:
            self.depth -= 1
        if part is None:
            self.at = start + 2
            self.operand(in_double=in_double)
            self._close_brace()
            return BadSubstitution(self.text[start : self.at], line)
        self._close_brace()
        return replace(part, text=self.text[start : self.at])

    def _close_brace(self) -> None:
        if not self.text.startswith("}", self.at):
            raise self.fail("unexpected EOF while looking for matching `}'")
        self.at += 1

    def _parameter(self, line: int, in_double: bool) -> Parameter | None:
        text = self.text
        if text.startswith("#", self.at) and not re.match(r"#(?:\}|[-:=?+%/](?!\}))", text[self.at : self.at + 3]):
            return self._length(line)
        indirect = False
        if text.startswith("!", self.at) and not re.match(r"![}:=+?%/^,]", text[self.at : self.at + 2]):
            if text[self.at + 1 : self.at + 2] == "-":
                pass
            else:
                indirect = True
                self.at += 1
        name = self._parameter_name()
        if name is None:
            return None
        if indirect:
            if text.startswith(("@}", "*}"), self.at):
                kind = text[self.at]
                self.at += 1
                return Parameter(name, line, names="@" if kind == "@" else "*")
            keys = re.match(r"\[([@*])\]\}", text[self.at : self.at + 4])
            if keys:
                self.at += 3
                return Parameter(name, line, names="@" if keys[1] == "@" else "*", index="@" if keys[1] == "@" else "*")
        index = self._index()
        base = Parameter(name, line, index=index, indirect=indirect)
        if text.startswith("}", self.at):
            return base
        return self._operation(base, in_double)

    def _length(self, line: int) -> Parameter | None:
        self.at += 1
        name = self._parameter_name()
        if name is None:
            return None
        index = self._index()
        if not self.text.startswith("}", self.at):
            return None
        return Parameter(name, line, index=index, length=True)

    def _parameter_name(self) -> str | None:
        text = self.text
        name = NAME.match(text, self.at)
        if name:
            self.names.append(name.group())
        name = name or _NUMBER.match(text, self.at)
        if name:
            self.at = name.end()
            return name.group()
        if self.at < len(text) and text[self.at] in SPECIAL:
            self.at += 1
            return text[self.at - 1]
        return None

    def _index(self) -> Word | Literal["@", "*"] | None:
        text = self.text
        if not text.startswith("[", self.at) or self.posix:
            return None
        if text.startswith(("[@]", "[*]"), self.at):
            self.at += 3
            return "@" if text[self.at - 2] == "@" else "*"
        self.at += 1
        return self.quoted_until("]", opening="[")

    def _operation(self, base: Parameter, in_double: bool) -> Parameter | None:
        text = self.text
        found = _OPERATORS.match(text, self.at)
        if not found:
            return None
        operator = found.group()
        if self.posix and operator not in (":-", ":=", ":?", ":+", "-", "=", "?", "+", "#", "##", "%", "%%"):
            return None
        self.at = found.end()
        if operator == "@":
            letter = text[self.at : self.at + 1]
            if letter not in tuple("QEPAaKkUuL") or not text.startswith("}", self.at + 1):
                return None
            self.at += 1
            return replace(base, operator="@", letter=letter)
        if operator in ("/", "//"):
            return self._replacement(base, operator, in_double)
        if operator == ":":
            if text.startswith("}", self.at):
                return None
            offset = self._slice_part(":")
            length = None
            if text.startswith(":", self.at):
                self.at += 1
                length = self._slice_part("")
            return replace(base, operator=":", argument=offset, second=length)
        pattern = operator[0] in "#%^,"
        return replace(base, operator=operator, argument=self.operand(in_double=in_double, pattern=pattern))

    def _replacement(self, base: Parameter, operator: str, in_double: bool) -> Parameter:
        text = self.text
        if operator == "/" and text.startswith(("#", "%"), self.at):
            operator += text[self.at]
            self.at += 1
        pattern = self.operand(in_double=in_double, pattern=True, stop="/", first_literal=operator in ("/", "//"))
        second: Word | None = None
        if text.startswith("/", self.at):
            self.at += 1
            second = self.operand(in_double=in_double, pattern=True)
        return replace(base, operator=operator, argument=pattern, second=second)

    def _slice_part(self, stop: str) -> Word:
        """An arithmetic expression up to `}`, or to a `stop` that stands outside of parentheses and `?:`."""
        text, start = self.text, self.at
        parts: list[Part] = []
        level = questions = 0
        while self.at < len(text):
            character = text[self.at]
            if character == "}" or (character == stop and not level and not questions):
                break
            if character == ":" and not level:
                questions -= 1
            level += (character == "(") - (character == ")")
            questions += character == "?" and not level
            if character == '"':
                parts.append(self.double())
            else:
                self._inside_double(parts, '$`"\\')
        return make_word(parts, self.line(start), text[start : self.at])

    def operand(self, *, in_double: bool, pattern: bool = False, stop: str = "", first_literal: bool = False) -> Word:
        """The word behind an operator of `${…}`, up to (not including) `}` or `stop`."""
        text, start = self.text, self.at
        parts: list[Part] = []
        while self.at < len(text):
            character = text[self.at]
            if character == "}" or (character == stop and not (first_literal and self.at == start)):
                break
            if in_double and not pattern:
                if character == "'" and not self.posix:
                    self._single_in_double(parts)
                else:
                    self._operand_piece(parts)
            else:
                plain = PLAIN.match(text, self.at) if not stop else None
                if plain:
                    parts.append(Text(plain.group(), False))
                    self.at = plain.end()
                elif character == "$":
                    quoted = self.dollar(in_double=False)
                    # Inside of $(…) bash 5.2 forgets that this was quoted: it would split it and look for files.
                    if self._substitutions and isinstance(quoted, Text) and not _WHOLE.fullmatch(quoted.text):
                        raise self.fail(f"{UNFOLLOWED}: $'…' in ${{…}} inside of $(…)")
                    parts.append(quoted)
                elif character in "<>" and text.startswith("(", self.at + 1) and not in_double and not self.posix:
                    parts.append(self._process_substitution())
                else:
                    self._piece(parts, in_double=False)
        return make_word(parts, self.line(start), text[start : self.at])

    def _operand_piece(self, parts: list[Part]) -> None:
        """The next piece of a word that stands behind an operator and inside of double quotes or a here-document."""
        text = self.text
        character = text[self.at]
        following = text[self.at + 1 : self.at + 2]
        if character == '"':
            parts.append(self.double())
        elif character == "\\" and following == "}":
            parts.append(Text("}", True))
            self.at += 2
        elif character == "\\" and following == "'":
            parts.append(Text("\\'", True))
            self.at += 2
        elif character == "$" and following in ("'", '"') and following and not self.posix:
            self._dollar_quote(parts, following)
        elif character in "\\$`":
            self._inside_double(parts, '$`"\\')
        else:
            parts.append(Text(character, True))
            self.at += 1

    def _single_in_double(self, parts: list[Part]) -> None:
        """`'…'` in double quotes: bash keeps the quotes and expands what is between, but finds no `}` in there."""
        end = self.text.find("'", self.at + 1)
        if end < 0:
            if self._inside == "double":
                raise self.fail("unexpected EOF while looking for matching `''")
            raise self.fail(f"{UNFOLLOWED}: a single quote that is not closed inside of ${{…}}")
        parts.append(Text("'", True))
        self.at += 1
        while self.at < end:
            if self.text.startswith("\\}", self.at):
                break
            if self.text[self.at] == "$" and self.at + 1 == end:
                parts.append(Text("$", True))
                self.at += 1
            else:
                self._operand_piece(parts)
        if self.at != end:
            raise self.fail(f"{UNFOLLOWED}: quotes that cross each other inside of ${{…}}")
        parts.append(Text("'", True))
        self.at += 1

    def _dollar_quote(self, parts: list[Part], quote: str) -> None:
        """`$'…'` or `$"…"` behind an operator: a quote in double quotes, while a here-document keeps `$'…'` as it is.

        Bash puts the text of `$'…'` in place and reads it again, so one with characters that mean something then is
        refused.
        """
        if self._inside == "here" and quote == "'":
            parts.append(Text("$", True))
            self.at += 1
        elif self._inside != "double":
            raise self.fail(f"{UNFOLLOWED}: $'…' or $\"…\" inside of ${{…}} here")
        elif quote == "'":
            quoted = self.ansi_quoted()
            if _READ_AGAIN.intersection(quoted.text):
                raise self.fail(f"{UNFOLLOWED}: $'…' inside of ${{…}} with a character that is read again")
            parts.append(quoted)
        else:
            self.at += 1
            parts.append(self.double())
