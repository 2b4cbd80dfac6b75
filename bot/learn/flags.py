"""The flags that a release registers, found by following its own registration code.

The functions that build the parser of `vllm serve` are short, and mostly say `group.add_argument("--flag",
**kwargs["field"])` with `kwargs` made from a configuration class. They are followed statement by statement with
abstract values; nothing of the release runs. What cannot be followed is listed in `Registration.gaps`.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from bot.learn.keywords import Converter, converter_name, keywords_by_type, lambda_name, special_fields
from bot.learn.source import Definition, Module, SourceError, SourceTree, imported
from bot.learn.values import Computed, Reader, Type, fields

SERVE = "vllm/entrypoints/cli/serve.py"
DEVICE = "cuda"
"""The platform of the images that are learnt: what is registered for others is not."""

MAX_CALLS = 400
"""Calls of the release's own functions that are followed; building the parser takes fewer than forty."""


@dataclass(slots=True)
class Field:
    """The keyword arguments of `add_argument` for one field, and where the field is."""

    arguments: dict[str, Any]
    owner: str
    name: str
    place: str
    types: Type


@dataclass(slots=True)
class Flag:
    """One call of `add_argument`: its option strings, its keyword arguments, and the file and line."""

    options: list[str]
    arguments: dict[str, Any]
    place: str
    field: Field | None = None
    default_place: str = ""


@dataclass(slots=True)
class Registration:
    """All flags in order of registration, and the statements that could not be followed."""

    flags: list[Flag] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Scope:
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


def register(source: SourceTree, reader: Reader) -> Registration:
    """The flags of `vllm serve`. Raises `SourceError` when the release has no such parser."""
    serve = source.at(SERVE)
    maker = source.resolve(serve, "make_arg_parser")
    if maker is None or not isinstance(maker.node, ast.FunctionDef):
        raise SourceError(f"{SERVE}: make_arg_parser is not where it was")
    interpreter = _Interpreter(source, reader)
    interpreter.call(maker, [PARSER], {}, None)
    return interpreter.registration


class _Interpreter:
    def __init__(self, source: SourceTree, reader: Reader) -> None:
        self.source = source
        self.reader = reader
        self.registration = Registration()
        self.special = special_fields(source)
        self.calls = 0

    # -- statements

    def call(self, function: Definition, arguments: list[Any], keywords: dict[str, Any], cls: Definition | None) -> Any:
        node = function.node
        assert isinstance(node, ast.FunctionDef)
        assert function.module is not None
        self.calls += 1
        if self.calls > MAX_CALLS:
            raise SourceError(f"{function.path}:{function.line}: building the parser calls too many functions")
        names = [argument.arg for argument in node.args.args]
        defaults = dict(zip(names[len(names) - len(node.args.defaults) :], node.args.defaults, strict=True))
        bound: dict[str, Any] = {name: self.reader.value(function.module, value) for name, value in defaults.items()}
        bound.update(dict(zip(names, arguments, strict=False)))
        bound.update(keywords)
        scope = _Scope(function.module, bound, cls=cls, defined_in=cls)
        self.run(node.body, scope)
        return scope.returned

    def run(self, body: list[ast.stmt], scope: _Scope) -> None:
        for statement in body:
            if scope.done:
                return
            self.step(statement, scope)

    def step(self, statement: ast.stmt, scope: _Scope) -> None:
        match statement:
            case ast.Assign(targets=[target], value=value):
                self.assign(target, self.evaluate(value, scope), scope)
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

    def loop(self, node: ast.For, target: ast.expr, items: Any, body: list[ast.stmt], scope: _Scope) -> None:
        if not isinstance(items, list):
            self.gap(node, scope)
            return
        for item in items:
            self.assign(target, item, scope)
            self.run(body, scope)

    def assign(self, target: ast.expr, value: Any, scope: _Scope) -> None:
        match target:
            case ast.Name(id=name):
                scope.names[name] = value
            case ast.Tuple(elts=targets) if isinstance(value, list | tuple) and len(value) == len(targets):
                for part, item in zip(targets, value, strict=True):
                    self.assign(part, item, scope)
            case ast.Subscript(value=owner, slice=key):
                container = _table(self.evaluate(owner, scope))
                name = self.evaluate(key, scope)
                if container is None or not isinstance(name, str):
                    self.gap(target, scope)
                else:
                    container[name] = value
            case _:
                self.gap(target, scope)

    def delete(self, target: ast.expr, scope: _Scope) -> None:
        if isinstance(target, ast.Subscript):
            container = _table(self.evaluate(target.value, scope))
            if container is not None:
                container.pop(self.evaluate(target.slice, scope), None)

    def gap(self, node: ast.AST, scope: _Scope) -> None:
        self.registration.gaps.append(f"{scope.module.path}:{getattr(node, 'lineno', 0)}: {type(node).__name__}")

    # -- expressions

    def evaluate(self, node: ast.expr, scope: _Scope) -> Any:
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
                container, name = _table(self.evaluate(owner, scope)), self.evaluate(key, scope)
                return container.get(name, UNKNOWN) if container is not None and isinstance(name, str) else UNKNOWN
            case ast.Call():
                return self.called(node, scope)
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as operator], comparators=[right]):
                container, name = self.evaluate(right, scope), self.evaluate(left, scope)
                table = _table(container)
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

    def items(self, nodes: list[ast.expr], scope: _Scope) -> Any:
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

    def formatted(self, parts: list[ast.expr], scope: _Scope) -> Any:
        text = ""
        for part in parts:
            value = self.evaluate(part.value, scope) if isinstance(part, ast.FormattedValue) else part
            value = value.value if isinstance(value, ast.Constant) else value
            if not isinstance(value, str | int | float):
                return UNKNOWN
            text += str(value)
        return text

    def dictionary(self, node: ast.Dict, scope: _Scope) -> Any:
        result: dict[str, Any] = {}
        source: Field | None = None
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self.evaluate(value, scope)
            if key is not None:
                name = self.evaluate(key, scope)
                if isinstance(name, str):
                    result[name] = inner
                continue
            table = _table(inner)
            if table is None:
                return UNKNOWN
            source = inner if isinstance(inner, Field) else source
            result.update(table)
        if source is None:
            return result
        return Field(result, source.owner, source.name, source.place, source.types)

    def lookup(self, scope: _Scope, node: ast.expr) -> Definition | None:
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

    def named(self, node: ast.Name | ast.Attribute, scope: _Scope) -> Any:
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

    # -- calls

    def called(self, node: ast.Call, scope: _Scope) -> Any:
        function = node.func
        if isinstance(function, ast.Attribute):
            match function.attr:
                case "add_argument":
                    return self.add_argument(node, scope)
                case "add_argument_group" | "add_mutually_exclusive_group":
                    return PARSER
                case "items" | "pop" | "get" | "append" | "join" | "replace" | "keys":
                    return self.method(function.attr, self.evaluate(function.value, scope), node, scope)
                case _:
                    return self.own_method(function, node, scope)
        name = getattr(function, "id", "")
        arguments = self.items(node.args, scope)
        if not isinstance(arguments, list):
            return UNKNOWN
        match name:
            case "get_kwargs" if arguments and isinstance(arguments[0], Definition):
                return self.kwargs(arguments[0])
            case "optional_type" if arguments and isinstance(arguments[0], Converter):
                return Converter("optional", arguments[0])
            case "parse_type" if arguments:
                return arguments[0]
            case "list" if arguments:
                return arguments[0] if isinstance(arguments[0], list) else UNKNOWN
            case "permutations" if arguments and isinstance(arguments[0], list):
                size = next((k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)), None)
                return [list(p) for p in permutations(arguments[0], size if isinstance(size, int) else None)]
            case "get_args" if node.args:
                value = self.reader.value(scope.module, node)
                return UNKNOWN if isinstance(value, Computed) else value
            case "setattr" | "print" | "super" | "isinstance" | "len" | "load_general_plugins":
                return UNKNOWN
        found = self.lookup(scope, function)
        if found is not None and isinstance(found.node, ast.FunctionDef) and PARSER in arguments:
            return self.call(found, arguments, {}, None)
        return UNKNOWN

    def method(self, name: str, owner: Any, node: ast.Call, scope: _Scope) -> Any:
        arguments = [self.evaluate(argument, scope) for argument in node.args]
        table = _table(owner)
        match name, arguments:
            case "items", [] if table is not None:
                return [[key, value] for key, value in list(table.items())]
            case "keys", [] if table is not None:
                return list(table)
            case "pop" | "get", [str(key), *rest] if table is not None:
                take = table.pop if name == "pop" else table.get
                return take(key, rest[0] if rest else None)
            case "append", [value] if isinstance(owner, list):
                owner.append(value)
                return None
            case "join", [list(parts)] if isinstance(owner, str) and all(isinstance(p, str) for p in parts):
                return owner.join(parts)
            case "replace", [str(old), str(new)] if isinstance(owner, str):
                return owner.replace(old, new)
            case _:
                return UNKNOWN

    def own_method(self, function: ast.Attribute, node: ast.Call, scope: _Scope) -> Any:
        """A call of a class's own method (`FrontendArgs.add_cli_args(parser)`, `super()._customize(...)`)."""
        match function.value:
            case ast.Call(func=ast.Name(id="super")):
                cls, start = scope.cls, scope.defined_in
            case ast.Name(id="cls"):
                cls = start = scope.cls
                if function.attr == "__name__":
                    return UNKNOWN
            case owner:
                found = self.lookup(scope, owner)
                cls = found if found is not None and isinstance(found.node, ast.ClassDef) else None
                start = cls
        if cls is None or start is None:
            return self.outside(function, node, scope)
        chain = self.reader.ancestry(start)
        if isinstance(function.value, ast.Call):
            chain = chain[1:]
        for module, holder in chain:
            for member in holder.body:
                if isinstance(member, ast.FunctionDef) and member.name == function.attr:
                    return self.enter(module, holder, member, cls, node, scope)
        return UNKNOWN

    def enter(
        self,
        module: Module,
        holder: ast.ClassDef,
        member: ast.FunctionDef,
        cls: Definition,
        node: ast.Call,
        scope: _Scope,
    ) -> Any:
        arguments = [self.evaluate(argument, scope) for argument in node.args]
        keywords = {k.arg: self.evaluate(k.value, scope) for k in node.keywords if k.arg}
        if any(getattr(d, "id", "") == "classmethod" for d in member.decorator_list):
            arguments.insert(0, cls)
        definition = Definition(member.name, module, member)
        self.calls += 1
        if self.calls > MAX_CALLS:
            raise SourceError(f"{module.path}:{member.lineno}: building the parser calls too many functions")
        names = [argument.arg for argument in member.args.args]
        defaults = dict(zip(names[len(names) - len(member.args.defaults) :], member.args.defaults, strict=True))
        bound: dict[str, Any] = {name: self.reader.value(module, value) for name, value in defaults.items()}
        bound.update(dict(zip(names, arguments, strict=False)))
        bound.update(keywords)
        inner = _Scope(module, bound, cls=cls, defined_in=Definition(holder.name, module, holder))
        assert isinstance(definition.node, ast.FunctionDef)
        self.run(definition.node.body, inner)
        return inner.returned

    def outside(self, function: ast.Attribute, node: ast.Call, scope: _Scope) -> Any:
        """A call that is not followed. `copy.deepcopy` is, since defaults are changed on a copy."""
        if function.attr == "deepcopy" and node.args:
            return copy.deepcopy(self.evaluate(node.args[0], scope))
        return UNKNOWN

    def add_argument(self, node: ast.Call, scope: _Scope) -> Any:
        options = self.items(node.args, scope)
        place = f"{scope.module.path}:{node.lineno}"
        if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
            self.gap(node, scope)
            return UNKNOWN
        arguments: dict[str, Any] = {}
        origin: Field | None = None
        default_place = place
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, scope)
            if keyword.arg is not None:
                arguments[keyword.arg] = value
                continue
            table = _table(value)
            if table is None:
                self.gap(node, scope)
                continue
            arguments.update(table)
            if isinstance(value, Field):
                origin, default_place = value, value.place
        arguments.pop("flags", None)
        if origin is not None and isinstance(node.keywords[-1].value, ast.Dict):
            default_place = place
        self.registration.flags.append(Flag(options, arguments, place, origin, default_place))
        return UNKNOWN

    # -- what `get_kwargs` makes of a configuration class

    def kwargs(self, cls: Definition) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for owner, module, name, statement in fields(self.reader, cls):
            types = self.reader.type(module, statement.annotation)
            default = self.default(module, statement)
            place = f"{module.path}:{statement.lineno}"
            arguments: dict[str, Any] = {"default": default, **keywords_by_type(name, types, self.special)}
            found[name] = Field(arguments, owner, name, place, types)
        return found

    def default(self, module: Module, statement: ast.AnnAssign) -> Any:
        if statement.value is None:
            return None
        return self.reader.value(module, statement.value)


def _table(value: Any) -> dict[str, Any] | None:
    if isinstance(value, Field):
        return value.arguments
    return value if isinstance(value, dict) else None
