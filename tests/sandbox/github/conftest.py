"""A hub with one App, one repository, and somebody who speaks for the App."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.sandbox.github import Hub, RepositoryHandle, simulated_github
from tests.sandbox.github.caller import Caller

COMPOSE = "services:\n  engine:\n    image: vllm\n" + "".join(f"    # line {n}\n" for n in range(4, 30))


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    async with simulated_github() as made:
        yield made


@pytest.fixture
def repo(hub: Hub) -> RepositoryHandle:
    hub.register_app()
    files = {"compose/one.yml": COMPOSE, "README.md": "# Serving\n", "logo.bin": b"\0\1\2"}
    return hub.repository("acme/serving", files, installed=True)


@pytest.fixture
async def app(hub: Hub, repo: RepositoryHandle) -> AsyncIterator[Caller]:
    async with Caller(hub, repo.installation) as caller:
        yield caller


Json = dict[str, Any]
