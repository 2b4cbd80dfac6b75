"""GitHub's GraphQL schema: checks that a document asks for what exists, with arguments and values that fit."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from bot.sandbox.github.graphql_language import (
    Document,
    EnumWord,
    Fragment,
    Operation,
    Selected,
    Selection,
    Spread,
    Variable,
    parse,
)
from tests.contract import fetch

AVAILABLE = fetch.GRAPHQL.file.exists()
needs_schema = pytest.mark.skipif(
    not AVAILABLE,
    reason="GitHub's GraphQL schema is not in .cache/contract: `python -m tests.contract.fetch` needs npm",
)

_BLOCK = re.compile(
    r"^(type|interface|input|enum|union|scalar) (\w+)([^{=\n]*)(?:\{\n(.*?)^\}|= ?([^\n]*(?:\n  ?\|[^\n]*)*))?",
    re.M | re.S,
)
_DOCUMENTATION = re.compile(r'"""(?:.|\n)*?"""|#[^\n]*')
_FIELD = re.compile(r"^  (\w+)(?:\(((?:[^()]|\([^()]*\))*)\))?: ([\w!\[\]]+)", re.M)
_ARGUMENT = re.compile(r"(\w+): ([\w!\[\]]+)(?: = [^\n,]+)?")
_SCALARS: Mapping[str, tuple[type, ...]] = {
    "Int": (int,),
    "Float": (int, float),
    "String": (str,),
    "ID": (str, int),
    "Boolean": (bool,),
}


@dataclass(frozen=True)
class FieldType:
    """A field: its type as written, and its arguments with theirs; those with a default are optional."""

    type: str
    arguments: Mapping[str, str]
    optional: frozenset[str]


@dataclass
class Schema:
    """Types by name."""

    fields: dict[str, dict[str, FieldType]] = field(default_factory=dict)
    members: dict[str, set[str]] = field(default_factory=dict)
    """Of interfaces and unions: the object types."""
    enums: dict[str, set[str]] = field(default_factory=dict)
    inputs: set[str] = field(default_factory=set)


@cache
def schema() -> Schema:
    """The schema, read from GitHub's own file."""
    text = _DOCUMENTATION.sub("", gzip.decompress(fetch.GRAPHQL.file.read_bytes()).decode("utf-8"))
    found = Schema()
    for block in _BLOCK.finditer(text):
        kind, name, head, body, union = block.groups()
        if kind == "enum":
            found.enums[name] = set(re.findall(r"^  (\w+)", body, re.M))
        elif kind == "union":
            found.members.setdefault(name, set()).update(re.findall(r"\w+", union))
        elif kind != "scalar":
            found.fields[name] = {each[1]: _field(each) for each in _FIELD.finditer(body)}
            if kind == "input":
                found.inputs.add(name)
            if kind == "interface":
                found.members.setdefault(name, set())
            for interface in re.findall(r"\w+", head.replace("implements", "")) if kind == "type" else ():
                found.members.setdefault(interface, set()).add(name)
    return found


def _field(found: re.Match[str]) -> FieldType:
    arguments = {each[1]: each[2] for each in _ARGUMENT.finditer(found[2] or "")}
    optional = {each[1] for each in _ARGUMENT.finditer(found[2] or "") if " = " in each[0]}
    return FieldType(found[3], arguments, frozenset(optional))


def bare(kind: str) -> str:
    """A type without list and non-null marks."""
    return kind.strip("[]!")


def faults(text: str) -> list[str]:
    """Everything that GitHub's schema does not have."""
    document = parse(text)
    found: list[str] = []
    for operation in document.operations:
        found += _Check(document, operation).run()
    return found


class _Check:
    def __init__(self, document: Document, operation: Operation) -> None:
        self._document = document
        self._operation = operation
        self._schema = schema()
        self._declared = {each.name: each.type for each in operation.variables}
        self._used: set[str] = set()

    def run(self) -> list[str]:
        root = {"query": "Query", "mutation": "Mutation"}[self._operation.kind]
        found = [*self._selections(root, self._operation.selections)]
        found += [f"${name} is declared and never used" for name in self._declared if name not in self._used]
        known = {*self._schema.fields, *self._schema.enums, *_SCALARS}
        return found + [
            f"no type {kind}"
            for kind in self._declared.values()
            if bare(kind)[0].isupper()
            and bare(kind) not in known
            and bare(kind) not in ("GitObjectID", "DateTime", "URI")
        ]

    def _selections(self, on: str, selections: tuple[Selection, ...]) -> Iterator[str]:
        for each in selections:
            for directive in each.directives:
                self._note(directive.arguments.get("if"))
            if isinstance(each, Selected):
                yield from self._field(on, each)
                continue
            fragment = self._document.fragments.get(each.name) if isinstance(each, Spread) else each
            if fragment is None:
                yield f"no such fragment: {each}"
                continue
            assert isinstance(fragment, Fragment)
            target = fragment.on or on
            if not self._possible(on) & self._possible(target):
                yield f"a {on} is never a {target}"
            yield from self._selections(target, fragment.selections)

    def _possible(self, kind: str) -> set[str]:
        return self._schema.members.get(kind) or {kind}

    def _field(self, on: str, each: Selected) -> Iterator[str]:
        if each.name == "__typename":
            return
        known = self._schema.fields.get(on, {}).get(each.name)
        if known is None:
            yield f"{on} has no field {each.name}"
            return
        for name, value in each.arguments.items():
            if name not in known.arguments:
                yield f"{on}.{each.name} takes no {name}"
            else:
                yield from self._value(f"{on}.{each.name}({name})", known.arguments[name], value)
        for name, kind in known.arguments.items():
            if kind.endswith("!") and name not in each.arguments and name not in known.optional:
                yield f"{on}.{each.name} needs {name}"
        if (
            on.endswith("Connection") is False
            and bare(known.type).endswith("Connection")
            and not {"first", "last"} & each.arguments.keys()
        ):
            yield f"{on}.{each.name} needs first or last"
        below = bare(known.type)
        composite = below in self._schema.fields or below in self._schema.members
        if composite != bool(each.selections):
            yield f"{on}.{each.name} is a {below}: {'it needs' if composite else 'no'} selections"
        elif composite:
            yield from self._selections(below, each.selections)

    def _note(self, value: Any) -> None:
        if isinstance(value, Variable):
            self._used.add(value.name)

    def _value(self, where: str, kind: str, value: Any) -> Iterator[str]:
        if isinstance(value, Variable):
            self._used.add(value.name)
            declared = self._declared.get(value.name)
            if declared is None:
                yield f"{where}: ${value.name} is not declared"
            elif declared.rstrip("!") != kind.rstrip("!") or (kind.endswith("!") and not declared.endswith("!")):
                yield f"{where}: ${value.name} is {declared}, not {kind}"
            return
        if value is None:
            if kind.endswith("!"):
                yield f"{where} is never null"
            return
        inner = kind.rstrip("!")
        if inner.startswith("["):
            for each in value if isinstance(value, list) else [value]:
                yield from self._value(where, inner[1:-1], each)
        elif inner in self._schema.enums:
            if not isinstance(value, EnumWord) or value not in self._schema.enums[inner]:
                yield f"{where}: {value!r} is no {inner}"
        elif inner in self._schema.inputs:
            yield from self._input(where, inner, value)
        elif inner in _SCALARS and (isinstance(value, EnumWord) or not isinstance(value, _SCALARS[inner])):
            yield f"{where}: {value!r} is no {inner}"

    def _input(self, where: str, kind: str, value: Any) -> Iterator[str]:
        fields = self._schema.fields[kind]
        if not isinstance(value, dict):
            yield f"{where}: not an object"
            return
        for name, each in value.items():
            if name not in fields:
                yield f"{where}: {kind} has no {name}"
            else:
                yield from self._value(f"{where}.{name}", fields[name].type, each)
        for name, known in fields.items():
            if known.type.endswith("!") and name not in value:
                yield f"{where}: {kind} needs {name}"
