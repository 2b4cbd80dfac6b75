"""A hub with one App, one repository, and somebody who speaks for the App. Everything is held against GitHub's own
description, where it was fetched.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.sandbox.github import Hub, RepositoryHandle, simulated_github
from tests.contract.middleware import Contract
from tests.sandbox.github.caller import Caller
from tests.sandbox.github.inbox import Inbox, open_inbox

COMPOSE = "services:\n  engine:\n    image: vllm\n" + "".join(f"    # line {n}\n" for n in range(4, 31))


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    contract = Contract()
    async with simulated_github(*contract.middlewares) as made:
        yield made
    contract.assert_kept()


@pytest.fixture
def repo(hub: Hub) -> RepositoryHandle:
    hub.register_app()
    files: dict[str, str | bytes] = {"compose/one.yml": COMPOSE, "README.md": "# Serving\n", "logo.bin": b"\0\1\2"}
    return hub.repository("acme/serving", files, installed=True)


@pytest.fixture
async def app(hub: Hub, repo: RepositoryHandle) -> AsyncIterator[Caller]:
    async with Caller(hub, repo.installation) as caller:
        yield caller


@pytest.fixture
async def inbox(repo: RepositoryHandle) -> AsyncIterator[Inbox]:
    async with open_inbox() as opened:
        repo.installation.app.hook_url = opened.url
        yield opened
