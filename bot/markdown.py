"""Markdown around text that a stranger wrote."""

from __future__ import annotations

import re

from bot.printable import printable

MAX_QUOTE = 160
"""Characters of a quoted line: enough to recognise it, short enough for a comment."""

_PROSE = re.compile(r"(?!.*www\.)(?:[^\W_]|(?<=\w)_(?=\w)|[ ,.;:…%+='\"()-])*", re.IGNORECASE)


def is_prose(text: str) -> bool:
    """Whether no character of a text means anything in Markdown or to GitHub: a mark, a tag, a link, a mention, a
    reference. Such text can stand among a sentence's own words.
    """
    return _PROSE.fullmatch(text) is not None


def prose(text: str) -> str:
    """A sentence that may quote a stranger: as it is where it is plain prose, else a code span, whole."""
    return text if is_prose(text) else _span(printable(" ".join(text.split())))


def code(text: str) -> str:
    """Text as a code span: nothing inside is read as Markdown, HTML or a mention, whatever it holds. Cut when long."""
    line = printable(" ".join(text.split()))
    return _span(line if len(line) <= MAX_QUOTE else f"{line[: MAX_QUOTE - 1]}…")


def _span(line: str) -> str:
    if not line:
        return "` `"
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def cell(text: str) -> str:
    """Markdown for a table cell: a pipe would end it, even inside a code span."""
    return text.replace("|", "\\|").replace("\n", " ")
