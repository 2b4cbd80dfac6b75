"""Markdown around text that a stranger wrote."""

from __future__ import annotations

import re

MAX_QUOTE = 160
"""Characters of a quoted line: enough to recognise it, short enough for a comment."""


def code(text: str) -> str:
    """Text as a code span: nothing inside is read as Markdown, HTML or a mention, whatever it holds."""
    line = " ".join(text.split())
    if len(line) > MAX_QUOTE:
        line = f"{line[: MAX_QUOTE - 1]}…"
    if not line:
        return "` `"
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def cell(text: str) -> str:
    """Markdown for a table cell: a pipe would end it, even inside a code span."""
    return text.replace("|", "\\|").replace("\n", " ")
