"""What repositories wait for, kept durably: as one, whenever the process ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from bot.github.client import GitHub
from bot.github.model import RepositoryName
from bot.jobs import standing
from bot.jobs.standing import Standing, Standings
from bot.jobs.waiting import MAX_PINS, MAX_USES, Waiting
from bot.provenance import Position
from bot.references import UPSTREAM
from bot.store import Database, Facts
from bot.upstream.repository_pins import RepositoryPin, Use
from bot.upstream.sites import Site

NAME = RepositoryName("acme", "serving")
NOBODY = cast("GitHub", None)


class Killed(BaseException):
    """The process is gone."""


class Mortal(Facts):
    """Facts of a process that dies after so many writes."""

    def __init__(self, database: Database, writes: int) -> None:
        super().__init__(database)
        self._writes = writes
        replace = self.records.replace

        def dying(kind: str, key: str, values: Mapping[str, Any]) -> None:
            self._step()
            replace(kind, key, values)

        self.records.replace = dying  # type: ignore[method-assign]

    def remember(self, kind: str, key: str, value: Mapping[str, Any]) -> None:
        self._step()
        super().remember(kind, key, value)

    def _step(self) -> None:
        if self._writes == 0:
            raise Killed
        self._writes -= 1


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database.file(tmp_path / "store.sqlite")
    made.prepare()
    yield made
    made.close()


def found(sha: str) -> Waiting:
    """What is found at a commit: its name is in all of it."""
    reference, image = f"{UPSTREAM}#7", f"vllm/vllm-openai:v0.{ord(sha)}.0"
    pin = RepositoryPin(image, f"0.{ord(sha)}.0", None, "", (), (Use(image, sha, Position(f"{sha}.yml", 1)),))
    return Waiting((reference,), (pin,), (Site(reference, Position(f"{sha}.yml", 1), sha, "fix"),))


def look(facts: Facts, sha: str, monkeypatch: pytest.MonkeyPatch) -> Standing:
    async def looked(_: GitHub, __: RepositoryName, at: str) -> Waiting:
        return found(at)

    monkeypatch.setattr(standing, "_looked", looked)
    return asyncio.run(Standings(facts).look(NOBODY, 1, NAME, sha))


def known(database: Database) -> Standing | None:
    return asyncio.run(Standings(Facts(database)).of(NAME))


@pytest.mark.parametrize("writes", range(3))
def test_it_is_known_as_a_whole_or_not_at_all(database: Database, writes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        look(Mortal(database, writes), "a", monkeypatch)
    except Killed:
        assert known(database) is None
    assert look(Facts(database), "a", monkeypatch).waiting == found("a")
    assert known(database) == Standing(NAME, 1, "a", found("a"))
    assert [item.head_sha for item in asyncio.run(Standings(Facts(database)).all())] == ["a"]


@pytest.mark.parametrize("writes", range(3))
def test_a_commit_never_has_the_lines_of_another(
    database: Database, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(Facts(database), "a", monkeypatch)
    with contextlib.suppress(Killed):
        look(Mortal(database, writes), "b", monkeypatch)
    now = known(database)
    assert now is not None
    assert now.waiting == found(now.head_sha)


def test_what_is_forgotten_is_looked_at_again(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    look(Facts(database), "a", monkeypatch)
    asyncio.run(Standings(Facts(database)).forget(NAME))
    assert known(database) is None
    assert look(Facts(database), "a", monkeypatch).waiting == found("a")


def test_long_paths_of_many_pins_have_room(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    uses = tuple(Use("i" * 300, "n" * 100, Position(f"{'p' * 900}{number}", 1)) for number in range(MAX_USES))
    pins = tuple(RepositoryPin(f"{number}{'i' * 300}", None, None, "unknown", (), uses) for number in range(MAX_PINS))
    whole = Waiting((f"{UPSTREAM}#7",), pins, ())

    async def looked(_: GitHub, __: RepositoryName, ___: str) -> Waiting:
        return whole

    monkeypatch.setattr(standing, "_looked", looked)
    asyncio.run(Standings(Facts(database)).look(NOBODY, 1, NAME, "a"))
    now = known(database)
    assert now is not None
    assert now.waiting == whole
