"""Docker Compose's interpolation: `$X`, `${X:-default}` and the rest, compiled once and filled in per environment.

The grammar is Compose's own, with its oddities: a braced variable with an operator first takes the rest of its line up
to the last brace, then gives back what lies behind the brace that balances it; braces are counted without their `$`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

MAX_NESTING = 40
"""Defaults within defaults. People write two or three; each level costs a pass over the text."""

MAX_NESTED = 2 * 1024 * 1024
"""Characters of all defaults of one text, those within others counted again: what reading them costs."""

MAX_FILLED = 1024 * 1024
"""Characters that one text may grow to: variables that name long values many times, and one another."""

# Case-insensitive matching in Go folds the long s and the Kelvin sign into the ASCII letters.
_NAME = re.compile("[_a-zA-Z\u017f\u212a][_a-zA-Z0-9\u017f\u212a]*")
_OPERATOR = re.compile(":?[-+?]")
_BRACE = re.compile("[{}]")


class InvalidTemplate(Exception):
    """The text is no valid template. `template` is the part of it that Compose complains about."""

    def __init__(self, template: str) -> None:
        super().__init__(template)
        self.template = template


class MissingVariable(Exception):
    """`${X:?reason}` and X is not there."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"required variable {name} is missing a value{': ' if reason else ''}{reason}")
        self.name = name


class TooLong(Exception):
    """Filled in, the text would be longer than `MAX_FILLED`."""

    def __init__(self) -> None:
        super().__init__(f"longer than {MAX_FILLED} characters")


@dataclass(frozen=True, slots=True)
class Invalid:
    """A place at which interpolation fails when it gets there. `template` is what the message quotes."""

    template: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a template. `operand` is `argument` compiled; `offset` is where its `$` stands in the text."""

    name: str
    operator: str
    argument: str
    operand: tuple[Part, ...]
    offset: int


class Variables(Protocol):
    """Where the values of variables are looked up."""

    def get(self, name: str, /) -> str | None:
        """The value of a variable, None when it is not set."""


Part = str | Variable | Invalid
Choice = Callable[[Variable, bool], None]
"""Told of each variable that was filled in, and whether its own value was used."""


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled text. `variables` are all that it may read, the nested ones behind the one that they belong to."""

    parts: tuple[Part, ...]
    variables: tuple[Variable, ...]

    def fill(self, environment: Variables, choice: Choice | None = None) -> str:
        """The text in this environment. Raises `InvalidTemplate`, `MissingVariable` and `TooLong`."""
        return _fill(self.parts, environment, choice)


def compile_template(text: str) -> Template | str:
    """The template of a text, or the text itself when there is nothing to fill in.

    Raises `InvalidTemplate` when defaults are nested too deeply; other faults are raised only when they are reached.
    """
    if "$" not in text:
        return text
    parts = _parse(text, 0, 0, [MAX_NESTED])
    if len(parts) <= 1 and all(isinstance(part, str) for part in parts):
        return str(parts[0]) if parts else ""
    return Template(parts, tuple(_variables(parts)))


def _fill(parts: tuple[Part, ...], environment: Variables, choice: Choice | None) -> str:
    texts = [part if isinstance(part, str) else _value(part, environment, choice) for part in parts]
    if sum(map(len, texts)) > MAX_FILLED:
        raise TooLong
    return "".join(texts)


def _value(part: Variable | Invalid, environment: Variables, choice: Choice | None) -> str:
    if isinstance(part, Invalid):
        raise InvalidTemplate(part.template)
    # Compose fills in the operand whether it is needed or not: a missing variable in an unused default is an error.
    value = environment.get(part.name)
    operator = part.operator
    if not operator:
        if choice:
            choice(part, True)
        return value or ""
    there = bool(value) if operator[0] == ":" else value is not None
    kind = operator[-1]
    own = there if kind == "-" else not there if kind == "+" else True
    operand = _fill(part.operand, environment, None if own else choice)
    if kind == "?" and not there:
        raise MissingVariable(part.name, operand)
    if choice:
        choice(part, own)
    return (value or "") if own else operand


def _variables(parts: tuple[Part, ...]) -> Iterator[Variable]:
    for part in parts:
        if isinstance(part, Variable):
            yield part
            yield from _variables(part.operand)


def _parse(text: str, base: int, depth: int, left: list[int]) -> tuple[Part, ...]:
    """The parts of `text`, which begins at `base` of the whole; `left` counts `MAX_NESTED` down.

    Raises `InvalidTemplate`.
    """
    if depth > MAX_NESTING or left[0] < 0:
        raise InvalidTemplate(text)
    parts: list[Part] = []
    literal: list[str] = []
    position = 0
    # What a message quotes: behind a variable with an operator, the rest of the line that it gave back; else all.
    given_back = (0, 0)
    line_end, line_brace = -1, -1
    while (dollar := text.find("$", position)) >= 0:
        literal.append(text[position:dollar])
        following = text[dollar + 1 : dollar + 2]
        name = _NAME.match(text, dollar + (2 if following == "{" else 1))
        if following == "{":
            if line_end < dollar:
                line_end = text.find("\n", dollar)
                line_end = len(text) if line_end < 0 else line_end
                line_brace = text.rfind("}", dollar, line_end)
            variable, position, last = _braced(text, dollar, name, line_brace, base, depth, left)
            _flush(parts, literal)
            parts.append(variable or Invalid(text[slice(*given_back)] if dollar < given_back[1] else text))
            given_back = (position, last + 1) if last >= 0 else given_back
        elif name:
            _flush(parts, literal)
            parts.append(Variable(name[0], "", "", (), base + dollar))
            position = name.end()
        else:
            literal.append("$")
            position = dollar + (2 if following == "$" else 1)
    literal.append(text[position:])
    _flush(parts, literal)
    return tuple(parts)


def _braced(
    text: str, dollar: int, name: re.Match[str] | None, last: int, base: int, depth: int, left: list[int]
) -> tuple[Variable | None, int, int]:
    """The variable at `dollar` (None when it is not well formed), where reading goes on, and its line's last brace.

    `last` is that brace, which may stand before the variable's operator.
    """
    if not name:
        return None, dollar + 2, -1
    end = name.end()
    if text[end : end + 1] == "}":
        return Variable(name[0], "", "", (), base + dollar), end + 1, -1
    operator = _OPERATOR.match(text, end)
    if not operator or last < operator.end():
        return None, dollar + 2, -1
    closing = _closing_brace(text, dollar, last)
    argument = text[operator.end() : closing]
    left[0] -= len(argument)
    operand = _parse(argument, base + operator.end(), depth + 1, left)
    return Variable(name[0], operator[0], argument, operand, base + dollar), closing + 1, last


def _flush(parts: list[Part], literal: list[str]) -> None:
    text = "".join(literal)
    if text:
        parts.append(text)
    literal.clear()


def _closing_brace(text: str, start: int, last: int) -> int:
    """The brace that balances the one at `start` + 1, or `last` when none does.

    Compose skips the character behind each opening brace, so that `{}` opens and never closes.
    """
    depth = 0
    position = start
    while True:
        brace = _BRACE.search(text, position, last + 1)
        if not brace:
            return last
        position = brace.end()
        if brace[0] == "{":
            depth += 1
            position += 1
            continue
        depth -= 1
        if depth == 0:
            return brace.start()
