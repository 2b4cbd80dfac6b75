"""The query language of GraphQL, as far as clients send it: operations, fragments, arguments, variables, directives."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 50
"""Nested selections or values; no honest query comes near."""

_TOKENS = re.compile(
    r'(?P<skip>[\s,\ufeff]+|#[^\n]*)|(?P<block>"""(?:[^"\\]|\\.|"(?!""))*""")|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<mark>\.\.\.|[!$&()\[\]{}:=@|])"
)


class SyntaxFault(Exception):
    """The document is not GraphQL."""


class EnumWord(str):
    """A bare word as a value: an enum's member."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable as a value."""

    name: str


@dataclass(frozen=True, slots=True)
class Directive:
    """`@include(if: …)` and its like."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Selected:
    """A field."""

    alias: str
    name: str
    arguments: Mapping[str, Any]
    directives: tuple[Directive, ...]
    selections: tuple[Selection, ...]


@dataclass(frozen=True, slots=True)
class Fragment:
    """`... on Type {…}`, or a named fragment. `on` None: of the type around it."""

    on: str | None
    directives: tuple[Directive, ...]
    selections: tuple[Selection, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """`...Name`."""

    name: str
    directives: tuple[Directive, ...]


Selection = Selected | Fragment | Spread


@dataclass(frozen=True, slots=True)
class VariableDefinition:
    """A variable that an operation declares, its type as written."""

    name: str
    type: str
    default: Any
    has_default: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """A query or a mutation."""

    kind: str
    name: str | None
    variables: tuple[VariableDefinition, ...]
    selections: tuple[Selection, ...]


@dataclass(slots=True)
class Document:
    """All that one request holds."""

    operations: list[Operation] = field(default_factory=list)
    fragments: dict[str, Fragment] = field(default_factory=dict)


def parse(text: str) -> Document:
    """Read a document. Raises `SyntaxFault`."""
    return _Parser(text).document()


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        position = 0
        while position < len(text):
            found = _TOKENS.match(text, position)
            if found is None:
                raise SyntaxFault(f"Parse error on {text[position]!r} at offset {position}")
            if found.lastgroup != "skip":
                self._tokens.append((found.lastgroup or "", found[0]))
            position = found.end()
        self._next = 0
        self._depth = 0

    def document(self) -> Document:
        document = Document()
        while self._next < len(self._tokens):
            if self._peek() == "fragment":
                self._take()
                name = self._name()
                self._expect("on")
                document.fragments[name] = Fragment(self._name(), self._directives(), self._selections())
            else:
                document.operations.append(self._operation())
        if not document.operations:
            raise SyntaxFault("A query attribute must be specified and must be a string.")
        return document

    def _operation(self) -> Operation:
        if self._peek() == "{":
            return Operation("query", None, (), self._selections())
        kind = self._name()
        if kind not in ("query", "mutation", "subscription"):
            raise SyntaxFault(f"Parse error on {kind!r}")
        name = self._name() if self._peek() not in ("{", "(", "@") else None
        variables: list[VariableDefinition] = []
        if self._accept("("):
            while not self._accept(")"):
                variables.append(self._variable_definition())
        self._directives()
        return Operation(kind, name, tuple(variables), self._selections())

    def _variable_definition(self) -> VariableDefinition:
        self._expect("$")
        name = self._name()
        self._expect(":")
        kind = self._type()
        has_default = self._accept("=")
        return VariableDefinition(name, kind, self._value() if has_default else None, has_default)

    def _type(self) -> str:
        if self._accept("["):
            inner = self._type()
            self._expect("]")
            text = f"[{inner}]"
        else:
            text = self._name()
        return text + ("!" if self._accept("!") else "")

    def _selections(self) -> tuple[Selection, ...]:
        self._deeper()
        self._expect("{")
        found: list[Selection] = []
        while not self._accept("}"):
            found.append(self._selection())
        self._depth -= 1
        if not found:
            raise SyntaxFault("Parse error on '}'")
        return tuple(found)

    def _selection(self) -> Selection:
        if self._accept("..."):
            if self._accept("on"):
                return Fragment(self._name(), self._directives(), self._selections())
            if self._peek() in ("{", "@"):
                return Fragment(None, self._directives(), self._selections())
            return Spread(self._name(), self._directives())
        name = alias = self._name()
        if self._accept(":"):
            name = self._name()
        arguments, directives = self._arguments(), self._directives()
        below = self._selections() if self._peek() == "{" else ()
        return Selected(alias, name, arguments, directives, below)

    def _arguments(self) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        if self._accept("("):
            while not self._accept(")"):
                name = self._name()
                self._expect(":")
                found[name] = self._value()
        return found

    def _directives(self) -> tuple[Directive, ...]:
        found = []
        while self._accept("@"):
            found.append(Directive(self._name(), self._arguments()))
        return tuple(found)

    def _value(self) -> Any:
        kind, text = self._take()
        if kind == "string":
            try:
                return json.loads(text)
            except ValueError:
                raise SyntaxFault(f"Parse error on {text}") from None
        if kind == "block":
            return text[3:-3].replace('\\"""', '"""').strip("\n")
        if kind == "number":
            return json.loads(text)
        if kind == "name":
            return {"true": True, "false": False, "null": None}.get(text, EnumWord(text))
        if text == "$":
            return Variable(self._name())
        self._deeper()
        value: Any = None
        if text == "[":
            value = []
            while not self._accept("]"):
                value.append(self._value())
        elif text == "{":
            value = {}
            while not self._accept("}"):
                name = self._name()
                self._expect(":")
                value[name] = self._value()
        else:
            raise SyntaxFault(f"Parse error on {text!r}")
        self._depth -= 1
        return value

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise SyntaxFault("Query has depth of more than is allowed")

    def _peek(self) -> str:
        return self._tokens[self._next][1] if self._next < len(self._tokens) else ""

    def _take(self) -> tuple[str, str]:
        if self._next >= len(self._tokens):
            raise SyntaxFault("Unexpected end of document")
        self._next += 1
        return self._tokens[self._next - 1]

    def _accept(self, text: str) -> bool:
        if self._peek() != text or self._tokens[self._next][0] in ("string", "block"):
            return False
        self._next += 1
        return True

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise SyntaxFault(f"Parse error: expected {text!r}, found {self._peek()!r}")

    def _name(self) -> str:
        kind, text = self._take()
        if kind != "name":
            raise SyntaxFault(f"Parse error on {text!r}")
        return text
