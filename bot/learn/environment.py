"""The environment variables that a release reads: through `vllm/envs.py`, and past it."""

from __future__ import annotations

import ast
import re
from typing import Any

from bot.learn.source import SourceError, SourceTree, statements
from bot.learn.values import Computed, Reader

PATH = "vllm/envs.py"

_READ_DIRECTLY = re.compile(r"""(?:environ(?:\.\w+)?|getenv)\s*[\[(]\s*["'](VLLM_[A-Z0-9_]+)["']""")


def variables(source: SourceTree, reader: Reader) -> dict[str, list[Any]]:
    """Name → its place as `path:line`, and the declared default where it is a literal.

    Raises `SourceError`.
    """
    module = source.at(PATH)
    found = source.resolve(module, "environment_variables")
    if found is None or not isinstance(found.node, ast.Dict):
        raise SourceError(f"{PATH}: environment_variables is not where it was")
    defaults: dict[str, Any] = {}
    for statement, _ in statements(module.tree.body):
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                defaults[name] = reader.value(module, value)
    table: dict[str, list[Any]] = {}
    for key in found.node.keys:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            default = defaults.get(key.value, Computed(""))
            place = f"{module.path}:{key.lineno}"
            table[key.value] = [place] if isinstance(default, Computed) else [place, default]
    for path in source.paths:
        text = source.read(path) or ""
        if "VLLM_" not in text:
            continue
        for match in _READ_DIRECTLY.finditer(text):
            table.setdefault(match[1], [f"{path}:{text.count(chr(10), 0, match.start()) + 1}"])
    return dict(sorted(table.items()))
