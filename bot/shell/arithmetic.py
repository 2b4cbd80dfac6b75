"""Shell arithmetic: 64 bits, the operators of C, variables that are expressions themselves."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from bot.shell.state import Refusal

MAX_NESTING = 40
"""Variables that hold expressions that name variables. Bash goes on to 1024: beyond this, its answer is not known."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9][0-9A-Za-z_@#]*)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<operator><<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%<>=!~&|^?:,()\[\]]))"
)
_BASE = re.compile(r"[0-9]{1,2}")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BITS = 64
_BINARY = {
    "||": 2, "&&": 3, "|": 4, "^": 5, "&": 6, "==": 7, "!=": 7, "<": 8, "<=": 8, ">": 8, ">=": 8, "<<": 9, ">>": 9,
    "+": 10, "-": 10, "*": 11, "/": 11, "%": 11, "**": 12,
}  # fmt: skip
_ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}


class ArithmeticFailure(Exception):
    """The expression is refused: a syntax error, or a division by zero."""


class Variables(Protocol):
    """What an expression reads and writes. `read` gives the text of a variable, None when it is unset."""

    def read(self, name: str, index: int | str | None) -> str | None:
        """The text of a variable or element."""

    def write(self, name: str, index: int | str | None, value: int) -> None:
        """Sets a variable or element."""

    def is_map(self, name: str) -> bool:
        """Whether subscripts of this variable are keys."""


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, or an element when `index` is set."""

    name: str
    index: str | None = None


@dataclass(frozen=True, slots=True)
class Unary:
    """`!x`, `~x`, `+x`, `-x`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """`a + b` and the other operators of two operands."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Choice:
    """`test ? yes : no`."""

    test: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value`, or `target += value` with its operator."""

    target: Name
    operator: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Step:
    """`++x`, `x--`: `before` says that the result is the new value."""

    target: Name
    change: int
    before: bool


Expression = Number | Name | Unary | Binary | Choice | Assign | Step


def wrap(value: int) -> int:
    """The value as a signed 64-bit number."""
    if -(1 << 63) <= value < 1 << 63:
        return value
    value &= (1 << _BITS) - 1
    return value - (1 << _BITS) if value >> 63 else value


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        stripped = text.rstrip()
        while at < len(stripped):
            found = _TOKEN.match(stripped, at)
            if not found:
                raise ArithmeticFailure(f"{text}: syntax error")
            kind = found.lastgroup or ""
            if kind == "name" and stripped.startswith("[", found.end()):
                closing = _bracket(stripped, found.end())
                self.tokens.append(("element", found["name"] + stripped[found.end() : closing], found.start("name")))
                at = closing
                continue
            text = found[kind]
            at = found.end()
            if text in ("++", "--") and not self._steps(stripped, at):
                text, at = text[0], at - 1
            self.tokens.append((kind, text, found.start(kind)))
        self.at = 0
        self.depth = 0

    def _steps(self, text: str, at: int) -> bool:
        """Whether `++` in front of `at` belongs to a variable; else it is a sign, twice."""
        if self.tokens and self.tokens[-1][0] in ("name", "element"):
            return True
        return bool(re.compile(r"\s*[A-Za-z_]").match(text, at))

    def peek(self) -> str:
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "operator":
            return self.tokens[self.at][1]
        return ""

    def take(self, operator: str) -> bool:
        if self.peek() == operator:
            self.at += 1
            return True
        return False

    def fail(self) -> ArithmeticFailure:
        return ArithmeticFailure(f"{self.text}: syntax error in expression")

    def whole(self) -> Expression:
        if not self.tokens:
            return Number(0)
        expression = self.comma()
        if self.at < len(self.tokens):
            raise self.fail()
        return expression

    def comma(self) -> Expression:
        left = self.assignment()
        while self.take(","):
            left = Binary(",", left, self.assignment())
        return left

    def assignment(self) -> Expression:
        self.depth += 1
        if self.depth > 100:
            raise Refusal("an expression that is nested too deeply")
        left = self.choice()
        operator = self.peek()
        if operator in _ASSIGN:
            if not isinstance(left, Name):
                raise ArithmeticFailure(f"{self.text}: attempted assignment to non-variable")
            self.at += 1
            left = Assign(left, operator[:-1], self.assignment())
        self.depth -= 1
        return left

    def choice(self) -> Expression:
        test = self.binary(2)
        if self.take("?"):
            yes = self.comma()
            if not self.take(":"):
                raise self.fail()
            return Choice(test, yes, self.choice())
        return test

    def binary(self, lowest: int) -> Expression:
        left = self.unary()
        while True:
            operator = self.peek()
            rank = _BINARY.get(operator, 0)
            if rank < lowest:
                return left
            self.at += 1
            right = self.binary(rank if operator == "**" else rank + 1)
            left = Binary(operator, left, right)

    def unary(self) -> Expression:
        self.depth += 1
        if self.depth > 100:
            raise Refusal("an expression that is nested too deeply")
        try:
            operator = self.peek()
            if operator in ("++", "--"):
                following = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else ("", "", 0)
                if following[0] in ("name", "element"):
                    self.at += 1
                    target = self.primary()
                    if isinstance(target, Name):
                        return Step(target, 1 if operator == "++" else -1, True)
                self.at += 1
                return Unary(operator[0], Unary(operator[0], self.unary()))
            if operator in ("!", "~", "+", "-"):
                self.at += 1
                return Unary(operator, self.unary())
            operand = self.primary()
            operator = self.peek()
            if operator in ("++", "--") and isinstance(operand, Name):
                self.at += 1
                return Step(operand, 1 if operator == "++" else -1, False)
            return operand
        finally:
            self.depth -= 1

    def primary(self) -> Expression:
        if self.at >= len(self.tokens):
            raise self.fail()
        kind, text, _ = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return Number(number(text))
        if kind == "name":
            return Name(text)
        if kind == "element":
            name, _, index = text.partition("[")
            return Name(name, index[:-1])
        if text == "(":
            inner = self.comma()
            if not self.take(")"):
                raise self.fail()
            return inner
        raise self.fail()


def _bracket(text: str, at: int) -> int:
    level = 0
    for position in range(at, len(text)):
        level += (text[position] == "[") - (text[position] == "]")
        if level == 0:
            return position + 1
    raise ArithmeticFailure(f"{text}: bad array subscript")


def number(text: str) -> int:
    """The value of a constant: decimal, `0x`, a leading zero for octal, `base#digits`."""
    base, digits = 10, text
    if "#" in text:
        head, _, digits = text.partition("#")
        if not _BASE.fullmatch(head) or not 2 <= int(head) <= 64 or not digits:
            raise ArithmeticFailure(f"{text}: invalid arithmetic base")
        base = int(head)
    elif text[:2] in ("0x", "0X"):
        base, digits = 16, text[2:]
    elif text.startswith("0") and len(text) > 1:
        base, digits = 8, text[1:]
    value = 0
    for digit in digits:
        rank = _digit(digit, base)
        if rank >= base:
            raise ArithmeticFailure(f"{text}: value too great for base")
        value = wrap(value * base + rank)
    return value


def _digit(digit: str, base: int) -> int:
    if digit.isdecimal():
        return int(digit)
    if digit == "@":
        return 62
    if digit == "_":
        return 63
    rank = ord(digit.lower()) - ord("a") + 10
    return rank + 26 if digit.isupper() and base > 36 else rank


@lru_cache(maxsize=2048)
def parse(text: str) -> Expression:
    """The expression of a text. Raises `ArithmeticFailure`, and `Refusal` when it is too deep to be followed."""
    try:
        return _Parser(text).whole()
    except RecursionError as error:
        raise Refusal("an expression that is nested too deeply") from error


def evaluate(text: str, variables: Variables, depth: int = 0) -> int:
    """The value of an expression. Raises `ArithmeticFailure`, and `Refusal` when it is too deep to be followed."""
    if depth > MAX_NESTING:
        raise Refusal("expressions in variables that are nested too deeply")
    return _Evaluation(variables, depth).value(parse(text))


class _Evaluation:
    def __init__(self, variables: Variables, depth: int) -> None:
        self.variables = variables
        self.depth = depth

    def value(self, expression: Expression) -> int:
        match expression:
            case Number(value):
                return value
            case Name():
                return self.read(expression)
            case Unary(operator, operand):
                return _UNARY[operator](self.value(operand))
            case Choice(test, yes, no):
                return self.value(yes if self.value(test) else no)
            case Assign(target, operator, value):
                if not operator:
                    return self.write(target, self.value(value))
                old = self.read(target)
                return self.write(target, _apply(operator, old, self.value(value)))
            case Step(target, change, before):
                old = self.read(target)
                new = self.write(target, wrap(old + change))
                return new if before else old
            case Binary("&&", left, right):
                return int(bool(self.value(left)) and bool(self.value(right)))
            case Binary("||", left, right):
                return int(bool(self.value(left)) or bool(self.value(right)))
            case Binary(",", left, right):
                self.value(left)
                return self.value(right)
            case Binary(operator, left, right):
                first = self.value(left)
                return _apply(operator, first, self.value(right))

    def _index(self, target: Name) -> int | str | None:
        if target.index is None:
            return None
        if self.variables.is_map(target.name):
            return target.index
        return evaluate(target.index, self.variables, self.depth + 1)

    def read(self, target: Name) -> int:
        text = self.variables.read(target.name, self._index(target))
        named: set[str] = set()
        while text and _PLAIN_NAME.fullmatch(text):
            if text in named:
                raise ArithmeticFailure(f"{text}: expression recursion level exceeded")
            named.add(text)
            text = self.variables.read(text, None)
        if not text:
            return 0
        if text.isdecimal() and text.isascii() and (text[0] != "0" or text == "0"):
            return wrap(int(text)) if len(text) < 40 else number(text)
        return evaluate(text, self.variables, self.depth + 1)

    def write(self, target: Name, value: int) -> int:
        self.variables.write(target.name, self._index(target), value)
        return value


_UNARY: dict[str, Callable[[int], int]] = {
    "!": lambda value: int(not value),
    "~": lambda value: ~value,
    "+": lambda value: value,
    "-": lambda value: wrap(-value),
}


def _apply(operator: str, left: int, right: int) -> int:
    if operator in ("/", "%"):
        if right == 0:
            raise ArithmeticFailure("division by 0")
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return wrap(quotient if operator == "/" else left - quotient * right)
    if operator == "**":
        if right < 0:
            raise ArithmeticFailure("exponent less than 0")
        return wrap(pow(left, right, 1 << _BITS)) if right else 1
    if operator == "<<":
        return wrap(left << (right & 63))
    if operator == ">>":
        return left >> (right & 63)
    return wrap(_PLAIN[operator](left, right))


_PLAIN: dict[str, Callable[[int, int], int]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "&": lambda left, right: left & right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<": lambda left, right: int(left < right),
    "<=": lambda left, right: int(left <= right),
    ">": lambda left, right: int(left > right),
    ">=": lambda left, right: int(left >= right),
}
