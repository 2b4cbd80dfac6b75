"""Reads words: quotes, expansions, here-documents. `grammar` builds commands out of them.

A word ends where bash ends it: a boundary that is off by one character would be a wrong argument.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from bot.shell.braces import expand_braces
from bot.shell.syntax import (
    Arithmetic,
    BadSubstitution,
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

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"[0-9]+")
_PLAIN = re.compile(r"[^\s\\'\"`$;&|<>()?*+@!~={}\[\]#]+")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_SPECIAL = frozenset("@*#?-$!")
_METACHARACTERS = frozenset(" \t\n;&|<>()")
_DOUBLE_PLAIN = re.compile(r"[^\\\"`$]+")
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
_OPERATORS = re.compile(r":[-=?+]|[-=?+]|##|#|%%|%|//|/|\^\^|\^|,,|,|@|:")


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
        self._newlines = [index for index, character in enumerate(text) if character == "\n"]

    # The grammar overrides this; a word reader alone has no commands to offer.
    commands: Callable[[], Node]
    nested: Callable[[str, int], Node]

    def line(self, at: int | None = None) -> int:
        return self.first_line + bisect_left(self._newlines, self.at if at is None else at)

    def fail(self, message: str) -> SyntaxProblem:
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
            plain = _PLAIN.match(text, self.at)
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
                self._extended_pattern(parts)
                continue
            self._piece(parts, in_double=False)
        if self.at == start:
            return None
        return make_word(parts, self.line(start), text[start : self.at], braces=braces and not self.posix)

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
                value, self.at = ansi_escape(text, self.at + 1)
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
        if following in _SPECIAL and following:
            self.at += 2
            return Parameter(following, line, text="$" + following)
        if following.isdecimal() and following.isascii():
            self.at += 2
            return Parameter(following, line, text="$" + following)
        name = _NAME.match(text, self.at + 1)
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
        body = self.commands()
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
        start, depth = self.at, self.depth
        try:
            expression = self.quoted_until(")", opening="(")
        except SyntaxProblem:
            self.at, self.depth = start, depth
            return None
        if not self.text.startswith(")", self.at):
            self.at, self.depth = start, depth
            return None
        self.at += 1
        return expression

    def quoted_until(self, closing: str, *, opening: str = "", keep_quotes: bool = False) -> Word:
        """Text that expands as if in double quotes, up to a closing character, which is consumed.

        Quote characters are removed (an arithmetic expression and a subscript are read that way).
        """
        text, start, level = self.text, self.at, 0
        parts: list[Part] = []
        while self.at < len(text):
            character = text[self.at]
            if character == closing and level == 0:
                word = make_word(parts, self.line(start), text[start : self.at])
                self.at += 1
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

    # --- ${…} -------------------------------------------------------------------------------------------------

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
        name = _NAME.match(text, self.at)
        if name:
            self.names.append(name.group())
        name = name or _NUMBER.match(text, self.at)
        if name:
            self.at = name.end()
            return name.group()
        if self.at < len(text) and text[self.at] in _SPECIAL:
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
            offset = self._slice_part()
            length = None
            if text.startswith(":", self.at):
                self.at += 1
                length = self._slice_part()
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

    def _slice_part(self) -> Word:
        """An arithmetic expression up to `:` or `}` that stand outside of parentheses and `?:`."""
        text, start = self.text, self.at
        parts: list[Part] = []
        level = questions = 0
        while self.at < len(text):
            character = text[self.at]
            if character == "}" or (character == ":" and not level and not questions):
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
                if character == '"':
                    parts.append(self.double())
                elif character == "\\" and text.startswith("}", self.at + 1):
                    parts.append(Text("}", True))
                    self.at += 2
                elif character in "\\$`":
                    self._inside_double(parts, '$`"\\')
                else:
                    parts.append(Text(character, True))
                    self.at += 1
            else:
                plain = _PLAIN.match(text, self.at) if not stop else None
                if plain:
                    parts.append(Text(plain.group(), False))
                    self.at = plain.end()
                elif character == "$":
                    parts.append(self.dollar(in_double=False))
                elif character in "<>" and text.startswith("(", self.at + 1) and not in_double and not self.posix:
                    parts.append(self._process_substitution())
                else:
                    self._piece(parts, in_double=False)
        return make_word(parts, self.line(start), text[start : self.at])

    # --- here-documents ---------------------------------------------------------------------------------------

    def here_text(self, line: int) -> Word:
        """The whole text as the body of an unquoted here-document."""
        parts: list[Part] = []
        text = self.text
        while self.at < len(text):
            plain = _HERE_PLAIN.match(text, self.at)
            if plain:
                parts.append(Text(plain.group(), True))
                self.at = plain.end()
            else:
                self._inside_double(parts, "$`\\")
        return Word((Double(tuple(merge(parts))),), line, text)


_HERE_PLAIN = re.compile(r"[^\\`$]+")


def make_word(parts: list[Part], line: int, text: str, *, braces: bool = False) -> Word:
    """A word of these parts, with what can be said of it once for all."""
    merged = merge(parts)
    constant = _constant(merged)
    prefix = _ASSIGNMENT_PREFIX.match(text)
    word = Word(tuple(merged), line, text, constant, assignment_like=prefix.end() if prefix else 0)
    if braces and any(isinstance(part, Text) and not part.quoted and "{" in part.text for part in merged):
        expanded = expand_braces(merged)
        if expanded is None:
            return replace(word, too_many=True, constant=None)
        if len(expanded) != 1:
            words = tuple(make_word(list(one), line, text) for one in expanded)
            return replace(word, braces=words, constant=None)
    return word


def merge(parts: list[Part]) -> list[Part]:
    """The same parts, with neighbouring literals of one kind joined."""
    if len(parts) < 2:
        return parts
    merged: list[Part] = []
    for part in parts:
        last = merged[-1] if merged else None
        if isinstance(part, Text) and isinstance(last, Text) and part.quoted == last.quoted:
            merged[-1] = Text(last.text + part.text, part.quoted)
        else:
            merged.append(part)
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
            if number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF:
                return chr(number).encode(), digits.end()
        return ("\\" + letter).encode(), at + 1
    if letter == "c" and at + 1 < len(text):
        return bytes([ord(text[at + 1].upper()) & 0x1F if text[at + 1].isascii() else 0]), at + 2
    return ("\\" + letter).encode(), at + 1
