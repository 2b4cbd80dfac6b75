"""Several workers on one queue: no job is done twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.sandbox.github import simulated_github
from tests.end_to_end.harness import FILES, REFUSED, SECRET, open_threads, ours, the_check
from tests.end_to_end.test_kill import processes, settled

PULLS = 10


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_two_workers_share_the_jobs(tmp_path: Path, url: str) -> None:
    async with simulated_github() as hub:
        hub.register_app(webhook_secret=SECRET)
        repository = hub.repository("acme/serving", FILES, installed=True)
        hub.hooks.deliveries.clear()
        async with processes(hub, tmp_path, url) as workers:
            for _ in range(2):
                await workers.start()
            pulls = [
                repository.open_pull({"compose/one.yml": f"# {number}\n{REFUSED}"}, branch=f"b{number}")
                for number in range(PULLS)
            ]
            await hub.settled()
            await asyncio.gather(*(settled(pull, "failure") for pull in pulls))
            for pull in pulls:
                assert (the_check(pull).conclusion, len(open_threads(pull)), len(ours(pull))) == ("failure", 1, 1)
                listed = [entry for entry in hub.requests if entry.path.endswith(f"/pulls/{pull.number}/files")]
                assert len(listed) == 1
