"""What every job has at hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from bot.github.app import App
from bot.github.client import GitHub
from bot.github.model import RepositoryName
from bot.review import Links
from bot.store import Facts, Job
from bot.upstream.facts import Facts as UpstreamFacts

Superseded = Callable[[Job], Awaitable[bool]]
Accept = Callable[[Job], Awaitable[bool]]
Recorded = Callable[[Sequence[str]], Awaitable[Mapping[str, UpstreamFacts]]]
"""Gives what was recorded of upstream references, those of which nothing was left out."""


async def nothing_recorded(_references: Sequence[str]) -> Mapping[str, UpstreamFacts]:
    """What is known where nobody watches upstream."""
    return {}


@dataclass(frozen=True)
class Context:
    """`web_url` is where people see GitHub, `public_url` where they see this server (None: nowhere). `accept` takes in
    further jobs; `superseded` says whether a newer job does all that one would; `recorded` gives facts of upstream.
    `poll_seconds` is the time between two polls of upstream, None where it is not watched.
    """

    app: App
    facts: Facts
    accept: Accept
    superseded: Superseded
    web_url: str = "https://github.com"
    public_url: str | None = None
    poll_seconds: float | None = None
    recorded: Recorded = nothing_recorded

    async def github(self, installation: int) -> GitHub:
        """The client of an installation."""
        return await self.app.installation(installation)

    def links(self, repository: RepositoryName, sha: str) -> Links:
        """The addresses behind a text about a commit."""
        rules = f"{self.public_url}/hazards" if self.public_url else ""
        return Links(f"{self.web_url}/{repository}", sha, rules)

    @property
    def details_url(self) -> str | None:
        """Where a check's "Details" lead."""
        return f"{self.public_url}/hazards" if self.public_url else None


def web_address(api_url: str) -> str:
    """Where people see the GitHub that has its API there."""
    parts = urlsplit(api_url)
    if parts.hostname == "api.github.com":
        return "https://github.com"
    return f"{parts.scheme}://{parts.netloc}"
