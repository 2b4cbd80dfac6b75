"""Reads YAML as Docker Compose does, from libyaml's events.

Events and not nodes, since composing nodes recurses in C: a file of opening brackets would end the process.
"""

from __future__ import annotations

from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from bot.compose.faults import Fault
from bot.compose.lines import SourceText
from bot.compose.nodes import Document, Mapping, Node, Path, Scalar, Sequence, Text
from bot.compose.scalars import Timestamp, go_text, resolve, resolve_tagged
from bot.compose.template import InvalidTemplate, Template, compile_template

MAX_DEPTH = 64
"""Levels of nesting; the deepest field of a compose lies at ten."""

MAX_NODES = 100_000
"""Values of a file, its aliases written out. A file at the size limit has fewer, unless aliases multiply."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORE = "tag:yaml.org,2002:"
_MERGE = "<<"
_NOWHERE = 0


def read_documents(source: SourceText, shown: str) -> list[Document]:
    """The documents of a file that are not empty. Raises `Fault` with the line. `shown` is its path in messages."""
    builder = _Builder(source, shown)
    try:
        loader = _Loader(source.text)
        try:
            return builder.build(loader)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        # Compose reads the first document once before, to find the project's name.
        where = f"failed to parse {shown}: " if builder.documents else ""
        raise _syntax_fault(source.path, error, where) from None
    except (yaml.YAMLError, UnicodeError) as error:
        reason = getattr(error, "reason", None) or "control characters are not allowed"
        raise Fault("not-yaml", f"yaml: {reason}", path=source.path, line=_bad_line(source.text)) from None


def _syntax_fault(path: str, error: yaml.MarkedYAMLError, prefix: str) -> Fault:
    """Compose's message has the line of the context, counted from 0 for what its parser (not its scanner) finds."""
    scanner = isinstance(error, yaml.scanner.ScannerError)
    number = 0
    for mark in (error.context_mark, error.problem_mark):
        if mark is not None and mark.line:
            number = mark.line + scanner
            break
    where = f"line {number}: " if number else ""
    problem = error.problem or "unknown problem parsing YAML content"
    line = error.problem_mark.line + 1 if error.problem_mark else None
    return Fault("not-yaml", f"{prefix}yaml: {where}{problem}", path=path, line=line)


def _bad_line(text: str) -> int | None:
    for number, row in enumerate(text.split("\n"), 1):
        if any(not character.isprintable() and character not in "\t\r\u0085\ufeff\u00a0" for character in row):
            return number
    return None


class _Open:
    """A collection whose end has not been read yet. `entries` alternates keys and values for a mapping."""

    __slots__ = ("anchor", "column", "entries", "is_mapping", "line", "tag")

    def __init__(self, is_mapping: bool, anchor: str | None, tag: str | None, line: int) -> None:
        self.is_mapping = is_mapping
        self.anchor = anchor
        self.tag = tag
        self.line = line
        self.entries: list[Node] = []


class _Builder:
    """Builds the trees of one file."""

    def __init__(self, source: SourceText, shown: str) -> None:
        self.documents: list[Document] = []
        self._source = source
        self._variables = 0
        self._shown = shown
        self._anchors: dict[str, Node | None] = {}
        self._tags: dict[int, str] = {}
        self._tagged: list[Node] = []
        self._reset_before_merge: dict[int, list[str]] = {}
        self._merged: dict[int, dict[str, int]] = {}
        self._seen: set[int] = set()
        self._odd_keys: list[tuple[str, int]] = []

    def build(self, loader: Any) -> list[Document]:
        """The documents behind the events of `loader`. Raises `Fault`."""
        stack: list[_Open] = []
        root: Node | None = None
        while loader.check_event():
            event = loader.get_event()
            kind = event.__class__
            if kind is ScalarEvent:
                node: Node = self._scalar(event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                self._open(event, kind is MappingStartEvent, stack)
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                node = self._close(stack.pop())
            elif kind is AliasEvent:
                node = self._alias(event)
            else:
                if kind is DocumentStartEvent:
                    self._anchors, root = {}, None
                elif kind is DocumentEndEvent and root is not None and not _is_empty(root):
                    self.documents.append(self._finish(root))
                continue
            if stack:
                stack[-1].entries.append(node)
            else:
                root = node
        return self.documents

    def _open(self, event: Any, is_mapping: bool, stack: list[_Open]) -> None:
        line = event.start_mark.line + 1
        if len(stack) >= MAX_DEPTH:
            raise self._fault("too-large", f"nested deeper than {MAX_DEPTH} levels", line)
        if event.anchor:
            self._anchors[event.anchor] = None
        stack.append(_Open(is_mapping, event.anchor, event.tag, line))

    def _alias(self, event: Any) -> Node:
        line = event.start_mark.line + 1
        if event.anchor not in self._anchors:
            raise self._fault("not-yaml", f"yaml: unknown anchor '{event.anchor}' referenced", line)
        target = self._anchors[event.anchor]
        if target is None:
            raise self._fault("cycle", f"yaml: anchor '{event.anchor}' value contains itself", line)
        return target

    def _close(self, opened: _Open) -> Node:
        node: Node
        node = self._mapping(opened) if opened.is_mapping else Sequence(opened.entries, self._source, opened.line)
        return self._register(node, opened.anchor, opened.tag)

    def _register(self, node: Node, anchor: str | None, tag: str | None) -> Node:
        if anchor:
            self._anchors[anchor] = node
        if tag and tag in ("!reset", "!override"):
            self._tags[id(node)] = tag
            self._tagged.append(node)
        return node

    def _mapping(self, opened: _Open) -> Mapping:
        entries: dict[str, Node] = {}
        lines: dict[str, int] = {}
        merged: Node | None = None
        pairs = iter(opened.entries)
        for key, value in zip(pairs, pairs, strict=True):
            name = self._key(key)
            if name in lines:
                raise self._fault(
                    "not-yaml",
                    f'line {key.line}: mapping key "{name}" already defined at line {lines[name]}',
                    key.line,
                    True,
                )
            lines[name] = key.line
            if name == _MERGE and isinstance(key, Scalar) and not key.style:
                merged = value
            else:
                entries[name] = value
        mapping = Mapping(entries, lines, self._source, opened.line)
        if merged is not None:
            # What is reset here is dropped before the merge: the merged value shows again.
            reset = [name for name, value in entries.items() if self._tags.get(id(value)) == "!reset"]
            for name in reset:
                del entries[name]
            self._note_merged(mapping, merged)
            self._merge(entries, lines, merged)
            if reset:
                self._reset_before_merge[id(mapping)] = reset
        return mapping

    def _key(self, key: Node) -> str:
        if not isinstance(key, Scalar):
            raise self._fault("not-yaml", "yaml: invalid map key: a key must be a string", key.line, True)
        if isinstance(key.value, str):
            return key.value
        text = go_text(key.value)
        self._odd_keys.append((text, key.line))
        return text

    def _note_merged(self, mapping: Mapping, merged: Node) -> None:
        """Which entries a mapping is about to get from which other one: what `!reset` means there depends on it."""
        sources = merged.items if isinstance(merged, Sequence) else [merged]
        found: dict[str, int] = {}
        for source in sources:
            for name in source.entries if isinstance(source, Mapping) else ():
                if name not in mapping.entries:
                    found.setdefault(name, _NOWHERE if isinstance(merged, Sequence) else id(source))
        if found:
            self._merged[id(mapping)] = found
            self._tagged += sources  # their identities must stay theirs

    def _merge(self, entries: dict[str, Node], lines: dict[str, int], merged: Node) -> None:
        sources = merged.items if isinstance(merged, Sequence) else [merged]
        for source in sources:
            if not isinstance(source, Mapping):
                message = "yaml: map merge requires map or sequence of maps as the value"
                raise self._fault("not-yaml", message, merged.line, True)
            for name, node in source.entries.items():
                if name not in entries:
                    entries[name] = node
                    lines[name] = source.lines[name]

    def _scalar(self, event: Any) -> Scalar:
        start = event.start_mark
        line = start.line + 1
        style = event.style if event.style in ("'", '"', "|", ">") else ""
        value: Text | int | float | bool | Timestamp | None
        plain = self._value(event, style, line)
        template: Template | None = None
        if isinstance(plain, str):
            try:
                compiled = compile_template(plain)
            except InvalidTemplate:
                raise self._fault("too-large", "variables are nested too deeply", line) from None
            if isinstance(compiled, Template):
                template = compiled
                self._variables += len(compiled.variables)
                if self._variables > MAX_NODES:
                    raise self._fault("too-large", f"more than {MAX_NODES} variables", line)
            else:
                plain = compiled
            value = Text(plain)
        else:
            value = plain
        scalar = Scalar(value, template, self._source, line, start.column + 1, event.end_mark.line + 1, style)
        if isinstance(value, Text):
            value.scalar = scalar
            value.notes = ()
        if event.anchor or event.tag:
            self._register(scalar, event.anchor, event.tag)
        return scalar

    def _value(self, event: Any, style: str, line: int) -> str | int | float | bool | Timestamp | None:
        tag = event.tag
        if tag and tag.startswith(_CORE):
            name = tag.removeprefix(_CORE)
            if name in ("str", "int", "float", "bool", "null", "timestamp", "binary"):
                try:
                    return resolve_tagged(name, event.value)
                except ValueError as error:
                    raise self._fault("not-yaml", f"yaml: {error}", line, True) from None
        text: str = event.value
        if tag and tag != "!":
            return text  # behind a tag that is not YAML's own (`!override null`) everything is a string
        return text if style else resolve(text)

    def _finish(self, root: Node) -> Document:
        if self._odd_keys:
            raise self._odd_key_fault(root)
        cleared: list[Path] = []
        return Document(self._clean(root, (), cleared, _Counter(self._source)), tuple(cleared))

    def _odd_key_fault(self, root: Node) -> Fault:
        """Compose refuses a key that is no string, and names its place: that is known only now."""
        name, line = self._odd_keys[0]
        where = _path_to_key(root, name, line)
        place = f"in {'.'.join(where)}" if where else "at top level"
        return Fault("schema", f"non-string key {place}: {name}", path=self._source.path, line=line)

    def _clean(self, node: Node, path: Path, cleared: list[Path], count: _Counter) -> Node:
        """The tree without what `!reset` drops, and with its size checked."""
        if not self._tags:
            count.measure(node)
            return node
        count.add(node, 1)
        if isinstance(node, Scalar):
            return node
        if isinstance(node, Sequence):
            kept = [
                self._clean(item, (*path, str(index)), cleared, count)
                for index, item in enumerate(node.items)
                if not self._drops(item, (*path, str(index)), cleared)
            ]
            return Sequence(kept, node.source, node.line)
        cleared += [(*path, name) for name in self._reset_before_merge.get(id(node), ())]
        merged = self._merged.get(id(node), {})
        known = id(node) in self._seen
        self._seen.add(id(node))
        entries: dict[str, Node] = {}
        for name, value in node.entries.items():
            origin = merged.get(name)
            # Compose takes what `!reset` drops out of the tree, so that an alias of what is around no longer has it.
            gone = known if origin is None else origin in self._seen
            if not self._drops(value, (*path, name), cleared, gone=gone, nowhere=origin == _NOWHERE):
                entries[name] = self._clean(value, (*path, name), cleared, count)
        return Mapping(entries, node.lines, node.source, node.line)

    def _drops(self, node: Node, path: Path, cleared: list[Path], *, gone: bool = False, nowhere: bool = False) -> bool:
        """Whether `!reset` drops a value. Notes the path, unless Compose does not find it there.

        It does not when the value is `gone` before, or merged from a list, whose items have no place (`nowhere`).
        """
        tag = self._tags.get(id(node))
        if tag and not nowhere and not (gone and tag == "!reset"):
            cleared.append(path)
        return tag == "!reset"

    def _fault(self, kind: Any, message: str, line: int, parsed: bool = False) -> Fault:
        """`parsed` marks what Compose finds after it has read the YAML, and so names the file."""
        where = f"failed to parse {self._shown}: " if parsed else ""
        return Fault(kind, where + message, path=self._source.path, line=line)


class _Counter:
    """Counts the values of a tree, its aliases written out, without writing them out."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._sizes: dict[int, int] = {}
        self._total = 0

    def add(self, node: Node, size: int) -> None:
        self._total += size
        if self._total > MAX_NODES:
            message = f"more than {MAX_NODES} values when its aliases are written out"
            raise Fault("too-large", message, path=self._source.path, line=node.line)

    def measure(self, node: Node) -> None:
        self.add(node, self._size(node))

    def _size(self, node: Node) -> int:
        if isinstance(node, Scalar):
            return 1
        known = self._sizes.get(id(node))
        if known is None:
            children = node.items if isinstance(node, Sequence) else node.entries.values()
            known = 1 + sum(map(self._size, children))
            self._sizes[id(node)] = known
        return known


def _is_empty(root: Node) -> bool:
    return isinstance(root, Scalar) and root.value is None


def _path_to_key(root: Node, name: str, line: int) -> Path | None:
    stack: list[tuple[Node, Path]] = [(root, ())]
    while stack:
        node, path = stack.pop()
        if isinstance(node, Mapping):
            if node.lines.get(name) == line:
                return path
            stack += [(value, (*path, key)) for key, value in node.entries.items()]
        elif isinstance(node, Sequence):
            stack += [(item, (*path, f"[{index}]")) for index, item in enumerate(node.items)]
    return None
