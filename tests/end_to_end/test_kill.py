"""kill -9 between any two steps of a job: nothing is lost, nothing is done twice."""

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

import pytest

from bot.sandbox.github import Hub, PullHandle, simulated_github
from tests.end_to_end.harness import CLEAN, FILES, REFUSED, SECRET, open_threads, ours, the_check
from tests.store.servers import databases

PROCESS = Path(__file__).with_name("process.py")
MANY = 200
SHARDS = 10
"""Of the long run, for as many processes as there are."""

CALLS = 7
"""Requests of a first review: a kill lands before, between or after them."""


class Processes:
    """Processes behind the App, each begun at once: what they need is loaded already."""

    def __init__(self, hub: Hub, folder: Path, url: str, loader: Process) -> None:
        (self._app,) = hub.apps.values()
        self._environment = {
            "CLIENT_ID": self._app.client_id,
            "PRIVATE_KEY": self._app.private_key,
            "WEBHOOK_SECRET": SECRET,
            "GITHUB_API_URL": hub.url,
            "GITHUB_DOWNLOAD_URLS": hub.archive_url,
            "DATABASE_URL": url,
            "CACHE_DIR": str(folder / "cache"),
            "PORT": "0",
        }
        self._loader = loader
        self._alive: list[int] = []

    async def start(self) -> None:
        """Begins one more; webhooks go to it."""
        assert self._loader.stdin is not None
        assert self._loader.stdout is not None
        self._loader.stdin.write(json.dumps(self._environment).encode() + b"\n")
        line = await asyncio.wait_for(self._loader.stdout.readline(), 600)
        number, address = line.decode().split()
        self._alive.append(int(number))
        self._app.hook_url = f"{address}/webhook"

    async def kill(self) -> None:
        """Kills the one that was begun first."""
        number = self._alive.pop(0)
        os.kill(number, signal.SIGKILL)
        while _runs(number):
            await asyncio.sleep(0.001)

    async def end(self) -> None:
        """Kills all of them."""
        while self._alive:
            await self.kill()


@asynccontextmanager
async def processes(hub: Hub, folder: Path, url: str) -> AsyncIterator[Processes]:
    """A place to begin processes in; at the end all are killed."""
    loader = await asyncio.create_subprocess_exec(
        sys.executable,
        str(PROCESS),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    begun = Processes(hub, folder, url, loader)
    try:
        yield begun
    finally:
        await begun.end()
        loader.kill()
        await loader.wait()


async def killed(hub: Hub, pull: PullHandle, after: int, process: Processes) -> None:
    """Kills the process once it has sent so many more requests, and starts another."""
    seen = len(hub.requests)
    end = asyncio.get_running_loop().time() + 600
    while len(hub.requests) < seen + after and asyncio.get_running_loop().time() < end:
        if pull.conversation().comments:
            break
        await asyncio.sleep(0.001)
    await process.kill()
    await process.start()


async def settled(pull: PullHandle, conclusion: str) -> None:
    """Until the pull request is reviewed."""
    for _ in range(15_000):
        if [run.conclusion for run in pull.conversation().checks] == [conclusion]:
            break
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.7)


async def play(folder: Path, url: str, points: list[int]) -> None:
    """One pull request for each point, in one world; each is reviewed once, and its fix is noticed once."""
    async with simulated_github() as hub:
        hub.register_app(webhook_secret=SECRET)
        repository = hub.repository("acme/serving", FILES, installed=True)
        hub.hooks.deliveries.clear()
        async with processes(hub, folder, url) as process:
            await process.start()
            for number, point in enumerate(points):
                pull = repository.open_pull({"compose/one.yml": f"# {number}\n{REFUSED}"}, branch=f"b{number}")
                await hub.settled()
                accepted = hub.hooks.deliveries[-1].status_code == 202
                assert accepted
                await killed(hub, pull, point, process)
                await settled(pull, "failure")
                assert (the_check(pull).status, len(open_threads(pull)), len(ours(pull))) == ("completed", 1, 1), point
                assert len(the_check(pull).annotations) == 1
                pull.push({"compose/one.yml": f"# {number}\n{CLEAN}"})
                await hub.settled()
                await killed(hub, pull, point % 4, process)
                await settled(pull, "success")
                assert (the_check(pull).conclusion, open_threads(pull), len(ours(pull))) == ("success", [], 1), point
                assert "Fixed" in pull.conversation().threads[0].comment.body
                pull.close()


@databases
async def test_a_job_outlives_the_process(tmp_path: Path, url: str) -> None:
    await play(tmp_path, url, [3] if url.startswith("sqlite") else [5])


@pytest.mark.soak
@pytest.mark.parametrize("shard", range(SHARDS))
@databases
async def test_a_job_outlives_the_process_at_any_point(tmp_path: Path, url: str, shard: int) -> None:
    points = random.Random(20261130 + shard)
    await play(tmp_path, url, [points.randrange(CALLS + 1) for _ in range(MANY // 2 // SHARDS)])


def _runs(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True
