"""The whole process and upstream: a push is looked at, upstream is polled, and a repository is told what it means."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest

from bot.github.client import GitHub
from bot.github.errors import Unavailable
from bot.github.model import RepositoryName
from bot.jobs import polling
from bot.jobs.context import Context
from bot.jobs.kinds import POLL
from bot.jobs.noticing import NOTHING
from bot.references import UPSTREAM
from bot.sandbox.github import RepositoryHandle, simulated_github
from bot.store import Job
from bot.upstream.watch import Watched
from bot.web.process import running
from tests.contract.middleware import Contract
from tests.end_to_end.harness import CLEAN, PATIENCE, SECRET, TIMING, World, settings

N = 48375
REFERENCE = f"{UPSTREAM}#{N}"
TRACKER = f"# Upstream\n\nDrop the overlay when vllm#{N} merges (fix PR).\n"
FILES: Mapping[str, str] = {"compose/one.yml": CLEAN, "docs/UPSTREAM.md": TRACKER, "README.md": "# Serving\n"}


@dataclass
class Told:
    """What a repository would be told; `said` are the answers, the last one again and again."""

    states: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    said: list[str] = field(default_factory=lambda: [NOTHING])
    fail: int = 0
    broken: str = ""

    async def __call__(
        self, context: Context, github: GitHub, repository: RepositoryName, head: str, watched: tuple[Watched, ...]
    ) -> str:
        if self.fail:
            self.fail -= 1
            raise Unavailable("away")
        if str(repository) == self.broken:
            raise ValueError("too large to be remembered")
        for item in watched:
            if item.reference == REFERENCE:
                pins: dict[str, str] = {pin.image.rpartition(":")[2]: answer.state for pin, answer in item.pins}
                self.states.append((str(repository), item.clock.state, pins))
        return self.said.pop(0) if len(self.said) > 1 else self.said[0]


@dataclass
class Upstreamed:
    world: World
    upstream: RepositoryHandle
    told: Told
    polls: int = 0

    async def poll(self) -> list[tuple[str, str, int]]:
        """One poll; what was asked meanwhile."""
        since = len(self.world.hub.requests)
        self.polls += 1
        await self.world.parts.context.accept(Job(f"poll:test:{self.polls}", POLL, POLL, {}))
        await self.world.settle(30)
        asked = self.world.hub.requests[since:]
        return [(entry.method, entry.path, entry.status) for entry in asked]


@asynccontextmanager
async def watched(
    folder: Path, monkeypatch: pytest.MonkeyPatch, files: Mapping[str, str] = FILES
) -> AsyncIterator[Upstreamed]:
    """A server that watches. No poll comes by itself after the first."""
    told = Told()
    monkeypatch.setattr("bot.jobs.handlers.notice", told)
    contract = Contract()
    async with simulated_github(*contract.middlewares) as hub:
        app = hub.register_app(webhook_secret=SECRET)
        upstream = hub.repository(UPSTREAM, {"vllm/a.py": "old\n"})
        upstream.tag("v0.25.1")
        repository = hub.repository("acme/serving", files, installed=True)
        async with running(
            settings(hub, app, folder), timing=TIMING, patience=PATIENCE, sweep_seconds=None, poll_seconds=3600.0
        ) as parts:
            app.hook_url = f"{parts.url}/webhook"
            hub.hooks.deliveries.clear()
            world = World(hub, app, repository, parts)
            end = time.monotonic() + 60
            while not told.states:  # the first poll comes by itself
                assert time.monotonic() < end
                await asyncio.sleep(0.02)
            await world.settle(30)
            yield Upstreamed(world, upstream, told)
    contract.assert_kept()


async def test_what_becomes_of_a_fix_is_told_and_nothing_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with watched(tmp_path, monkeypatch) as here:
        # At the start everything is looked at; the reference is not there yet.
        assert here.told.states[-1] == ("acme/serving", "unknown", {"v0.25.1": "not-pinned"})
        pull = here.upstream.open_pull({"vllm/a.py": "new\n"}, title="Honour the flag", number=N)
        await asyncio.to_thread(_forget_pauses, here)
        await here.poll()
        assert here.told.states[-1][1] == "open"
        sha = pull.merge(squash=True)
        await here.poll()
        assert here.told.states[-1][1] == "merged"
        here.upstream.tag("v0.99.0")
        await here.poll()
        assert here.told.states[-1][1:] == ("released", {"v0.25.1": "not-pinned"})
        # Nothing is new: conditional requests to upstream, and nothing of the repository.
        count = len(here.told.states)
        quiet = await here.poll()
        assert {status for _, _, status in quiet} == {304}
        assert not [path for _, path, _ in quiet if "acme" in path]
        assert len(here.told.states) == count
        # A push that moves the pin is looked at at once.
        here.world.repository.commit({"compose/one.yml": CLEAN.replace("v0.25.1", "v0.99.0")})
        await here.world.settle(30)
        assert here.told.states[-1][1] in ("pinned", "released")
        assert here.told.states[-1][2]["v0.99.0"] == "pinned"
        here.upstream.revert(sha, number=N + 100)
        await here.poll()
        assert here.told.states[-1][2]["v0.99.0"] == "pinned"


def _forget_pauses(here: Upstreamed) -> None:
    facts = here.world.parts.facts
    facts.records.replace("upstream-reference", UPSTREAM, {})


async def test_a_repository_that_is_installed_later_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with watched(tmp_path, monkeypatch) as here:
        here.world.hub.repository("other/second", FILES, installed=True)
        here.world.hub.repository("third/idle", {"README.md": f"See vllm#{N}.\n"}, installed=True)
        await here.world.settle(30)
        assert {name for name, _, _ in here.told.states} == {"acme/serving", "other/second"}
        here.world.hub.revoke(here.world.repository.installation)
        await here.world.settle(30)
        before = len(here.told.states)
        here.upstream.open_issue("Honour the flag", number=N)
        await asyncio.to_thread(_forget_pauses, here)
        await here.poll()
        assert [name for name, _, _ in here.told.states[before:]] == ["other/second"]


async def test_who_could_not_be_told_is_told_the_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with watched(tmp_path, monkeypatch) as here:
        here.upstream.tag("v0.31.0")
        here.world.repository.commit({"docs/more.md": "x\n"}, quiet=True)
        here.upstream.open_issue("Unrelated", number=46324)
        await asyncio.to_thread(_forget_pauses, here)
        before = len(here.told.states)
        here.told.fail = 1
        await here.poll()
        assert len(here.told.states) == before
        await here.poll()
        assert len(here.told.states) == before + 1


async def test_what_fails_in_one_repository_keeps_no_other_from_hearing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with watched(tmp_path, monkeypatch) as here:
        here.world.hub.repository("other/second", FILES, installed=True)
        await here.world.settle(30)
        before = len(here.told.states)
        here.told.broken = "acme/serving"
        here.upstream.open_issue("Honour the flag", number=N)
        await asyncio.to_thread(_forget_pauses, here)
        await here.poll()
        assert [name for name, _, _ in here.told.states[before:]] == ["other/second"]


async def test_what_was_left_for_later_is_tried_again_until_it_stays_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with watched(tmp_path, monkeypatch) as here:
        here.told.said = ["5 opened, 3 left for later", "3 left for later", "3 left for later"]
        here.upstream.open_issue("Unrelated", number=46324)
        await asyncio.to_thread(_forget_pauses, here)
        before = len(here.told.states)
        for _ in range(5):
            await here.poll()
        assert len(here.told.states) == before + 3


async def test_a_restart_tells_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told()
    monkeypatch.setattr("bot.jobs.handlers.notice", told)
    async with simulated_github() as hub:
        app = hub.register_app(webhook_secret=SECRET)
        upstream = hub.repository(UPSTREAM, {"vllm/a.py": "old\n"})
        upstream.open_pull({"vllm/a.py": "new\n"}, title="Honour the flag", number=N)
        hub.repository("acme/serving", FILES, installed=True)
        for _ in range(2):
            async with running(
                settings(hub, app, tmp_path), timing=TIMING, patience=PATIENCE, sweep_seconds=None, poll_seconds=3600.0
            ) as parts:
                end = time.monotonic() + 60
                while not (told.states and await parts.jobs.idle()):
                    assert time.monotonic() < end
                    await asyncio.sleep(0.02)
                await asyncio.sleep(0.2)
        assert [state for _, state, _ in told.states] == ["open"]


def test_polls_of_several_processes_fall_together_and_are_spread() -> None:
    moments = [polling.due(number, 1800.0, "one") for number in range(1000, 1050)]
    assert moments == [polling.due(number, 1800.0, "one") for number in range(1000, 1050)]
    assert moments != [polling.due(number, 1800.0, "other") for number in range(1000, 1050)]
    pauses = [later - earlier for earlier, later in pairwise(moments)]
    assert len({round(pause) for pause in pauses}) > 10
    assert all(0 <= moment / 1800.0 - number < polling.JITTER for number, moment in enumerate(moments, 1000))
