"""Watches upstream for all repositories: one poll asks what is new, and each repository is told what it means there."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot import __version__
from bot.github.client import GitHub
from bot.github.errors import GitHubError, RateLimited
from bot.github.model import RepositoryName
from bot.hazards import load_rules
from bot.jobs.context import Context
from bot.jobs.kinds import POLL, installation_of, repository_of, stand_job
from bot.jobs.noticing import NOTHING, NOTICE
from bot.jobs.recording import Recording, poll_all
from bot.jobs.standing import Standing, Standings
from bot.jobs.waiting import clocks_of
from bot.learn.excerpts import Excerpts
from bot.store import Job
from bot.upstream.known import known_from
from bot.upstream.watch import Watched

log = logging.getLogger("seamguard.upstream")

EVERY_SECONDS = 1800.0
JITTER = 0.2
"""Of the time between two polls: the servers of the world shall not all ask at the same moment."""

TOLD = "told"
"""A kind of fact: the clocks that a repository was last told of, and what came of it."""

DISCOVERED = "discovered"
"""A kind of fact: on which day it was last looked where the App is installed."""

AGAIN_SECONDS = 24 * 3600.0
"""What could be told in part only (too many issues at once) is looked at again after so long, even without news."""

Notice = Callable[[Context, GitHub, RepositoryName, str, tuple[Watched, ...]], Awaitable[str]]
"""Tells a repository what its clocks say; in a few words what was done. May be called again and again."""


@dataclass(frozen=True, slots=True)
class Heard:
    """How a poll went: problems with what was asked, and what each repository was told."""

    problems: tuple[str, ...]
    told: tuple[str, ...]


class Watching:
    """Polls, and tells. `progress` is given a few words on the way."""

    def __init__(
        self,
        context: Context,
        notice: Notice,
        *,
        every: float = EVERY_SECONDS,
        progress: Callable[[str], None] = lambda _: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._context = context
        self._notice = notice
        self._now = now
        self._progress = progress
        self._sources = Excerpts(say=log.info)
        self.standings = Standings(context.facts)
        self.recording = Recording(context.facts, every=every, now=now, progress=progress)

    async def poll(self, standings: tuple[Standing, ...]) -> tuple[str, ...]:
        """Asks what is new of everything that is waited for. Returns what could not be had."""
        self._sources = Excerpts(say=log.info)  # what one run may fetch is bounded
        references = {reference for standing in standings for reference in standing.waiting.references}
        pins = {asked for standing in standings for asked in standing.waiting.asked}
        public = await self._context.app.public(sorted({standing.installation for standing in standings}))
        return await poll_all(self.recording, public, references, pins)

    async def clocks(self, standing: Standing) -> tuple[Watched, ...]:
        """The clocks of one repository, by what is recorded."""
        return await asyncio.to_thread(self._clocks, standing)

    def _clocks(self, standing: Standing) -> tuple[Watched, ...]:
        waiting = standing.waiting
        facts = self.recording.clock_facts(waiting.references, waiting.asked)
        upstream = load_rules().upstream
        return clocks_of(waiting, upstream, facts, known_from(upstream.known, self._sources.source))

    async def concerns(self, standing: Standing) -> bool:
        """Whether something is waited for in a repository, or issues there may still say so."""
        told = f"{standing.repository} "
        return bool(standing.waiting.references or await asyncio.to_thread(self._context.facts.keys, NOTICE, told))

    async def tell(self, standing: Standing) -> str:
        """Tells a repository what is new there; nothing is asked of it when nothing is. Raises a `GitHubError`."""
        key = str(standing.repository)
        known = await self._context.facts.recall_soon(TOLD, key) or {}
        settled = known.get("settled") and self._now() < known.get("again", 0.0)
        revision = await asyncio.to_thread(self.recording.revision, standing.waiting.references)
        basis = f"{__version__} {standing.head_sha} {revision}"
        if settled and known.get("basis") == basis:
            return NOTHING
        watched = await self.clocks(standing)
        digest = hashlib.sha256(repr((standing.head_sha, watched)).encode()).hexdigest()
        if settled and known.get("digest") == digest:
            await self._context.facts.remember_soon(TOLD, key, {**known, "basis": basis})
            return NOTHING
        github = await self._context.github(standing.installation)
        said = await self._notice(self._context, github, standing.repository, standing.head_sha, watched)
        # The same words twice: whatever is left is not for now.
        settled = said == NOTHING or (known.get("digest") == digest and known.get("said") == said)
        again = self._now() + AGAIN_SECONDS
        fact = {"basis": basis, "digest": digest, "said": said, "settled": settled, "again": again}
        await self._context.facts.remember_soon(TOLD, key, fact)
        return said

    async def hear(self, standings: tuple[Standing, ...]) -> Heard:
        """A poll, and what follows from it everywhere. One repository's failure is none of another's."""
        problems = list(await self.poll(standings))
        told: list[str] = []
        for standing in standings:
            try:
                said = await self.tell(standing)
            except GitHubError as error:
                log.warning("a repository could not be told: %s", error, extra={"about": str(standing.repository)})
                problems.append(f"{standing.repository}: {error}")
                continue
            except Exception as error:  # what one repository holds must not keep the others from hearing
                log.exception("a repository could not be told", extra={"about": str(standing.repository)})
                problems.append(f"{standing.repository}: it could not be told ({type(error).__name__})")
                continue
            told.append(f"{standing.repository}: {said}")
            if said != NOTHING:
                self._progress(told[-1])
        return Heard(tuple(problems), tuple(told))


class Polling:
    """Handles `poll` jobs."""

    def __init__(self, context: Context, notice: Notice) -> None:
        self._context = context
        self._watching = Watching(context, notice, every=context.poll_seconds or EVERY_SECONDS)

    async def do(self, job: Job) -> str:  # noqa: ARG002
        """Polls upstream, and tells every repository."""
        asked = await self._discover()
        standings = await self._watching.standings.all()
        if not standings:
            return f"nothing is waited for, {asked} repositories to be looked at"
        heard = await self._watching.hear(standings)
        for problem in heard.problems:
            log.warning("upstream: %s", problem)
        news = sum(not line.endswith(f": {NOTHING}") for line in heard.told)
        return f"{len(standings)} repositories, {news} with news, {len(heard.problems)} problems"

    async def give_up(self, job: Job, reason: str) -> str:  # noqa: ARG002
        """The next one comes soon."""
        return f"given up: {reason}"

    async def _discover(self) -> int:
        """Once a day all repositories are looked at again, so that nothing stays missed; returns how many."""
        today = time.strftime("%Y-%m-%d", time.gmtime())
        known = await self._context.facts.recall_soon(DISCOVERED, "day") or {}
        about = {"day": today, "version": __version__}
        if known == about:
            return 0
        here: set[str] = set()
        whole = True
        for installation in await self._context.app.installations():
            if installation.suspended:
                continue
            try:
                repositories = await self._context.app.installation_repositories(installation.id)
            except RateLimited:
                raise
            except GitHubError as error:
                log.warning("an installation could not be listed: %s", error, extra={"installation": installation.id})
                whole = False
                continue
            for repository in repositories:
                here.add(str(repository))
                identity = _short(f"stand:{today} {__version__} {repository}")
                await self._context.accept(stand_job(identity, installation.id, repository, None))
        if whole:
            for standing in await self._watching.standings.all():
                if str(standing.repository) not in here:
                    await self._watching.standings.forget(standing.repository)
        await self._context.facts.remember_soon(DISCOVERED, "day", about)
        return len(here)


class Looking:
    """Handles `stand` jobs: what a repository waits for at the tip of its default branch, and what is to be told."""

    def __init__(self, context: Context, notice: Notice) -> None:
        self._context = context
        self._watching = Watching(context, notice, every=context.poll_seconds or EVERY_SECONDS)

    async def do(self, job: Job) -> str:
        """Looks, and tells at once; what is not recorded yet is asked for by a poll of its own."""
        repository, installation = repository_of(job), installation_of(job)
        github = await self._context.github(installation)
        sha = job.data.get("sha") or await github.tip(repository)
        if sha is None:
            return "the repository is empty"
        before = await self._watching.standings.of(repository)
        standing = await self._watching.standings.look(github, installation, repository, str(sha))
        if not await self._watching.concerns(standing):
            return "nothing is waited for"
        if _asks_more(before, standing):
            identity = _short(f"poll:{repository}@{standing.head_sha}")
            await self._context.accept(Job(identity, POLL, POLL, {}, latest_wins=True))
            return f"{len(standing.waiting.references)} references, which are asked for"
        return await self._watching.tell(standing)

    async def give_up(self, job: Job, reason: str) -> str:
        """Nobody waits for it; the next push, or the next day, tries again."""
        log.warning("given up", extra={"about": job.partition, "reason": reason})
        return f"given up: {reason}"


def _asks_more(before: Standing | None, now: Standing) -> bool:
    """Whether something is waited for, or pinned, that nobody may have asked upstream about."""
    if before is None:
        return True
    return not (
        set(now.waiting.references) <= set(before.waiting.references)
        and set(now.waiting.asked) <= set(before.waiting.asked)
    )


def due(number: int, every: float, seed: str) -> float:
    """When the `number`-th poll is due, in seconds since the epoch: the same for all processes of one server."""
    spread = int.from_bytes(hashlib.sha256(f"{seed}:{number}".encode()).digest()[:4], "big") / 2**32
    return (number + spread * JITTER) * every


async def regularly(context: Context, every: float, seed: str) -> None:
    """Asks for a poll now, and then again and again. Several processes ask for the same one."""
    while True:
        number = int(time.time() // every)
        try:
            await context.accept(Job(f"poll:{number}", POLL, POLL, {}, latest_wins=True))
        except Exception:
            log.exception("a poll could not be asked for")
        await asyncio.sleep(max(1.0, due(number + 1, every, seed) - time.time()))


def _short(identity: str) -> str:
    kind, _, rest = identity.partition(":")
    return f"{kind}:{hashlib.sha256(rest.encode()).hexdigest()[:32]}"
