"""YAML files of a repository, read with positions and without trust in their shape.

Nothing here raises for a value of the wrong kind: what is not there, or is not what was asked for, is empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from bot.provenance import Position

MAX_MERGES = 8
"""Merge keys (`<<`) followed one below another: an alias may make a circle of them."""

MAX_PLAIN_NODES = 10_000
"""Nodes that `plain` turns into data: aliases can make a small file describe an endless one."""

_NULL = "tag:yaml.org,2002:null"
_MERGE = "tag:yaml.org,2002:merge"


class NotYaml(Exception):
    """The text is not YAML. `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a file, and where it stands."""

    node: yaml.Node
    path: str

    @property
    def position(self) -> Position:
        """Where the value begins."""
        return Position(self.path, self.node.start_mark.line + 1, self.node.start_mark.column + 1)

    @property
    def text(self) -> str | None:
        """A scalar as it is written; None for null and for collections."""
        node = self.node
        if isinstance(node, yaml.ScalarNode) and node.tag != _NULL:
            return str(node.value)
        return None

    @property
    def texts(self) -> tuple[str, ...]:
        """The scalars of a sequence; a scalar stands for a sequence of one."""
        values = (value.text for value in self.children)
        return tuple(text for text in values if text)

    @property
    def children(self) -> tuple[Value, ...]:
        """The values of a sequence; a single value that is not null stands for a sequence of one."""
        if isinstance(self.node, yaml.SequenceNode):
            return tuple(Value(node, self.path) for node in self.node.value)
        if isinstance(self.node, yaml.ScalarNode) and self.node.tag == _NULL:
            return ()
        return (self,)

    @property
    def is_mapping(self) -> bool:
        """Whether the value has fields."""
        return isinstance(self.node, yaml.MappingNode)

    def fields(self) -> dict[str, Value]:
        """The entries of a mapping, those of merge keys included, in order; the last of equal keys counts."""
        return dict(self._fields(MAX_MERGES))

    def written_keys(self) -> Iterator[tuple[str, Position]]:
        """The keys that are written in a mapping, and where."""
        if isinstance(self.node, yaml.MappingNode):
            for key, _ in self.node.value:
                if isinstance(key, yaml.ScalarNode):
                    yield str(key.value), Value(key, self.path).position

    def plain(self) -> object:
        """The value as plain data, scalars as text. None for one with more than `MAX_PLAIN_NODES` nodes."""
        budget = [MAX_PLAIN_NODES]
        data = self._plain(budget)
        return data if budget[0] > 0 else None

    def _fields(self, merges: int) -> Iterator[tuple[str, Value]]:
        if not isinstance(self.node, yaml.MappingNode):
            return
        for key, node in self.node.value:
            if key.tag == _MERGE and merges:
                for source in reversed(Value(node, self.path).children):
                    yield from source._fields(merges - 1)
        for key, node in self.node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
                yield str(key.value), Value(node, self.path)

    def _plain(self, budget: list[int]) -> object:
        budget[0] -= 1
        if budget[0] <= 0:
            return None
        if isinstance(self.node, yaml.SequenceNode):
            return [child._plain(budget) for child in self.children]
        if isinstance(self.node, yaml.MappingNode):
            return {key: value._plain(budget) for key, value in self.fields().items()}
        return self.text


def parse(text: str, path: str) -> Value | None:
    """The first document of a YAML text; None when it is empty. Raises `NotYaml`."""
    try:
        loader = yaml.CSafeLoader(text)
        try:
            node = loader.get_node() if loader.check_node() else None
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise NotYaml(str(error.problem or error.context or "not YAML"), mark.line + 1 if mark else 1) from None
    except (yaml.YAMLError, UnicodeEncodeError, ValueError) as error:
        raise NotYaml(" ".join(str(error).split())[:200], 1) from None
    return Value(node, path) if node is not None else None
