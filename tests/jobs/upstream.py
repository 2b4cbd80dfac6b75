"""A simulated upstream, and what is recorded of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.github.auth import GivenCredential, NoCredential
from bot.github.hosts import Hosts
from bot.github.limits import Timing
from bot.github.public import Public
from bot.github.requests import Requests, Transport
from bot.jobs.recording import Polled, Recording
from bot.references import UPSTREAM
from bot.sandbox.github import Hub, Installation, RepositoryHandle, simulated_github
from bot.store import Database, Facts
from bot.upstream.clock import Clock, read_clock
from tests.contract.middleware import Contract
from tests.sandbox.github.caller import Caller

TIMING = Timing(between_writes=0.0, patience=0.05, backoff=0.005, max_backoff=0.02, attempts=2, timeout=2.0)


@dataclass
class Here:
    hub: Hub
    upstream: RepositoryHandle
    facts: Facts
    public: Public
    time: list[float] = field(default_factory=lambda: [0.0])
    installation: Installation | None = None

    def recording(self) -> Recording:
        return Recording(self.facts, now=lambda: self.hub.clock.now().timestamp() + self.time[0])

    async def poll(self, numbers: Iterable[int], pins: Iterable[str] = (), repository: str = UPSTREAM) -> Polled:
        return await self.recording().poll(self.public, repository, numbers, pins)

    async def renew(self) -> None:
        """Another token of the same installation, as after an hour."""
        assert self.installation is not None
        async with Caller(self.hub, self.installation) as caller:
            self.public._requests.credential = GivenCredential(caller.token)

    def clock(self, number: int, *pins: str) -> Clock:
        reference = f"{UPSTREAM}#{number}"
        return read_clock(reference, pins, self.recording().clock_facts([reference], pins)(reference))

    def asked(self) -> Callable[[], list[tuple[str, int]]]:
        """What is asked from now on: addresses and answers."""
        since = len(self.hub.requests)
        return lambda: [(entry.path, entry.status) for entry in self.hub.requests[since:]]


@asynccontextmanager
async def upstream(folder: Path, *, anonymous: bool = False) -> AsyncIterator[Here]:
    """An upstream with a file and a commit; whoever asks has the token of some other installation."""
    contract = Contract()
    database = Database.file(folder / "store.sqlite")
    database.prepare()
    async with simulated_github(*contract.middlewares) as hub:
        hub.register_app()
        mine = hub.repository("acme/serving", {"README.md": "# Serving\n"}, installed=True)
        there = hub.repository(UPSTREAM, {"vllm/manager.py": "old\n"})
        async with Caller(hub, mine.installation) as caller:
            transport = Transport(Hosts(hub.url), TIMING)
            credential = NoCredential() if anonymous else GivenCredential(caller.token)
            try:
                public = Public(Requests(transport, credential))
                yield Here(hub, there, Facts(database), public, installation=mine.installation)
            finally:
                await transport.close()
                database.close()
    contract.assert_kept()
