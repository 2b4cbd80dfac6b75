"""What GraphQL objects are made of: fields, connections in pages, errors at a field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from bot.sandbox.github import access
from bot.sandbox.github.call import Call
from bot.sandbox.github.model import Json, Repository

_T = TypeVar("_T")

MAX_PAGE = 100


class Fault(Exception):
    """An error at one field; the others are answered."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Field:
    """A field's value, or how to get it from the arguments that it takes."""

    value: Any
    arguments: str = ""


class Object:
    """An object of a type, which also is of these interfaces."""

    __slots__ = ("fields", "interfaces", "typename")

    def __init__(self, typename: str, fields: Mapping[str, Any], interfaces: str = "Node") -> None:
        self.typename = typename
        self.interfaces = interfaces.split()
        self.fields = {name: each if isinstance(each, Field) else Field(each) for name, each in fields.items()}


def connection(
    name: str, items: Sequence[_T] | Callable[[Json], Sequence[_T]], make: Callable[[_T], Object], more: str = ""
) -> Field:
    """A list in pages: `first` or `last` from 1 to 100 are obligatory."""

    def page(arguments: Json) -> Object:
        everything = list(items(arguments) if callable(items) else items)
        start, end = 0, len(everything)
        first, last = arguments.get("first"), arguments.get("last")
        if (first is None) == (last is None):
            raise Fault(
                f"You must provide a `first` or `last` value to properly paginate the `{name}` connection.",
                "MISSING_PAGINATION_BOUNDARIES",
            )
        size = first if last is None else last
        if not isinstance(size, int) or not 1 <= size <= MAX_PAGE:
            raise Fault(
                f"Requesting {size} records on the `{name}` connection exceeds the `first` limit of 100 records.",
                "EXCESSIVE_PAGINATION",
            )
        if arguments.get("after") is not None:
            start = _offset(arguments["after"]) + 1
        if arguments.get("before") is not None:
            end = min(end, _offset(arguments["before"]))
        if last is None:
            end = min(end, start + size)
        else:
            start = max(start, end - size)
        nodes = [make(each) for each in everything[start:end]]
        marks = [f"Y3Vyc29y{index}" for index in range(start, end)]
        info = {
            "hasNextPage": end < len(everything),
            "hasPreviousPage": start > 0,
            "startCursor": marks[0] if marks else None,
            "endCursor": marks[-1] if marks else None,
        }
        edges = [
            Object(f"{name}Edge", {"node": node, "cursor": mark}, "") for node, mark in zip(nodes, marks, strict=True)
        ]
        fields = {
            "nodes": nodes,
            "edges": edges,
            "totalCount": len(everything),
            "pageInfo": Object("PageInfo", info, ""),
        }
        return Object(f"{name}Connection", fields, "")

    return Field(page, f"first last after before {more}")


def _offset(cursor: object) -> int:
    text = str(cursor).removeprefix("Y3Vyc29y")
    if not text.isdigit():
        raise Fault(f"`{cursor}` does not appear to be a valid cursor.", "INVALID_CURSOR_ARGUMENTS")
    return int(text)


def check(call: Call, repository: Repository, *needs: str) -> None:
    """Refuse, as GraphQL does, what the token does not permit."""
    if call.token is None or not access.covers(call.token, repository):
        if repository.private or any(need.endswith(":write") for need in needs):
            raise Fault("Resource not accessible by integration", "FORBIDDEN")
    elif not any(access.permits(call.token, need) for need in needs):
        raise Fault("Resource not accessible by integration", "FORBIDDEN")
