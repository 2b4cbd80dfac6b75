"""Arguments that a release refuses together, or one without the other, found in its own checks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from bot.learn.flags import SERVE
from bot.learn.keywords import ARGUMENTS
from bot.learn.source import Module, SourceTree

_EXCLUSIVE = re.compile(r"^(\w+) and (\w+(?:\.\w+)+) are mutually exclusive$")


def conflict_rules(source: SourceTree) -> list[dict[str, Any]]:
    """The rules in order: `kind` ("needs": `if` without `other`; "excludes": both true; "exclusive": both set)."""
    found = list(_exclusive(source.at(ARGUMENTS)))
    serve = source.at(SERVE)
    for name in ("validate_parsed_serve_args",):
        check = source.resolve(serve, name)
        if check is not None and isinstance(check.node, ast.FunctionDef) and check.module is not None:
            found += _checks(check.module, check.node)
    return found


def _exclusive(module: Module) -> Iterator[dict[str, Any]]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Raise):
            text = _message(node)
            match = _EXCLUSIVE.match(text)
            if match:
                yield _rule("exclusive", match.group(1), match.group(2), text, module, node)


def _checks(module: Module, function: ast.FunctionDef) -> Iterator[dict[str, Any]]:
    """`if args.a and not args.b: raise`, and `if args.a and args.b: raise`."""
    for node in ast.walk(function):
        match node:
            case ast.If(test=ast.BoolOp(op=ast.And(), values=[first, second]), body=[ast.Raise() as error, *_]):
                one, other = _argument(first), _argument(second)
                if one and other:
                    yield _rule("excludes", one, other, _message(error), module, node)
                elif one and isinstance(second, ast.UnaryOp) and isinstance(second.op, ast.Not):
                    other = _argument(second.operand)
                    if other:
                        yield _rule("needs", one, other, _message(error), module, node)


def _rule(kind: str, one: str, other: str, text: str, module: Module, node: ast.AST) -> dict[str, Any]:
    at = f"{module.path}:{getattr(node, 'lineno', 0)}"
    return {"kind": kind, "if": one, "other": other, "text": text, "at": at}


def _argument(node: ast.expr) -> str | None:
    match node:
        case ast.Attribute(value=ast.Name(id="args"), attr=name):
            return name
        case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id="args"), ast.Constant(value=str(name)), *_]):
            return name
        case _:
            return None


def _message(node: ast.Raise) -> str:
    """The text of an exception, its formatted parts left out."""
    texts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return "".join(texts).removeprefix("Error: ")
