"""The resolver's process: what goes wrong in it stays there."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from bot.github.model import Blob, TreeEntry
from bot.jobs.resolver import Asked, Resolver, ResolverFailed
from bot.tree import Tree, UnreadableFile

ENTRIES = {path: TreeEntry(path, sha, 1, "100644") for path, sha in (("a", "1"), ("b", "2"))}
BLOBS = {"1": Blob("1", "text")}


KEPT: list[bytearray] = []
"""What a process holds on to."""


@dataclass(frozen=True)
class Reading:
    path: str

    def __call__(self, base: Tree, head: Tree) -> str | None:
        try:
            return head.read(self.path)
        except UnreadableFile as error:
            return error.message


@dataclass(frozen=True)
class Misbehaving:
    how: str

    def __call__(self, base: Tree, head: Tree) -> int:
        match self.how:
            case "hang":
                time.sleep(60)
            case "die":
                os._exit(1)
            case "eat":
                return len(bytearray(600 * 1024**2))
            case "keep":
                KEPT.append(bytearray(80 * 1024**2))
                return len(KEPT)
            case "work":
                return len(bytearray(80 * 1024**2))
            case "recurse":
                return self(base, head)
            case _:
                raise KeyError("a fault")
        return 0


@dataclass(frozen=True)
class Waiting:
    """Answers when there is a file."""

    end: Path

    def __call__(self, base: Tree, head: Tree) -> int:
        while not self.end.exists():
            time.sleep(0.01)
        return 0


@pytest.fixture(scope="module")
def resolver() -> Iterator[Resolver]:
    made = Resolver(seconds=20)
    yield made
    made.close()


async def test_an_answer_comes_with_what_was_missing(resolver: Resolver) -> None:
    found = await resolver.ask(Reading("a"), {}, ENTRIES, BLOBS)
    assert (found.answer, found.missing) == ("text", {})
    missing = await resolver.ask(Reading("b"), {}, ENTRIES, BLOBS)
    assert missing.missing == {"b": "2"}
    assert (await resolver.ask(Reading("c"), {}, ENTRIES, BLOBS)).answer is None


@pytest.mark.parametrize("how", ["die", "eat", "recurse", "raise"])
async def test_what_goes_wrong_is_told_and_the_next_question_is_answered(resolver: Resolver, how: str) -> None:
    with pytest.raises(ResolverFailed):
        await resolver.ask(Misbehaving(how), {}, ENTRIES, BLOBS)
    assert (await resolver.ask(Reading("a"), {}, ENTRIES, BLOBS)).answer == "text"


async def test_what_hangs_is_ended() -> None:
    resolver = Resolver(seconds=0.2)
    with pytest.raises(ResolverFailed, match="takes longer"):
        await resolver.ask(Misbehaving("hang"), {}, ENTRIES, BLOBS)
    resolver.close()


async def test_the_memory_that_a_question_may_take_is_told() -> None:
    resolver = Resolver(memory=100 * 1024**2, processes=1)
    with pytest.raises(ResolverFailed, match="more than 100 MB of memory"):
        await resolver.ask(Misbehaving("eat"), {}, ENTRIES, BLOBS)
    resolver.close()


async def test_what_a_process_remembers_is_missed_by_no_later_question() -> None:
    resolver = Resolver(memory=120 * 1024**2, processes=1)
    kept = await resolver.ask(Misbehaving("keep"), {}, ENTRIES, BLOBS)
    assert kept.answer == 1
    assert (await resolver.ask(Misbehaving("work"), {}, ENTRIES, BLOBS)).answer > 0
    assert (await resolver.ask(Misbehaving("keep"), {}, ENTRIES, BLOBS)).answer == 1
    resolver.close()


async def test_an_account_whose_files_take_long_waits_for_itself_alone(tmp_path: Path) -> None:
    resolver = Resolver(processes=2)
    question = Waiting(tmp_path / "end")
    hostile = [asyncio.create_task(resolver.ask(question, {}, ENTRIES, BLOBS, account="hostile")) for _ in range(3)]
    await asyncio.sleep(0.1)
    for _ in range(3):
        assert (await resolver.ask(Reading("a"), {}, ENTRIES, BLOBS, account="somebody")).answer == "text"
    assert not any(task.done() for task in hostile)
    hostile[2].cancel()
    question.end.touch()
    ended = await asyncio.gather(*hostile, return_exceptions=True)
    assert [type(item) for item in ended] == [Asked, Asked, asyncio.CancelledError]
    assert (await resolver.ask(Reading("a"), {}, ENTRIES, BLOBS, account="hostile")).answer == "text"
    resolver.close()


async def test_a_process_that_can_not_begin_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = Resolver(processes=1)

    def refuse(_process: object) -> None:
        raise OSError("no more processes")

    with monkeypatch.context() as patched:
        patched.setattr(SpawnProcess, "start", refuse)
        for _ in range(2):
            with pytest.raises(OSError, match="no more processes"):
                await resolver.ask(Reading("a"), {}, ENTRIES, BLOBS)
    assert (await resolver.ask(Reading("a"), {}, ENTRIES, BLOBS)).answer == "text"
    resolver.close()
