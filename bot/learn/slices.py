"""The part of a long upstream function that decides one field.

Some functions decide a dozen fields, and change in every release. A derivation of one field is anchored to the slice
that can write it, so that it does not lose its footing when another field's rules change. A slice keeps

- every statement that writes the field: an assignment to an attribute of its name, a `setattr` of it (or of a
  name that is computed), a call with a keyword of its name (of which only that keyword is kept);
- every call that might write it elsewhere: one that hands `self` on, one of a method whose own body, as
  the class or a configuration module defines it, writes the field or cannot be found;
- every early `return`, and the conditions (and the order) under which any of these happen;
- the local names and the attributes that these read, where the same function writes them: their writes belong to
  the slice too, and so on.

What it leaves out can refuse a configuration (`raise`, `assert`) or write other fields, not decide this one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from bot.learn.source import Module, SourceTree

CONTAINER_METHODS = frozenset({"add", "append", "clear", "copy", "discard", "extend", "get", "insert", "items"}) | {
    "keys",
    "pop",
    "remove",
    "setdefault",
    "sort",
    "update",
    "values",
}
"""Methods of lists, sets and dictionaries: they change no attribute."""

LOGGING = frozenset({"logger", "warnings"})
CONFIGURATION = "vllm.config"


def slice_of(source: SourceTree, module: Module, owner: ast.AST | None, function: ast.AST, field: str) -> ast.AST:
    """The part of `function` that decides `field`. `owner` is the class that the function belongs to, if any."""
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return function
    methods = _Methods(source, module, owner)
    fields, names = {field}, set[str]()
    while True:
        slicer = _Slicer(fields, names, methods)
        body = slicer.body(function.body)
        reads = _Reads()
        for statement in body:
            reads.visit(statement)
        written = _written(function)
        more_fields = (reads.attributes & written.attributes) - fields
        more_names = (reads.names & written.names) - names
        if not more_fields and not more_names:
            break
        fields |= more_fields
        names |= more_names
    made = ast.FunctionDef(name=function.name, args=function.args, body=body or [ast.Pass()], decorator_list=[])
    return ast.copy_location(made, function)


class _Methods:
    """Which methods, by their name alone, may write a field."""

    def __init__(self, source: SourceTree, module: Module, owner: ast.AST | None) -> None:
        self.found: dict[str, list[ast.AST]] = {}
        self._own(owner)
        package = source.module(CONFIGURATION)
        names = {target[0] for target in package.imports.values()} if package is not None else set()
        for name in sorted({module.name, CONFIGURATION, *names}):
            part = source.module(name) if name.startswith("vllm.") else None
            for node in part.tree.body if part is not None else ():
                self._own(node)

    def _own(self, owner: ast.AST | None) -> None:
        for statement in getattr(owner, "body", ()):
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self.found.setdefault(statement.name, []).append(statement)

    def may_write(self, name: str, fields: set[str], seen: frozenset[str] = frozenset()) -> bool | None:
        """Whether a method of this name writes one of the fields, or calls one that does; None for an unknown one."""
        if name in CONTAINER_METHODS or name in seen:
            return False
        bodies = self.found.get(name)
        if bodies is None:
            return None
        return any(self._writes(node, fields, seen | {name}) for node in bodies)

    def _writes(self, function: ast.AST, fields: set[str], seen: frozenset[str]) -> bool:
        for node in ast.walk(function):
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and _assigned(node) & fields:
                return True
            if isinstance(node, ast.Call) and not _is_logging(node):
                if _sets(node, fields):
                    return True
                called = _method_called(node)
                if called is not None and self.may_write(called[1], fields, seen):
                    return True
        return False


class _Slicer:
    """Keeps what bears on some fields and local names."""

    def __init__(self, fields: set[str], names: set[str], methods: _Methods) -> None:
        self.fields = fields
        self.names = names
        self.methods = methods

    def body(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        """The statements that are kept, each reduced to what bears on the fields."""
        return [kept for statement in statements for kept in self.kept(statement)]

    def kept(self, statement: ast.stmt) -> list[ast.stmt]:
        """What is kept of a statement: nothing, or one."""
        match statement:
            case ast.Return():
                return [ast.Return(value=None)]
            case ast.If():
                return self._branch(statement)
            case ast.For() | ast.AsyncFor() | ast.While() | ast.With() | ast.AsyncWith() | ast.Try():
                return [statement] if self.body(_inside(statement)) else []
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return [statement] if statement.name in self.names else []
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                if _assigned(statement) & self.fields or _local(statement) & self.names:
                    return [statement]
                return self._calls(statement)
            case ast.Import() | ast.ImportFrom():
                return []
            case ast.Raise() | ast.Assert():
                return []
            case _:
                return self._calls(statement)

    def _branch(self, statement: ast.If) -> list[ast.stmt]:
        body, orelse = self.body(statement.body), self.body(statement.orelse)
        tested = self._calls_in(statement.test)
        if not (body or orelse or tested or _binds(statement.test) & self.names):
            return []
        return [ast.If(test=statement.test, body=body or [ast.Pass()], orelse=orelse)]

    def _calls(self, statement: ast.stmt) -> list[ast.stmt]:
        return [ast.Expr(value=call) for call in self._calls_in(statement)]

    def _calls_in(self, node: ast.AST) -> list[ast.expr]:
        """The calls below a node that may write a field, a keyword of which is all that is kept of a constructor's."""
        found: list[ast.expr] = []
        for call in ast.walk(node):
            if not isinstance(call, ast.Call) or _is_logging(call):
                continue
            keywords = [keyword for keyword in call.keywords if keyword.arg in self.fields]
            if keywords:
                found.append(ast.Call(func=call.func, args=[], keywords=keywords))
            elif _sets(call, self.fields) or _hands_self_on(call):
                found.append(call)
            else:
                called = _method_called(call)
                if called is not None and self._may_write(*called, alone=isinstance(node, ast.Expr)):
                    found.append(call)
        return found

    def _may_write(self, root: str, name: str, *, alone: bool) -> bool:
        """Whether a method may write a field. An unknown one may when its answer is not used, and it is of `self`."""
        writes = self.methods.may_write(name, self.fields)
        return alone and root == "self" if writes is None else writes


class _Reads(ast.NodeVisitor):
    """The local names and the attributes that some statements read."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.attributes: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load):
            self.attributes.add(node.attr)
        self.visit(node.value)


def _written(function: ast.AST) -> _Reads:
    """The local names and attributes that a function writes."""
    found = _Reads()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            found.attributes |= _assigned(node)
            found.names |= _local(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node is not function:
            found.names.add(node.name)
        elif isinstance(node, ast.NamedExpr):
            found.names.add(node.target.id)
    return found


def _targets(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Iterator[ast.expr]:
    pending: list[ast.expr] = list(statement.targets) if isinstance(statement, ast.Assign) else [statement.target]
    while pending:
        target = pending.pop()
        if isinstance(target, ast.Tuple | ast.List):
            pending += target.elts
        else:
            yield target


def _assigned(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> set[str]:
    """The attributes that an assignment writes."""
    return {target.attr for target in _targets(statement) if isinstance(target, ast.Attribute)}


def _local(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> set[str]:
    """The local names that an assignment writes."""
    return {target.id for target in _targets(statement) if isinstance(target, ast.Name)}


def _binds(test: ast.expr) -> set[str]:
    return {node.target.id for node in ast.walk(test) if isinstance(node, ast.NamedExpr)}


def _inside(statement: ast.stmt) -> list[ast.stmt]:
    parts = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    handlers = [handler.body for handler in getattr(statement, "handlers", [])]
    return [inner for part in (*parts, *handlers) for inner in part]


def _sets(call: ast.Call, fields: set[str]) -> bool:
    """Whether a call is a `setattr` that may write one of the fields."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "setattr") or len(call.args) < 2:
        return False
    name = call.args[1]
    return not isinstance(name, ast.Constant) or name.value in fields


def _hands_self_on(call: ast.Call) -> bool:
    return any(isinstance(argument, ast.Name) and argument.id == "self" for argument in call.args)


def _method_called(call: ast.Call) -> tuple[str, str] | None:
    """The local name that a call starts from, and the method that is called on it or on something of it."""
    if not isinstance(call.func, ast.Attribute):
        return None
    root = call.func.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return (root.id, call.func.attr) if isinstance(root, ast.Name) else None


def _is_logging(call: ast.Call) -> bool:
    root = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id in LOGGING
