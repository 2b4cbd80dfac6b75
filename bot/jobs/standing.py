"""What each repository waits for, kept durably: made anew when its default branch moves, and read by every poll."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

from bot import __version__
from bot.github.client import GitHub
from bot.github.errors import TooLarge
from bot.github.model import Blob, RepositoryName, TreeEntry
from bot.hazards import load_rules
from bot.jobs.gather import ROUNDS, early
from bot.jobs.resolver import RESOLVER
from bot.jobs.waiting import Waiting, Waits, as_records, from_records
from bot.store import Facts

log = logging.getLogger("seamguard.upstream")

STANDING = "standing"
"""A kind of fact: that a repository was looked at, under its name. What was found is in the records, written before."""

FOUND = "standing-found"
"""A kind of record: what a repository waits for at a commit of its default branch, written and read as one."""

ABOUT = "about"
"""The record of that commit, of whose token reads there, and of which version of this program looked."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a repository waits for at `head_sha`. `installation` is whose token reads and writes there."""

    repository: RepositoryName
    installation: int
    head_sha: str
    waiting: Waiting


class Standings:
    """All of them."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    async def all(self) -> tuple[Standing, ...]:
        """Of every repository where something is waited for."""
        return await asyncio.to_thread(self._all)

    async def of(self, repository: RepositoryName) -> Standing | None:
        """Of one repository; None where it was not looked at yet, or by another version of this program."""
        return await asyncio.to_thread(self._of, str(repository))

    async def look(self, github: GitHub, installation: int, repository: RepositoryName, sha: str) -> Standing:
        """Of a repository at a commit: what is kept, or what is found there now. Raises a `GitHubError`, `TooLarge` and
        `ResolverFailed`.
        """
        known = await self.of(repository)
        if known is not None and (known.head_sha, known.installation) == (sha, installation):
            return known
        if known is not None and known.head_sha == sha:
            waiting = known.waiting
        else:
            waiting = await _looked(github, repository, sha)
        standing = Standing(repository, installation, sha, waiting)
        await asyncio.to_thread(self._keep, standing)
        return standing

    async def forget(self, repository: RepositoryName) -> None:
        """Nothing is told there any more."""
        await asyncio.to_thread(self._facts.forget, STANDING, str(repository))
        await self._facts.records.replace_soon(FOUND, str(repository), {})

    def _all(self) -> tuple[Standing, ...]:
        found = (self._of(key) for key in self._facts.keys(STANDING))
        return tuple(standing for standing in found if standing is not None and standing.waiting.references)

    def _of(self, name: str) -> Standing | None:
        if self._facts.recall(STANDING, name) is None:
            return None
        stored = self._facts.records.all(FOUND, name)
        about = stored.get(ABOUT)
        if about is None or about.get("version") != __version__:
            return None
        owner, _, short = name.partition("/")
        return Standing(
            RepositoryName(owner, short), int(about["installation"]), str(about["head"]), from_records(stored)
        )

    def _keep(self, standing: Standing) -> None:
        name = str(standing.repository)
        about = {"installation": standing.installation, "head": standing.head_sha, "version": __version__}
        # A commit and the lines that were found there are one transaction: the lines of another would be told as its.
        self._facts.records.replace(FOUND, name, {**as_records(standing.waiting), ABOUT: about})
        if self._facts.recall(STANDING, name) is None:
            self._facts.remember(STANDING, name, {"at": time.time()})


async def _looked(github: GitHub, repository: RepositoryName, sha: str) -> Waiting:
    """What is waited for at a commit: its tree, and what has to be read of it."""
    tree = await github.tree(repository, sha)
    if tree.truncated:
        raise TooLarge("the repository has too many files")
    question = Waits(tuple(load_rules().upstream.fixes))
    entries: Mapping[str, TreeEntry] = tree.entries
    missing: Mapping[str, str] = {path: entry.sha for path, entry in early(entries)}
    blobs: dict[str, Blob] = {}
    for _ in range(ROUNDS):
        blobs |= await github.blobs(repository, missing, sha)
        for lacking in missing.values():
            blobs.setdefault(lacking, Blob(lacking, None, "GitHub does not give the file's content"))
        asked = await RESOLVER.ask(question, entries, entries, blobs)
        missing = asked.missing
        if not missing:
            break
    return asked.answer
