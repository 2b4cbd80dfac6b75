"""Releases that answer alike, so that a launch without a release is worked out a few times and not for each of them.

Whoever reads a command line or derives a property asks the release some things: whether it has a word for an option,
what it makes of a value, what was read of its source. Each of those questions can be noted. A release that answers all
of the noted questions as another does comes to the same result; only the words and lines of its reasons would differ.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

Question = tuple[str, *tuple[Any, ...]]
"""What is asked of a release: the kind of question, and what it is about."""

Note = Callable[[Question], None]
"""Takes note of a question."""

Member = TypeVar("Member")

MAX_CHARACTERS = 4_000_000
"""Characters of the questions whose answers are kept: a large repository asks for a twentieth of them."""


def unnoted(_question: Question) -> None:
    """Takes no note: of a single release, which shares nothing."""


class Noted(Mapping[str, Any]):
    """A table of a release, not empty, in which every look-up is noted. `kind` begins the question, the key ends it."""

    __slots__ = ("_kind", "_note", "_table")

    def __init__(self, table: Mapping[str, Any], note: Note, *kind: str) -> None:
        self._table = table
        self._note = note
        self._kind = kind

    def __getitem__(self, key: str) -> Any:
        self._note((*self._kind, key))  # type: ignore[arg-type]
        return self._table[key]

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        raise TypeError("a table of several releases is asked by name")

    def __len__(self) -> int:
        raise TypeError("a table of several releases is asked by name")


class Panel(Generic[Member]):
    """Some releases side by side, oldest first. A set of them is a number: bit `i` stands for the one at index `i`.

    `answers` has, for each kind of question, what a release answers: equal for equal answers.
    """

    def __init__(self, members: Sequence[Member], answers: Mapping[str, Callable[..., Hashable]]) -> None:
        self.members = tuple(members)
        self.everyone = (1 << len(self.members)) - 1
        self._answers = answers
        self._alike: dict[Question, list[int]] = {}
        self._characters = 0

    def alike(self, index: int, question: Question) -> int:
        """The releases that answer a question as the one at `index` does."""
        row = self._alike.get(question)
        return (self._ask(question) if row is None else row)[index]

    def _ask(self, question: Question) -> list[int]:
        """For each release the set of those that answer as it does."""
        kind, *about = question
        answer = self._answers[kind]
        answers = [answer(member, *about) for member in self.members]
        sets: dict[Hashable, int] = {}
        for index, found in enumerate(answers):
            sets[found] = sets.get(found, 0) | 1 << index
        row = [sets[found] for found in answers]
        self._characters += sum(len(part) for part in about if isinstance(part, str))
        if self._characters > MAX_CHARACTERS:
            self._alike.clear()
            self._characters = 0
        self._alike[question] = row
        return row


def newest(some: int) -> int:
    """The index of the newest release of a set that is not empty."""
    return some.bit_length() - 1


def members(some: int) -> Iterator[int]:
    """The indices of the releases of a set, newest first."""
    while some:
        index = newest(some)
        some &= ~(1 << index)
        yield index
