"""What a note says of composes that it names: `the no-drafter composes (minimal, dual/fp8) are not wired`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from bot.claims.guards import is_no_claim
from bot.claims.mentions import WORDS, Mention, of_text
from bot.claims.model import Claim
from bot.claims.prose import Line, Statement, statements
from bot.claims.reading import MAX_MENTIONS, claim_of, segment_of

MAX_NOTE = 20_000
"""Characters of one note that are read: ten times the longest known."""

MAX_NAMES = 24
"""Names of one list that are looked up."""

_GROUP = re.compile(
    r"\s+(?:[\w-]+\s+){0,2}(?:composes?|slugs?|lanes?|services?|configs?|profiles?|files?)\s*\((?P<names>[^()]{1,400})\)"
)
_NAME = re.compile(r"[\w.-]*\w(?:/[\w.-]*\w)*")
_PATH = r"`?[\w.-]+(?:/[\w.-]+)+`?"
_NAMES_BEFORE = re.compile(
    rf"(?<![\w/.-])(?P<names>{_PATH}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*[+&]\s*){_PATH}){{0,11}})"
    r"(?:\s*\([^()]{0,80}\))?\s*"
    r"(?:(?:[:—–]|->)\s*|(?:(?:both|all|each|currently|now|still)\s+)*"
    r"(?:(?:is|are|runs?|has|have|carry|carries|ships?|uses?|serves?|keeps?|pins?|defaults?(?:\s+to)?)\s+"
    r"(?:(?:with|on|at|to|a|an|the)\s+)*)?)$"
)
_SEPARATORS = re.compile(r"\s*(?:,|;|\band\b|\+|&)\s*")
_ENDING = re.compile(r"\.ya?ml$", re.IGNORECASE)
_BETWEEN = re.compile(r"[/_.\s]+")
_PUT_AWAY = re.compile(r"(?:^|/)_?(?:archived?|deprecated|old|attic)/", re.IGNORECASE)


class ComposeNames:
    """The short names of a repository's composes: the end of a path, in which any separator stands for any other.

    A name that fits several files means none of them.
    """

    def __init__(self, paths: Iterable[str], slugs: Iterable[str]) -> None:
        self._paths = paths
        self._slugs = slugs

    @cached_property
    def _files(self) -> tuple[tuple[str, str], ...]:
        files = (path for path in self._paths if _ENDING.search(path))
        return tuple((f"-{_normal(path)}", path) for path in files)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self._slugs)

    def tied(self, claim: Claim) -> Claim:
        """The claim about the paths and slugs that its names may mean; about none, where they fit several."""
        return replace(claim, about=tuple(dict.fromkeys(found for name in claim.about for found in self._meant(name))))

    def _meant(self, name: str) -> tuple[str, ...]:
        if name in self._known:
            return (name,)
        tails = [slug for slug in self._known if slug.partition("/")[2] == name]
        if len(tails) == 1:
            return (tails[0],)
        if "/" not in name:
            return ()
        end = f"-{_normal(name)}"
        found = [path for normal, path in self._files if normal.endswith(end)]
        current = [path for path in found if not _PUT_AWAY.search(path)] or found
        if not found:
            return (name,)  # it may be the slug that a compose gives itself
        return (current[0],) if len(current) == 1 else ()


def _normal(name: str) -> str:
    return _BETWEEN.sub("-", _ENDING.sub("", name.lower()))


def claims_of_note(path: str, text: str, begin: int, end: int) -> tuple[Claim, ...]:
    """What the part of a file from `begin` to `end` says of composes, which `about` names as it does."""
    if end - begin > MAX_NOTE or not any(word in text[begin:end].lower() for word in WORDS):
        return ()
    found: list[Claim] = []
    for statement in statements(path, [list(_lines(text, begin, end))], WORDS):
        for mention in of_text(statement.small)[:MAX_MENTIONS]:
            about = tuple(dict.fromkeys(_names(statement, mention)))
            if about and not is_no_claim(statement.small, mention, segment_of(statement.text, mention), note=True):
                found.append(replace(claim_of(statement, mention), about=about))
    return tuple(found)


def _lines(text: str, begin: int, end: int) -> Iterator[Line]:
    """The lines of a note, without its quotation marks."""
    number = text.count("\n", 0, begin) + 1
    column = begin - (text.rfind("\n", 0, begin) + 1) + 1
    for line in text[begin:end].split("\n"):
        words = line.lstrip(" \t\"'>|-") if number else line
        yield Line(number, column + len(line) - len(words), words.rstrip())
        number, column = number + 1, 1


def _names(statement: Statement, mention: Mention) -> list[str]:
    """The names of which a mention is said: in parentheses behind `no-drafter composes`, or right before it."""
    group = _GROUP.match(statement.text, mention.end)
    if group:
        parts = _SEPARATORS.split(group["names"])[:MAX_NAMES]
        return [part.strip("`* ") for part in parts if _NAME.fullmatch(part.strip("`* "))]
    before = _NAMES_BEFORE.search(statement.text[max(mention.start - 400, 0) : mention.start])
    return _NAME.findall(before["names"])[:MAX_NAMES] if before else []
