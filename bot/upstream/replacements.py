"""What a Python script would replace in the installed package, read from its syntax. Nothing is run."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from textwrap import dedent

MAX_SCRIPT = 256 * 1024
"""Characters of a script that are read."""

MAX_EDITS = 200
"""Edits of one script."""

MAX_TARGETS = 32
"""Files that a script may be meant for; further names are let go of."""

MIN_PLACE = 12
"""Characters that a text must have by which a script finds a place without replacing it; shorter ones tidy strings."""

MAX_STEPS = 100_000
"""Expressions of one script that are followed to their text: names may stand for each other many times over."""

MIN_ANCHOR = 4
"""Characters below which a text is no anchor, but a way to tidy a string."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `old` by `new`. `targets` are the files that it may be meant for; `line` is where the script says so.

    Without `old`, the edit was seen and not understood: `why` says so. `by_line`: the hunk of a diff, which also goes
    by line numbers, and which `patch` applies with less of its context too.
    """

    targets: tuple[str, ...]
    old: str | None
    new: str | None
    line: int
    why: str = ""
    by_line: bool = False


def target_of(written: str) -> str:
    """The path below the source tree that a written path means: from the last `vllm/` on."""
    path = written.strip().strip("\"'")
    at = f"/{path}".rfind("/vllm/")
    if at >= 0:
        return f"/{path}"[at + 1 :]
    return path.removeprefix("a/").removeprefix("b/").lstrip("/")


def python_edits(text: str, first: int, named: tuple[str, ...] = ()) -> Iterator[Edit]:
    """The edits of a script; `named` are the files that its command line names."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        yield Edit((), None, None, first, f"not readable as Python: {type(error).__name__}")
        return
    reading = _Python(tree, first, named)
    yield from reading.edits()


_WRITERS = frozenset({"write_text", "write", "writelines", "copy", "copyfile", "copy2"})
_FINDERS = frozenset({"index", "rindex", "partition", "rpartition", "split", "rsplit"})
"""Methods by which a script finds the place of an edit: without their text it fails, or edits nothing."""

_OLD_KEYS = ("old", "anchor", "before", "find", "search")
_NEW_KEYS = ("new", "replacement", "after", "replace")


@dataclass(frozen=True, slots=True)
class _Set:
    """An assignment: in the statements of one `body`, which run one after the other, or (None) under a condition."""

    line: int
    value: ast.expr
    body: int | None


class _Sets:
    """All assignments of one name, by line. `ordered`: there is one, or all run one after the other."""

    def __init__(self, sets: list[_Set]) -> None:
        self.sets = sorted(sets, key=lambda one: one.line)
        self.lines = [one.line for one in self.sets]
        bodies = {one.body for one in sets}
        self.ordered = all(self.lines) and (len(sets) == 1 or (len(bodies) == 1 and None not in bodies))


class _Python:
    """One script's syntax: its constants, the files that it names, and the replacements in it."""

    def __init__(self, tree: ast.Module, first: int, named: tuple[str, ...] = ()) -> None:
        self.nodes = list(ast.walk(tree))
        self.first = first
        self.steps = MAX_STEPS
        values: dict[str, list[_Set]] = {}
        straight = {
            id(statement): id(node)
            for node in self.nodes
            if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef)
            for statement in node.body
        }
        for node in self.nodes:
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    values.setdefault(name, []).append(_Set(node.lineno, value, straight.get(id(node))))
                case ast.AugAssign(target=ast.Name(id=name), value=value):
                    values.setdefault(name, []).append(_Set(node.lineno, value, None))
                case ast.For(target=target) | ast.comprehension(target=target):
                    for bound in (part for part in ast.walk(target) if isinstance(part, ast.Name)):
                        values.setdefault(bound.id, []).append(_Set(0, ast.Constant(None), None))
        self.values = {name: _Sets(sets) for name, sets in values.items()}
        self.targets = self._targets() or named

    def edits(self) -> Iterator[Edit]:
        found: list[Edit] = []
        anchors: list[Edit] = []
        paired = False
        for node in self.nodes:
            if len(found) >= MAX_EDITS:
                break
            if not isinstance(node, ast.Call):
                continue
            match node.func:
                case ast.Attribute(attr="replace") if 2 <= len(node.args) <= 3:
                    old, new = (self._text(part, node.lineno) for part in node.args[:2])
                    if old is not None and len(old) >= MIN_ANCHOR:
                        found.append(self._edit(old, new, node))
                    elif old is None:
                        paired = True
                case ast.Attribute(attr="sub" | "subn"):
                    found.append(self._by_pattern(node))
                case ast.Attribute(attr=attr) if attr in _FINDERS and node.args:
                    text = self._text(node.args[0], node.lineno)
                    if text is not None and len(text) >= MIN_PLACE:
                        anchors.append(self._edit(text, None, node))
        if paired:
            pairs = list(islice(self._pairs(), MAX_EDITS))
            found += pairs
            if not pairs:
                found.append(Edit(self.targets, None, None, self.first, "the text that it replaces is not a constant"))
        if not found and self._writes():
            found = anchors or [Edit(self.targets, None, None, self.first, "how it edits is not understood")]
        yield from sorted(found, key=lambda edit: edit.line)

    def _by_pattern(self, node: ast.Call) -> Edit:
        """A replacement by a regular expression, where that is a plain text in disguise. None is ever run."""
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        pattern: ast.expr | None = node.args[0] if node.args else None
        if not (isinstance(owner, ast.Name) and owner.id == "re"):
            pattern = self._value(owner, node.lineno)
            match pattern:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="compile"), args=[first, *flags]):
                    pattern = first if all(_keeps_text(flag) for flag in flags) else None
                case _:
                    pattern = None
        text = self._text(pattern, node.lineno)
        plain = plain_text(text) if text is not None else None
        if plain is None or len(plain) < MIN_ANCHOR:
            return Edit(self.targets, None, None, self._line(node), "it edits by a regular expression")
        return self._edit(plain, None, node)

    def _writes(self) -> bool:
        calls = (node.func for node in self.nodes if isinstance(node, ast.Call))
        return any(isinstance(call, ast.Attribute) and call.attr in _WRITERS for call in calls)

    def _edit(self, old: str, new: str | None, node: ast.AST, targets: tuple[str, ...] | None = None) -> Edit:
        return Edit(targets or self.targets, old, new, self._line(node))

    def _line(self, node: ast.AST) -> int:
        return self.first - 1 + getattr(node, "lineno", 1)

    def _pairs(self) -> Iterator[Edit]:
        """(old, new) or (file, old, new) in a list, and keys with their values in a table: what a loop replaces."""
        for node in self.nodes:
            match node:
                case ast.Tuple(elts=elements) | ast.List(elts=elements) if len(elements) in (2, 3):
                    texts = [self._text(element, node.lineno) for element in elements]
                    if None in texts:
                        continue
                    *where, old, new = [text for text in texts if text is not None]
                    if len(old) >= MIN_ANCHOR and not old.endswith(".py"):
                        targets = tuple(target_of(one) for one in where if one.endswith(".py"))
                        yield self._edit(old, new, node, targets)
                case ast.Call(func=ast.Name(id=name), keywords=keywords) if keywords and name[:1].isupper():
                    given = {keyword.arg: self._text(keyword.value, node.lineno) for keyword in keywords}
                    anchor = next((given[key] for key in _OLD_KEYS if given.get(key)), None)
                    if anchor and len(anchor) >= MIN_ANCHOR:
                        yield self._edit(anchor, next((given[key] for key in _NEW_KEYS if given.get(key)), None), node)

    def _targets(self) -> tuple[str, ...]:
        """The modules that the script names: by a path, by parts of one, or by a dotted name."""
        found: dict[str, None] = {}
        for node in self.nodes:
            match node:
                case ast.Constant(value=str(text)) if len(text) < 300 and text.endswith(".py") and " " not in text:
                    found[target_of(text)] = None
                case ast.Call(
                    func=ast.Attribute(attr="find_spec" | "import_module"), args=[ast.Constant(value=str(text))]
                ):
                    if text.startswith("vllm."):
                        found[f"{text.replace('.', '/')}.py"] = None
                case ast.Call(func=ast.Attribute(attr="join" | "joinpath"), args=parts) if len(parts) > 1:
                    self._joined(parts, found)
                case ast.BinOp(op=ast.Div()):
                    self._joined(_divided(node), found)
        found = dict(islice(found.items(), MAX_TARGETS))
        whole = [path for path in found if not any(other != path and other.endswith(f"/{path}") for other in found)]
        return tuple(whole)

    def _joined(self, parts: list[ast.expr], found: dict[str, None]) -> None:
        texts = [self._text(part, getattr(part, "lineno", 0)) for part in parts]
        tail: list[str] = []
        for text in reversed(texts):
            if text is None:
                break
            tail.insert(0, text.strip("/"))
        if tail and tail[-1].endswith(".py"):
            found[target_of("/".join(tail))] = None

    def _value(self, node: ast.expr | None, line: int) -> ast.expr | None:
        """What a name stands for at a line: its only assignment, or the last one before, where all run in order."""
        if not isinstance(node, ast.Name):
            return node
        found = self.values.get(node.id)
        if found is None or not found.ordered:
            return None  # nobody knows which
        if len(found.sets) == 1:
            return found.sets[0].value
        index = bisect_left(found.lines, line)
        return found.sets[index - 1].value if index else None

    def _text(self, node: ast.expr | None, line: int, depth: int = 8) -> str | None:
        """A constant text, as it is at a line; None for one that only a run would know."""
        self.steps -= 1
        if node is None or depth <= 0 or self.steps < 0:
            return None
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name():
                value = self._value(node, line)
                return self._text(value, getattr(value, "lineno", line), depth - 1)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _together("", (self._text(part, line, depth - 1) for part in (left, right)))
            case ast.JoinedStr(values=values):
                return _together("", (self._text(part, line, depth - 1) for part in values))
            case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
                return self._text(inner, line, depth - 1)
            case ast.Call(func=ast.Attribute(value=inner, attr="lstrip" | "rstrip" | "strip" as how), args=[]):
                inside = self._text(inner, line, depth - 1)
                return None if inside is None else str(getattr(inside, how)())
            case ast.Call(func=ast.Attribute(attr="dedent") | ast.Name(id="dedent"), args=[inner]):
                inside = self._text(inner, line, depth - 1)
                return None if inside is None else dedent(inside)
            case ast.Call(
                func=ast.Attribute(attr="join", value=ast.Constant(value=str(glue))),
                args=[ast.List(elts=parts) | ast.Tuple(elts=parts)],
            ):
                return _together(glue, (self._text(part, line, depth - 1) for part in parts))
        return None


def _together(glue: str, texts: Iterable[str | None]) -> str | None:
    """Texts as one; None when one of them is not known, or it is longer than a script."""
    parts: list[str] = []
    size = 0
    for text in texts:
        size += len(text or "") + len(glue)
        if text is None or size > MAX_SCRIPT:
            return None
        parts.append(text)
    return glue.join(parts)


def _keeps_text(flag: ast.expr) -> bool:
    """Whether a flag of a regular expression leaves its letters what they are."""
    return not any(
        isinstance(node, ast.Attribute) and node.attr in ("VERBOSE", "X", "IGNORECASE", "I") for node in ast.walk(flag)
    )


_ESCAPES = {"n": "\n", "t": "\t"}


def plain_text(pattern: str) -> str | None:
    """The text that a regular expression stands for, when it is one text only; anchors of lines and a group around
    all of it aside. None for any other.
    """
    body = pattern.removeprefix("^")
    if body.endswith("$") and not body.endswith("\\$"):
        body = body[:-1]
    if body.startswith("(") and not body.startswith("(?") and body.endswith(")") and not body.endswith("\\)"):
        body = body[1:-1]
    found: list[str] = []
    letters = iter(body)
    for letter in letters:
        if letter == "\\":
            escaped = next(letters, "")
            if not escaped or (escaped.isalnum() and escaped not in _ESCAPES):
                return None
            found.append(_ESCAPES.get(escaped, escaped))
        elif letter in ".*+?[]{}()|^$":
            return None
        else:
            found.append(letter)
    return "".join(found)


def _divided(node: ast.expr) -> list[ast.expr]:
    parts: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        parts.insert(0, node.right)
        node = node.left
    return [node, *parts]
