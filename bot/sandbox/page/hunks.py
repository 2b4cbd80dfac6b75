"""Diffs as tables."""

from __future__ import annotations

import re
from html import escape

SHOWN = 8
"""Lines above a comment: enough to see what it is about."""

_HEADER = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def hunk(text: str, last: int | None = SHOWN) -> str:
    """A part of a diff with line numbers; its `last` lines."""
    left = right = 0
    rows: list[str] = []
    for line in text.split("\n"):
        found = _HEADER.match(line)
        mark, kind = line[:1], {"+": "add", "-": "del", "@": "at", "\\": "at"}.get(line[:1], "same")
        numbers = ("", "")
        if found:
            left, right = int(found[1]), int(found[2])
        elif mark == "+":
            numbers, right = ("", str(right)), right + 1
        elif mark == "-":
            numbers, left = (str(left), ""), left + 1
        elif mark != "\\":
            numbers, left, right = (str(left), str(right)), left + 1, right + 1
        content = escape(line if kind == "at" else line[1:])
        sign = "" if kind == "at" else escape(mark)
        cells = f'<td class="n">{numbers[0]}</td><td class="n">{numbers[1]}</td><td class="s">{sign}</td>'
        rows.append(f'<tr class="{kind}">{cells}<td class="c">{content}</td></tr>')
    return f'<div class="diff"><table>{"".join(rows if last is None else rows[-last:])}</table></div>'
