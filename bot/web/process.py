"""The whole process: settings, logs, store, GitHub, jobs and the HTTP server put together."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.github.app import App
from bot.github.blobcache import BlobCache
from bot.github.limits import Timing
from bot.github.redaction import Redactor
from bot.hazards import load_rules
from bot.jobs import polling
from bot.jobs.context import Context, web_address
from bot.jobs.handlers import handlers
from bot.jobs.kinds import job_of
from bot.jobs.recording import Recording
from bot.jobs.sweeping import EVERY_SECONDS, regularly
from bot.store import Database, Facts, Job, Jobs, Patience
from bot.web import logs
from bot.web.server import Check, Server, listening
from bot.web.settings import Settings

log = logging.getLogger("seamguard")

GRACE_SECONDS = 10
"""For jobs that are being done when the process is asked to end; what is left is done by the next one."""


@dataclass(frozen=True)
class Parts:
    """What runs. `url` is None without a server."""

    app: App
    jobs: Jobs
    facts: Facts
    context: Context
    url: str | None = None


class NotConfigured(Exception):
    """There are no credentials."""


@asynccontextmanager
async def running(
    settings: Settings,
    *,
    web: bool = True,
    work: bool = True,
    timing: Timing | None = None,
    patience: Patience | None = None,
    sweep_seconds: float | None = EVERY_SECONDS,
    poll_seconds: float | None = None,
    grace: int = 0,
    web_url: str | None = None,
    sandbox: bool = False,
) -> AsyncIterator[Parts]:
    """Runs a server (`web`), a worker (`work`) or both until the context ends. Upstream is polled every `poll_seconds`,
    and not at all without them. `web_url` is where people see GitHub, when that isn't where its API says.

    Raises `NotConfigured` without credentials: the server never listens without a secret. Raises `DatabaseError`.
    """
    if settings.issuer is None or settings.private_key is None or settings.webhook_secret is None:
        raise NotConfigured("no credentials: run `seamguard register`, or set CLIENT_ID, PRIVATE_KEY, WEBHOOK_SECRET")
    database = _database(settings)
    facts = Facts(database)
    rules = load_rules()
    cache = BlobCache(settings.cache_folder)
    app = App(settings.issuer, settings.private_key, settings.hosts, cache, timing, settings.github_token)

    async def accept(job: Job) -> bool:
        return await jobs.inbox.accept(job)

    async def superseded(job: Job) -> bool:
        return await jobs.superseded(job)

    context = Context(
        app,
        facts,
        accept,
        superseded,
        web_url=web_url or web_address(settings.api_url),
        public_url=settings.public_url,
        recorded=Recording(facts).facts_of,
        poll_seconds=poll_seconds,
    )
    jobs = Jobs(database, handlers(context), patience)
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(database.close)
        stack.push_async_callback(app.close)
        await jobs.start(work=work)
        stack.push_async_callback(jobs.stop, grace)
        if work and sweep_seconds is not None:
            stack.push_async_callback(_cancel, asyncio.create_task(regularly(context, jobs.prune, sweep_seconds)))
        if work and poll_seconds is not None:
            polls = polling.regularly(context, poll_seconds, settings.issuer)
            stack.push_async_callback(_cancel, asyncio.create_task(polls))
        url = None
        if web:
            server = Server(
                settings.webhook_secret,
                job_of,
                jobs.inbox.accept,
                rules,
                checks=(("the database", lambda: asyncio.to_thread(database.check)), ("GitHub", _identity(app))),
                sandbox=sandbox,
                metrics_token=settings.metrics_token,
            )
            url = await stack.enter_async_context(listening(server.application(), settings.host, settings.port))
            log.info("listening", extra={"url": url})
        yield Parts(app, jobs, facts, context, url)


def _database(settings: Settings) -> Database:
    database = Database(settings.database_url)
    file = database.engine.url.database
    if database.is_sqlite and file:
        Path(file).parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # what is kept may be of private repositories
    return database


def _identity(app: App) -> Check:
    async def check() -> None:
        await app.app()

    return check


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


@asynccontextmanager
async def ending() -> AsyncIterator[asyncio.Event]:
    """An event that is set when the process is asked to end (SIGTERM, SIGINT)."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGTERM, signal.SIGINT)
    for number in numbers:
        loop.add_signal_handler(number, ended.set)
    try:
        yield ended
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


async def serve(settings: Settings, *, web: bool = True, work: bool = True) -> None:
    """Runs until the process is asked to end; then what has begun gets a while."""
    logs.configure(settings.log_level, Redactor(settings.secrets))
    polls = settings.poll_seconds
    async with ending() as ended, running(settings, web=web, work=work, grace=GRACE_SECONDS, poll_seconds=polls):
        await ended.wait()
        log.info("asked to end")
