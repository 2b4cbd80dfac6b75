"""The environment variables that a release reads through `vllm/envs.py`."""

from __future__ import annotations

import ast
from typing import Any

from bot.learn.source import SourceError, SourceTree, statements
from bot.learn.values import Computed, Reader

PATH = "vllm/envs.py"


def variables(source: SourceTree, reader: Reader) -> dict[str, dict[str, Any]]:
    """Name → line, and the declared default where it is a literal. Raises `SourceError`."""
    module = source.at(PATH)
    found = source.resolve(module, "environment_variables")
    if found is None or not isinstance(found.node, ast.Dict):
        raise SourceError(f"{PATH}: environment_variables is not where it was")
    defaults: dict[str, Any] = {}
    for statement, _ in statements(module.tree.body):
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                defaults[name] = reader.value(module, value)
    table: dict[str, dict[str, Any]] = {}
    for key in found.node.keys:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            entry: dict[str, Any] = {"line": key.lineno}
            default = defaults.get(key.value, Computed(""))
            if not isinstance(default, Computed):
                entry["default"] = default
            table[key.value] = entry
    return dict(sorted(table.items()))
