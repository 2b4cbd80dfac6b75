"""Reads words: quotes, expansions, here-documents. `grammar` builds commands out of them.

A word ends where bash ends it: a boundary that is off by one character would be a wrong argument.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, Self

from bot.shell.braces import TooMany, expand_braces, may_expand
from bot.shell.parts import LocaleDependent, ansi_escape, make_word, merge
from bot.shell.quoting import single_quoted
from bot.shell.syntax import (
    Arithmetic,
    Double,
    Node,
    Parameter,
    Part,
    ProcessSubstitution,
    Substitution,
    Text,
    Word,
)

MAX_DEPTH = 60
"""Quotes and substitutions inside one another; each level costs several Python frames."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PLAIN = re.compile(r"[^\s\\'\"`$;&|<>()?*+@!~={}\[\]#]+")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
SPECIAL = frozenset("@*#?-$!")
_METACHARACTERS = frozenset(" \t\n;&|<>()")
_DOUBLE_PLAIN = re.compile(r"[^\\\"`$]+")
_PLAIN_WITHIN = re.compile(r"[^\\\"'`$()\[\];]+")
"""What `quoted_until` takes as it stands, whatever closes."""


UNFOLLOWED = "a syntax error that is not followed"
"""How the message of an error starts behind which a shell does not simply stop."""


class SyntaxProblem(Exception):
    """The shell would refuse the text here."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class TooDeep(Exception):
    """Nesting that the reader does not follow. `line` is where it gave up."""

    def __init__(self, line: int) -> None:
        super().__init__("nested too deeply to be read")
        self.line = line


class WordReader:
    """A position in a text, and the reading of words from there.

    `commands` reads a list of commands up to a closing `)`: it is given by `grammar`, which stands above.
    """

    def __init__(self, text: str, first_line: int = 1, *, posix: bool = False, depth: int = 0) -> None:
        self.text = text
        self.at = 0
        self.posix = posix
        self.depth = depth
        self.first_line = first_line
        self.names: list[str] = []
        self.extended: list[int] = []
        self._substitutions = 0
        self._inside: Literal["", "double", "here"] = ""
        self._newlines = [index for index, character in enumerate(text) if character == "\n"]

    # The grammar overrides this; a word reader alone has no commands to offer.
    commands: Callable[[], Node]
    nested: Callable[[str, int], Node]

    def line(self, at: int | None = None) -> int:
        """The line of a place in the text."""
        return self.first_line + bisect_left(self._newlines, self.at if at is None else at)

    def fail(self, message: str) -> SyntaxProblem:
        """The error to raise here."""
        return SyntaxProblem(message, self.line())

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeep(self.line())

    # --- one word ---------------------------------------------------------------------------------------------

    def word(
        self, *, braces: bool = False, stop: frozenset[str] = _METACHARACTERS, extglob: bool = True
    ) -> Word | None:
        """The word that starts here, or None when none does."""
        text, start = self.text, self.at
        parts: list[Part] = []
        end = len(text)
        while self.at < end:
            plain = PLAIN.match(text, self.at)
            if plain:
                parts.append(Text(plain.group(), False))
                self.at = plain.end()
                continue
            character = text[self.at]
            if character in stop:
                if character in "<>" and text.startswith("(", self.at + 1) and not self.posix and "<" in stop:
                    parts.append(self._process_substitution())
                    continue
                break
            if extglob and character in "?*+@!" and text.startswith("(", self.at + 1) and not self.posix:
                self.extended.append(self.line())
                self._extended_pattern(parts)
                continue
            self._piece(parts, in_double=False)
        if self.at == start:
            return None
        word = make_word(parts, self.line(start), text[start : self.at])
        return self._with_braces(word) if braces and "{" in word.text else word

    def _with_braces(self, word: Word) -> Word:
        """The word together with those that brace expansion makes of it, if it does."""
        try:
            texts = self._expanded(word.text, word.line)
            if texts is None:
                return word
            words = [self._beside(one, word.line).word(stop=frozenset()) for one in texts if one]
        except (TooMany, SyntaxProblem):
            return replace(word, too_many=True, constant=None)
        return replace(word, braces=tuple(one for one in words if one is not None), constant=None, expands=True)

    def _expanded(self, text: str, line: int) -> list[str] | None:
        """The texts that brace expansion makes of a word; None when it makes none. Raises `TooMany`."""
        if self.posix or not may_expand(text):
            return None
        if "\\\n" in text:
            if "'" in text:
                raise TooMany
            text = text.replace("\\\n", "")
        if "$'" in text:
            text = self._plainly_quoted(text, line)

        def skip(text: str, at: int) -> int:
            reader = self._beside(text[at:], line)
            if text[at] == "$":
                reader.dollar(in_double=False)
            else:
                reader._process_substitution()
            return at + reader.at

        texts = expand_braces(text, skip)
        return None if texts == [text] else texts

    def _plainly_quoted(self, text: str, line: int) -> str:
        """The text of a word with `'…'` for its `$'…'`, as it is when bash looks for braces. Raises `TooMany`."""
        reader = self._beside(text, line)
        pieces: list[str] = []
        while reader.at < len(text):
            start = reader.at
            if text.startswith("$'", start):
                pieces.append(single_quoted(reader.ansi_quoted().text))
                continue
            reader._piece([], in_double=False)
            pieces.append(text[start : reader.at])
            if "$'" in pieces[-1]:
                raise TooMany
        return "".join(pieces)

    def _beside(self, text: str, line: int) -> Self:
        """A reader of a text that came out of this one."""
        reader = type(self)(text, line, posix=self.posix, depth=self.depth)
        reader._substitutions = self._substitutions
        return reader

    def _piece(self, parts: list[Part], *, in_double: bool) -> None:
        """One piece of a word at the current character, which is none of the characters that end the word."""
        text = self.text
        character = text[self.at]
        if character == "\\":
            self._backslash(parts)
        elif character == "'" and not in_double:
            closing = text.find("'", self.at + 1)
            if closing < 0:
                raise self.fail("unexpected EOF while looking for matching `''")
            parts.append(Text(text[self.at + 1 : closing], True))
            self.at = closing + 1
        elif character == '"':
            parts.append(self.double())
        elif character == "$":
            parts.append(self.dollar(in_double=in_double))
        elif character == "`":
            parts.append(self.backquote(in_double=in_double))
        else:
            parts.append(Text(character, False))
            self.at += 1

    def _backslash(self, parts: list[Part]) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following == "\n":
            self.at += 2
        elif following:
            parts.append(Text(following, True))
            self.at += 2
        else:
            parts.append(Text("\\", True))
            self.at += 1

    def _extended_pattern(self, parts: list[Part]) -> None:
        """`@(a|b)` and its kin stay one word; the characters between are read as always."""
        self._deeper()
        parts.append(Text(self.text[self.at : self.at + 2], False))
        self.at += 2
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == ")":
                parts.append(Text(")", False))
                self.at += 1
                self.depth -= 1
                return
            if character in "?*+@!" and self.text.startswith("(", self.at + 1):
                self._extended_pattern(parts)
            else:
                self._piece(parts, in_double=False)
        raise self.fail("unexpected EOF while looking for matching `)'")

    # --- quotes -----------------------------------------------------------------------------------------------

    def double(self) -> Double:
        """`"…"` from its opening quote."""
        outside, self._inside = self._inside, "here" if self._inside == "here" else "double"
        self.at += 1
        parts: list[Part] = []
        text = self.text
        while self.at < len(text):
            plain = _DOUBLE_PLAIN.match(text, self.at)
            if plain:
                parts.append(Text(plain.group(), True))
                self.at = plain.end()
                continue
            character = text[self.at]
            if character == '"':
                self.at += 1
                self._inside = outside
                return Double(tuple(parts))
            self._inside_double(parts, '$`"\\')
        raise self.fail("unexpected EOF while looking for matching `\"'")

    def _inside_double(self, parts: list[Part], escaped: str) -> None:
        character = self.text[self.at]
        if character == "\\":
            following = self.text[self.at + 1 : self.at + 2]
            if following == "\n":
                self.at += 2
            elif following and following in escaped:
                parts.append(Text(following, True))
                self.at += 2
            else:
                parts.append(Text("\\", True))
                self.at += 1
        elif character == "$":
            parts.append(self.dollar(in_double=True))
        elif character == "`":
            parts.append(self.backquote(in_double=True))
        else:
            parts.append(Text(character, True))
            self.at += 1

    def ansi_quoted(self) -> Text:
        """`$'…'` from its dollar sign."""
        self.at += 2
        pieces = bytearray()
        text = self.text
        while self.at < len(text):
            character = text[self.at]
            if character == "'":
                self.at += 1
                decoded = pieces.decode("utf-8", "replace")
                return Text(decoded.split("\0", 1)[0], True)
            if character == "\\" and self.at + 1 < len(text):
                try:
                    value, self.at = ansi_escape(text, self.at + 1)
                except LocaleDependent as error:
                    raise self.fail(f"{UNFOLLOWED}: {error}") from error
                pieces += value
            else:
                pieces += character.encode()
                self.at += 1
        raise self.fail("unexpected EOF while looking for matching `''")

    # --- dollar -----------------------------------------------------------------------------------------------

    def dollar(self, *, in_double: bool) -> Part:
        """What starts with `$`; the sign itself when nothing does."""
        text, line = self.text, self.line()
        following = text[self.at + 1 : self.at + 2]
        if following == "{":
            return self.braced(in_double=in_double)
        if following == "(":
            return self._parenthesis(line)
        if following == "'" and not in_double and not self.posix:
            return self.ansi_quoted()
        if following == '"' and not in_double and not self.posix:
            self.at += 1
            return self.double()
        if following == "[" and not self.posix:
            return self._old_arithmetic(line)
        if following in SPECIAL and following:
            self.at += 2
            return Parameter(following, line, text="$" + following)
        if following.isdecimal() and following.isascii():
            self.at += 2
            return Parameter(following, line, text="$" + following)
        name = NAME.match(text, self.at + 1)
        if name:
            self.at = name.end()
            self.names.append(name.group())
            return Parameter(name.group(), line, text="$" + name.group())
        self.at += 1
        return Text("$", in_double)

    def _parenthesis(self, line: int) -> Part:
        text, start = self.text, self.at
        if text.startswith("((", start + 1):
            self.at = start + 3
            expression = self.arithmetic_until_close()
            if expression is not None:
                return Arithmetic(expression, line)
            self.at = start
        self.at = start + 2
        self._deeper()
        outside, self._inside = self._inside, ""
        self._substitutions += 1
        body = self.commands()
        self._substitutions -= 1
        self._inside = outside
        self.depth -= 1
        if not text.startswith(")", self.at):
            raise self.fail("unexpected EOF while looking for matching `)'")
        self.at += 1
        return Substitution(body, line, text[start : self.at])

    def _old_arithmetic(self, line: int) -> Part:
        self.at += 2
        expression = self.quoted_until("]", opening="[")
        return Arithmetic(expression, line)

    def arithmetic_until_close(self) -> Word | None:
        """The expression up to `))`, with the position behind it; None when this is no arithmetic."""
        start, depth, outside = self.at, self.depth, self._inside
        try:
            expression = self.quoted_until(")", opening="(")
        except SyntaxProblem as problem:
            if problem.message.startswith(UNFOLLOWED):
                raise
            self.at, self.depth, self._inside = start, depth, outside
            return None
        if not self.text.startswith(")", self.at):
            self.at, self.depth = start, depth
            return None
        self.at += 1
        return expression

    def quoted_until(self, closing: str, *, opening: str = "") -> Word:
        """Text that expands as if in double quotes, up to a closing character, which is consumed.

        Quote characters are removed (an arithmetic expression and a subscript are read that way).
        """
        text, start, level = self.text, self.at, 0
        outside, self._inside = self._inside, ""
        parts: list[Part] = []
        while self.at < len(text):
            if plain := _PLAIN_WITHIN.match(text, self.at):
                parts.append(Text(plain.group(), True))
                self.at = plain.end()
                continue
            character = text[self.at]
            if character == closing and level == 0:
                word = make_word(parts, self.line(start), text[start : self.at])
                self.at += 1
                self._inside = outside
                return word
            if character == closing:
                level -= 1
            elif opening and character == opening:
                level += 1
            if character == '"':
                parts.append(self.double())
            elif character == "'":
                self._piece(parts, in_double=False)
            else:
                self._inside_double(parts, '$`"\\')
        raise self.fail(f"unexpected EOF while looking for matching `{closing}'")

    def backquote(self, *, in_double: bool) -> Substitution:
        """An older command substitution, from its backquote."""
        text, start, line = self.text, self.at, self.line()
        self.at += 1
        inner: list[str] = []
        escaped = '$`\\"' if in_double else "$`\\"
        while self.at < len(text):
            character = text[self.at]
            if character == "`":
                self.at += 1
                self._deeper()
                body = self.nested("".join(inner), line)
                self.depth -= 1
                return Substitution(body, line, text[start : self.at])
            if character == "\\" and text[self.at + 1 : self.at + 2] in tuple(escaped):
                inner.append(text[self.at + 1])
                self.at += 2
            else:
                inner.append(character)
                self.at += 1
        raise self.fail("unexpected EOF while looking for matching ``'")

    def _process_substitution(self) -> ProcessSubstitution:
        start, line = self.at, self.line()
        self.at += 2
        self._deeper()
        body = self.commands()
        self.depth -= 1
        if not self.text.startswith(")", self.at):
            raise self.fail("unexpected EOF while looking for matching `)'")
        self.at += 1
        return ProcessSubstitution(body, line, self.text[start : self.at], self.text[start] == ">")

    # --- ${…}: read by `parameters`, which stands above ----------------------------------------------------------

    def braced(self, *, in_double: bool) -> Part:
        """`${…}` from its dollar sign."""
        raise NotImplementedError

    # --- here-documents ---------------------------------------------------------------------------------------

    def here_text(self, line: int) -> Word:
        """The whole text as the body of an unquoted here-document."""
        parts: list[Part] = []
        text = self.text
        self._inside = "here"
        while self.at < len(text):
            plain = _HERE_PLAIN.match(text, self.at)
            if plain:
                parts.append(Text(plain.group(), True))
                self.at = plain.end()
            else:
                self._inside_double(parts, "$`\\")
        return Word((Double(tuple(merge(parts))),), line, text)


_HERE_PLAIN = re.compile(r"[^\\`$]+")
