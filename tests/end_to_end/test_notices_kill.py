"""kill -9 while an issue about an upstream fix is opened, edited or commented, and two processes that tell at once."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.references import UPSTREAM
from bot.sandbox.github import Hub, PullHandle, RepositoryHandle, simulated_github
from bot.sandbox.github.model import Issue
from tests.end_to_end.harness import SECRET
from tests.notices.scene import COMPOSE
from tests.store.servers import databases

PROCESS = Path(__file__).with_name("watch_process.py")
FIRST = 48001
"""The number of the first fix that is waited for."""

CALLS = 6
"""Requests to the repository while an issue is opened; a comment and an edit make as many."""

SHARDS, KILLS = 5, 20


def tracker(count: int) -> str:
    """Comments that wait for so many fixes."""
    return "".join(f"# Drop the overlay when vllm#{FIRST + n} merges.\n" for n in range(count))


class Watchers:
    """Looks at upstream, each a process of its own."""

    def __init__(self, hub: Hub, folder: Path, url: str, loader: Process, lag: float | None) -> None:
        (app,) = hub.apps.values()
        self._hub = hub
        self._loader = loader
        self._environment = {
            "CLIENT_ID": app.client_id,
            "PRIVATE_KEY": app.private_key,
            "WEBHOOK_SECRET": SECRET,
            "GITHUB_API_URL": hub.url,
            "GITHUB_DOWNLOAD_URLS": hub.archive_url,
            "DATABASE_URL": url,
            "CACHE_DIR": str(folder / "cache"),
            **({} if lag is None else {"TEST_LAG_SECONDS": str(lag)}),
        }

    async def look(self, *, after: int | None = None, pause: float = 0.0) -> list[str]:
        """One process; with `after` it is killed once it has asked so much of the repository. What it told."""
        seen = self._asked()
        number = (await self._begun())["begun"]
        if after is not None:
            end = asyncio.create_task(self._line())
            while not end.done() and self._asked() < seen + after:
                await asyncio.sleep(0.001)
            await asyncio.sleep(pause)
            if not end.done():
                os.kill(number, signal.SIGKILL)
            told: dict[str, Any] = await end
        else:
            told = await self._line()
        if "ended" in told:
            return []
        assert (await self._line())["ended"] == number
        return list(told["told"])

    async def together(self, count: int) -> list[list[str]]:
        """So many processes at once. What each told, or could not."""
        for _ in range(count):
            await self._begun()
        told = [await self._line() for _ in range(count)]
        return [[*one["told"], *one["problems"]] for one in told]

    async def settle(self) -> None:
        """Looks until there is nothing to tell."""
        for _ in range(8):
            if await self.look() == ["acme/serving: nothing to tell"]:
                return
            await asyncio.sleep(0.3)
        raise AssertionError("it never ends")

    def _asked(self) -> int:
        return sum(entry.path.startswith("/repos/acme/serving/") for entry in self._hub.requests)

    async def _begun(self) -> dict[str, Any]:
        assert self._loader.stdin is not None
        self._loader.stdin.write(json.dumps(self._environment).encode() + b"\n")
        return await self._line()

    async def _line(self) -> dict[str, Any]:
        assert self._loader.stdout is not None
        line = await asyncio.wait_for(self._loader.stdout.readline(), 600)
        return dict(json.loads(line))


@asynccontextmanager
async def watchers(
    hub: Hub, folder: Path, url: str, *, lag: float | None = None, at_once: bool = False
) -> AsyncIterator[Watchers]:
    """A place to begin processes in."""
    more = {"TEST_AT_ONCE": "1"} if at_once else {}
    loader = await asyncio.create_subprocess_exec(
        sys.executable,
        str(PROCESS),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **more},
    )
    try:
        yield Watchers(hub, folder, url, loader, lag)
    finally:
        loader.kill()
        await loader.wait()


class World:
    """A repository that waits for fixes, and the upstream that they are made in."""

    def __init__(self, hub: Hub, count: int) -> None:
        hub.register_app(webhook_secret=SECRET)
        self.upstream: RepositoryHandle = hub.repository(UPSTREAM, {"vllm/a.py": "old\n"})
        self.upstream.tag("v0.33.0")
        self.pulls: list[PullHandle] = [
            self.upstream.open_pull({f"vllm/{n}.py": "new\n"}, title=f"Fix {n}", number=FIRST + n, branch=f"b{n}")
            for n in range(count)
        ]
        files = {
            "compose/one.yml": COMPOSE.format(pin="0.33.0").replace("48375", "99999"),
            "overlays.yml": tracker(count),
        }
        self.repository: RepositoryHandle = hub.repository("acme/serving", files, installed=True)

    def issues(self, number: int) -> list[Issue]:
        """What the App opened about a fix."""
        every = self.repository.record.issues.values()
        return [issue for issue in every if issue.app is not None and str(number) in issue.title]

    def comments(self, number: int) -> list[str]:
        """What it said below the one issue."""
        (issue,) = self.issues(number)
        return [comment.body for comment in issue.comments if comment.app is not None]


async def play(folder: Path, url: str, points: list[int], dice: random.Random) -> None:
    """A fix for each point: a process dies there while it opens the issue, and another while it says what came next."""
    async with simulated_github() as hub:
        world = World(hub, len(points))
        async with watchers(hub, folder, url, lag=0.2) as watch:
            await watch.settle()
            for number, (pull, point) in enumerate(zip(world.pulls, points, strict=True), FIRST):
                pull.merge(squash=True)
                await watch.look(after=point, pause=dice.random() * 0.02)
                assert len(world.issues(number)) <= 1
                await watch.settle()
                assert len(world.issues(number)) == 1, point
                assert world.comments(number) == []
            world.upstream.tag("v0.99.0")
            for point in points:
                await watch.look(after=point, pause=dice.random() * 0.02)
            await watch.settle()
            for number in range(FIRST, FIRST + len(points)):
                (issue,) = world.issues(number)
                assert issue.title.endswith("released upstream, not pinned here")
                assert len(world.comments(number)) == 1


@databases
async def test_an_issue_outlives_the_process(tmp_path: Path, url: str) -> None:
    await play(tmp_path, url, [3] if url.startswith("sqlite") else [4], random.Random(7))


@pytest.mark.soak
@pytest.mark.parametrize("shard", range(SHARDS))
@databases
async def test_an_issue_outlives_the_process_at_any_point(tmp_path: Path, url: str, shard: int) -> None:
    dice = random.Random(20261201 + shard)
    await play(tmp_path, url, [dice.randrange(CALLS + 1) for _ in range(KILLS // SHARDS)], dice)


@databases
async def test_processes_that_tell_at_once_make_one_issue(tmp_path: Path, url: str) -> None:
    async with simulated_github() as hub:
        world = World(hub, 2)
        async with watchers(hub, tmp_path, url, at_once=True) as watch:
            await watch.together(1)
            for pull in world.pulls:
                pull.merge(squash=True)
            hub.list_lag = 600.0  # whoever looks in the list finds nothing
            told = await watch.together(3)
            assert [len(world.issues(FIRST + n)) for n in range(2)] == [1, 1], told
            hub.list_lag = 0.0
            world.upstream.tag("v0.99.0")
            told = await watch.together(3)
            assert [len(world.comments(FIRST + n)) for n in range(2)] == [1, 1], told
            assert [len(world.issues(FIRST + n)) for n in range(2)] == [1, 1], told
