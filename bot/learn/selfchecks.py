"""What a configuration class refuses of its own values, read from `__post_init__` and its validators.

Only checks that are plain conditions over the class's own fields are kept: `if self.a is not None and not self.b:
raise …`, `assert self.a in (…)`. A check that follows code which may change one of its fields is left out, and so is
everything behind a way out that cannot be written down.

A condition is a list: `["field", NAME, …]`, `["value", JSON]`, `["not", C]`, `["and", C, …]`, `["or", C, …]`,
`[OPERATOR, C, C]` with `==`, `!=`, `<`, `<=`, `>`, `>=`, `in`, `not in`, `+`, and `count` (how often a list has a
value).
"""

from __future__ import annotations

import ast
from typing import Any

from bot.learn.source import Definition, Module
from bot.learn.values import Computed, Reader

OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "==",
    ast.IsNot: "!=",
}


def self_checks(reader: Reader, definition: Definition) -> list[dict[str, Any]]:
    """The checks of a class in the order in which they run: `when` (refused if true), `text`, and `line`."""
    found: list[dict[str, Any]] = []
    changed: set[str] = set()
    for module, node in reader.ancestry(definition)[:1]:
        for method in _methods(node):
            if not _Method(reader, module, found, changed).read(method.body):
                return found
    return found


def _methods(node: ast.ClassDef) -> list[ast.FunctionDef]:
    """`__post_init__`, then the validators of the whole."""
    functions = [member for member in node.body if isinstance(member, ast.FunctionDef)]
    first = [function for function in functions if function.name == "__post_init__"]
    after = [f for f in functions if any("model_validator(mode='after')" in ast.unparse(d) for d in f.decorator_list)]
    return first + after


class _Method:
    def __init__(self, reader: Reader, module: Module, found: list[dict[str, Any]], changed: set[str]) -> None:
        self.reader = reader
        self.module = module
        self.found = found
        self.changed = changed
        self.guards: list[Any] = []
        self.locals: dict[str, Any] = {}
        """What a local name stands for, as a condition; None where that cannot be written."""

    def read(self, body: list[ast.stmt]) -> bool:
        """Collect the checks of a body. False when what follows it can no longer be told."""
        for statement in body:
            match statement:
                case ast.If(test=test, body=[*_, ast.Raise() as error], orelse=[]):
                    self.check(test, error, statement.lineno)
                    self.note_changes(statement)
                case ast.If(test=test, body=[ast.Return()], orelse=[]):
                    condition = self.condition(test)
                    if condition is None:
                        return False
                    self.guards.append(["not", condition])
                case ast.Assert(test=test):
                    self.check(ast.UnaryOp(ast.Not(), test), statement, statement.lineno)
                case ast.Return():
                    return True
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if self.note_changes(statement):
                    self.locals[name] = self.operand(value)
                case _:
                    if any(isinstance(inner, ast.Return) for inner in ast.walk(statement)):
                        return False
                    if not self.note_changes(statement):
                        return False
        return True

    def check(self, test: ast.expr, error: ast.stmt, line: int) -> None:
        condition = self.condition(test)
        if condition is None:
            return
        when = ["and", *self.guards, condition] if self.guards else condition
        texts = [n.value for n in ast.walk(error) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        self.found.append({"when": when, "text": " ".join("".join(texts).split())[:160], "line": line})

    def note_changes(self, statement: ast.stmt) -> bool:
        """Remember the fields that a statement may change, and forget its local names. False when it may change any."""
        for inner in ast.walk(statement):
            match inner:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    self.locals[name] = None
                case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self")), attr="count")):
                    pass
                case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store() | ast.Del()):
                    self.changed.add(name)
                case ast.Subscript(value=ast.Attribute(value=ast.Name(id="self"), attr=name), ctx=ast.Store()):
                    self.changed.add(name)
                case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr=name))):
                    self.changed.add(name)
                case ast.Call(func=ast.Attribute(value=ast.Name(id="self"))):
                    return False
                case ast.Call(args=arguments) if any(isinstance(a, ast.Name) and a.id == "self" for a in arguments):
                    return False
        return True

    # -- conditions

    def condition(self, node: ast.expr) -> Any:
        """A condition as it is written to the file; None for one that cannot be."""
        match node:
            case ast.BoolOp(op=operator, values=values):
                parts = [self.condition(value) for value in values]
                if any(part is None for part in parts):
                    return None
                return ["and" if isinstance(operator, ast.And) else "or", *parts]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.condition(operand)
                return None if inner is None else ["not", inner]
            case ast.Compare(left=left, ops=operators, comparators=rights):
                return self.comparison([left, *rights], operators)
            case _:
                return self.operand(node)

    def comparison(self, nodes: list[ast.expr], operators: list[ast.cmpop]) -> Any:
        operands = [self.operand(node) for node in nodes]
        if any(operand is None for operand in operands):
            return None
        parts = [
            [OPERATORS[type(operator)], left, right]
            for operator, left, right in zip(operators, operands[:-1], operands[1:], strict=True)
        ]
        return parts[0] if len(parts) == 1 else ["and", *parts]

    def operand(self, node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name) if name in self.locals:
                return self.locals[name]
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self.together("+", left, right)
            case ast.Call(func=ast.Attribute(value=whole, attr="count"), args=[part], keywords=[]):
                return self.together("count", whole, part)
        names = self.field(node)
        if names is not None:
            return None if names[0] in self.changed or not names[0] else ["field", *names]
        value = self.reader.value(self.module, node)
        return None if isinstance(value, Computed) else ["value", value]

    def together(self, name: str, *nodes: ast.expr) -> Any:
        operands = [self.operand(node) for node in nodes]
        return None if any(operand is None for operand in operands) else [name, *operands]

    def field(self, node: ast.expr) -> list[str] | None:
        """The names in `self.a.b`; an empty name for something of `self` that is no field."""
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return [name]
            case ast.Attribute(value=inner, attr=name):
                names = self.field(inner)
                return None if names is None else [*names, name]
            case _:
                return [""] if any(isinstance(n, ast.Name) and n.id == "self" for n in ast.walk(node)) else None
