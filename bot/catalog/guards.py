"""Sentences that forbid to vendor a fix, in the entries of `patches.yml` and in documents about what is carried."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from bot.catalog.model import Guard, Patch
from bot.provenance import Position
from bot.references import references_in
from bot.tree import Tree, text_of

MAX_DOCUMENTS = 60
"""Documents that are read for such sentences."""

MAX_LINE = 4_000
"""Characters of a line that are read: rows of tables are long."""

_DOCUMENT = re.compile(
    r"(?:upstream|patch|vendor|overlay|caveat|backport)[^/]*\.md$|(?:^|/)(?:AGENTS|CONTRIBUTING)\.md$", re.I
)
_FORBIDS = re.compile(
    r"\b(?:do not|don't|don’t|never|must not|shall not)\s+(?:be\s+)?vendor(?:ed)?\b"
    r"|\b(?:is|are|was)?\s*not (?:to be )?vendored\b\s*[—–:,;-]+\s*(?:we\s+)?(?:wait|inherit)",
    re.IGNORECASE,
)
_HISTORY = re.compile(r"\b(?:was|were|until|used to|no longer|formerly)\b[^.|]{0,40}$|~~[^~]{0,80}$", re.IGNORECASE)
_ON = re.compile(r"[^.|]{0,12}?\bon\s+v?([01]\.\d+(?:\.\d+)?)\b", re.IGNORECASE)

_ADDRESS = re.compile(r"\]\([^)\s]{1,300}\)")


def read_guards(patches: Iterable[Patch], tree: Tree) -> tuple[Guard, ...]:
    """Those of the whole repository, each fix once."""
    first: dict[tuple[str, str | None], Guard] = {}
    for guard in (*_of_entries(patches), *_of_documents(tree)):
        first.setdefault((guard.reference, guard.release), guard)
    return tuple(first.values())


def _of_entries(patches: Iterable[Patch]) -> Iterator[Guard]:
    for patch in patches:
        if patch.guard and not patch.deprecated:
            for reference in patch.upstream:
                yield Guard(reference, patch.position, f"the entry {patch.id}")


def _of_documents(tree: Tree) -> Iterator[Guard]:
    documents = [path for path in tree.paths() if _DOCUMENT.search(path)]
    for path in documents[:MAX_DOCUMENTS]:
        yield from _in_document(path, text_of(tree, path))


@lru_cache(maxsize=128)
def _in_document(path: str, text: str) -> tuple[Guard, ...]:
    if "vendor" not in text and "VENDOR" not in text:
        return ()
    lines = enumerate(text.split("\n"), 1)
    return tuple(
        guard for number, line in lines if "vendor" in line.lower() for guard in _in_line(path, number, line[:MAX_LINE])
    )


def _in_line(path: str, number: int, line: str) -> Iterator[Guard]:
    """A row of a table is about the fix of its first cell; any other line about the one that it names."""
    match = _FORBIDS.search(line)
    if match is None or _HISTORY.search(line[: match.start()]):
        return
    row = line.lstrip().startswith("|")
    subject = line.lstrip().lstrip("|").split("|", 1)[0] if row else line
    named = [one for one in references_in(_linked(subject)) if int(one.rpartition("#")[2]) >= 1000]
    if len(named) == 1 or (row and named):
        on = _ON.match(line[match.end() :])
        sentence = " ".join(line[match.start() :].split("|", 1)[0].split()).replace("*", "")[:160]
        yield Guard(named[0], Position(path, number), sentence, on[1] if on else None)


def _linked(text: str) -> str:
    """A text without the addresses of its links: what they are called is what they mean."""
    return _ADDRESS.sub("]", text)
