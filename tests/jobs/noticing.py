"""A simulated GitHub, a store, and processes that come and go between them, for issues about upstream fixes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.github.app import App
from bot.github.errors import Unavailable
from bot.github.etags import EtagCache
from bot.github.hosts import Hosts
from bot.github.limits import Timing
from bot.github.model import RepositoryName
from bot.jobs.context import Context
from bot.jobs.noticing import LAG_SECONDS, Noticing
from bot.notices import Places
from bot.sandbox.github import Hub, RepositoryHandle, simulated_github
from bot.sandbox.github.model import Issue
from bot.store import Facts, Job
from bot.store.database import Database
from bot.upstream.watch import Watched
from tests.contract.middleware import Contract

TIMING = Timing(between_writes=0.0, patience=0.2, backoff=0.001, max_backoff=0.005, attempts=2, timeout=1.0)
NAME = RepositoryName("acme", "serving")


class Killed(BaseException):
    """The process is gone."""


class Life:
    """How many steps a process has before it dies: each request, and each thing remembered, before and after."""

    def __init__(self, steps: int | None = None) -> None:
        self.left = steps

    def step(self) -> None:
        """One step further, or the end."""
        if self.left is not None:
            if self.left == 0:
                raise Killed
            self.left -= 1


LIFE: ContextVar[Life] = ContextVar("life", default=Life())  # noqa: B039 - an endless one has no state


class MortalFacts(Facts):
    """Facts of a process that may die."""

    def __init__(self, database: Database, life: Life) -> None:
        super().__init__(database)
        self._life = life

    def replace(self, kind: str, key: str, known: Mapping[str, Any] | None, value: Mapping[str, Any]) -> bool:
        self._life.step()
        done = super().replace(kind, key, known, value)
        self._life.step()
        return done


async def _nothing(_: Job) -> bool:
    return False


@dataclass
class World:
    """A repository where the App is installed. `late` is how much later it is, in seconds."""

    hub: Hub
    repository: RepositoryHandle
    database: Database
    app: App
    late: float = 0.0

    async def tell(self, watched: tuple[Watched, ...], life: Life | None = None) -> str:
        """One run of a process that knows nothing of the ones before it but what is stored."""
        life = life or Life()
        LIFE.set(life)
        self.app.transport.etags = EtagCache()
        github = await self.app.installation(self.repository.installation.id)
        context = Context(self.app, MortalFacts(self.database, life), _nothing, _nothing, "https://github.example")
        places = Places(f"{context.web_url}/{NAME}", self.repository.tip)
        return await Noticing(context, github.issues, NAME, places, lambda: time.time() + self.late).run(watched)

    async def until_done(self, watched: tuple[Watched, ...]) -> None:
        """Runs as they are repeated by polls, until there is nothing left to do."""
        for _ in range(6):
            self.late += LAG_SECONDS + 1
            with contextlib.suppress(Unavailable):
                if await self.tell(watched) == "nothing to tell":
                    return
        raise AssertionError("it never ends")

    def ours(self) -> list[Issue]:
        """The App's issues."""
        return [issue for issue in self.repository.record.issues.values() if issue.app is not None]

    def only(self) -> Issue:
        """The App's only issue."""
        (issue,) = self.ours()
        return issue

    def comments(self) -> list[str]:
        """What the App said below its only issue."""
        return [comment.body for comment in self.only().comments if comment.app is not None]

    def calls(self, since: int = 0) -> list[str]:
        """The requests for the repository."""
        return [
            f"{entry.method} {entry.path.removeprefix('/repos/acme/serving')}"
            for entry in self.hub.requests[since:]
            if entry.path.startswith("/repos/")
        ]


def _mortal(app: App) -> None:
    exchange = app.transport.exchange

    async def dying(*arguments: Any) -> Any:
        LIFE.get().step()
        answer = await exchange(*arguments)
        LIFE.get().step()
        return answer

    app.transport.exchange = dying  # type: ignore[assignment, method-assign]


@asynccontextmanager
async def world(folder: Path) -> AsyncIterator[World]:
    """Everything, until the context ends. Every request is held against GitHub's own description, where it is there."""
    contract = Contract()
    async with simulated_github(*contract.middlewares) as hub:
        hub.register_app()
        repository = hub.repository("acme/serving", {"README.md": "# Serving"}, installed=True)
        database = Database.file(folder / "store.sqlite")
        database.prepare()
        record = repository.installation.app
        async with App(record.client_id, record.private_key, Hosts(hub.url, ()), timing=TIMING) as app:
            await (await app.installation(repository.installation.id)).issues.labelled(NAME, "none")  # its tokens
            hub.requests.clear()
            _mortal(app)
            yield World(hub, repository, database, app)
        database.close()
    contract.assert_kept()
