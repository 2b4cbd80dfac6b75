"""What a compose says about itself in comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from bot.catalog.model import Header
from bot.provenance import Position

MAX_VALUE = 4000
"""Characters of a header value, its continuation lines joined: more is an essay, not a value."""

MAX_LINE = 500
"""Characters of a comment in which a command is looked for."""

_KEY = re.compile(r"([A-Za-z][A-Za-z0-9]*(?:[ _-][A-Za-z0-9]+){0,3})\s*:(?:\s+(\S.*))?")
_RULE = re.compile(r"[-=*_~#─═]{3,}")
_RUN = re.compile(
    r"(?<![\w./-])(?:\S*/)?(?:switch|launch|serve|start|run|up|deploy)[\w-]*\.sh[ \t]+"
    r"([A-Za-z0-9][\w.-]*/[\w-][\w.-]*)(?![\w/])"
)


def read_header(text: str, path: str) -> Header:
    """The keys of the leading comments, and the slug that they run.

    A value goes on over the following lines that are indented deeper than its key. Of equal keys the first counts.
    """
    values: dict[str, tuple[str, Position]] = {}
    leading = list(_leading(text.split("\n")))
    for key, value, line in _entries(leading):
        values.setdefault(key.lower(), (value, Position(path, line)))
    run = (comment[:MAX_LINE] for _, comment in leading if ".sh" in comment)
    slugs = {match.removesuffix(".") for comment in run for match in _RUN.findall(comment)}
    slugs = {slug for slug in slugs if not slug.endswith((".yml", ".yaml", ".sh", ".py"))}
    return Header(values, slugs.pop() if len(slugs) == 1 else None)


def in_other_words(header: Header, words: Mapping[str, tuple[str, ...]]) -> Header:
    """The header, its values also under the keys (`engine-profile`) for which the repository has its own `words`."""
    if not words:
        return header
    values = dict(header.values)
    for key, own in words.items():
        found = next((header.values[word] for word in own if word in header.values), None)
        if found is not None:
            values.setdefault(key, found)
    return replace(header, values=values)


def _leading(lines: list[str]) -> Iterator[tuple[int, str]]:
    """(line, comment) of each line before the first that is neither comment nor empty; empty lines are empty."""
    for number, line in enumerate(lines, 1):
        stripped = line.strip().removeprefix("\ufeff")
        if stripped.startswith("#"):
            yield number, stripped[1:]
        elif not stripped or stripped == "---":
            yield number, ""
        else:
            return


def _entries(lines: list[tuple[int, str]]) -> Iterator[tuple[str, str, int]]:
    key, parts, line, indent = "", [""], 0, 0
    for number, comment in lines:
        body = comment.lstrip("# \t")
        depth = len(comment) - len(body)
        if key and body and depth > indent and not _RULE.match(body):
            parts.append(body.rstrip())
            continue
        if key:
            yield key, " ".join(part for part in parts if part)[:MAX_VALUE], line
        match = _KEY.fullmatch(body.rstrip())
        key = match[1] if match else ""
        if match:
            parts, line, indent = [match[2] or ""], number, depth
    if key:
        yield key, " ".join(part for part in parts if part)[:MAX_VALUE], line
