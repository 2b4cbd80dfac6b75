"""Lists and mappings that are written in brackets (`command: ["--model", …]`): how an entry is put in and taken out.

The brackets may go over several lines. Where an entry stands first on its line, one that comes in gets its own too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ruamel.yaml.nodes import Node, ScalarNode, SequenceNode

from bot.remedies.model import NoEdit, TextEdit
from bot.remedies.nodes import walk

if TYPE_CHECKING:
    from bot.remedies.layout import Layout

_BLANKS = re.compile(r"[ \t]*")
_REST = re.compile(r"(?P<before>[ \t]*)(?P<comma>,?)(?P<after>[ \t]*(?:#[^\r\n]*)?)(?=\r?\n|$)")
"""What stands behind an entry that is the last on its line."""

_BETWEEN = re.compile(r"[\s,]*")
"""What may be taken out between entries: no comment, no anchor."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a list or a mapping in brackets, by its place among them."""

    holder: Node
    at: int

    @property
    def first(self) -> Node:
        """The item, or the key."""
        found = self.holder.value[self.at]
        node: Node = found[0] if isinstance(found, tuple) else found
        return node

    @property
    def last(self) -> Node:
        """The item, or the value."""
        found = self.holder.value[self.at]
        node: Node = found[1] if isinstance(found, tuple) else found
        return node


def items_on(holder: Node, line: int) -> Iterator[Entry]:
    """The texts in lists in brackets, at or below a node, that stand on a line alone or with others."""
    for node in walk(holder):
        if isinstance(node, SequenceNode) and node.flow_style:
            for at, item in enumerate(node.value):
                if _is_on(item, line):
                    yield Entry(node, at)


def _is_on(item: Node, line: int) -> bool:
    return (
        isinstance(item, ScalarNode)
        and item.style in (None, "", "'", '"')
        and item.anchor is None
        and item.start_mark.line == item.end_mark.line == line - 1
    )


def put_before(layout: Layout, entry: Entry, text: str) -> TextEdit:
    """An item put before another one, quoted as that is. `text` needs no quotes."""
    start = entry.first.start_mark.index
    quoted = _as(entry.first, text)
    number = entry.first.start_mark.line + 1
    indent = layout.text[layout.start_of(number) : start]
    if indent.strip() or entry.holder.start_mark.line + 1 == number:
        return TextEdit(layout.path, start, start, f"{quoted}, ")
    return TextEdit(layout.path, start, start, f"{quoted},{layout.end_at(number)}{indent}")


def put_behind(layout: Layout, entry: Entry, text: str) -> TextEdit:
    """An entry put behind another one, quoted as that is. `text` needs no quotes."""
    end = entry.last.end_mark.index
    quoted = _as(entry.first, text) if isinstance(entry.holder, SequenceNode) else text
    number = entry.first.start_mark.line + 1
    indent = layout.text[layout.start_of(number) : entry.first.start_mark.index]
    rest = _REST.match(layout.text, end)
    if indent.strip() or entry.holder.start_mark.line + 1 == number or rest is None:
        return TextEdit(layout.path, end, end, f", {quoted}")
    comma = f"{rest['before']}," if rest["comma"] else f",{rest['before']}"
    new = f"{comma}{rest['after']}{layout.end_at(number)}{indent}{quoted}{rest['comma']}"
    return TextEdit(layout.path, end, rest.end(), new)


def taken_out(layout: Layout, holder: Node, first: int, last: int) -> TextEdit:
    """Entries that follow each other taken out, from one place to another, with the comma that parted them from the
    others. Raises `NoEdit` where something else stands among them, or a comment above or behind them.
    """
    entries = [Entry(holder, at) for at in range(len(holder.value))]
    out = entries[first : last + 1]
    if any(not layout.own(node) or node.anchor for entry in out for node in (entry.first, entry.last)):
        raise NoEdit(f"{layout.path}:{out[0].first.start_mark.line + 1} has an anchor or an alias")
    start, end = out[0].first.start_mark.index, out[-1].last.end_mark.index
    reaches = [(one.last.end_mark.index, two.first.start_mark.index) for one, two in pairwise(out)]
    begin = entries[first - 1].last.end_mark.index if first else holder.start_mark.index + 1
    until = entries[last + 1].first.start_mark.index if last + 1 < len(entries) else holder.end_mark.index - 1
    for left, right in (*reaches, (end, until)):
        if not _BETWEEN.fullmatch(layout.text, left, right):
            raise NoEdit(f"{layout.path}:{out[0].first.start_mark.line + 1} has a comment, which may speak of it")
    if _comment_above(layout, out[0].first.start_mark.line + 1):
        raise NoEdit(f"{layout.path}:{out[0].first.start_mark.line + 1} has a comment above it, which may speak of it")
    if last + 1 < len(entries) and (not first or not _BETWEEN.fullmatch(layout.text, begin, start)):
        return TextEdit(layout.path, start, until, "")
    if not first:
        return TextEdit(layout.path, start, end, "")
    if not _BETWEEN.fullmatch(layout.text, begin, start):
        raise NoEdit(f"{layout.path}:{out[0].first.start_mark.line + 1} has a comment before it")
    return TextEdit(layout.path, begin, end, "")


def _comment_above(layout: Layout, number: int) -> bool:
    return number > 1 and layout.line(number - 1).lstrip().startswith("#")


def _as(node: Node, text: str) -> str:
    """A text in the quotes of a node."""
    quote = node.style if isinstance(node, ScalarNode) and node.style in ("'", '"') else ""
    return f"{quote}{text}{quote}"
