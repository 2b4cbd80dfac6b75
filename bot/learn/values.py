"""Values and types of a release, read from its expressions.

A value is what JSON can hold. An expression that is computed at run time has none: it is `Computed`, with its text.

A type is a list of alternatives, each a word (`"int"`, `"none"`, `"any"`, …) or a list: `["literal", …]`,
`["list", TYPE]`, `["tuple", TYPE, …]`, `["set", TYPE]`, `["dict", TYPE, TYPE]`, `["enum", NAME]`,
`["config", NAME]`, `["class", NAME]`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from bot.learn.source import Definition, Module, SourceTree, members

MAX_DEPTH = 40
"""Nesting of expressions that is followed; real ones stay below ten."""

ENUM_BASES = frozenset({"Enum", "IntEnum", "StrEnum", "IntFlag", "Flag"})
CONFIG_DECORATORS = frozenset({"config", "dataclass"})
BUILTIN = frozenset({"bool", "int", "float", "str", "dict", "list", "set", "tuple", "object", "bytes"})

Type = list[Any]


@dataclass(frozen=True, slots=True)
class Computed:
    """An expression whose value only the running release knows."""

    text: str


class Reader:
    """Evaluates expressions of a source tree, and remembers the classes and enums that types name."""

    def __init__(self, source: SourceTree) -> None:
        self.source = source
        self.configs: dict[str, Definition] = {}
        self.enums: dict[str, Definition] = {}

    # -- values

    def value(self, module: Module, node: ast.expr | None, depth: int = 0) -> Any:
        """The value of an expression, or `Computed`. An enum member is its name."""
        if depth > MAX_DEPTH:
            return Computed("…")
        match node:
            case None:
                return None
            case ast.Constant(value=value) if value is None or isinstance(value, bool | int | float | str):
                return value
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return self._all([self.value(module, item, depth + 1) for item in items], node)
            case ast.Dict(keys=keys, values=values) if None not in keys:
                names = [self.value(module, key, depth + 1) for key in keys]
                return dict(zip(map(str, names), [self.value(module, v, depth + 1) for v in values], strict=True))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self.value(module, operand, depth + 1)
                return -inner if isinstance(inner, int | float) else _computed(node)
            case ast.BinOp():
                return self._arithmetic(module, node, depth)
            case ast.Call():
                return self._call(module, node, depth)
            case ast.Name() | ast.Attribute():
                return self._name(module, node, depth)
            case _:
                return _computed(node)

    def _all(self, items: list[Any], node: ast.expr) -> Any:
        return _computed(node) if any(isinstance(item, Computed) for item in items) else items

    def _arithmetic(self, module: Module, node: ast.BinOp, depth: int) -> Any:
        left, right = self.value(module, node.left, depth + 1), self.value(module, node.right, depth + 1)
        if isinstance(left, list) and isinstance(right, list) and isinstance(node.op, ast.Add):
            return left + right
        if not (isinstance(left, int | float) and isinstance(right, int | float)):
            return _computed(node)
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Pow() | ast.LShift() if isinstance(left, int) and isinstance(right, int) and 0 <= right <= 64:
                return left**right if isinstance(node.op, ast.Pow) else left << right
            case _:
                return _computed(node)

    def _call(self, module: Module, node: ast.Call, depth: int) -> Any:
        called = self.source.dotted(module, node.func)
        name = called.name.rpartition(".")[2] if called else getattr(node.func, "id", "")
        match name, node.args:
            case "frozenset" | "set" | "list" | "tuple", [argument]:
                return self.value(module, argument, depth + 1)
            case "get_field", [owner, ast.Constant(value=str(field))]:
                return self.field_default(self.source.dotted(module, owner), field, depth + 1)
            case "get_args", [argument]:
                kinds = self.type(module, argument)
                return [value for kind in kinds if kind[0] == "literal" for value in kind[1:]]
            case "field" | "Field", _:
                return self.default_of_field_call(module, node, depth + 1)
            case "Field" | "field", []:
                return None
            case _:
                return _computed(node)

    def _name(self, module: Module, node: ast.Name | ast.Attribute, depth: int) -> Any:
        found = self.source.dotted(module, node)
        if found is not None and isinstance(found.node, ast.expr) and found.module is not None:
            return self.value(found.module, found.node, depth + 1)
        if isinstance(node, ast.Attribute):
            owner = self.source.dotted(module, node.value)
            if owner is not None and isinstance(owner.node, ast.ClassDef):
                if self.is_enum(owner):
                    return node.attr
                return self.field_default(owner, node.attr, depth + 1)
        return _computed(node)

    def default_of_field_call(self, module: Module, node: ast.Call, depth: int = 0) -> Any:
        """The default in `field(default=…)`, `Field(…, default_factory=list)`."""
        arguments = {keyword.arg: keyword.value for keyword in node.keywords}
        default = arguments.get("default", node.args[0] if node.args else None)
        factory = arguments.get("default_factory")
        if factory is None:
            if isinstance(default, ast.Constant) and default.value is ...:
                return _computed(node)
            return self.value(module, default, depth + 1) if default is not None else _computed(node)
        match factory:
            case ast.Name(id="list" | "set" | "tuple"):
                return []
            case ast.Name(id="dict"):
                return {}
            case ast.Lambda(body=body):
                return self.value(module, body, depth + 1)
            case _:
                return Computed(f"{ast.unparse(factory)}()")

    # -- classes

    def is_enum(self, definition: Definition) -> bool:
        """Whether a class is an enum, by its bases or theirs."""
        node = definition.node
        if not isinstance(node, ast.ClassDef):
            return False
        for base in node.bases:
            name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
            if name in ENUM_BASES:
                return True
            parent = self.source.dotted(definition.module, base) if definition.module else None
            if parent is not None and parent.node is not node and self.is_enum(parent):
                return True
        return False

    def is_config(self, definition: Definition) -> bool:
        """Whether a class is a dataclass, by its own decorator or a parent's."""
        return any(_decorated(node) for _, node in self.ancestry(definition))

    def ancestry(self, definition: Definition) -> list[tuple[Module, ast.ClassDef]]:
        """A class and its bases, nearest first, as far as the source tree has them."""
        found: list[tuple[Module, ast.ClassDef]] = []
        pending = [definition]
        while pending and len(found) < MAX_DEPTH:
            current = pending.pop(0)
            if isinstance(current.node, ast.ClassDef) and current.module is not None:
                found.append((current.module, current.node))
                bases = (self.source.dotted(current.module, base) for base in current.node.bases)
                pending.extend(base for base in bases if base is not None)
        return found

    def field_default(self, owner: Definition | None, name: str, depth: int = 0) -> Any:
        """The default of a class's field."""
        place = self.field_place(owner, name)
        if place is None:
            return Computed(f"{owner.name if owner else '?'}.{name}")
        module, statement = place
        return self.value(module, statement.value, depth + 1)

    def field_place(self, owner: Definition | None, name: str) -> tuple[Module, ast.AnnAssign | ast.Assign] | None:
        """Where a class or one of its bases sets a field."""
        if owner is None:
            return None
        for module, node in self.ancestry(owner):
            for member, statement in members(node):
                if member == name:
                    return module, statement
        return None

    # -- types

    def type(self, module: Module, node: ast.expr | None, depth: int = 0) -> Type:
        """The alternatives of an annotation, without repetition."""
        found: Type = []
        for kind in self._alternatives(module, node, depth):
            if kind not in found:
                found.append(kind)
        return found

    def _alternatives(self, module: Module, node: ast.expr | None, depth: int) -> Type:
        if depth > MAX_DEPTH:
            return ["any"]
        match node:
            case ast.Constant(value=None):
                return ["none"]
            case ast.Constant(value=str(text)):
                try:
                    return self._alternatives(module, ast.parse(text, mode="eval").body, depth + 1)
                except SyntaxError:
                    return ["any"]
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                return self._alternatives(module, left, depth + 1) + self._alternatives(module, right, depth + 1)
            case ast.Subscript(value=origin, slice=inner):
                return self._generic(module, origin, inner, depth)
            case ast.Name(id=name) if name in BUILTIN and name not in module.names:
                return [name]
            case ast.Name() | ast.Attribute():
                return self._named(module, node, depth)
            case _:
                return ["any"]

    def _generic(self, module: Module, origin: ast.expr, inner: ast.expr, depth: int) -> Type:
        name = origin.attr if isinstance(origin, ast.Attribute) else getattr(origin, "id", "")
        parts = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
        match name:
            case "Literal":
                return [["literal", *self._literals(module, parts, depth)]]
            case "Optional":
                return [*self._alternatives(module, inner, depth + 1), "none"]
            case "Union":
                return [kind for part in parts for kind in self._alternatives(module, part, depth + 1)]
            case "Annotated" | "SkipValidation" | "ClassVar" | "Required" | "InitVar":
                return self._alternatives(module, parts[0], depth + 1)
            case "list" | "List" | "Sequence" | "Iterable":
                return [["list", self.type(module, parts[0], depth + 1)]]
            case "set" | "Set" | "frozenset":
                return [["set", self.type(module, parts[0], depth + 1)]]
            case "tuple" | "Tuple":
                return [["tuple", *(_item(self, module, part, depth) for part in parts)]]
            case "dict" | "Dict" | "Mapping" | "defaultdict" if len(parts) == 2:
                return [["dict", self.type(module, parts[0], depth + 1), self.type(module, parts[1], depth + 1)]]
            case _:
                return [["class", ast.unparse(origin)]]

    def _literals(self, module: Module, parts: list[ast.expr], depth: int) -> list[Any]:
        """The values of a `Literal`, those of nested aliases included."""
        values: list[Any] = []
        for part in parts:
            match part:
                case ast.Constant(value=value):
                    values.append(value)
                case _:
                    for kind in self._alternatives(module, part, depth + 1):
                        values.extend(kind[1:] if kind[0] == "literal" else [self.value(module, part)])
        return [value for index, value in enumerate(values) if value not in values[:index]]

    def _named(self, module: Module, node: ast.Name | ast.Attribute, depth: int) -> Type:
        found = self.source.dotted(module, node)
        if found is None:
            return ["any"]
        if found.module is None or found.node is None:
            return ["any"] if found.name in ("typing.Any", "typing_extensions.Any") else [["class", found.name]]
        if isinstance(found.node, ast.ClassDef):
            if self.is_enum(found):
                self.enums[found.name] = found
                return [["enum", found.name]]
            if self.is_config(found):
                self.configs[found.name] = found
                return [["config", found.name]]
            if any(_is_dict(base) for _, node in self.ancestry(found) for base in node.bases):
                return ["dict"]
            return [["class", found.name]]
        if isinstance(found.node, ast.expr):
            return self._alternatives(found.module, found.node, depth + 1)
        return ["any"]


def _item(reader: Reader, module: Module, part: ast.expr, depth: int) -> Any:
    if isinstance(part, ast.Constant) and part.value is ...:
        return "..."
    return reader.type(module, part, depth + 1)


def _is_dict(base: ast.expr) -> bool:
    origin = base.value if isinstance(base, ast.Subscript) else base
    return isinstance(origin, ast.Name) and origin.id == "dict"


def _decorated(node: ast.ClassDef) -> bool:
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name in CONFIG_DECORATORS:
            return True
    return False


def _computed(node: ast.expr) -> Computed:
    return Computed(ast.unparse(node))


def fields(reader: Reader, cls: Definition) -> list[tuple[str, Module, str, ast.AnnAssign]]:
    """The fields of a dataclass in its order, bases first: owner, module, name, statement."""
    found: dict[str, tuple[str, Module, str, ast.AnnAssign]] = {}
    for module, node in reversed(reader.ancestry(cls)):
        for statement in node.body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name)) if not _is_class_variable(statement.annotation):
                    previous = found.get(name)
                    found[name] = (node.name if previous is None else cls.name, module, name, statement)
    return list(found.values())


def _is_class_variable(annotation: ast.expr) -> bool:
    return isinstance(annotation, ast.Subscript) and "ClassVar" in ast.unparse(annotation.value)
