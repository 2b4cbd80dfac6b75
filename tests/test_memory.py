"""Answers that are given again while all that they were read from is the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from bot.memory import Itself, LateReading, Memory, Reading
from bot.tree import MemoryTree, Tree, UnreadableFile

FILES = {"a": "1", "b": "2", "folder/c": "3"}


class _Broken(MemoryTree):
    """A tree in which the file `a` cannot be read."""

    def read(self, path: str) -> str | None:
        if path == "a":
            raise UnreadableFile(path, self.files[path])
        return super().read(path)


def _asked(memory: Memory, find: Callable[[Tree], object], *trees: Tree) -> int:
    """How often `find` is asked when each tree in turn is."""
    count = 0

    def counted(tree: Tree) -> object:
        nonlocal count
        count += 1
        return find(tree)

    for tree in trees:
        assert memory.answer("question", tree, counted) == find(tree)
    return count


def _unread(tree: Tree) -> str:
    with pytest.raises(UnreadableFile) as error:
        tree.read("a")
    return error.value.message


@pytest.mark.parametrize(
    ("find", "change", "asked"),
    [
        (lambda tree: tree.read("a"), {"b": "9", "new": ""}, 1),
        (lambda tree: tree.read("a"), {"a": "9"}, 2),
        (lambda tree: tree.read("new"), {"b": "9"}, 1),
        (lambda tree: tree.read("new"), {"new": ""}, 2),
        (lambda tree: tree.is_directory("folder"), {"folder/c": "9", "folder/d": ""}, 1),
        (lambda tree: tree.is_directory("other"), {"other/d": ""}, 2),
        (lambda tree: tuple(tree.paths()), {"a": "9"}, 1),
        (lambda tree: tuple(tree.paths()), {"new": ""}, 2),
    ],
)
def test_an_answer_holds_until_something_that_was_looked_at_differs(
    find: Callable[[Tree], object], change: Mapping[str, str], asked: int
) -> None:
    assert _asked(Memory(), find, MemoryTree(FILES), MemoryTree({**FILES, **change})) == asked


@pytest.mark.parametrize(("message", "asked"), [("1", 1), ("too large", 2)])
def test_why_a_file_cannot_be_read_is_part_of_the_answer(message: str, asked: int) -> None:
    assert _asked(Memory(), _unread, _Broken(FILES), _Broken({**FILES, "a": message})) == asked


def test_a_file_that_cannot_be_read_any_more_is_another_answer() -> None:
    def find(tree: Tree) -> str | None:
        try:
            return tree.read("a")
        except UnreadableFile:
            return None

    assert _asked(Memory(), find, MemoryTree(FILES), _Broken(FILES), MemoryTree(FILES), _Broken(FILES)) == 2


def test_what_an_inner_answer_was_read_from_counts_for_the_outer_one() -> None:
    memory = Memory()

    def outer(tree: Tree) -> str | None:
        return memory.answer("inner", tree, lambda seen: seen.read("a"))

    first, second = MemoryTree(FILES), MemoryTree({"a": "9"})
    assert [memory.answer("outer", tree, outer) for tree in (first, first, second)] == ["1", "1", "9"]
    assert memory.answer("outer, again", first, outer) == "1"  # the inner answer is known, its reading still counts
    assert memory.answer("outer, again", second, outer) == "9"


def test_questions_tell_equal_things_apart_where_it_matters() -> None:
    one, other = ["x"], ["x"]
    assert Itself(one) == Itself(one) != Itself(other)
    assert len({Itself(one), Itself(one), Itself(other)}) == 2
    assert Itself(one) != one


def test_an_answer_that_reads_too_late_is_an_error() -> None:
    memory = Memory()
    tree: Tree = memory.answer("question", MemoryTree(FILES), lambda seen: seen)
    assert isinstance(tree, Reading)
    with pytest.raises(LateReading):
        tree.read("a")


def test_what_raises_is_asked_again() -> None:
    memory = Memory()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            memory.answer("question", MemoryTree(FILES), lambda _: 1 / 0)
    assert memory.answer("question", MemoryTree(FILES), lambda _: 1) == 1


def test_the_least_recently_used_answer_goes_first() -> None:
    memory = Memory(limit=5_000)
    tree = MemoryTree({"a": "x" * 100})
    asked: list[str] = []

    def ask(question: str) -> None:
        def find(seen: Tree) -> str | None:
            asked.append(question)
            return seen.read("a")

        memory.answer(question, tree, find, weight=1)

    for question in ("one", "two", "three", "one", "four", "one", "two"):
        ask(question)
    assert asked == ["one", "two", "three", "four", "two"]


def test_answers_larger_than_the_bound_are_not_kept() -> None:
    memory = Memory(limit=5_000)
    large = MemoryTree({"a": "x" * 10_000})
    answers = [memory.answer("question", large, lambda seen: object() if seen.read("a") else None, weight=1)]
    answers += [memory.answer("question", large, lambda seen: object() if seen.read("a") else None, weight=1)]
    assert answers[0] is not answers[1]


def test_only_the_newest_states_of_a_question_are_kept() -> None:
    memory = Memory()
    trees = [MemoryTree({"a": str(number)}) for number in range(20)]
    assert _asked(memory, lambda tree: tree.read("a"), *trees, trees[-1], trees[0]) == 21
