"""Filling variables into a tree of nodes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from bot.compose.casts import Cast
from bot.compose.faults import Fault
from bot.compose.model import ErrorKind, VariableRead
from bot.compose.nodes import Node, Path, Scalar, Sequence
from bot.compose.template import InvalidTemplate, MissingVariable, Template, TooLong, Variable
from bot.compose.values import Environment, Stated, Value, text_of
from bot.provenance import Position, Reason

MAX_QUOTED = 1_000
"""Characters of a template that a message quotes."""

MAX_NOTES = 100
"""Variables of one value that its reasons tell of: each word of a command carries them all."""


class _Unfilled(Exception):
    """A scalar that could not be filled in. The path is completed on the way up."""

    def __init__(self, scalar: Scalar, error: Exception) -> None:
        super().__init__()
        self.scalar = scalar
        self.error = error
        self.path: list[str] = []


def fill(node: Node, cast: Cast, environment: Environment, path: Path) -> Value:
    """The value of `node` in this environment. Raises `Fault` with the place at which interpolation fails."""
    try:
        return _fill(node, cast, environment)
    except _Unfilled as unfilled:
        raise _fault(unfilled, path) from None


def _fault(unfilled: _Unfilled, path: Path) -> Fault:
    where = ".".join((*path, *reversed(unfilled.path)))
    scalar, error = unfilled.scalar, unfilled.error
    if isinstance(error, InvalidTemplate):
        message = (
            f"invalid interpolation format for {where}.\nYou may need to escape any $ with another $.\n"
            f"{_quoted(error.template)}"
        )
        return Fault("interpolation", message, path=scalar.source.path, line=scalar.line)
    kind: ErrorKind = "missing-variable" if isinstance(error, MissingVariable) else "interpolation"
    return Fault(kind, f"error while interpolating {where}: {error}", path=scalar.source.path, line=scalar.line)


def _fill(node: Node, cast: Cast, environment: Environment) -> Value:
    if isinstance(node, Scalar):
        value = node.value
        if node.template is not None:
            value = _filled(node, node.template, environment)
        if cast.convert is not None and isinstance(value, str):
            try:
                return cast.convert(value)
            except ValueError as error:
                raise _Unfilled(node, ValueError(f"failed to cast to expected type: {error}")) from None
        return value
    if isinstance(node, Sequence):
        below = cast.below("[]") if cast.children else cast
        try:
            return [_fill(item, below, environment) for item in node.items]
        except _Unfilled as unfilled:
            unfilled.path.append("[]")
            raise
    return {key: _fill_entry(key, item, cast, environment) for key, item in node.entries.items()}


def _fill_entry(key: str, node: Node, cast: Cast, environment: Environment) -> Value:
    try:
        return _fill(node, cast.below(key) if cast.children else _UNCAST, environment)
    except _Unfilled as unfilled:
        unfilled.path.append(key)
        raise


_UNCAST = Cast()


def _filled(scalar: Scalar, template: Template, environment: Environment) -> Value:
    notes: list[Reason] = []

    def note(variable: Variable, own: bool) -> None:
        if len(notes) < MAX_NOTES:
            notes.append(Reason("compose", scalar.source.path, scalar.line, _sentence(variable, own, environment)))
            value = environment.get(variable.name)
            if isinstance(value, Stated):
                notes.append(value.reason)

    try:
        text = template.fill(environment, note)
    except (InvalidTemplate, MissingVariable, TooLong) as error:
        raise _Unfilled(scalar, error) from None
    return text_of(text, scalar, tuple(notes))


def _sentence(variable: Variable, own: bool, environment: Environment) -> str:
    value = environment.get(variable.name)
    state = "is not set" if value is None else "is empty" if not value else f"is set to {_short(value)}"
    if own:
        return f"{variable.name} {state}"
    return (
        f"{variable.name} {state}: {_short(variable.argument)}"
        if variable.argument
        else f"{variable.name} {state}: nothing"
    )


def _quoted(template: str) -> str:
    return template if len(template) <= MAX_QUOTED else f"{template[: MAX_QUOTED - 1]}…"


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"


def scalars(node: Node, path: Path = ()) -> Iterator[tuple[Scalar, Path]]:
    """Every scalar that has variables, with its path."""
    if isinstance(node, Scalar):
        if node.template is not None:
            yield node, path
    elif isinstance(node, Sequence):
        for index, item in enumerate(node.items):
            yield from scalars(item, (*path, str(index)))
    else:
        for key, item in node.entries.items():
            yield from scalars(item, (*path, key))


def reads(node: Node, path: Path) -> list[VariableRead]:
    """Every variable that filling `node` may ask for, in the order of the file."""
    found: list[VariableRead] = []
    for scalar, where in scalars(node, path):
        assert scalar.template is not None
        field = ".".join(_named(scalar, where))
        places = _Places(scalar)
        for variable in scalar.template.variables:
            position = places.at(variable.offset)
            found.append(VariableRead(variable.name, variable.operator, variable.argument, field, position))
    return found


def _named(scalar: Scalar, where: Path) -> Path:
    """The path of a value; an entry `NAME=value` of a list of variables goes by its name, as in a mapping."""
    if len(where) == 2 and where[0] == "environment" and where[1].isdigit():
        return (where[0], str(scalar.value).partition("=")[0])
    return where


class _Places:
    """From offsets in the value of one scalar to places in its file."""

    def __init__(self, scalar: Scalar) -> None:
        text = str(scalar.value)
        self._scalar = scalar
        self._pieces = scalar.pieces(text)
        self._lines = scalar.lines(text)
        self._breaks = [offset for offset, character in enumerate(text) if character == "\n"] if "\n" in text else []

    def at(self, offset: int) -> Position:
        """The place of an offset."""
        scalar = self._scalar
        if self._pieces is not None and (own := self._pieces.line_at(offset)) != scalar.line:
            return Position(scalar.source.path, own)
        line = self._lines[min(bisect_left(self._breaks, offset), len(self._lines) - 1)]
        if line == scalar.line and scalar.style not in ("|", ">"):
            return Position(scalar.source.path, line, scalar.column + offset + len(scalar.style))
        return Position(scalar.source.path, line)
