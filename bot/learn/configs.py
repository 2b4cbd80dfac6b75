"""The configuration classes that flags and JSON arguments fill, with the limits that they declare themselves."""

from __future__ import annotations

import ast
from typing import Any

from bot.learn.selfchecks import self_checks
from bot.learn.source import Definition, Module, SourceTree
from bot.learn.values import Computed, Reader, fields

LIMITS = ("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length")


def config_table(source: SourceTree, reader: Reader) -> dict[str, dict[str, Any]]:
    """Every configuration class that `reader` has met, and those that their fields name in turn."""
    table: dict[str, dict[str, Any]] = {}
    while pending := sorted(set(reader.configs) - set(table)):
        for name in pending:
            table[name] = _config(source, reader, reader.configs[name])
    return dict(sorted(table.items()))


def enum_table(reader: Reader) -> dict[str, dict[str, Any]]:
    """The members of every enum that a type names; a value that is computed is None."""
    table: dict[str, dict[str, Any]] = {}
    for name, definition in sorted(reader.enums.items()):
        found: dict[str, Any] = {}
        for module, node in reversed(reader.ancestry(definition)):
            for statement in node.body:
                match statement:
                    case ast.Assign(targets=[ast.Name(id=member)], value=value) if not member.startswith("_"):
                        found[member] = _member_value(reader, module, value, found)
        if found:
            table[name] = {"at": f"{definition.path}:{definition.line}", "members": found}
    return table


SKIPPED = "skipped"
"""In place of a validator, for a field that pydantic is told not to check."""


def _member_value(reader: Reader, module: Module, node: ast.expr, earlier: dict[str, Any]) -> Any:
    """A member's value, which may be made of earlier members; None when it is computed."""
    match node:
        case ast.Name(id=name) if name in earlier:
            return earlier[name]
        case ast.Tuple(elts=items):
            return [_member_value(reader, module, item, earlier) for item in items]
    known = reader.value(module, node)
    return None if isinstance(known, Computed) else known


def _config(source: SourceTree, reader: Reader, definition: Definition) -> dict[str, Any]:
    validators = _validators(reader, definition)
    found: dict[str, Any] = {}
    for _, module, name, statement in fields(reader, definition):
        entry = _field(reader, module, statement)
        if entry is None:
            continue
        entry["at"] = f"{module.path}:{statement.lineno}"
        kinds = [kind for names, kind in validators if name in names or "*" in names]
        if "SkipValidation" in ast.unparse(statement.annotation):
            kinds.append(SKIPPED)
        if kinds:
            entry["validators"] = kinds
        found[name] = entry
    table = {
        "at": f"{definition.path}:{definition.line}",
        "extra": _extra(source, reader, definition),
        "fields": found,
    }
    checks = [check for check in self_checks(reader, definition) if _fields_in(check["when"]) <= set(found)]
    return {**table, "checks": checks} if checks else table


def _fields_in(condition: list[Any]) -> set[str]:
    """The fields that a condition asks for."""
    if condition[0] == "field":
        return {condition[1]}
    if condition[0] == "value":
        return set()
    return {name for part in condition[1:] for name in _fields_in(part)}


def _field(reader: Reader, module: Module, statement: ast.AnnAssign) -> dict[str, Any] | None:
    """A field as the release file has it; None for one that callers may not set."""
    entry: dict[str, Any] = {"type": reader.type(module, statement.annotation)}
    if isinstance(statement.annotation, ast.Subscript) and "InitVar" in ast.unparse(statement.annotation.value):
        return None
    if statement.value is None:
        entry["required"] = True
        return entry
    if isinstance(statement.value, ast.Call):
        arguments = {keyword.arg: keyword.value for keyword in statement.value.keywords}
        init = arguments.get("init")
        if isinstance(init, ast.Constant) and init.value is False:
            return None
        for limit in LIMITS:
            if limit in arguments:
                value = reader.value(module, arguments[limit])
                if not isinstance(value, Computed):
                    entry[limit] = value
    default = reader.value(module, statement.value)
    if isinstance(default, Computed):
        entry["computed"] = default.text
    elif default is not None:
        entry["default"] = default
    return entry


def _extra(source: SourceTree, reader: Reader, definition: Definition) -> str:
    """What the class does with keys that it does not have: "forbid", "ignore" or "allow"."""
    for module, node in reader.ancestry(definition):
        for decorator in node.decorator_list:
            stated = _extra_in(decorator)
            if stated:
                return stated
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            made_by = source.dotted(module, target)
            if made_by is not None and isinstance(made_by.node, ast.FunctionDef):
                stated = _extra_in(made_by.node)
                if stated:
                    return stated
    return "ignore"


def _extra_in(node: ast.AST) -> str | None:
    for inner in ast.walk(node):
        if isinstance(inner, ast.keyword) and inner.arg == "extra" and isinstance(inner.value, ast.Constant):
            return str(inner.value.value)
    return None


def _validators(reader: Reader, definition: Definition) -> list[tuple[list[str], str]]:
    """The field validators of a class: the fields, and what it does (see `_validator_kind`)."""
    found: list[tuple[list[str], str]] = []
    for module, node in reader.ancestry(definition):
        for member in node.body:
            if not isinstance(member, ast.FunctionDef):
                continue
            for decorator in member.decorator_list:
                match decorator:
                    case ast.Call(func=ast.Name(id="field_validator"), args=names, keywords=keywords):
                        mode = next((ast.literal_eval(k.value) for k in keywords if k.arg == "mode"), "after")
                        constants = [n.value for n in names if isinstance(n, ast.Constant)]
                        kind = _validator_kind(mode, member)
                        if kind == "checked":
                            kind = _membership(reader, module, member) or kind
                        if kind:
                            found.append(([str(name) for name in constants], kind))
    return found


def _validator_kind(mode: str, function: ast.FunctionDef) -> str | None:
    """What a validator does to a value before its type is checked.

    "nullable": None passes. "by_name": a string is the name of an enum member in any case; "by_name_or_auto": and
    "auto" is None. "lower", "lower_underscore": a string is rewritten. "config": a mapping becomes the class.
    "custom": anything else that comes before the check. "checked": it comes after, and may refuse; "in:NAME" refuses
    what the list NAME of the literals does not have. None: it comes after, and refuses nothing.
    """
    text = ast.unparse(function)
    if mode == "after":
        return "checked" if any(isinstance(n, ast.Raise | ast.Assert) for n in ast.walk(function)) else None
    if mode == "wrap" and "value is None" in text and "handler(value)" in text:
        return "nullable"
    if mode == "before":
        if "[value.upper()]" in text or "[mode_name]" in text:
            return "by_name_or_auto" if "'auto'" in text else "by_name"
        if "return value.lower().replace('-', '_')" in text:
            return "lower_underscore"
        if "return value.lower()" in text:
            return "lower"
        if "isinstance(value, dict)" in text and "(**value)" in text:
            return "config"
    return "custom"


def _membership(reader: Reader, module: Module, function: ast.FunctionDef) -> str | None:
    """`in:NAME` for a validator that refuses what `get_args(NAME)` lacks, and nothing else."""
    refusals = [n for n in ast.walk(function) if isinstance(n, ast.Raise | ast.Assert)]
    for node in function.body:
        match node:
            case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id=name))), body=[ast.Raise()]):
                asked = reader.source.resolve(module, name)
                if asked is None or asked.module is None or len(refusals) != 1:
                    return None
                return _listed_in(reader, asked.module, asked.node)
    return None


def _listed_in(reader: Reader, module: Module, function: ast.AST | None) -> str | None:
    """The `Literal` behind `def f(x): return x in LIST`."""
    body = [s for s in getattr(function, "body", []) if not isinstance(s, ast.Expr)]
    match body:
        case [ast.Return(value=ast.Compare(ops=[ast.In()], comparators=[ast.Name(id=name)]))]:
            found = reader.source.resolve(module, name)
            for inner in ast.walk(found.node) if found is not None and found.node is not None else ():
                match inner:
                    case ast.Call(func=ast.Name(id="get_args"), args=[ast.Name(id=literal)]):
                        return f"in:{literal}"
    return None
