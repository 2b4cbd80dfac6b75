"""Following a release's code with abstract values: statements and expressions, as far as registration needs them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from bot.learn.keywords import Converter, converter_name, lambda_name
from bot.learn.source import Definition, Module, SourceTree, imported
from bot.learn.values import Computed, Reader, Type

DEVICE = "cuda"
"""The platform of the images that are learnt: what is registered for others is not."""


@dataclass(slots=True)
class Field:
    """The keyword arguments of `add_argument` for one field, and where the field is."""

    arguments: dict[str, Any]
    owner: str
    name: str
    place: str
    types: Type


@dataclass(slots=True)
class Scope:
    """The names of a function that is being followed. `defined_in` is the class that holds the function."""

    module: Module
    names: dict[str, Any]
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    cls: Definition | None = None
    defined_in: Definition | None = None
    returned: Any = None
    done: bool = False


class _Unknown:
    """A value that the interpretation does not model."""


UNKNOWN = _Unknown()
PARSER = "the parser"


class Evaluator:
    """Runs statements in a scope. What is not modelled is `UNKNOWN`, or a line in `gaps`."""

    def __init__(self, source: SourceTree, reader: Reader) -> None:
        self.source = source
        self.reader = reader
        self.gaps: list[str] = []

    def called(self, node: ast.Call, scope: Scope) -> Any:  # noqa: ARG002 - subclasses read them
        """The value of a call. Subclasses follow those that they know."""
        return UNKNOWN

    # -- statements

    def run(self, body: list[ast.stmt], scope: Scope) -> None:
        """Run statements until one returns."""
        for statement in body:
            if scope.done:
                return
            self.step(statement, scope)

    def step(self, statement: ast.stmt, scope: Scope) -> None:
        """Run one statement."""
        match statement:
            case ast.Assign(targets=[target], value=value):
                found = self.evaluate(value, scope)
                known = found is not UNKNOWN or not _is_default(target)
                self.assign(target, found if known else Computed(ast.unparse(value)), scope)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(target, self.evaluate(value, scope), scope)
            case ast.AugAssign(target=target, op=ast.Add(), value=value):
                before, added = self.evaluate(target, scope), self.evaluate(value, scope)
                both = isinstance(before, list) and isinstance(added, list)
                self.assign(target, before + added if both else UNKNOWN, scope)
            case ast.Delete(targets=targets):
                for target in targets:
                    self.delete(target, scope)
            case ast.If(test=test, body=body, orelse=orelse):
                truth = self.evaluate(test, scope)
                if truth is UNKNOWN and orelse:
                    self.gap(statement, scope)
                self.run(body if truth is UNKNOWN or truth else orelse, scope)
            case ast.For(target=target, iter=iterated, body=body):
                self.loop(statement, target, self.evaluate(iterated, scope), body, scope)
            case ast.Return(value=value):
                scope.returned = self.evaluate(value, scope) if value is not None else None
                scope.done = True
            case ast.Import() | ast.ImportFrom():
                package = scope.module.name.rpartition(".")[0]
                scope.imports.update(imported(statement, package))
            case ast.Expr(value=value):
                self.evaluate(value, scope)
            case ast.FunctionDef(name=name):
                scope.names[name] = Converter("opaque")
            case ast.Try(body=body):
                self.run(body, scope)
            case ast.With(body=body):
                self.run(body, scope)
            case ast.Assert() | ast.Pass():
                pass
            case _:
                self.gap(statement, scope)

    def loop(self, node: ast.For, target: ast.expr, items: Any, body: list[ast.stmt], scope: Scope) -> None:
        """Run the body of a `for` for each item of a known list."""
        if not isinstance(items, list):
            self.gap(node, scope)
            return
        for item in items:
            self.assign(target, item, scope)
            self.run(body, scope)

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        """Bind a name, the names of a tuple, or a key of a known mapping."""
        match target:
            case ast.Name(id=name):
                scope.names[name] = value
            case ast.Tuple(elts=targets) if isinstance(value, list | tuple) and len(value) == len(targets):
                for part, item in zip(targets, value, strict=True):
                    self.assign(part, item, scope)
            case ast.Subscript(value=owner, slice=key):
                container = table_of(self.evaluate(owner, scope))
                name = self.evaluate(key, scope)
                if container is None or not isinstance(name, str):
                    self.gap(target, scope)
                else:
                    container[name] = value
            case _:
                self.gap(target, scope)

    def delete(self, target: ast.expr, scope: Scope) -> None:
        """`del mapping[key]`."""
        if isinstance(target, ast.Subscript):
            container = table_of(self.evaluate(target.value, scope))
            if container is not None:
                container.pop(self.evaluate(target.slice, scope), None)

    def gap(self, node: ast.AST, scope: Scope) -> None:
        """Note a statement that could not be followed."""
        self.gaps.append(f"{scope.module.path}:{getattr(node, 'lineno', 0)}: {type(node).__name__}")

    # -- expressions

    def evaluate(self, node: ast.expr, scope: Scope) -> Any:
        """The value of an expression."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in scope.names:
                return scope.names[name]
            case ast.Attribute(value=ast.Name(id="current_platform"), attr="device_type"):
                return DEVICE
            case ast.Name() | ast.Attribute():
                return self.named(node, scope)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                truth = self.evaluate(test, scope)
                return UNKNOWN if truth is UNKNOWN else self.evaluate(body if truth else orelse, scope)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return self.items(items, scope)
            case ast.Dict():
                return self.dictionary(node, scope)
            case ast.Subscript(value=owner, slice=key):
                container, name = table_of(self.evaluate(owner, scope)), self.evaluate(key, scope)
                return container.get(name, UNKNOWN) if container is not None and isinstance(name, str) else UNKNOWN
            case ast.Call():
                return self.called(node, scope)
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as operator], comparators=[right]):
                container, name = self.evaluate(right, scope), self.evaluate(left, scope)
                table = table_of(container)
                if (table is None and not isinstance(container, list)) or name is UNKNOWN:
                    return UNKNOWN
                inside = name in (container if table is None else table)
                return inside if isinstance(operator, ast.In) else not inside
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self.evaluate(operand, scope)
                return UNKNOWN if truth is UNKNOWN else not truth
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                first, second = self.evaluate(left, scope), self.evaluate(right, scope)
                same = isinstance(first, list | str) and type(first) is type(second)
                return first + second if same else UNKNOWN
            case ast.JoinedStr(values=parts):
                return self.formatted(parts, scope)
            case ast.Lambda():
                return Converter(lambda_name(node))
            case ast.ListComp(elt=element, generators=[ast.comprehension(target=target, iter=iterated, ifs=[])]):
                items = self.evaluate(iterated, scope)
                if not isinstance(items, list):
                    return UNKNOWN
                results = []
                for item in items:
                    self.assign(target, item, scope)
                    results.append(self.evaluate(element, scope))
                return results
            case _:
                return UNKNOWN

    def items(self, nodes: list[ast.expr], scope: Scope) -> Any:
        """The values of a list of expressions, starred ones spread."""
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                inner = self.evaluate(node.value, scope)
                if not isinstance(inner, list):
                    return UNKNOWN
                found.extend(inner)
            else:
                found.append(self.evaluate(node, scope))
        return found

    def formatted(self, parts: list[ast.expr], scope: Scope) -> Any:
        """The text of an f-string, when all its parts are known."""
        text = ""
        for part in parts:
            value = self.evaluate(part.value, scope) if isinstance(part, ast.FormattedValue) else part
            value = value.value if isinstance(value, ast.Constant) else value
            if not isinstance(value, str | int | float):
                return UNKNOWN
            text += str(value)
        return text

    def dictionary(self, node: ast.Dict, scope: Scope) -> Any:
        """A mapping; one that spreads the arguments of a field still says which field."""
        result: dict[str, Any] = {}
        source: Field | None = None
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self.evaluate(value, scope)
            if key is not None:
                name = self.evaluate(key, scope)
                if isinstance(name, str):
                    unknown = name == "default" and inner is UNKNOWN
                    result[name] = Computed(ast.unparse(value)) if unknown else inner
                continue
            table = table_of(inner)
            if table is None:
                return UNKNOWN
            source = inner if isinstance(inner, Field) else source
            result.update(table)
        if source is None:
            return result
        return Field(result, source.owner, source.name, source.place, source.types)

    def lookup(self, scope: Scope, node: ast.expr) -> Definition | None:
        """What a name means, local imports included."""
        if isinstance(node, ast.Name) and node.id in scope.imports:
            source, original = scope.imports[node.id]
            origin = self.source.module(source)
            if original is None:
                return Definition(source, origin, None)
            found = self.source.resolve(origin, original) if origin is not None else None
            return found or Definition(f"{source}.{original}", None, None)
        if isinstance(node, ast.Attribute):
            owner = self.lookup(scope, node.value)
            if owner is not None and owner.module is not None and owner.node is None:
                return self.source.resolve(owner.module, node.attr)
            if owner is not None and owner.module is None:
                return Definition(f"{owner.name}.{node.attr}", None, None)
            return None
        return self.source.dotted(scope.module, node)

    def named(self, node: ast.Name | ast.Attribute, scope: Scope) -> Any:
        """What a name means: a converter, a class, a function, or a constant."""
        if isinstance(node, ast.Name) and node.id in ("int", "float", "str", "bool"):
            return Converter(node.id)
        found = self.lookup(scope, node)
        if found is not None:
            if found.name in ("json.loads", "argparse.BooleanOptionalAction"):
                return Converter("json") if found.name == "json.loads" else "boolean"
            if isinstance(found.node, ast.FunctionDef):
                return Converter(converter_name(found.name))
            if isinstance(found.node, ast.ClassDef):
                return self.action(found)
            if isinstance(found.node, ast.expr) and found.module is not None:
                value = self.reader.value(found.module, found.node)
                return UNKNOWN if isinstance(value, Computed) else value
        if isinstance(node, ast.Attribute):
            value = self.reader.value(scope.module, node)
            return UNKNOWN if isinstance(value, Computed) else value
        return UNKNOWN

    def action(self, definition: Definition) -> Any:
        """A class as a value: the word for it when it is an argparse action."""
        node = definition.node
        assert isinstance(node, ast.ClassDef)
        if not any("Action" in ast.unparse(base) for base in node.bases):
            return definition
        return "lora" if definition.name == "LoRAParserAction" else "custom"


def _is_default(target: ast.expr) -> bool:
    """Whether a target is `something["default"]`."""
    return isinstance(target, ast.Subscript) and getattr(target.slice, "value", None) == "default"


def table_of(value: Any) -> dict[str, Any] | None:
    """The mapping that a value is, or None."""
    if isinstance(value, Field):
        return value.arguments
    return value if isinstance(value, dict) else None
