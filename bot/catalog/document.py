"""YAML files of a repository, read with positions and without trust in their shape.

Nothing here raises for a value of the wrong kind: what is not there, or is not what was asked for, is empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from bot.provenance import Position

MAX_MERGES = 8
"""Merge keys (`<<`) followed one below another: a chain of aliases can be as long as the file."""

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
    def extent(self) -> tuple[int, int]:
        """Where the value begins and ends among the characters of the text."""
        return self.node.start_mark.index, self.node.end_mark.index

    @property
    def style(self) -> str | None:
        """How a scalar is written: a quotation mark, `|` or `>`; None for one without, and for collections."""
        return (self.node.style or None) if isinstance(self.node, yaml.ScalarNode) else None

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
        """The entries of a mapping, those of merge keys included; the last of equal keys counts."""
        found: dict[str, Value] = {}
        self._collect(found, set(), MAX_MERGES)
        return found

    def written_keys(self) -> Iterator[tuple[str, Position]]:
        """The keys that are written in a mapping, and where."""
        if isinstance(self.node, yaml.MappingNode):
            for key, _ in self.node.value:
                if isinstance(key, yaml.ScalarNode):
                    yield str(key.value), Value(key, self.path).position

    def _collect(self, found: dict[str, Value], seen: set[int], merges: int) -> None:
        """Own entries, then those of merge keys: what is there first counts, and no node is asked twice."""
        if not isinstance(self.node, yaml.MappingNode) or id(self.node) in seen:
            return
        seen.add(id(self.node))
        own = {
            str(key.value): Value(node, self.path)
            for key, node in self.node.value
            if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE
        }
        for name, value in own.items():
            found.setdefault(name, value)
        for key, node in self.node.value if merges else ():
            if key.tag == _MERGE:
                for source in Value(node, self.path).children:
                    source._collect(found, seen, merges - 1)


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
