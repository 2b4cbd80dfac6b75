"""How many requests a review costs: the same for a small repository and a large one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.end_to_end.harness import CLEAN, REFUSED, open_threads, the_check, world

FIRST, AGAIN = 8, 5


def composes(count: int) -> Mapping[str, str]:
    """A repository with so many composes, all of them different, and scripts and other files between them."""
    files = {f"deploy/{n % 40}/{n}.yml": CLEAN + f"# {n}\n" for n in range(count)}
    files |= {f"scripts/{n}.sh": f"#!/bin/sh\nexec vllm serve {n}\n" for n in range(count // 10)}
    return files | {"README.md": "# Serving\n", ".env.example": "A=b\n"}


@pytest.mark.parametrize("count", [130, 1300])
async def test_requests_do_not_grow_with_the_repository(tmp_path: Path, count: int) -> None:
    async with world(tmp_path, composes(count)) as here:
        pull = here.repository.open_pull({"deploy/1/1.yml": REFUSED, "deploy/new.yml": CLEAN})
        await here.settle(60)
        assert the_check(pull).conclusion == "failure"
        assert len(open_threads(pull)) == 1
        first = here.calls()
        assert len(first) <= FIRST, first
        assert here.hub.leaks == []
        pull.push({"deploy/1/1.yml": CLEAN + "# fixed\n"})
        await here.settle(60)
        assert the_check(pull).conclusion == "success"
        again = here.calls()[len(first) :]
        assert len(again) <= AGAIN, again
        assert len(here.calls()) == here.parts.app.transport.count.total - len(
            [sent for sent in here.parts.app.transport.count.recent if sent.endpoint.startswith("/app")]
        )


async def test_what_other_processes_read_is_on_disk(tmp_path: Path) -> None:
    async with world(tmp_path, composes(130)) as here:
        here.repository.open_pull({"deploy/1/1.yml": REFUSED})
        await here.settle(60)
        assert any("tarball" in call for call in here.calls())
    async with world(tmp_path, composes(130)) as here:
        here.repository.open_pull({"deploy/1/1.yml": REFUSED}, branch="other")
        await here.settle(60)
        assert not any("tarball" in call for call in here.calls())
