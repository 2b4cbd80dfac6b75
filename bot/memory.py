"""Answers that are given again for as long as everything that they were read from is the same.

Two states of a repository, as before and after a change, seldom differ in more than a few files. What was found of one
is true of the other where no file differs that was looked at; a file that was not there is something looked at too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bot.tree import Tree, UnreadableFile

T = TypeVar("T")

MAX_BYTES = 64 * 1024 * 1024
"""What a `Memory` holds, about: the composes and profiles of a large repository."""

MAX_STATES = 8
"""Answers to one question that are held: the default branch, and what the newest changes make of it."""

_ENTRY_BYTES = 1_500
"""A small answer with its question and the notes of a few files."""


class LateReading(Exception):
    """An answer reads a file when it has been given already, so that nobody would notice when the file changes."""


class Reading:
    """A tree that notes what is asked of it and what it answers. Implements `bot.tree.Tree`."""

    def __init__(self, tree: Tree) -> None:
        self._tree: Tree | None = tree
        self._files: dict[str, str | UnreadableFile | None] = {}
        self._directories: dict[str, bool] = {}
        self._paths: tuple[str, ...] | None = None

    @property
    def size(self) -> int:
        """Characters of the files that were read."""
        return sum(len(text) for text in self._files.values() if isinstance(text, str))

    def read(self, path: str) -> str | None:
        """The text of a file. Raises `UnreadableFile`."""
        if path not in self._files:
            self._files[path] = _file(self._below, path)
        found = self._files[path]
        if isinstance(found, UnreadableFile):
            raise UnreadableFile(path, found.message)
        return found

    def paths(self) -> Iterable[str]:
        """Every file, sorted."""
        if self._paths is None:
            self._paths = tuple(self._below.paths())
        return self._paths

    def is_directory(self, path: str) -> bool:
        """Whether some file lies below `path`."""
        if path not in self._directories:
            self._directories[path] = self._below.is_directory(path)
        return self._directories[path]

    def finish(self) -> None:
        """Let go of the tree: what is not noted by now raises `LateReading`."""
        self._tree = None

    def holds(self, tree: Tree) -> bool:
        """Whether another tree answers as this one did.

        Files are compared in the order in which they were read, up to the first that differs: up to there, whoever
        looks for the answer anew reads the same.
        """
        return (
            all(_is_same(tree, path, found) for path, found in self._files.items())
            and all(tree.is_directory(path) == found for path, found in self._directories.items())
            and (self._paths is None or self._paths == tuple(tree.paths()))
        )

    @property
    def _below(self) -> Tree:
        if self._tree is None:
            raise LateReading
        return self._tree


def _file(tree: Tree, path: str) -> str | UnreadableFile | None:
    """A file's text, or why it has none: not as it was raised, which would hold on to whoever asked."""
    try:
        return tree.read(path)
    except UnreadableFile as error:
        return UnreadableFile(path, error.message)


def _is_same(tree: Tree, path: str, known: str | UnreadableFile | None) -> bool:
    found = _file(tree, path)
    if isinstance(found, UnreadableFile) and isinstance(known, UnreadableFile):
        return found.message == known.message
    return found == known


@dataclass(frozen=True, slots=True, eq=False)
class Itself(Generic[T]):
    """A thing in a question for which no equal one will do: compared by identity, and kept alive by the question."""

    thing: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


@dataclass(frozen=True, slots=True)
class _Known:
    answer: Any
    reading: Reading
    size: int


class Memory:
    """Answers by their question, each with what it was read from; the least recently used go first.

    `limit` is in bytes, as they are estimated. Usable from several threads.
    """

    def __init__(self, limit: int = MAX_BYTES) -> None:
        self._limit = limit
        self._size = 0
        self._known: dict[Hashable, tuple[_Known, ...]] = {}
        self._lock = threading.Lock()

    def answer(self, question: Hashable, tree: Tree, find: Callable[[Tree], T], weight: int = 0) -> T:
        """What `find` finds in `tree`, or found before in one where all that it read is the same.

        `question` says everything else that the answer depends on; `find` must read nothing but the tree that it is
        given, and its answer must not change afterwards. `weight` is the size of the answer, in bytes for each
        character that was read. What `find` raises is raised, and not kept.
        """
        for known in self._known.get(question, ()):
            if known.reading.holds(tree):
                self._refresh(question)
                return known.answer  # type: ignore[no-any-return]
        reading = Reading(tree)
        answer = find(reading)
        reading.finish()
        self._keep(question, _Known(answer, reading, _ENTRY_BYTES + reading.size * weight))
        return answer

    def _refresh(self, question: Hashable) -> None:
        with self._lock:
            if question in self._known:
                self._known[question] = self._known.pop(question)

    def _keep(self, question: Hashable, known: _Known) -> None:
        with self._lock:
            held = (known, *self._known.pop(question, ()))
            self._known[question] = held[:MAX_STATES]
            self._size += known.size - sum(forgotten.size for forgotten in held[MAX_STATES:])
            while self._size > self._limit:
                self._size -= sum(one.size for one in self._known.pop(next(iter(self._known))))
