"""Seamguard's whole process beside a simulated GitHub: a signed webhook goes in, a review comes out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.github.limits import Timing
from bot.sandbox.github import App, CheckRun, Hub, PullHandle, RepositoryHandle, simulated_github
from bot.store import Patience
from bot.web.process import Parts, running
from bot.web.settings import Settings
from tests.contract.middleware import Contract

SECRET = "a webhook secret of the tests"
TIMING = Timing(between_writes=0.0, patience=0.5, backoff=0.005, max_backoff=0.02, attempts=3, timeout=1.0)
PATIENCE = Patience(pauses=(0.05, 0.1, 0.1, 0.2, 0.2, 0.2), polling=0.02)
PERSISTENT = Patience(pauses=(0.02,) * 20, polling=0.02)
"""For what may fail often before it succeeds: by faults, or because the machine is busy."""

UNHURRIED = replace(TIMING, timeout=10.0)
"""For long runs beside other work: nothing but a fault takes so long."""

CLEAN = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    command: ["--model", "Qwen/Qwen3-8B", "--max-model-len", "8192"]
"""
REFUSED = CLEAN.replace('"8192"', '"8192", "--no-such-flag-at-all", "1"')
"""The engine does not know the flag, and does not start."""

FILES: Mapping[str, str] = {"compose/one.yml": CLEAN, "compose/two.yml": CLEAN, "README.md": "# Serving\n"}


@dataclass
class World:
    """A GitHub, a repository on it where the App is installed, and the process behind the App."""

    hub: Hub
    app: App
    repository: RepositoryHandle
    parts: Parts

    async def settle(self, seconds: float = 60.0) -> None:
        """Until every webhook is answered and every job done."""
        end = time.monotonic() + seconds
        while True:
            await self.hub.settled()
            sent = len(self.hub.hooks.deliveries)
            # The last thing that a job does may send a webhook of its own.
            if await self.parts.jobs.idle() and sent == len(self.hub.hooks.deliveries):
                return
            assert time.monotonic() < end, "jobs are left"
            await asyncio.sleep(0.02)

    def calls(self, since: int = 0) -> list[str]:
        """What was asked of GitHub on behalf of an installation."""
        return [
            f"{entry.method} {entry.path}" for entry in self.hub.requests[since:] if not entry.path.startswith("/app")
        ]


def settings(hub: Hub, app: App, folder: Path, **changes: Any) -> Settings:
    """For a process that works with the simulated GitHub."""
    return Settings(
        issuer=app.client_id,
        private_key=app.private_key,
        webhook_secret=app.webhook_secret,
        api_url=hub.url,
        download_urls=(hub.archive_url,),
        database_url=changes.pop("database_url", f"sqlite:///{folder}/store.sqlite"),
        port=0,
        cache_folder=folder / "cache",
        **changes,
    )


@asynccontextmanager
async def world(
    folder: Path,
    files: Mapping[str, str | bytes] = FILES,
    *,
    timing: Timing = TIMING,
    patience: Patience = PATIENCE,
    sweep_seconds: float | None = None,
    database_url: str | None = None,
) -> AsyncIterator[World]:
    """Both, until the context ends. Every request is held against GitHub's own description, where that was fetched."""
    contract = Contract()
    async with simulated_github(*contract.middlewares) as hub:
        app = hub.register_app(webhook_secret=SECRET)
        repository = hub.repository("acme/serving", files, installed=True)
        changes = {} if database_url is None else {"database_url": database_url}
        async with running(
            settings(hub, app, folder, **changes), timing=timing, patience=patience, sweep_seconds=sweep_seconds
        ) as parts:
            app.hook_url = f"{parts.url}/webhook"
            hub.hooks.deliveries.clear()
            hub.requests.clear()
            yield World(hub, app, repository, parts)
    contract.assert_kept()


def the_check(pull: PullHandle) -> CheckRun:
    """The one check of the head."""
    (check,) = pull.conversation().checks
    return check


def ours(pull: PullHandle) -> list[str]:
    """The App's comments in the conversation."""
    return [comment.body for comment in pull.conversation().comments if comment.user.kind == "Bot"]


def open_threads(pull: PullHandle) -> list[str]:
    """The comments on lines and files that are not folded."""
    return [thread.comment.body for thread in pull.conversation().threads if not thread.folded]
