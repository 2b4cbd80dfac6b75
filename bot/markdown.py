"""Markdown around text that a stranger wrote."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby

from bot.printable import printable

MAX_QUOTE = 160
"""Characters of a quoted line: enough to recognise it, short enough for a comment."""

MAX_PROSE = 600
"""Characters of a sentence that quotes a stranger."""

_CODE_SPAN = re.compile(r"((?<!`)(`+)(?!`).*?(?<!`)\2(?!`))", re.DOTALL)
_PROSE = re.compile(r"(?!.*www\.)(?:[^\W_]|(?<=\w)_(?=\w)|[ ,.;:…%+='\"()-])*", re.IGNORECASE)


def is_prose(text: str) -> bool:
    """Whether no character of a text means anything in Markdown or to GitHub: a mark, a tag, a link, a mention, a
    reference. Such text can stand among a sentence's own words.
    """
    return _PROSE.fullmatch(text) is not None


def prose(text: str) -> str:
    """A sentence that may quote a stranger: as it is where it is plain prose, else a code span, whole."""
    text = shortened(text, MAX_PROSE)
    return text if is_prose(text) else _span(printable(" ".join(text.split())))


def sentence(text: str) -> str:
    """A sentence of ours that may name things of a stranger: words that are no plain prose become code spans."""
    words = shortened(text, MAX_PROSE).split()
    parts = groupby(words, is_prose)
    return " ".join(" ".join(found) if plain else _named(" ".join(found)) for plain, found in parts)


def _named(text: str) -> str:
    """A code span; the marks of the sentence around it stay outside."""
    name = text.rstrip(",.;:")
    return f"{_span(printable(name))}{text[len(name) :]}" if name else _span(printable(text))


def code(text: str) -> str:
    """Text as a code span: nothing inside is read as Markdown, HTML or a mention, whatever it holds. Cut when long."""
    return _span(shortened(printable(" ".join(text.split())), MAX_QUOTE))


def shortened(text: str, characters: int) -> str:
    """The text, or its beginning and an ellipsis: at most so many characters."""
    return text if len(text) <= characters else f"{text[: characters - 1]}…"


def link(text: str, address: str) -> str:
    """A link. `text` is Markdown that is safe where it stands, `address` is percent-encoded."""
    return f"[{text}]({address})"


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Markdown with `change` made to everything but its code spans."""
    parts = _CODE_SPAN.split(text)  # text, a span, its fence, text, …
    return "".join(part if index % 3 == 1 else change(part) for index, part in enumerate(parts) if index % 3 != 2)


def clipped(text: str, size: int) -> str:
    """The beginning of a text that is at most `size` bytes of UTF-8, cut between characters, an ellipsis at its end."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= size:
        return text
    return encoded[: max(size - 3, 0)].decode("utf-8", "ignore") + "…" if size >= 3 else ""


def fenced(language: str, text: str) -> str:
    """Text as a code block, with a fence that it does not hold itself."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}" if text else f"{fence}{language}\n{fence}"


def folded(title: str, content: str) -> str:
    """Content behind a title that opens it; nothing when there is no content. The title is HTML."""
    return f"<details><summary>{title}</summary>\n\n{content}\n\n</details>" if content else ""


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
