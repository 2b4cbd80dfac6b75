"""kill -9 between any two steps of a job: nothing is lost, nothing is done twice."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path

import pytest

from bot.sandbox.github import Hub, PullHandle, simulated_github
from tests.end_to_end.harness import CLEAN, FILES, REFUSED, SECRET, open_threads, ours, the_check
from tests.store.servers import databases

PROCESS = Path(__file__).with_name("process.py")
MANY = 200
CALLS = 7
"""Requests of a first review: a kill lands before, between or after them."""


async def start(hub: Hub, folder: Path, url: str, port: int) -> Process:
    """The process behind the App, in a process."""
    (app,) = hub.apps.values()
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "CLIENT_ID": app.client_id,
        "PRIVATE_KEY": app.private_key,
        "WEBHOOK_SECRET": SECRET,
        "GITHUB_API_URL": hub.url,
        "GITHUB_DOWNLOAD_URLS": hub.archive_url,
        "DATABASE_URL": url,
        "CACHE_DIR": str(folder / "cache"),
        "PORT": str(port),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(PROCESS), stdout=PIPE, stderr=DEVNULL, env=environment
    )
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), 60)
    app.hook_url = f"{line.decode().strip()}/webhook"
    return process


async def killed(hub: Hub, folder: Path, url: str, pull: PullHandle, after: int, process: Process) -> Process:
    """Kills the process once it has sent so many more requests, and starts another."""
    seen = len(hub.requests)
    end = asyncio.get_running_loop().time() + 20
    while len(hub.requests) < seen + after and asyncio.get_running_loop().time() < end:
        if pull.conversation().comments:
            break
        await asyncio.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    await process.wait()
    return await start(hub, folder, url, 0)


async def settled(pull: PullHandle, conclusion: str) -> None:
    """Until the pull request is reviewed."""
    for _ in range(3000):
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
        process = await start(hub, folder, url, 0)
        try:
            for number, point in enumerate(points):
                pull = repository.open_pull({"compose/one.yml": f"# {number}\n{REFUSED}"}, branch=f"b{number}")
                await hub.settled()
                accepted = hub.hooks.deliveries[-1].status_code == 202
                assert accepted
                process = await killed(hub, folder, url, pull, point, process)
                await settled(pull, "failure")
                assert (the_check(pull).status, len(open_threads(pull)), len(ours(pull))) == ("completed", 1, 1), point
                assert len(the_check(pull).annotations) == 1
                pull.push({"compose/one.yml": f"# {number}\n{CLEAN}"})
                await hub.settled()
                process = await killed(hub, folder, url, pull, point % 4, process)
                await settled(pull, "success")
                assert (the_check(pull).conclusion, open_threads(pull), len(ours(pull))) == ("success", [], 1), point
                assert "Fixed" in pull.conversation().threads[0].comment.body
        finally:
            process.kill()
            await process.wait()


@databases
async def test_a_job_outlives_the_process(tmp_path: Path, url: str) -> None:
    await play(tmp_path, url, [3] if url.startswith("sqlite") else [5])


@pytest.mark.soak
@databases
async def test_a_job_outlives_the_process_at_any_point(tmp_path: Path, url: str) -> None:
    points = random.Random(20261130)
    await play(tmp_path, url, [points.randrange(CALLS + 1) for _ in range(MANY // 2)])
