"""What would be written about upstream fixes, without writing it: the same decisions, of which nothing is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from bot.github.client import GitHub
from bot.github.issues import Issues
from bot.github.model import IssueComment, PostedIssue, RepositoryName
from bot.jobs.context import Context
from bot.jobs.noticing import Noticing
from bot.notices import Places
from bot.store import Facts
from bot.upstream.watch import Watched


@dataclass(frozen=True, slots=True)
class Written:
    """One thing that would be written. `number` is the issue's (None: it would be a new one); of an issue that is
    edited, `title` and `body` are None where they stay.
    """

    what: Literal["open", "edit", "comment"]
    number: int | None
    title: str | None
    body: str | None
    labels: tuple[str, ...] = ()
    reopens: bool = False


class _Unwritten(Issues):
    """Reads issues, and notes what would be written."""

    def __init__(self, issues: Issues) -> None:
        self._issues = issues
        self.written: list[Written] = []

    async def labelled(self, repository: RepositoryName, label: str) -> tuple[PostedIssue, ...]:
        return await self._issues.labelled(repository, label)

    async def get(self, repository: RepositoryName, number: int) -> PostedIssue:
        return await self._issues.get(repository, number)

    async def comments(self, repository: RepositoryName, number: int) -> tuple[IssueComment, ...]:
        return await self._issues.comments(repository, number)

    async def create(self, repository: RepositoryName, title: str, body: str, label: str) -> PostedIssue:  # noqa: ARG002
        self.written.append(Written("open", None, title, body, (label,)))
        return PostedIssue(0, title, body, True, None, True, (label,))

    async def edit(
        self,
        repository: RepositoryName,
        number: int,
        *,
        title: str | None = None,
        body: str | None = None,
        reopen: bool = False,
    ) -> PostedIssue:
        self.written.append(Written("edit", number, title, body, reopens=reopen))
        return await self._issues.get(repository, number)

    async def comment(self, repository: RepositoryName, number: int, body: str) -> int:  # noqa: ARG002
        self.written.append(Written("comment", number, None, body))
        return 0

    async def ensure_label(self, repository: RepositoryName, name: str, color: str, description: str) -> None:
        """The label comes with the issue."""


class _Unkept(Facts):
    """Facts that are read, and stay as they are."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def all(self, kind: str, prefix: str = "") -> Mapping[str, Mapping[str, Any]]:
        return self._facts.all(kind, prefix)

    def replace(self, kind: str, key: str, known: Mapping[str, Any] | None, value: Mapping[str, Any]) -> bool:  # noqa: ARG002
        return True


async def rehearse(
    context: Context, github: GitHub, repository: RepositoryName, head_sha: str, watched: tuple[Watched, ...]
) -> tuple[Written, ...]:
    """What the next run would write. Raises a `GitHubError` when the issues can't be read."""
    unwritten = _Unwritten(github.issues)
    places = Places(f"{context.web_url}/{repository}", head_sha)
    noticing = Noticing(replace(context, facts=_Unkept(context.facts)), unwritten, repository, places)
    await noticing.run(watched)
    return tuple(unwritten.written)
