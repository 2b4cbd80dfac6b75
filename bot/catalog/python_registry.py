"""A registry that is written in Python: its literals, read by `ast`. Nothing of it is ever executed.

What a launcher imports is often a mapping from a slug to a call with keywords (`"vllm/dual": entry(tp=2, …)`). Read
are the literals of such a mapping; a value that is computed, or comes from elsewhere, is not there.
"""

from __future__ import annotations

import ast
import warnings

import yaml

from bot.catalog.document import NotYaml, Value

MAX_CHARACTERS = 1_000_000
"""A longer file is left alone: the largest registry known has a fifth of this."""

MAX_DEPTH = 12
"""Literals one in another that are followed."""

MAX_NUMBER = 2**40
"""Numbers that are read, written out or as a product or a sum: the longest context is far below."""

_TAG = "tag:yaml.org,2002:"


def parse_python(text: str, path: str) -> Value | None:
    """The names of a module and the literals that they stand for, with their lines. None for a module that is too long.

    Raises `NotYaml` for what is not Python.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes: they are not ours
            module = ast.parse(text)
    except SyntaxError as error:
        raise NotYaml(f"no Python: {error.msg}", error.lineno or 1) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise NotYaml(f"no Python: {error}"[:200], 1) from None
    return Value(_Reader(path).module(module), path)


class _Reader:
    """Turns literals into the nodes that YAML's would be."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._constants: dict[str, ast.expr] = {}

    def module(self, module: ast.Module) -> yaml.MappingNode:
        """The mappings and lists that the module's names stand for. What is assigned twice may be either, and is left
        out, and so is an entry of which something is assigned later.
        """
        assigned: dict[str, list[ast.expr]] = {}
        added: list[tuple[str, ast.expr, ast.expr]] = []
        altered: dict[str, set[object]] = {}
        for statement in module.body:
            for target, value in _assignments(statement):
                if isinstance(target, ast.Name):
                    assigned.setdefault(target.id, []).append(value)
                elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                    added.append((target.value.id, target.slice, value))
                elif isinstance(target, ast.Subscript) and (inner := _entry_of(target.value)) is not None:
                    altered.setdefault(inner[0], set()).add(inner[1])
        once = {name: values[0] for name, values in assigned.items() if len(values) == 1}
        self._constants = {name: value for name, value in once.items() if isinstance(value, ast.Constant)}
        found: dict[str, yaml.Node] = {}
        for name, value in once.items():
            node = self._node(value, MAX_DEPTH)
            if node is not None and not isinstance(node, yaml.ScalarNode):
                found[name] = node
        for name, key, value in added:
            node, key_node = self._node(value, MAX_DEPTH), self._node(key, 1)
            registry = found.get(name)
            if isinstance(registry, yaml.MappingNode) and node is not None and isinstance(key_node, yaml.ScalarNode):
                registry.value.append((key_node, node))
        for name, entries in altered.items():
            registry = found.get(name)
            if isinstance(registry, yaml.MappingNode):
                registry.value = [pair for pair in registry.value if pair[0].value not in entries]
        start = _mark(self._path, 1, 0)
        pairs = [(yaml.ScalarNode(f"{_TAG}str", name, start, start), node) for name, node in found.items()]
        return yaml.MappingNode(f"{_TAG}map", pairs, start, start)

    def _node(self, value: ast.expr, depth: int) -> yaml.Node | None:
        """The literal as a node; None for what is computed."""
        if not depth:
            return None
        start = _mark(self._path, value.lineno, value.col_offset)
        if isinstance(value, ast.Dict):
            pairs = [
                (key_node, node)
                for key, item in zip(value.keys, value.values, strict=True)
                if key is not None
                and isinstance(key_node := self._node(key, 1), yaml.ScalarNode)
                and (node := self._node(item, depth - 1)) is not None
            ]
            return yaml.MappingNode(f"{_TAG}map", pairs, start, start)
        if isinstance(value, ast.Call):
            return self._call(value, depth, start)
        if isinstance(value, ast.List | ast.Tuple | ast.Set):
            items = [node for item in value.elts if (node := self._node(item, depth - 1)) is not None]
            return yaml.SequenceNode(f"{_TAG}seq", items, start, start)
        return self._scalar(value, start)

    def _call(self, call: ast.Call, depth: int, start: yaml.Mark) -> yaml.Node | None:
        """The keywords of a call, as those of an entry; of one with `**` nobody knows what it has."""
        if not call.keywords or any(keyword.arg is None for keyword in call.keywords):
            return None
        pairs = []
        for keyword in call.keywords:
            node = self._node(keyword.value, depth - 1)
            if node is not None:
                at = _mark(self._path, keyword.lineno, keyword.col_offset)
                pairs.append((yaml.ScalarNode(f"{_TAG}str", keyword.arg or "", at, at), node))
        return yaml.MappingNode(f"{_TAG}map", pairs, start, start)

    def _scalar(self, value: ast.expr, start: yaml.Mark) -> yaml.ScalarNode | None:
        constant = self._constants.get(value.id) if isinstance(value, ast.Name) else value
        if isinstance(constant, ast.Constant):
            found = constant.value
            if found is None:
                return yaml.ScalarNode(f"{_TAG}null", "", start, start)
            if isinstance(found, bool):
                return yaml.ScalarNode(f"{_TAG}bool", str(found).lower(), start, start)
            if isinstance(found, int) and abs(found) > MAX_NUMBER:
                return None  # as hexadecimal it may have more digits than Python writes out
            if isinstance(found, str | int | float):
                return yaml.ScalarNode(f"{_TAG}str", str(found), start, start)
        number = _number(value, 4)
        return yaml.ScalarNode(f"{_TAG}int", str(number), start, start) if number is not None else None


def _assignments(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(statement, ast.Assign):
        return [(target, statement.value) for target in statement.targets]
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        return [(statement.target, statement.value)]
    return []


def _entry_of(value: ast.expr) -> tuple[str, object] | None:
    """(`REGISTRY`, slug) of `REGISTRY[slug]`."""
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name) and isinstance(value.slice, ast.Constant):
        return value.value.id, value.slice.value
    return None


def _number(value: ast.expr, depth: int) -> int | None:
    """A whole number, written out or as a product, a sum or a difference of such (`128 * 1024`)."""
    if isinstance(value, ast.Constant):
        return value.value if type(value.value) is int and abs(value.value) <= MAX_NUMBER else None
    if not depth or not isinstance(value, ast.BinOp):
        return None
    left, right = _number(value.left, depth - 1), _number(value.right, depth - 1)
    if left is None or right is None:
        return None
    if isinstance(value.op, ast.Mult):
        found = left * right
    elif isinstance(value.op, ast.Add | ast.Sub):
        found = left + right if isinstance(value.op, ast.Add) else left - right
    else:
        return None
    return found if abs(found) <= MAX_NUMBER else None


def _mark(path: str, line: int, column: int) -> yaml.Mark:
    return yaml.Mark(path, 0, line - 1, column, "", 0)
