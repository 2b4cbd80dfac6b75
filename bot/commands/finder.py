"""Finds commands in a comment as its reader sees it: lines that begin with a slash, outside of code and quotations."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.commands.catalogue import COMMANDS, Command, Request, Wrong

MAX_COMMENT = 70_000
"""Characters of a comment that are read; GitHub takes no more."""

MAX_COMMANDS = 5
"""Commands of one comment that are answered, the first ones."""

MAX_LINES = 40
"""Lines of a comment with a slash that are looked at: there are other bots, whose commands are none of ours."""

MAX_WORDS = 8
"""Words behind a command that are looked at; none takes so many."""

_LINE = re.compile(r"/([A-Za-z][A-Za-z_-]{0,30})(?![^\s])\s*(.*)", re.DOTALL)
_BEGINS = re.compile(r"^[ \t]*/[A-Za-z]", re.MULTILINE)
_SPACE = "\0"
"""A space inside a code span, which does not end a word. Markdown has no such character."""

_NEAR = 0.75
"""How much a word resembles a command that was meant by it. Below, it is somebody else's (`/retest`, `/lgtm`)."""


@dataclass(frozen=True, slots=True)
class Found:
    """A command, and what it asks for. `block` is the content of the code block behind it, for one that takes one."""

    command: Command
    request: Request
    block: str | None = None


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something that looks like a command and is none. `message` is Markdown; `command` is the one that was meant."""

    message: str
    command: Command


def find(comment: str) -> tuple[Found | Mistake, ...]:
    """The commands of a comment in their order, each once."""
    comment = comment[:MAX_COMMENT]
    if not _BEGINS.search(comment):
        return ()
    tokens = _MARKDOWN.parse(comment)
    found: dict[Found | Mistake, None] = {}
    for line, index in islice(_lines(comment, tokens), MAX_LINES):
        match = _LINE.fullmatch(line)
        item = _read(match[1], match[2]) if match else None
        if isinstance(item, Found) and item.command.needs:
            item = _with_block(item, _block(tokens, index))
        if item is not None:
            found[item] = None
            if len(found) == MAX_COMMANDS:
                break
    return tuple(found)


def _with_block(found: Found, block: str | None) -> Found | Mistake:
    if block is None:
        return Mistake(f"`/{found.command.name}` needs {found.command.needs}.", found.command)
    return replace(found, block=block)


def _block(tokens: list[Token], index: int) -> str | None:
    """The content of the first fenced code behind a token that is no part of a quotation."""
    quoted = 0
    for token in tokens[index:]:
        quoted += token.nesting if token.type.startswith("blockquote") else 0
        if token.type == "fence" and not quoted:
            return token.content
    return None


def _read(name: str, rest: str) -> Found | Mistake | None:
    command = COMMANDS.get(name.lower())
    if command is None:
        near = difflib.get_close_matches(name.lower(), COMMANDS, 1, _NEAR)
        return Mistake(f"`/{name}` is no command; did you mean `/{near[0]}`?", COMMANDS[near[0]]) if near else None
    words = (word.replace(_SPACE, " ").strip() for word in rest.split(None, MAX_WORDS)[:MAX_WORDS])
    try:
        return Found(command, command.parse(tuple(word for word in words if word)))
    except Wrong as wrong:
        return Mistake(f"`/{command.name}` {wrong}.", command)


_MARKDOWN = (
    MarkdownIt("zero", {"html": True, "maxNesting": 20})
    .enable(["fence", "code", "blockquote", "hr", "list", "heading", "html_block", "table"])
    .enable(["backticks", "html_inline", "newline", "escape"])
    .disable("text_join")
)
"""Just what can hide a line. Emphasis and links are left alone, so that a path stays as it was typed."""


def _lines(comment: str, tokens: list[Token]) -> Iterator[tuple[str, int]]:
    """The lines of paragraphs outside of quotations that begin with a slash, code spans with their backquotes; and the
    number of the token that each is in.
    """
    source = comment.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    quoted = 0
    for index, (token, before) in enumerate(zip(tokens, [None, *tokens], strict=False)):
        quoted += token.nesting if token.type.startswith("blockquote") else 0
        if token.type == "inline" and not quoted and before is not None and before.type == "paragraph_open":
            first, last = token.map or (0, 0)
            begun = {words[0] for line in source[first:last] if (words := line.split()) and words[0][0] == "/"}
            lines = (line for line in _visible(token.children or []) if line and line.split()[0] in begun)
            yield from ((line, index) for line in lines)


def _visible(children: list[Token]) -> Iterator[str]:
    line: list[str] = []
    for token in children:
        if token.type in ("softbreak", "hardbreak"):
            yield "".join(line).strip()
            line = []
        elif token.type == "code_inline":
            line.append(("" if line else _SPACE) + token.content.replace(" ", _SPACE))
        elif token.type == "text_special" and not line:
            line.append(token.markup)  # an escaped slash is there to be no command
        elif token.type in ("text", "text_special"):
            line.append(token.content)
    yield "".join(line).strip()
