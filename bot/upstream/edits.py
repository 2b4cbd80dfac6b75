"""What a vendored patch script would change in the installed package, read from its text. Nothing is run.

Understood are unified diffs, Python that replaces one text by another, and `sed` with a plain text.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

MAX_SCRIPT = 512 * 1024
"""Characters of a script that are read."""

MAX_EDITS = 500
"""Edits of one script."""

MIN_ANCHOR = 4
"""Characters below which a text is no anchor, but a way to tidy a string."""

_TARGET = re.compile(r"(?:^|[\s\"'=/(])((?:vllm/)?(?:[\w-]+/)*[\w-]+\.py)\b")
_HEREDOC = re.compile(r"python[\d.]*\b.*<<-?\s*(['\"]?)(\w+)\1")
_SED = re.compile(r"(?:^|[;&|(]|\s)sed\s")
_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_COPY = re.compile(r"^\s*(?:cp|install|mv|ln)\s")
_SPECIAL = re.compile(r"(?<!\\)[.*\[\]^$+?(){}|]")


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `old` by `new`. `targets` are the files that it may be meant for; `line` is where the script says so.

    Without `old`, the edit was seen and not understood: `why` says so.
    """

    targets: tuple[str, ...]
    old: str | None
    new: str | None
    line: int
    why: str = ""


def edits_of(path: str, text: str) -> tuple[Edit, ...]:
    """The edits of a script, in their order; a file that edits nothing has none."""
    if len(text) > MAX_SCRIPT:
        return (Edit((), None, None, 1, "the script is too long to be read"),)
    if path.endswith((".patch", ".diff")):
        found = _diff(text)
    elif path.endswith(".py"):
        found = _python(text, 1)
    else:
        found = _shell(text)
    edits: list[Edit] = []
    for edit in found:
        edits.append(edit)
        if len(edits) >= MAX_EDITS:
            break
    return tuple(edits)


def target_of(written: str) -> str:
    """The path below the source tree that a written path means: from the last `vllm/` on."""
    path = written.strip().strip("\"'")
    at = f"/{path}".rfind("/vllm/")
    if at >= 0:
        return f"/{path}"[at + 1 :]
    return path.removeprefix("a/").removeprefix("b/").lstrip("/")


def _diff(text: str) -> Iterator[Edit]:
    """The hunks of a unified diff: what stands there before, and what after."""
    rows = iter(enumerate(text.split("\n"), 1))
    before = target = ""
    for number, row in rows:
        if row.startswith("--- "):
            before = row[4:].split("\t")[0].strip()
        elif row.startswith("+++ "):
            after = row[4:].split("\t")[0].strip()
            target = target_of(before if after == "/dev/null" else after)
            if before == "/dev/null":
                yield Edit((target,), None, None, number, "it adds a file")
                target = ""
        elif hunk := _HUNK.match(row):
            old, new = _hunk(rows, int(hunk[1] or 1), int(hunk[2] or 1))
            if target:
                yield Edit((target,), "\n".join(old), "\n".join(new), number)


def _hunk(rows: Iterator[tuple[int, str]], old_lines: int, new_lines: int) -> tuple[list[str], list[str]]:
    """The lines of a hunk before and after, as many as its head says."""
    old: list[str] = []
    new: list[str] = []
    while len(old) < old_lines or len(new) < new_lines:
        _, row = next(rows, (0, None))
        if row is None:
            break
        if not row.startswith(("+", "\\")):
            old.append(row[1:])
        if not row.startswith(("-", "\\")):
            new.append(row[1:])
    return old, new


def _python(text: str, first: int) -> Iterator[Edit]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        yield Edit((), None, None, first, f"not readable as Python: {type(error).__name__}")
        return
    reading = _Python(tree, first)
    yield from reading.edits()


_WRITERS = frozenset({"write_text", "write", "writelines", "copy", "copyfile", "copy2"})


class _Python:
    """One script's syntax: its constants, the files that it names, and the replacements in it."""

    def __init__(self, tree: ast.Module, first: int) -> None:
        self.nodes = list(ast.walk(tree))
        self.first = first
        self.values: dict[str, ast.expr | None] = {}
        for node in self.nodes:
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    self.values[name] = None if name in self.values else value  # set twice: nobody knows which
        self.targets = self._targets()

    def edits(self) -> Iterator[Edit]:
        found: list[Edit] = []
        paired = False
        for node in self.nodes:
            if not isinstance(node, ast.Call):
                continue
            match node.func:
                case ast.Attribute(attr="replace") if 2 <= len(node.args) <= 3:
                    old, new = (self._text(part) for part in node.args[:2])
                    if old is not None and len(old) >= MIN_ANCHOR:
                        found.append(self._edit(old, new, node))
                    elif old is None:
                        paired = True
                case ast.Attribute(value=ast.Name(id="re"), attr="sub" | "subn") | ast.Attribute(attr="sub" | "subn"):
                    why = "it edits by a regular expression"
                    found.append(Edit(self.targets, None, None, self._line(node), why))
        if not found and not paired and self._writes():
            found.append(Edit(self.targets, None, None, self.first, "how it edits is not understood"))
        if paired:
            pairs = list(self._pairs())
            found += pairs
            if not pairs:
                found.append(Edit(self.targets, None, None, self.first, "the text that it replaces is not a constant"))
        yield from sorted(found, key=lambda edit: edit.line)

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
                    texts = [self._text(element) for element in elements]
                    if None in texts:
                        continue
                    *where, old, new = [text for text in texts if text is not None]
                    if len(old) >= MIN_ANCHOR and not old.endswith(".py"):
                        targets = tuple(target_of(one) for one in where if one.endswith(".py"))
                        yield self._edit(old, new, node, targets)
                case ast.Call(func=ast.Name(id=name), keywords=keywords) if keywords and name[:1].isupper():
                    given = {keyword.arg: self._text(keyword.value) for keyword in keywords}
                    anchor = given.get("old") or given.get("anchor") or given.get("before")
                    if anchor and len(anchor) >= MIN_ANCHOR:
                        yield self._edit(anchor, given.get("new") or given.get("after"), node)

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
        whole = [path for path in found if not any(other != path and other.endswith(f"/{path}") for other in found)]
        return tuple(whole)

    def _joined(self, parts: list[ast.expr], found: dict[str, None]) -> None:
        texts = [self._text(part) for part in parts]
        tail: list[str] = []
        for text in reversed(texts):
            if text is None:
                break
            tail.insert(0, text.strip("/"))
        if tail and tail[-1].endswith(".py"):
            found[target_of("/".join(tail))] = None

    def _text(self, node: ast.expr | None, depth: int = 8) -> str | None:
        """A constant text; None for one that only a run would know."""
        if node is None or depth <= 0:
            return None
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id=name):
                return self._text(self.values.get(name), depth - 1)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                before, after = self._text(left, depth - 1), self._text(right, depth - 1)
                if before is None or after is None or len(before) + len(after) > MAX_SCRIPT:
                    return None
                return before + after
            case ast.Call(func=ast.Attribute(value=inner, attr="lstrip" | "rstrip" | "strip" as how), args=[]):
                inside = self._text(inner, depth - 1)
                return None if inside is None else str(getattr(inside, how)())
            case ast.Call(
                func=ast.Attribute(attr="join", value=ast.Constant(value=str(glue))), args=[ast.List(elts=parts)]
            ):
                texts = [self._text(part, depth - 1) for part in parts]
                return None if None in texts else glue.join(text for text in texts if text is not None)
        return None


def _divided(node: ast.expr) -> list[ast.expr]:
    parts: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        parts.insert(0, node.right)
        node = node.left
    return [node, *parts]


def _shell(text: str) -> Iterator[Edit]:
    """The commands of a script, and the Python in its here-documents."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        document = _HEREDOC.search(line)
        if document:
            end = next((at for at in range(number, len(lines)) if lines[at].strip() == document[2]), None)
            if end is None:
                yield Edit((), None, None, number, "a here-document without an end")
                return
            yield from _python("\n".join(lines[number:end]), number + 1)
            number = end + 1
        elif _SED.search(line) and not line.lstrip().startswith("#"):
            yield from _sed(line, number)
        elif _COPY.match(line) and (targets := [target_of(match[1]) for match in _TARGET.finditer(line)]):
            yield Edit((targets[-1],), None, None, number, "it puts a whole file in its place")


def _sed(line: str, number: int) -> Iterator[Edit]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = []
    if "sed" not in words:
        yield Edit((), None, None, number, "a sed command that is not understood")
        return
    words = words[words.index("sed") + 1 :]
    if not any(word.startswith(("-i", "--in-place")) for word in words):
        return
    plain = [word for word in words if not word.startswith("-")]
    script = plain[0] if plain else ""
    targets = tuple(target_of(match[1]) for word in plain[1:] for match in _TARGET.finditer(word))
    parts = script[2:].split(script[1]) if script[:1] == "s" and len(script) > 2 else []
    if len(parts) < 2 or _SPECIAL.search(parts[0]) or "$" in parts[0]:
        yield Edit(targets, None, None, number, "a sed command that is more than a plain text")
        return
    old, new = (re.sub(r"\\(.)", r"\1", part) for part in parts[:2])
    yield Edit(targets, old, None if "&" in new or "$" in new else new, number)
