"""Environment files: Docker Compose's own dialect.

Double quotes take escapes and variables, single quotes take neither, an unquoted value ends at ` #`; `export` in front
and `:` for `=` are allowed, and a name alone takes its value from the environment.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from bot.compose.scalars import go_quoted
from bot.compose.template import MAX_FILLED, InvalidTemplate, MissingVariable, Template, TooLong, compile_template

MAX_QUOTED = 1_000
"""Characters of a value that a message quotes."""

Lookup = Callable[[str], str | None]

_EXPORT = re.compile(r"export(?=[\t\n\f\r ])")
_SPACE = "\t\v\f\r \u0085\u00a0"
_ANY_SPACE = (
    _SPACE + "\n\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_ESCAPE = re.compile(r'\\(?:[abcfnrtv$"\\]|0\d{0,3})')
_ESCAPED = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    '"': '"',
    "$": "$$",
}
_NAME_MARKS = frozenset("_.-[]")


class BadEnvironmentFile(Exception):
    """Why Compose refuses the file. `line` counts from 1; the message holds it where Compose's does (`named`)."""

    def __init__(self, message: str, line: int | None = None, *, named: bool = True) -> None:
        super().__init__(f"line {line}: {message}" if line and named else message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Asked:
    """A variable that the value of `target`, in this line, asks the environment for.

    For a name alone `name` is `target`, and `operator` is None.
    """

    name: str
    operator: str | None
    argument: str
    target: str
    line: int


class _Values:
    """What variables in a file see: the environment first, then what stands above in the file."""

    def __init__(self, lookup: Lookup, above: dict[str, str]) -> None:
        self._lookup = lookup
        self._above = above

    def get(self, name: str) -> str | None:
        """What the environment has for a name, else what the file has."""
        found = self._lookup(name)
        return self._above.get(name) if found is None else found


def parse(
    text: str, lookup: Lookup, values: dict[str, str], asked: Callable[[Asked], None] | None = None
) -> dict[str, int]:
    """Adds the variables of a file to `values`; answers the line of each. Raises `BadEnvironmentFile`.

    `lookup` is the environment that bare names and variables in values ask first; then `values` is asked. `asked` is
    told of each such question.
    """
    return _Parser(text.removeprefix("\ufeff"), lookup, values, asked).run()


def parse_raw(
    text: str, values: dict[str, str], lookup: Lookup, asked: Callable[[Asked], None] | None = None
) -> dict[str, int]:
    """The same for `format: raw`: every line is `NAME=value`, as it stands. Raises `BadEnvironmentFile`."""
    lines: dict[str, int] = {}
    for number, row in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        row = row.rstrip("\r").lstrip(_ANY_SPACE)
        if not row or row.startswith("#"):
            continue
        name, equals, value = row.partition("=")
        if not name:
            raise BadEnvironmentFile(f"no variable name on line '{row}'", number, named=False)
        if any(character in _ANY_SPACE for character in name):
            raise BadEnvironmentFile(f"variable '{name}' contains whitespaces", number, named=False)
        if equals:
            values[name] = value
            lines[name] = number
            continue
        if asked is not None:
            asked(Asked(name, None, "", name, number))
        if (inherited := lookup(name)) is not None:
            values[name] = inherited
            lines[name] = number
    return lines


class _Parser:
    def __init__(
        self, text: str, lookup: Lookup, values: dict[str, str], asked: Callable[[Asked], None] | None
    ) -> None:
        self._text = text
        self._asked = asked
        self._target = ""
        self._lookup = lookup
        self._values = values
        self._position = 0
        self._counted = (0, 1)
        self._statement = 1
        self._size = 0

    def run(self) -> dict[str, int]:
        lines: dict[str, int] = {}
        while self._skip_to_statement():
            line = self._statement = self._line()
            name, inherited = self._name()
            if " " in name:
                raise BadEnvironmentFile("key cannot contain a space", line)
            self._target = name
            if inherited:
                if self._asked is not None:
                    self._asked(Asked(name, None, "", name, line))
                value = self._lookup(name)
                if value is None:
                    continue
            else:
                value = self._value()
            self._size += len(value)
            if self._size > MAX_FILLED:
                raise BadEnvironmentFile(f"its values are longer than {MAX_FILLED} characters", line)
            self._values[name] = value
            lines[name] = line
        return lines

    def _line(self) -> int:
        """The line of the position, counted on from where it was last asked for."""
        start, line = self._counted
        line += self._text.count("\n", start, self._position)
        self._counted = (self._position, line)
        return line

    def _skip(self, spaces: str) -> None:
        while self._text[self._position : self._position + 1] and self._text[self._position] in spaces:
            self._position += 1

    def _skip_to_statement(self) -> bool:
        while True:
            self._skip(_ANY_SPACE)
            if self._text[self._position : self._position + 1] != "#":
                return self._position < len(self._text)
            end = self._text.find("\n", self._position)
            self._position = len(self._text) if end < 0 else end

    def _name(self) -> tuple[str, bool]:
        """The name at hand, and whether it stands alone."""
        export = _EXPORT.match(self._text, self._position)
        if export:
            self._position = export.end()
            self._skip(_SPACE)
        text, start = self._text, self._position
        for index in range(start, len(text)):
            character = text[index]
            if character in "=:\n":
                self._position = index + 1
                self._skip(_SPACE)
                return text[start:index].rstrip(_ANY_SPACE), character == "\n"
            if character in _NAME_MARKS or character in _SPACE or character.isalnum():
                continue
            row = text[start:].split("\n", 1)[0]
            message = f"unexpected character {go_quoted(character)} in variable name {go_quoted(row)}"
            raise BadEnvironmentFile(message, self._line())
        if start == len(text):
            raise BadEnvironmentFile("zero length string", self._line(), named=False)
        # A name alone in a last line without an end: Compose reads an empty name, with the text as its value.
        return "", False

    def _value(self) -> str:
        text, start = self._text, self._position
        quote = text[start : start + 1]
        if quote not in ("'", '"'):
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            self._position = min(end + 1, len(text))
            return self._filled(text[start:end].split(" #", 1)[0].rstrip(_ANY_SPACE))
        characters: list[str] = []
        escaped = False
        for index in range(start + 1, len(text)):
            character = text[index]
            if character == quote and not escaped:
                self._position = index + 1
                value = "".join(characters)
                return self._filled(_ESCAPE.sub(_unescape, value)) if quote == '"' else value
            if character == "\\" and not escaped:
                escaped = True
                continue
            if escaped and character != quote:
                characters.append("\\")
            escaped = False
            characters.append(character)
        raise BadEnvironmentFile(f"unterminated quoted value {text[start:].split(chr(10), 1)[0]}", text.count("\n") + 1)

    def _filled(self, value: str) -> str:
        try:
            template = compile_template(value)
            if not isinstance(template, Template):
                return template
            if self._asked is not None:
                for variable in template.variables:
                    self._asked(
                        Asked(variable.name, variable.operator, variable.argument, self._target, self._statement)
                    )
            return template.fill(_Values(self._lookup, self._values))
        except InvalidTemplate as error:
            message = f"Invalid template: {go_quoted(_shortened(error.template))}"
            raise BadEnvironmentFile(message, self._statement, named=False) from None
        except (MissingVariable, TooLong) as error:
            raise BadEnvironmentFile(str(error), self._statement, named=False) from None


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 1]}…"


def _unescape(found: re.Match[str]) -> str:
    sequence = found[0][1:]
    if sequence[0] != "0":
        return _ESCAPED.get(sequence, found[0])
    digits = sequence[1:]
    if len(digits) != 3 or not all(digit in "01234567" for digit in digits) or int(digits, 8) > 255:
        return found[0]
    return chr(int(digits, 8))
