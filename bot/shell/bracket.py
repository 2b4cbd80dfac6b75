"""`test` and `[ … ]`: how their arguments are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.shell.state import Status
from bot.shell.values import Value

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter
from bot.shell.conditions import NUMERIC, TestError, binary, empty, unary
from bot.shell.naming import question, shortened

_BINARY = frozenset({"=", "==", "!=", "<", ">", "-nt", "-ot", "-ef", *NUMERIC})

_UNARY = frozenset(f"-{letter}" for letter in "abcdefghknoprstuvwxzGLNORS")


def builtin_test(on: Interpreter, arguments: list[Value]) -> Status:
    """`test` and `[` (without its last argument)."""
    try:
        holds = _Arguments(on, arguments).whole()
    except TestError:
        return 2
    return 0 if holds else _failed(on, arguments)


def _failed(on: Interpreter, arguments: list[Value]) -> Status:
    """The status of a test that fails: 2 instead of 1 where what is compared turns out not to be a number."""
    if not any(one.text in NUMERIC for one in arguments):
        return 1
    open_ones = [one for one in map(on.way.resolve, arguments) if one.text is None and not on.way.is_number(one)]
    if not open_ones:
        return 1
    words = ("".join(part if isinstance(part, str) else part.name for part in one.pieces) for one in arguments)
    told = f"[ {' '.join(words)} ]"
    return on.way.failed(question(on, shortened(told), None, object()))


class _Arguments:
    """The rules of POSIX for few arguments, and the grammar of bash for more."""

    def __init__(self, on: Interpreter, arguments: list[Value]) -> None:
        self.on = on
        self.arguments = arguments
        self.at = 0

    def _text(self, at: int) -> str | None:
        return self.arguments[at].text if at < len(self.arguments) else None

    def whole(self) -> bool:
        for one in self.arguments:
            if one.splits:
                self.on.machine.note(self.on, f"{one.template()} is assumed to be one word")
        count = len(self.arguments)
        if count > 4:
            return self._grammar()
        return self._few(0, count)

    def _few(self, start: int, count: int) -> bool:
        on, arguments = self.on, self.arguments
        if count == 0:
            return False
        first = self._text(start)
        if count == 1:
            return not empty(on, arguments[start])
        if count == 2:
            if first == "!":
                return empty(on, arguments[start + 1])
            if first in _UNARY:
                return unary(on, str(first), arguments[start + 1])
            raise TestError(str(first))
        if count == 3:
            second = self._text(start + 1)
            if second in self._binary_operators():
                return binary(on, str(second), arguments[start], arguments[start + 2])
            if second == "-a":
                left, right = not empty(on, arguments[start]), not empty(on, arguments[start + 2])
                return left and right
            if second == "-o":
                left, right = not empty(on, arguments[start]), not empty(on, arguments[start + 2])
                return left or right
            if first == "!":
                return not self._few(start + 1, 2)
            if first == "(" and self._text(start + 2) == ")":
                return not empty(on, arguments[start + 1])
            raise TestError(str(second))
        if first == "!":
            return not self._few(start + 1, 3)
        if first == "(" and self._text(start + 3) == ")":
            return self._few(start + 1, 2)
        return self._grammar()

    def _binary_operators(self) -> frozenset[str]:
        return _BINARY - {"=="} if self.on.shell.posix else _BINARY

    def _grammar(self) -> bool:
        result = self._or()
        if self.at < len(self.arguments):
            raise TestError("too many arguments")
        return result

    def _or(self) -> bool:
        result = self._and()
        while self._text(self.at) == "-o":
            self.at += 1
            right = self._and()
            result = result or right
        return result

    def _and(self) -> bool:
        result = self._term()
        while self._text(self.at) == "-a":
            self.at += 1
            right = self._term()
            result = result and right
        return result

    def _term(self) -> bool:
        if self.at >= len(self.arguments):
            raise TestError("argument expected")
        text = self._text(self.at)
        if text == "!":
            self.at += 1
            return not self._term()
        if text == "(":
            self.at += 1
            result = self._or()
            if self._text(self.at) != ")":
                raise TestError("`)' expected")
            self.at += 1
            return result
        second = self._text(self.at + 1)
        if self.at + 2 < len(self.arguments) and second in self._binary_operators():
            left, right = self.arguments[self.at], self.arguments[self.at + 2]
            self.at += 3
            return binary(self.on, str(second), left, right)
        if text in _UNARY and self.at + 1 < len(self.arguments):
            self.at += 2
            return unary(self.on, str(text), self.arguments[self.at - 1])
        self.at += 1
        return not empty(self.on, self.arguments[self.at - 1])
