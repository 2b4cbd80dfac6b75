"""Watching upstream without a server: one poll for a cron job, or one after the other."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.github.app import App
from bot.github.blobcache import BlobCache
from bot.github.errors import GitHubError
from bot.github.given import ACTIONS_APP, GivenToken
from bot.github.hosts import GITHUB_API
from bot.github.limits import Timing
from bot.github.model import RepositoryName
from bot.jobs import handlers
from bot.jobs.context import Context, web_address
from bot.jobs.polling import EVERY_SECONDS, Watching
from bot.jobs.recording import Recording, poll_all
from bot.jobs.rehearsing import Written, rehearse
from bot.jobs.resolver import RESOLVER, ResolverFailed
from bot.jobs.standing import Standing
from bot.store import Database, Facts, Job
from bot.upstream.facts import Facts as ClockFacts
from bot.upstream.watch import Watched
from bot.web.settings import Settings

log = logging.getLogger("seamguard.upstream")

Say = Callable[[str], None]


class CannotWatch(Exception):
    """The settings do not allow it. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a look at upstream gave: each repository's clocks, what was told there, and what went wrong. `would` is what
    would be written to each, where nothing was.
    """

    clocks: tuple[tuple[str, tuple[Watched, ...]], ...]
    told: tuple[str, ...]
    problems: tuple[str, ...]
    would: tuple[tuple[str, tuple[Written, ...]], ...] = ()


async def watch_once(
    settings: Settings,
    repositories: Sequence[str] = (),
    *,
    tell: bool = True,
    say: Say = lambda _: None,
    timing: Timing | None = None,
) -> Outcome:
    """Polls, and tells the repositories: those that are named, or all where the App is installed.

    Raises `CannotWatch` and `DatabaseError`.
    """
    async with _context(settings, tell=tell, timing=timing) as context:
        every = settings.poll_seconds or EVERY_SECONDS
        watching = Watching(context, handlers.notice, every=every, progress=say)
        problems: list[str] = []
        standings = [
            standing
            for installation, repository in await _chosen(context.app, repositories)
            if (standing := await _standing(context, watching, installation, repository, problems, say)) is not None
        ]
        if tell:
            heard = await watching.hear(tuple(standings))
            told, more = heard.told, heard.problems
        else:
            told, more = (), await watching.poll(tuple(standings))
        clocks = [(standing, await watching.clocks(standing)) for standing in standings]
        would = [] if tell else [await _rehearsed(context, standing, watched, problems) for standing, watched in clocks]
        named = tuple((str(standing.repository), watched) for standing, watched in clocks)
        return Outcome(named, told, (*problems, *more), tuple(would))


async def facts_now(
    settings: Settings,
    references: Sequence[str],
    pins: Sequence[str],
    database: Database,
    *,
    say: Say = lambda _: None,
    timing: Timing | None = None,
) -> tuple[Callable[[str], ClockFacts], tuple[str, ...]]:
    """The facts about references as upstream tells them now, and what could not be had. They are kept in the database,
    so that the next time little is asked for. Nothing is written to GitHub.
    """
    if settings.github_token is not None or settings.issuer is None or settings.private_key is None:
        app = App("", "", settings.hosts, BlobCache(), timing, settings.github_token)
        installations: list[int] = []
    else:
        app = App(settings.issuer, settings.private_key, settings.hosts, BlobCache(), timing)
        installations = [found.id for found in await app.installations() if not found.suspended]
    try:
        await asyncio.to_thread(database.prepare)
        recording = Recording(Facts(database), progress=say)
        problems = await poll_all(recording, await app.public(installations), references, pins)
        return await asyncio.to_thread(recording.clock_facts, references, pins), problems
    finally:
        await app.close()


@asynccontextmanager
async def _context(settings: Settings, *, tell: bool, timing: Timing | None) -> AsyncIterator[Context]:
    app = _app(settings, tell=tell, timing=timing)
    database = Database(settings.database_url)
    file = database.engine.url.database
    if database.is_sqlite and file:
        Path(file).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        await asyncio.to_thread(database.prepare)
        web_url = web_address(settings.api_url)
        yield Context(
            app, Facts(database), _accept_nothing, _never_superseded, web_url=web_url, public_url=settings.public_url
        )
    finally:
        await app.close()
        database.close()
        await asyncio.to_thread(RESOLVER.close)


def _app(settings: Settings, *, tell: bool, timing: Timing | None) -> App:
    cache = BlobCache(settings.cache_folder)
    if settings.issuer is not None and settings.private_key is not None:
        return App(settings.issuer, settings.private_key, settings.hosts, cache, timing, settings.github_token)
    if settings.github_token is None:
        raise CannotWatch("no credentials: set GITHUB_TOKEN, or those of the App (`seamguard register` makes one)")
    actions = os.environ.get("GITHUB_ACTIONS") == "true" and settings.api_url == GITHUB_API
    if tell and not actions:
        raise CannotWatch(
            "issues are written as the App, or in a run of GitHub Actions with its own token: with another token "
            "nobody could tell them from those that people write; --dry-run works with any"
        )
    return GivenToken(settings.github_token, ACTIONS_APP if actions else 0, settings.hosts, cache, timing)


async def _chosen(app: App, repositories: Sequence[str]) -> list[tuple[int, RepositoryName]]:
    """The repositories with their installations; of a token there is none, and 0 stands for it."""
    wanted = {name.lower(): name for name in repositories}
    if isinstance(app, GivenToken):
        names = list(wanted.values()) or [name for name in [os.environ.get("GITHUB_REPOSITORY", "")] if name]
        if not names:
            raise CannotWatch("name a repository with --repo OWNER/NAME: a token is installed nowhere")
        return [(0, RepositoryName(*name.split("/", 1))) for name in names]
    found = [
        (installation.id, repository)
        for installation in await app.installations()
        if not installation.suspended
        for repository in await app.installation_repositories(installation.id)
        if not wanted or str(repository).lower() in wanted
    ]
    lacking = wanted.keys() - {str(repository).lower() for _, repository in found}
    if lacking:
        raise CannotWatch(f"the App is not installed for {', '.join(sorted(wanted[name] for name in lacking))}")
    return found


async def _standing(
    context: Context, watching: Watching, installation: int, repository: RepositoryName, problems: list[str], say: Say
) -> Standing | None:
    """What a repository waits for now; None where that is nothing, or can't be had."""
    say(f"reading {repository}")
    try:
        github = await context.github(installation)
        sha = await github.tip(repository)
        if sha is None:
            return None
        standing = await watching.standings.look(github, installation, repository, sha)
        return standing if await watching.concerns(standing) else None
    except (GitHubError, ResolverFailed) as error:
        problems.append(f"{repository}: {error}")
        return None
    except Exception as error:  # what one repository holds must not keep the others from hearing
        log.exception("a repository could not be read", extra={"about": str(repository)})
        problems.append(f"{repository}: it could not be read ({type(error).__name__})")
        return None


async def _rehearsed(
    context: Context, standing: Standing, watched: tuple[Watched, ...], problems: list[str]
) -> tuple[str, tuple[Written, ...]]:
    name = str(standing.repository)
    try:
        github = await context.github(standing.installation)
        return name, await rehearse(context, github, standing.repository, standing.head_sha, watched)
    except GitHubError as error:
        problems.append(f"{name}: {error}")
        return name, ()


async def _accept_nothing(_job: Job) -> bool:
    return False


async def _never_superseded(_job: Job) -> bool:
    return False
