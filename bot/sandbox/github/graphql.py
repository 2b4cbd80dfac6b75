"""The GraphQL endpoint: runs documents over the objects of `graphql_roots` (facts, 5.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.sandbox.github import graphql_roots
from bot.sandbox.github.call import Answer, Body, Call, Refused, Routes
from bot.sandbox.github.graphql_language import (
    Directive,
    Document,
    Fragment,
    Operation,
    Selected,
    Selection,
    SyntaxFault,
    Variable,
    parse,
)
from bot.sandbox.github.graphql_types import Fault, Field, Object
from bot.sandbox.github.model import Json

ROUTES = Routes()

MAX_NODES = 500_000


@ROUTES.add("POST", "/graphql", who="anyone")
def graphql(call: Call) -> Answer:
    """Run a query or a mutation. Errors come with a 200."""
    if call.token is None:
        raise Refused(401, "This endpoint requires you to be authenticated.")
    body = Body(call.body, "query variables operationName")
    variables = call.body.get("variables") or {}
    if not isinstance(variables, dict):
        raise Refused(400, "Variables are invalid JSON.")
    try:
        document = parse(body.text("query"))
        operation = _chosen(document, body.optional("operationName"))
        run = _Run(call, document, _bound(operation, variables))
        cost = run.cost(operation)
    except SyntaxFault as fault:
        return Answer({"errors": [{"message": str(fault)}]})
    for _ in range(cost - 1):
        call.hub.limits.take(f"installation-{call.installation.id}", "graphql")
    root = graphql_roots.query(call, cost) if operation.kind == "query" else graphql_roots.mutation(call)
    data = run.select(root, operation.selections, ())
    answer: Json = {"data": data}
    if run.errors:
        answer["errors"] = run.errors
        if any("extensions" in error for error in run.errors):  # refused before anything is run
            del answer["data"]
    return Answer(answer)


def _chosen(document: Document, name: str | None) -> Operation:
    if name is None and len(document.operations) == 1:
        return document.operations[0]
    for each in document.operations:
        if each.name == name and name is not None:
            return each
    raise SyntaxFault("An operation name is required" if name is None else f'No operation named "{name}"')


def _bound(operation: Operation, given: Mapping[str, Any]) -> dict[str, Any]:
    bound: dict[str, Any] = {}
    for each in operation.variables:
        if each.name in given:
            bound[each.name] = given[each.name]
        elif each.has_default:
            bound[each.name] = each.default
        if each.type.endswith("!") and bound.get(each.name) is None:
            raise SyntaxFault(f"Variable ${each.name} of type {each.type} was provided invalid value")
    return bound


@dataclass(slots=True)
class _Run:
    call: Call
    document: Document
    variables: Mapping[str, Any]
    errors: list[Json]

    def __init__(self, call: Call, document: Document, variables: Mapping[str, Any]) -> None:
        self.call, self.document, self.variables, self.errors = call, document, variables, []

    def cost(self, operation: Operation) -> int:
        """Points: connections asked for, in hundreds, at least one. Refuses what asks for too many nodes."""
        requests, nodes = self._asked(operation.selections, 1)
        if nodes > MAX_NODES:
            raise SyntaxFault(
                f"This query requests up to {nodes} possible nodes which exceeds the maximum limit of 500,000."
            )
        return max(1, round(requests / 100))

    def _asked(self, selections: tuple[Selection, ...], times: int) -> tuple[int, int]:
        requests = nodes = 0
        for each in selections:
            below: tuple[Selection, ...] = ()
            here = times
            if isinstance(each, Selected):
                below = each.selections
                size = self._value(each.arguments.get("first", each.arguments.get("last")))
                if isinstance(size, int):
                    requests, nodes, here = requests + times, nodes + times * size, times * size
            elif isinstance(each, Fragment):
                below = each.selections
            else:
                below = self._fragment(each.name).selections
            more = self._asked(below, here)
            requests, nodes = requests + more[0], nodes + more[1]
        return requests, nodes

    def select(self, on: Object, selections: tuple[Selection, ...], path: tuple[str | int, ...]) -> Json:
        """The selected fields of an object."""
        answer: Json = {}
        for field in self._fields(on, selections):
            value = self._field(on, field, (*path, field.alias))
            known = answer.get(field.alias)
            answer[field.alias] = {**known, **value} if isinstance(known, dict) and isinstance(value, dict) else value
        return answer

    def _fields(self, on: Object, selections: tuple[Selection, ...]) -> list[Selected]:
        found: list[Selected] = []
        for each in selections:
            if not self._wanted(each.directives):
                continue
            if isinstance(each, Selected):
                found.append(each)
                continue
            fragment = each if isinstance(each, Fragment) else self._fragment(each.name)
            if fragment.on in (None, on.typename, *on.interfaces):
                found += self._fields(on, fragment.selections)
        return found

    def _fragment(self, name: str) -> Fragment:
        if name not in self.document.fragments:
            raise SyntaxFault(f"Fragment {name} was used, but not defined")
        return self.document.fragments[name]

    def _wanted(self, directives: tuple[Directive, ...]) -> bool:
        for each in directives:
            if each.name in ("include", "skip") and bool(self._value(each.arguments.get("if"))) == (
                each.name == "skip"
            ):
                return False
        return True

    def _field(self, on: Object, field: Selected, path: tuple[str | int, ...]) -> Any:
        if field.name == "__typename":
            return on.typename
        definition = on.fields.get(field.name)
        if definition is None:
            return self._undefined(
                f"Field '{field.name}' doesn't exist on type '{on.typename}'", "undefinedField", path
            )
        arguments = {name: self._value(value) for name, value in field.arguments.items()}
        for name in arguments:
            if name not in definition.arguments.split():
                what = f"Field '{field.name}' doesn't accept argument '{name}'"
                return self._undefined(what, "argumentNotAccepted", path)
        try:
            return self._complete(definition, arguments, field, path)
        except Fault as fault:
            self.errors.append({"type": fault.kind, "path": list(path), "message": str(fault)})
            return None

    def _complete(self, definition: Field, arguments: Json, field: Selected, path: tuple[str | int, ...]) -> Any:
        value = definition.value(arguments) if callable(definition.value) else definition.value
        objects_below = isinstance(value, Object) or (
            isinstance(value, list) and any(isinstance(each, Object) for each in value)
        )
        if objects_below != bool(field.selections) and value not in (None, []):
            return self._undefined(f"Field '{field.name}' has the wrong selections", "selectionMismatch", path)
        if isinstance(value, Object):
            return self.select(value, field.selections, path)
        if isinstance(value, list):
            return [
                self.select(each, field.selections, (*path, index)) if isinstance(each, Object) else each
                for index, each in enumerate(value)
            ]
        return value

    def _undefined(self, message: str, code: str, path: tuple[str | int, ...]) -> None:
        self.errors.append({"path": ["query", *path], "extensions": {"code": code}, "message": message})

    def _value(self, value: Any) -> Any:
        if isinstance(value, Variable):
            return self.variables.get(value.name)
        if isinstance(value, list):
            return [self._value(each) for each in value]
        if isinstance(value, dict):
            return {name: self._value(each) for name, each in value.items()}
        return value
