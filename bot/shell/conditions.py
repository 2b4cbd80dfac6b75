"""Tests: `[[ … ]]`, `test` and `[ … ]`, and arithmetic over what is not known."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from bot.shell import arithmetic, commands
from bot.shell.arithmetic import ArithmeticFailure
from bot.shell.expansion import UnknownNumber
from bot.shell.machine import DIRECTORIES
from bot.shell.naming import question
from bot.shell.numbers import whole
from bot.shell.patterns import (
    BadPattern,
    UnsupportedPattern,
    counts_characters,
    is_literal,
    is_simple,
    longest_groups_are_certain,
    match_cost,
    regular_expression,
    unquote,
)
from bot.shell.patterns import matches as pattern_matches
from bot.shell.state import Status, Variable
from bot.shell.syntax import BinaryTest, JoinedTest, NotTest, Test, UnaryTest
from bot.shell.values import Symbol, Value

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

NUMERIC: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda left, right: left == right,
    "-ne": lambda left, right: left != right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
}
_WORDS = {"-eq": "=", "-ne": "!=", "-lt": "<", "-le": "<=", "-gt": ">", "-ge": ">="}
_INTEGER = re.compile(r"[ \t\n]*[+-]?[0-9]+[ \t\n]*\Z")
_COMPARED = re.compile(
    r"\s*(?:\w+\s*(?:[<>]=?|[!=]=)\s*([1-9][0-9]{0,11}|0)|([1-9][0-9]{0,11}|0)\s*(?:[<>]=?|[!=]=)\s*\w+)\s*"
)
_SPECIAL_IN_EXPRESSIONS = re.compile(r"[][.*+?(){}|^$\\]")


class TestError(Exception):
    """`test` is used wrongly: status 2."""


# --- questions about values ----------------------------------------------------------------------------------------


def equal(on: Interpreter, left: Value, right: Value) -> bool:
    """Whether two values are the same string."""
    left, right = on.way.resolve(left), on.way.resolve(right)
    if left.text is not None:
        return left.text == right.text if right.text is not None else on.way.is_one_of(right, (left.text,))
    if right.text is not None:
        return on.way.is_one_of(left, (right.text,))
    if left.template() == right.template():
        return True
    return on.way.is_one_of(Value(None, (), (Symbol(f"{left.template()} = {right.template()}"),)), ("yes",))


def matches(
    on: Interpreter, subject: Value, pattern: str | None, value: Value, *, extended: bool, ignore_case: bool
) -> bool:
    """Whether a value matches a pattern (None: one that is not known, `value` then says what it looks like)."""
    subject = on.way.resolve(subject)
    if pattern is None:
        return equal(on, subject, value)
    if is_literal(pattern, extended=extended) and not ignore_case:
        return equal(on, subject, Value(unquote(pattern)))
    if not pattern.strip("*"):
        return True
    if pattern in ("?*", "*?") and subject.text is None:
        return not empty(on, subject)
    if not extended and re.search(r"(?<!\\)[?*+@!]\(", pattern):
        raise on.refusal("an extended pattern without `shopt -s extglob`")

    def test(text: str) -> bool:
        return pattern_matches(pattern, text, extended=extended, ignore_case=ignore_case)

    try:
        text = subject.text or ""
        if counts_characters(pattern) or ignore_case:
            on.countable(text)
        on.machine.spend(len(text) if is_simple(pattern, extended=extended) else match_cost(pattern, (text,)))
        return test(subject.text) if subject.text is not None else on.way.holds(subject, f"like {pattern}", test)
    except UnsupportedPattern as error:
        raise on.refusal(f"a pattern that is not supported: {pattern}") from error


def empty(on: Interpreter, value: Value) -> bool:
    """Whether a value is the empty string."""
    value = on.way.resolve(value)
    if value.text is not None:
        return not value.text
    if any(isinstance(piece, str) and piece for piece in value.parts):
        return False
    return on.way.is_one_of(value, ("",))


def numeric(on: Interpreter, operator: str, left: Value, right: Value, *, expressions: bool) -> bool:
    """A comparison of numbers. With `expressions` (in `[[ ]]`) both sides are arithmetic. Raises `TestError`."""
    left, right = on.way.resolve(left), on.way.resolve(right)

    def number(text: str) -> int:
        if expressions:
            return arithmetic.evaluate(text, commands.ArithmeticVariables(on, {}))
        if not _INTEGER.match(text):
            raise TestError(f"{text}: integer expression expected")
        value = whole(text)
        if not -(1 << 63) <= value < 1 << 63:
            raise TestError(f"{text}: integer expression expected")
        return value

    compare = NUMERIC[operator]
    if left.text is not None and right.text is not None:
        return compare(number(left.text), number(right.text))
    if left.text is None and right.text is None:
        raise on.refusal("a comparison of two numbers that are not known")
    unknown, known = (left, right) if left.text is None else (right, left)
    fixed = number(known.text or "")

    def holds(text: str) -> bool:
        try:
            other = number(text)
        except (TestError, ArithmeticFailure):
            return False
        return compare(other, fixed) if unknown is left else compare(fixed, other)

    sign = _WORDS[operator]
    if unknown is right:
        sign = sign.translate(str.maketrans("<>", "><"))
    if operator == "-eq":
        return on.way.is_one_of(unknown, (str(fixed),))
    return on.way.holds(unknown, f"{sign} {fixed}", holds, (fixed,))


def unknown_arithmetic(on: Interpreter, text: str, unknown: UnknownNumber) -> Status:
    """The status of `((text))` when one variable in it is a symbol."""
    value = unknown.value

    def holds(candidate: str) -> bool:
        try:
            variables = commands.ArithmeticVariables(on, {unknown.text: candidate})
            return arithmetic.evaluate(text, variables) != 0
        except (ArithmeticFailure, UnknownNumber):
            return False

    if re.search(r"(?<![<>=!])=(?!=)|\+\+|--", text):
        raise on.refusal(f"(({text})) calculates with {value.template()}, which is not known")
    compared = _COMPARED.fullmatch(text)
    thresholds = (whole(compared[1] or compared[2]),) if compared else ()
    return int(not on.way.holds(value, f"such that {' '.join(text.split())}", holds, thresholds))


# --- files ---------------------------------------------------------------------------------------------------------


def file_test(on: Interpreter, letter: str, value: Value) -> bool:
    """A unary test of a file."""
    value = on.way.resolve(value)
    asked = f"-{letter} {value.template()}"
    if value.text is not None:
        known = _known_file_test(on, letter, value.text)
        if known is not None:
            return known
    changed = value.text is not None and on.path(value.text) in on.machine.disturbed
    told = question(on, asked, (on.machine.waited, changed), asked)
    return on.way.is_one_of(on.way.symbol(told), ("yes",))


def _known_file_test(on: Interpreter, letter: str, name: str) -> bool | None:
    if not name:
        return False
    if letter == "t":
        return False
    path = on.path(name)
    machine = on.machine
    exists = machine.exists(path)
    if exists is False:
        return False
    directory = machine.is_directory(path)
    content = machine.read(path)
    if letter in "eaf" and path == "/dev/null":
        return letter != "f"
    if letter in "ea":
        return exists
    if letter == "f":
        return True if content is not None else (False if directory else None)
    if letter == "d":
        return directory
    if letter == "s":
        if content is None:
            return None
        text = content.text
        return bool(text) if text is not None else True
    if letter == "r":
        return True if content is not None or directory else None
    if letter == "w":
        return True if path in machine.overlay or path in DIRECTORIES else (True if machine.closed else None)
    if letter == "x":
        if directory:
            return True
        if path in machine.executable:
            return True
        if machine.closed and content is not None:
            return False
        return None
    if letter in "hLbcpSgku" and content is not None:
        return False
    return None


# --- [[ ]] ---------------------------------------------------------------------------------------------------------


def evaluate(on: Interpreter, test: Test) -> Status:
    """The status of `[[ test ]]`: 2 where a regular expression is wrong."""
    try:
        return _status(on, test)
    except UnknownNumber as unknown:
        raise on.refusal(f"the number {unknown.text} is not known") from unknown


def _status(on: Interpreter, test: Test) -> int:
    if isinstance(test, NotTest):
        return int(_status(on, test.test) == 0)
    if isinstance(test, JoinedTest):
        left = _status(on, test.left)
        return _status(on, test.right) if (left == 0) == (test.operator == "&&") else left
    try:
        if isinstance(test, UnaryTest):
            return int(not unary(on, test.operator, on.expand.single(test.operand)))
        return int(not _binary_holds(on, test))
    except TestError:
        return 2


def _binary_holds(on: Interpreter, test: BinaryTest) -> bool:
    left = on.expand.single(test.left)
    if test.operator in ("==", "!="):
        pattern, value = on.expand.pattern(test.right)
        ignore_case = "nocasematch" in on.shell.switches
        found = matches(on, left, pattern, value, extended=True, ignore_case=ignore_case)
        return found == (test.operator == "==")
    if test.operator == "=~":
        return _expression(on, left, test)
    right = on.expand.single(test.right)
    try:
        return binary(on, test.operator, left, right, expressions=True)
    except ArithmeticFailure:
        return False


def _expression(on: Interpreter, left: Value, test: BinaryTest) -> bool:
    fields = on.expand.chunks(test.right)
    pieces: list[str] = []
    for piece, quoted in fields.chunks:
        if not isinstance(piece, str):
            raise on.refusal("a regular expression that is not known", test.right.line)
        pieces.append(_SPECIAL_IN_EXPRESSIONS.sub(r"\\\g<0>", piece) if quoted else piece)
    text = "".join(pieces)
    left = on.way.resolve(left)
    ignore_case = "nocasematch" in on.shell.switches
    try:
        expression = regular_expression(text, ignore_case=ignore_case)
    except BadPattern as error:
        raise TestError(text) from error
    except UnsupportedPattern as error:
        raise on.refusal(f"a regular expression that is not supported: {text}", test.right.line) from error
    if left.text is None:
        held = on.way.holds(left, f"like {text}", lambda one: expression.search(one) is not None)
        _set_groups(on, [Value(None, left.origin, (Symbol(f"BASH_REMATCH of {text}"),))] if held else [])
        return held
    if re.search(r"[.\[]", text) or ignore_case:
        on.countable(left.text)
    try:
        on.machine.spend(match_cost(text, (left.text,)))
    except UnsupportedPattern as error:
        raise on.refusal("a text too long for a regular expression", test.right.line) from error
    found = expression.search(left.text)
    if found is None:
        _set_groups(on, [])
        return False
    groups = [Value(one or "", left.origin) for one in (found.group(), *found.groups())]
    if not longest_groups_are_certain(text) and not _same_whichever(left.text, expression.pattern, found):
        groups = [Value(None, left.origin, (Symbol(f"BASH_REMATCH of {text}"),)) for _ in groups]
    _set_groups(on, groups)
    return True


def _same_whichever(text: str, pattern: str, found: re.Match[str]) -> bool:
    """Whether no longer match starts at the same place, so that the order of alternatives did not matter."""
    expression = re.compile(pattern, re.DOTALL | re.ASCII)
    ends = range(len(text), found.end(), -1)
    return not any(expression.fullmatch(text, found.start(), end) for end in ends)


def _set_groups(on: Interpreter, groups: list[Value]) -> None:
    on.shell.variables["BASH_REMATCH"] = Variable(None, dict(enumerate(groups)))


# --- operators -----------------------------------------------------------------------------------------------------


def unary(on: Interpreter, operator: str, value: Value) -> bool:
    """A unary test. Raises `TestError`."""
    letter = operator[1]
    if letter == "z":
        return empty(on, value)
    if letter == "n":
        return not empty(on, value)
    if letter == "v":
        return _is_set(on, value)
    if letter == "R":
        variable = on.shell.variables.get(value.text or "")
        return variable is not None and variable.reference
    if letter == "o":
        return bool(value.text) and commands.option_is_set(on, value.text or "")
    if letter in "abcdefghkprstuwxGLNOS":
        return file_test(on, letter, value)
    raise TestError(operator)


def _is_set(on: Interpreter, value: Value) -> bool:
    if value.text is None:
        raise on.refusal("the name of the variable that -v asks for is not known")
    name, bracket, index = value.text.partition("[")
    if bracket:
        if index in ("@]", "*]"):
            variable = on.shell.variables.get(name)
            return variable is not None and bool(variable.elements())
        return on.expand.element(name, index[:-1]) is not None
    found = on.expand.variable(name)
    if found is not None and found.text is None and len(found.parts) == 1 and name not in on.shell.variables:
        return on.way.is_one_of(on.way.symbol(f"{name} is set"), ("yes",))
    return found is not None


def binary(on: Interpreter, operator: str, left: Value, right: Value, *, expressions: bool = False) -> bool:
    """A binary test. Raises `TestError`."""
    if operator in ("=", "=="):
        return equal(on, left, right)
    if operator == "!=":
        return not equal(on, left, right)
    if operator in NUMERIC:
        return numeric(on, operator, left, right, expressions=expressions)
    left, right = on.way.resolve(left), on.way.resolve(right)
    if operator in ("<", ">"):
        if left.text is None or right.text is None:
            raise on.refusal("an ordering of strings that are not known")
        return left.text < right.text if operator == "<" else left.text > right.text
    if operator in ("-nt", "-ot", "-ef"):
        return on.way.is_one_of(on.way.symbol(f"{left.template()} {operator} {right.template()}"), ("yes",))
    raise TestError(operator)
