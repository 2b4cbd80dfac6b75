"""Reads `[[ … ]]`."""

from __future__ import annotations

from bot.shell.parts import make_word
from bot.shell.simple_commands import SimpleReader
from bot.shell.syntax import (
    BinaryTest,
    Conditional,
    JoinedTest,
    NotTest,
    Part,
    Test,
    Text,
    UnaryTest,
    Word,
)

_UNARY = frozenset("abcdefghknoprstuvwxzGLNORS")
_BINARY_WORDS = frozenset(["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"])


class TestReader(SimpleReader):
    """Reads the tests of conditional commands."""

    def _conditional(self, line: int) -> Conditional:
        start = self.at - 2
        test = self._test_or()
        self._newlines_and_blanks()
        if not self.text.startswith("]]", self.at):
            raise self.fail("syntax error in conditional expression")
        self.at += 2
        return Conditional(test, line, self.text[start : self.at])

    def _test_or(self) -> Test:
        left = self._test_and()
        self._newlines_and_blanks()
        if self.text.startswith("||", self.at):
            self.at += 2
            return JoinedTest("||", left, self._test_or())
        return left

    def _test_and(self) -> Test:
        left = self._test_not()
        self._newlines_and_blanks()
        if self.text.startswith("&&", self.at):
            self.at += 2
            return JoinedTest("&&", left, self._test_and())
        return left

    def _test_not(self) -> Test:
        self._deeper()
        try:
            self._newlines_and_blanks()
            if self._peek() == "!":
                self.at += 1
                inner = self._test_not()
                return inner.test if isinstance(inner, NotTest) else NotTest(inner)
            if self.text.startswith("(", self.at):
                self.at += 1
                test = self._test_or()
                self._newlines_and_blanks()
                if not self.text.startswith(")", self.at):
                    raise self.fail("syntax error in conditional expression")
                self.at += 1
                return test
            return self._test_primary()
        finally:
            self.depth -= 1

    def _test_word(self) -> Word:
        self._blanks()
        extended = len(self.extended)
        word = self.word()
        # Extended patterns are always on in here.
        del self.extended[extended:]
        if word is None:
            raise self.fail("syntax error in conditional expression")
        return word

    def _test_primary(self) -> Test:
        start = self.at
        left = self._test_word()
        operator_like = left.text == left.constant and len(left.text) == 2 and left.text[0] == "-"
        self._blanks()
        ends = self.text.startswith(("]]", "&&", "||", ")"), self.at)
        if operator_like and left.text[1] in _UNARY and not ends and not self._binary_ahead():
            return UnaryTest(left.text, self._test_word())
        if ends or self.text.startswith("\n", self.at):
            return UnaryTest("-n", left)
        for operator in ("==", "=~", "!=", "=", "<", ">"):
            if self.text.startswith(operator, self.at):
                self.at += len(operator)
                self._blanks()
                right = self._regular_expression() if operator == "=~" else self._test_word()
                return BinaryTest("==" if operator == "=" else operator, left, right)
        operator = self._peek()
        if operator in _BINARY_WORDS:
            self.at += len(operator)
            return BinaryTest(operator, left, self._test_word())
        self.at = start
        raise self.fail("syntax error in conditional expression")

    def _binary_ahead(self) -> bool:
        """Whether what follows is a binary operator, so that `-f == x` compares strings."""
        keyword = self._peek()
        return keyword in _BINARY_WORDS or keyword in ("==", "!=", "=~", "=")

    def _regular_expression(self) -> Word:
        text, start, level = self.text, self.at, 0
        parts: list[Part] = []
        while self.at < len(text):
            character = text[self.at]
            if character in " \t\n" and not level:
                break
            if character == "(":
                level += 1
            elif character == ")":
                if not level:
                    break
                level -= 1
            if character in "'\"\\$`":
                self._piece(parts, in_double=False)
            else:
                parts.append(Text(character, False))
                self.at += 1
        if self.at == start:
            raise self.fail("syntax error in conditional expression")
        return make_word(parts, self.line(start), text[start : self.at])
