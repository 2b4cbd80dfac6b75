"""The nodes of a YAML file, as ruamel.yaml reads them."""

from __future__ import annotations

from collections.abc import Iterator

from ruamel.yaml.nodes import MappingNode, Node, SequenceNode


def entries(node: Node) -> Iterator[tuple[Node, Node]]:
    """The keys and values of a mapping; none of anything else."""
    if isinstance(node, MappingNode):
        yield from node.value


def _children(node: Node) -> Iterator[Node]:
    if isinstance(node, SequenceNode):
        yield from node.value
    for key, value in entries(node):
        yield key
        yield value


def walk(node: Node) -> Iterator[Node]:
    """A node and everything in it, each once."""
    seen = {id(node)}
    open_ = [node]
    while open_:
        found = open_.pop()
        yield found
        for child in _children(found):
            if id(child) not in seen:
                seen.add(id(child))
                open_.append(child)


def shared(root: Node) -> frozenset[int]:
    """The nodes that are reached in more than one way: an alias stands for them somewhere."""
    times: dict[int, int] = {}
    for node in walk(root):
        for child in _children(node):
            times[id(child)] = times.get(id(child), 0) + 1
    return frozenset(node for node, count in times.items() if count > 1)
