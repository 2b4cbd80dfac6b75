"""Edits of files: what is tried, what it is meant to change, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

Identity = tuple[str, str, str, str]
"""What makes two findings the same one: rule, path, service, cause."""


class NoEdit(Exception):
    """There is no small edit that surely does what the remedy says. The message says why, to a person."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """The characters of a file from `start` up to `end`, and what is put in their place."""

    path: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Meant:
    """What a remedy means to change, beside the finding itself: nothing else may.

    `keys` are fields of the service in the compose, `variables` those below its `environment:`, `properties`
    those of its engine, `words` arguments that come or go on its command line (None: any may). `elsewhere` says that
    variables of the host may act otherwise than they did: only what runs by default has to stay as it is.
    """

    keys: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()
    properties: frozenset[str] = frozenset()
    words: frozenset[str] | None = frozenset()
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to edit files. `does` says what the edit does, as a sentence without its full stop. `by_default` says
    that the hazard may stay within reach of a variable, as long as it no longer stands by default.
    """

    edits: tuple[TextEdit, ...]
    does: str
    meant: Meant
    by_default: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that it edits."""
        return tuple(dict.fromkeys(edit.path for edit in self.edits))


def applied(text: str, edits: Iterable[TextEdit]) -> str:
    """A file's text after edits of it, which do not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


@dataclass(frozen=True, slots=True)
class Changed:
    """A file before and after an edit."""

    path: str
    before: str
    after: str

    @property
    def span(self) -> tuple[int, int, str]:
        """The lines of the old text from the first that differs to the last, and what stands there now.

        Where lines only come in, the line above them is part of it: something has to be replaced.
        """
        old, new = self.before.split("\n"), self.after.split("\n")
        first = 0
        while first < min(len(old), len(new)) and old[first] == new[first]:
            first += 1
        tail = 0
        while tail < min(len(old), len(new)) - first and old[-1 - tail] == new[-1 - tail]:
            tail += 1
        if first + tail == len(old) and first:
            first -= 1
        return first + 1, len(old) - tail, "\n".join(new[first : len(new) - tail])

    @property
    def replaced(self) -> Iterator[tuple[tuple[int, int], tuple[int, int], str]]:
        """The lines that differ: from a line and column up to another, and what stands there now, with line ends."""
        old, new = self.before.split("\n"), self.after.split("\n")
        for what, first, last, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if what == "equal":
                continue
            if last < len(old):
                yield (first + 1, 1), (last + 1, 1), "".join(f"{line}\n" for line in new[begin:end])
            else:
                yield (first + 1, 1), (last, len(old[-1]) + 1), "\n".join(new[begin:end])


@dataclass(frozen=True, slots=True)
class Offer:
    """An edit that is proved to end a finding. `does` says what it does, `proved` what was found by resolving again."""

    identity: Identity
    files: tuple[Changed, ...]
    does: str
    proved: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a finding gets no edit."""

    identity: Identity
    why: str


Answer = Offer | Refusal
