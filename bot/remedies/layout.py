"""A YAML file as it is written: where its values stand, and how something is put in without moving anything else.

The file is read by ruamel.yaml for its nodes and their places; an edit is made in the text, at such a place. So
comments, quotes, indentation, line ends and whatever else stands there stay as they are, byte for byte.
"""

from __future__ import annotations

import re

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from bot.remedies.flow import Entry, put_behind
from bot.remedies.model import NoEdit, TextEdit
from bot.remedies.nodes import entries, shared, walk

MAX_CHARACTERS = 80_000
"""Of a file that is edited: three times the longest compose that was seen. One that is made to be slow takes 1.6 s."""

_DASH = re.compile(r" *-[ ]+")
_SPACES = re.compile(r" *")
_FOREIGN_BREAKS = re.compile("[\x85\u2028\u2029]|\r(?!\n)")
"""What ends a line for YAML, and not for git and GitHub."""


class Layout:
    """The nodes of one YAML file. Raises `NoEdit` for a file in which places cannot be told."""

    def __init__(self, path: str, text: str) -> None:
        if len(text) > MAX_CHARACTERS:
            raise NoEdit(f"{path} is too long to be edited here")
        if _FOREIGN_BREAKS.search(text):
            raise NoEdit(f"{path} has line ends that git does not know")
        try:
            reader = YAML(typ="rt", pure=True)
            reader.composer.warn_double_anchors = False
            root = reader.compose(text)
        except (YAMLError, RecursionError, ValueError) as error:
            raise NoEdit(f"{path} cannot be read as one YAML document") from error
        if not isinstance(root, MappingNode):
            raise NoEdit(f"{path} is no mapping")
        self.path = path
        self.text = text
        self.root = root
        self._starts = _line_starts(text)
        self._shared = shared(root)

    def at(self, *keys: str) -> Node:
        """The value under a path of keys. Raises `NoEdit` when it is not written there, and there alone."""
        node: Node = self.root
        for key in keys:
            found = [value for name, value in entries(node) if name.value == key]
            if not found:
                raise NoEdit(f"{'.'.join(keys)} is not written in {self.path} itself")
            node = found[-1]
            if len(found) > 1 or id(node) in self._shared:
                raise NoEdit(f"{'.'.join(keys)} in {self.path} is shared with others by an anchor or given twice")
        return node

    def has(self, *keys: str) -> bool:
        """Whether something is written under a path of keys."""
        node: Node = self.root
        for key in keys:
            found = next((value for name, value in entries(node) if name.value == key), None)
            if found is None:
                return False
            node = found
        return True

    def own(self, node: Node) -> bool:
        """Whether no alias leads to a node too."""
        return id(node) not in self._shared

    def holds(self, node: Node, line: int) -> bool:
        """Whether a line (from 1) is part of a node."""
        return bool(node.start_mark.line + 1 <= line <= node.end_mark.line + 1)

    def shared_below(self, node: Node) -> bool:
        """Whether something in a node is an alias, or has one elsewhere."""
        return any(id(child) in self._shared for child in walk(node))

    def line(self, number: int) -> str:
        """A line (from 1), without its end."""
        return self.text[self.start_of(number) : self.end_of(number)]

    def start_of(self, number: int) -> int:
        """The offset of a line's first character."""
        return self._starts[number - 1]

    def end_of(self, number: int) -> int:
        """The offset behind a line's last character, before its end."""
        end = self._starts[number] - 1 if number < len(self._starts) else len(self.text)
        return end - 1 if end > self.start_of(number) and self.text[end - 1 : end] == "\r" else end

    def end_at(self, number: int) -> str:
        """How lines end around a line: as that line does, or else the first of the file."""
        for line in (number, 1):
            end = self.end_of(line)
            if self.text[end : end + 1]:
                return "\r\n" if self.text[end] == "\r" else "\n"
        return "\n"

    def below(self, number: int, *lines: str) -> TextEdit:
        """Lines put in below a line."""
        at = self.end_of(number)
        end = self.end_at(number)
        return TextEdit(self.path, at, at, "".join(f"{end}{line}" for line in lines))

    def without(self, number: int) -> TextEdit:
        """A line taken out, with its end."""
        end = self._starts[number] if number < len(self._starts) else len(self.text)
        return TextEdit(self.path, self.start_of(number), end, "")

    def item(self, sequence: SequenceNode, text: str) -> TextEdit:
        """An item put at the end of a list, in its own style. `text` needs no quotes."""
        own = [item for item in sequence.value if self.own(item)]
        if sequence.flow_style:
            return self._in_flow(sequence, text)
        for item in reversed(own):
            line = self._one_line(item)
            prefix = _DASH.match(self.line(line)) if line else None
            if line and prefix and prefix.end() == item.start_mark.column:
                return self.below(line, f"{prefix[0]}{text}")
        raise NoEdit(f"the list in line {sequence.start_mark.line + 1} of {self.path} has no item on a line of its own")

    def key(self, mapping: MappingNode, name: str, *more: str) -> TextEdit:
        """A key without a value put at the end of a mapping; `more` are lines below it, indented from it."""
        own = [(key, value) for key, value in mapping.value if self.own(key) and self.own(value)]
        if mapping.flow_style:
            if more:
                raise NoEdit(f"the mapping in line {mapping.start_mark.line + 1} of {self.path} is written on one line")
            return self._in_flow(mapping, f"{name}: null")
        for key, value in reversed(own):
            line = self._one_line(value)
            indent = _SPACES.match(self.line(key.start_mark.line + 1))
            fits = indent is not None and indent.end() == key.start_mark.column
            if line and line == key.start_mark.line + 1 and indent is not None and fits:
                return self.below(line, f"{indent[0]}{name}:", *(f"{indent[0]}{text}" for text in more))
        raise NoEdit(
            f"the mapping in line {mapping.start_mark.line + 1} of {self.path} has no value on a line of its own"
        )

    def _in_flow(self, node: Node, text: str) -> TextEdit:
        if not node.value:
            at = node.end_mark.index - 1
            return TextEdit(self.path, at, at, text)
        last = Entry(node, len(node.value) - 1)
        if not self.own(last.first) or not self.own(last.last):
            raise NoEdit(f"the last value in line {node.end_mark.line + 1} of {self.path} is an alias")
        return put_behind(self, last, text)

    def _one_line(self, node: Node) -> int | None:
        """The line of a scalar that stands on one line; None for any other value."""
        if not isinstance(node, ScalarNode) or node.style in ("|", ">") or node.start_mark.line != node.end_mark.line:
            return None
        return int(node.start_mark.line) + 1


def _line_starts(text: str) -> list[int]:
    starts = [0]
    at = text.find("\n")
    while at != -1:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts
