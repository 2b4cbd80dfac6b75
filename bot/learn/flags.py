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

from bot.learn.evaluation import PARSER, UNKNOWN, Evaluator, Field, Scope, table_of
from bot.learn.keywords import Converter, keywords_by_type, special_fields
from bot.learn.source import Definition, Module, SourceError, SourceTree
from bot.learn.values import Computed, Reader, fields

SERVE = "vllm/entrypoints/cli/serve.py"
MAX_CALLS = 400
"""Calls of the release's own functions that are followed; building the parser takes fewer than forty."""

MAX_NESTING = 20
"""Calls inside calls; building the parser takes five."""


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


def register(source: SourceTree, reader: Reader) -> Registration:
    """The flags of `vllm serve`. Raises `SourceError` when the release has no such parser."""
    serve = source.at(SERVE)
    maker = source.resolve(serve, "make_arg_parser")
    if maker is None or not isinstance(maker.node, ast.FunctionDef):
        raise SourceError(f"{SERVE}: make_arg_parser is not where it was")
    interpreter = _Registrar(source, reader)
    assert maker.module is not None
    interpreter.follow(maker.module, maker.node, [PARSER], {})
    return Registration(interpreter.flags, interpreter.gaps)


class _Registrar(Evaluator):
    def __init__(self, source: SourceTree, reader: Reader) -> None:
        super().__init__(source, reader)
        self.flags: list[Flag] = []
        self.special = special_fields(source)
        self.calls = 0
        self.nesting = 0

    # -- calls

    def called(self, node: ast.Call, scope: Scope) -> Any:
        function = node.func
        if isinstance(function, ast.Attribute):
            match function.attr:
                case "add_argument":
                    return self.add_argument(node, scope)
                case "add_argument_group" | "add_mutually_exclusive_group":
                    return PARSER
                case "items" | "pop" | "get" | "append" | "remove" | "extend" | "join" | "replace" | "keys":
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
            assert found.module is not None
            return self.follow(found.module, found.node, arguments, {})
        return UNKNOWN

    def method(self, name: str, owner: Any, node: ast.Call, scope: Scope) -> Any:
        arguments = [self.evaluate(argument, scope) for argument in node.args]
        table = table_of(owner)
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
            case "remove", [value] if isinstance(owner, list) and value in owner:
                owner.remove(value)
                return None
            case "extend", [list(values)] if isinstance(owner, list):
                owner.extend(values)
                return None
            case (("append" | "remove" | "extend"), _) if isinstance(owner, list):
                self.gap(node, scope)
                return UNKNOWN
            case "join", [list(parts)] if isinstance(owner, str) and all(isinstance(p, str) for p in parts):
                return owner.join(parts)
            case "replace", [str(old), str(new)] if isinstance(owner, str):
                return owner.replace(old, new)
            case _:
                return UNKNOWN

    def own_method(self, function: ast.Attribute, node: ast.Call, scope: Scope) -> Any:
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
        scope: Scope,
    ) -> Any:
        arguments = [self.evaluate(argument, scope) for argument in node.args]
        keywords = {k.arg: self.evaluate(k.value, scope) for k in node.keywords if k.arg}
        if any(getattr(d, "id", "") == "classmethod" for d in member.decorator_list):
            arguments.insert(0, cls)
        return self.follow(module, member, arguments, keywords, cls, Definition(holder.name, module, holder))

    def follow(
        self,
        module: Module,
        function: ast.FunctionDef,
        arguments: list[Any],
        keywords: dict[str, Any],
        cls: Definition | None = None,
        holder: Definition | None = None,
    ) -> Any:
        """What a function of the release returns, its registrations noted on the way."""
        self.calls += 1
        if self.calls > MAX_CALLS or self.nesting >= MAX_NESTING:
            raise SourceError(f"{module.path}:{function.lineno}: building the parser calls too many functions")
        names = [argument.arg for argument in function.args.args]
        defaults = dict(zip(names[len(names) - len(function.args.defaults) :], function.args.defaults, strict=True))
        bound: dict[str, Any] = {name: self.reader.value(module, value) for name, value in defaults.items()}
        bound.update(dict(zip(names, arguments, strict=False)))
        bound.update(keywords)
        scope = Scope(module, bound, cls=cls, defined_in=holder)
        self.nesting += 1
        self.run(function.body, scope)
        self.nesting -= 1
        return scope.returned

    def outside(self, function: ast.Attribute, node: ast.Call, scope: Scope) -> Any:
        """A call that is not followed: a gap when it may change what is known.

        `copy.deepcopy` is followed, since defaults are changed on a copy.
        """
        if function.attr == "deepcopy" and node.args:
            return copy.deepcopy(self.evaluate(node.args[0], scope))
        owner = self.evaluate(function.value, scope)
        if isinstance(owner, list) or table_of(owner) is not None:
            self.gap(node, scope)
        return UNKNOWN

    def add_argument(self, node: ast.Call, scope: Scope) -> Any:
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
                unknown = keyword.arg == "default" and value is UNKNOWN
                arguments[keyword.arg] = Computed(ast.unparse(keyword.value)) if unknown else value
                continue
            table = table_of(value)
            if table is None:
                self.gap(node, scope)
                continue
            arguments.update(table)
            if isinstance(value, Field):
                origin, default_place = value, value.place
        arguments.pop("flags", None)
        if origin is not None and isinstance(node.keywords[-1].value, ast.Dict):
            default_place = place
        self.flags.append(Flag(options, arguments, place, origin, default_place))
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
