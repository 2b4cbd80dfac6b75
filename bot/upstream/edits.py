"""What a vendored patch script would change in the installed package, read from its text. Nothing is run.

Understood are unified diffs, Python that replaces one text by another, and `sed` with a plain text.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import lru_cache

from bot.upstream.replacements import MAX_EDITS, MAX_SCRIPT, Edit, python_edits, target_of

__all__ = ["Edit", "edits_of", "target_of"]

_TARGET = re.compile(r"(?:^|[\s\"'=/(])((?:[\w-]{1,255}/){0,32}[\w-]{1,255}\.py)\b")
_HEREDOC = re.compile(r"python[\d.]*\b.{0,2000}<<-?\s*(['\"]?)(\w+)\1")
_SED = re.compile(r"(?:^|[;&|(]|\s)sed\s")
_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_COPY = re.compile(r"^\s*(?:cp|install|mv|ln)\s")
_SPECIAL = re.compile(r"(?<!\\)[.*\[\]^$+?(){}|]")


@lru_cache(maxsize=256)
def edits_of(path: str, text: str) -> tuple[Edit, ...]:
    """The edits of a script, in their order; a file that edits nothing has none."""
    if len(text) > MAX_SCRIPT:
        return (Edit((), None, None, 1, "the script is too long to be read"),)
    if path.endswith((".patch", ".diff")):
        found = _diff(text)
    elif path.endswith(".py"):
        found = python_edits(text, 1)
    else:
        found = _shell(text)
    edits: list[Edit] = []
    for edit in found:
        edits.append(edit)
        if len(edits) >= MAX_EDITS:
            break
    return tuple(edits)


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
                yield Edit((target,), "\n".join(old), "\n".join(new), number, by_line=True)


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
            named = tuple(target_of(match[1]) for match in _TARGET.finditer(line))
            yield from python_edits("\n".join(lines[number:end]), number + 1, named)
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
