"""Does the jobs: each once, those of a partition in their order, again after a crash.

DBOS keeps a job's row until it is done. A job is done by a handler, in attempts; each is a recorded step, so that after
a crash the job goes on with the attempt that was interrupted. A handler must bear that its attempt is made again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from dbos import DBOS, DBOSConfig
from prometheus_client import Counter, Histogram
from sqlalchemy.exc import SQLAlchemyError

from bot.store.database import Database
from bot.store.inbox import APPLICATION, QUEUE, VERSION, WORKFLOW, Inbox
from bot.store.job import CURRENT, Job, Later
from bot.store.workers import BEAT_SECONDS, Workers

log = logging.getLogger("seamguard.jobs")

JOBS = Counter("seamguard_jobs", "Jobs that ended", ["kind", "outcome"])
SECONDS = Histogram("seamguard_job_seconds", "From the start of a job to its end", ["kind"])

KEEP_SECONDS = 30 * 24 * 3600.0
"""Done jobs are kept for so long: GitHub may redeliver within three days."""

DELETE_AT_ONCE = 500
TELLING_PAUSES = 4
"""Attempts at telling that a job was given up, less one."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a job is tried; in seconds. Eleven pauses of these are about five hours.

    `at_once` jobs are at work in one process, and `begun` at work or in a pause: those that wait for one installation's
    rate limit must not hold up everybody else's. A pause looks every `waking` seconds whether something new was asked.
    """

    pauses: tuple[float, ...] = (2, 10, 30, 60, 120, 300, 600, 1800, 3600, 5400, 7200)
    longest_wait: float = 2 * 3600.0
    polling: float = 0.25
    waking: float = 3.0
    at_once: int = 16
    begun: int = 200


class Handler(Protocol):
    """What is done for jobs of some kind."""

    async def do(self, job: Job) -> str:
        """Does a job, or finds out that it is done; says in a few words what came of it. Raises `Later`.

        Any other exception counts as a failed attempt.
        """

    async def give_up(self, job: Job, reason: str) -> str:
        """Called when the last attempt has failed, to tell whoever waits. Raises `Later`, too."""


class Jobs:
    """One per process, since DBOS is. Start it inside the event loop that the handlers shall run in."""

    def __init__(self, database: Database, handlers: Mapping[str, Handler], patience: Patience | None = None) -> None:
        self._database = database
        self._handlers = dict(handlers)
        self._patience = patience or Patience()
        self._at_work = asyncio.Semaphore(self._patience.at_once)
        self._executor = uuid.uuid4().hex
        self._workers = Workers(database, self._executor)
        self._keeper: asyncio.Task[None] | None = None
        self._inbox: Inbox | None = None

    @property
    def inbox(self) -> Inbox:
        """Where jobs are accepted."""
        if self._inbox is None:
            raise RuntimeError("the jobs have not been started")
        return self._inbox

    async def start(self, *, work: bool = True) -> None:
        """Makes what is missing in the database; with `work`, begins to do jobs, those of dead processes too.

        Raises `DatabaseError`.
        """
        await asyncio.to_thread(self._database.prepare)
        _quiet()
        config: DBOSConfig = {
            "name": APPLICATION,
            "system_database_engine": self._database.engine,
            "application_version": VERSION,
            "executor_id": self._executor,
            "log_level": "WARNING",
            "scheduler_polling_interval_sec": 3600.0,
        }
        DBOS(config=config)

        async def workflow(stored: dict[str, Any]) -> str:  # DBOS wants a function, not a method
            return await self._perform(stored)

        DBOS.workflow(name=WORKFLOW)(workflow)
        DBOS.listen_queues([QUEUE] if work else [])
        DBOS.launch()  # here, not in a thread: workflows run in the loop that launches
        await DBOS.register_queue_async(
            QUEUE,
            partition_concurrency=1,
            worker_concurrency=self._patience.begun,
            polling_interval_sec=self._patience.polling,
            on_conflict="always_update",
        )
        self._inbox = Inbox(self._database)
        if work:
            await asyncio.to_thread(self._take_over)
            self._keeper = asyncio.create_task(self._keep())

    async def stop(self, seconds: int = 0) -> None:
        """Ends. Jobs that are being done get `seconds` to end; what is left is done by whoever comes next."""
        if self._keeper is not None:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
        if self._inbox is not None:
            await self._inbox.close()
        await asyncio.to_thread(DBOS.destroy, destroy_registry=True, workflow_completion_timeout_sec=seconds)
        # DBOS has put its own threads under the loop's, and has just ended them.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(thread_name_prefix="seamguard"))
        with contextlib.suppress(SQLAlchemyError):
            await asyncio.to_thread(self._workers.leave)

    async def superseded(self, job: Job) -> bool:
        """Whether a newer job of the same partition does all that this one would."""
        return job.latest_wins and await asyncio.to_thread(self.inbox.newer_waits, job)

    async def idle(self) -> bool:
        """Whether no job is waiting or being done."""
        left = await DBOS.list_workflows_async(
            status=["ENQUEUED", "PENDING", "DELAYED"], queue_name=QUEUE, limit=1, load_input=False, load_output=False
        )
        return not left

    async def prune(self) -> None:
        """Forgets jobs that were done long ago."""
        await asyncio.to_thread(self.inbox.forget_older, KEEP_SECONDS)
        before = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() - KEEP_SECONDS))
        old = await DBOS.list_workflows_async(
            status=["SUCCESS", "ERROR", "CANCELLED"],
            completed_before=before,
            limit=DELETE_AT_ONCE,
            load_input=False,
            load_output=False,
        )
        if old:
            await DBOS.delete_workflows_async([workflow.workflow_id for workflow in old])

    async def _perform(self, stored: dict[str, Any]) -> str:
        """The workflow: attempts, with pauses that a crash neither shortens nor prolongs."""
        job = Job.from_json(stored)
        failures = 0
        while True:
            outcome: dict[str, Any] = await DBOS.run_step_async({"name": "attempt"}, self._attempt, stored)
            if "done" in outcome:
                return str(outcome["done"])
            waited_for = outcome.get("seconds")
            if waited_for is None:
                if failures >= len(self._patience.pauses):
                    break
                waited_for = self._patience.pauses[failures]
                failures += 1
            await self._rest(job, outcome, float(waited_for))
        reason = str(outcome["reason"])
        log.error("job given up", extra={"delivery": job.id, "kind": job.kind, "reason": reason})
        return await self._told(stored, reason)

    async def _rest(self, job: Job, outcome: Mapping[str, Any], seconds: float) -> None:
        """The pause after an attempt; a recorded step, too. It ends early when something newer is asked about the same
        thing: a push must not wait for hours behind a job that it supersedes.
        """
        until = float(outcome["at"]) + min(seconds, self._patience.longest_wait)
        await DBOS.run_step_async({"name": "pause"}, self._pause, job.partition, until, int(outcome["newest"]))

    async def _pause(self, partition: str, until: float, newest: int) -> None:
        while (left := until - time.time()) > 0:
            await asyncio.sleep(min(left, self._patience.waking))
            if await asyncio.to_thread(self.inbox.newest, partition) > newest:
                return

    async def _told(self, stored: dict[str, Any], reason: str) -> str:
        """Tells whoever waits that nothing came of it; that too may take several attempts."""
        for pause in (*self._patience.pauses[-TELLING_PAUSES:], None):
            told: dict[str, Any] = await DBOS.run_step_async({"name": "give up"}, self._give_up, stored, reason)
            if "done" in told or pause is None:
                break
            waited_for = pause if told.get("seconds") is None else float(told["seconds"])
            await self._rest(Job.from_json(stored), told, waited_for)
        return str(told.get("done") or f"given up, and nobody was told: {reason}")

    async def _attempt(self, stored: dict[str, Any]) -> dict[str, Any]:
        job = Job.from_json(stored)
        return await self._in_turn(job, lambda: self._attempted(job))

    async def _attempted(self, job: Job) -> dict[str, Any]:
        context = {"delivery": job.id, "kind": job.kind, "about": job.partition}
        handler = self._handlers.get(job.kind)
        if handler is None:
            log.error("nobody does jobs of this kind", extra=context)
            JOBS.labels(job.kind, "unknown").inc()
            return {"done": f"nobody does jobs of the kind {job.kind}"}
        began = time.monotonic()
        token = CURRENT.set(job)
        try:
            if await self.superseded(job):
                done, outcome = "superseded by a newer one", "superseded"
            else:
                done, outcome = await handler.do(job), "done"
        except Later as later:
            JOBS.labels(job.kind, "later").inc()
            log.warning("job put off", extra={**context, "reason": later.reason})
            return {"reason": later.reason, "seconds": None if later.until is None else later.seconds()}
        except Exception as error:
            JOBS.labels(job.kind, "failed").inc()
            log.exception("job failed", extra=context)
            return {"reason": f"internal error: {type(error).__name__}", "seconds": None}
        finally:
            CURRENT.reset(token)
        SECONDS.labels(job.kind).observe(time.monotonic() - began)
        JOBS.labels(job.kind, outcome).inc()
        log.info("job done", extra={**context, "outcome": done})
        return {"done": done}

    async def _give_up(self, stored: dict[str, Any], reason: str) -> dict[str, Any]:
        job = Job.from_json(stored)
        return await self._in_turn(job, lambda: self._given_up(job, reason))

    async def _in_turn(self, job: Job, work: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """What came of some work on a job; where it has to be done again, with what a pause goes by."""
        async with self._at_work:
            newest = await asyncio.to_thread(self.inbox.newest, job.partition)
            outcome = await work()
        return outcome if "done" in outcome else {**outcome, "at": time.time(), "newest": newest}

    async def _given_up(self, job: Job, reason: str) -> dict[str, Any]:
        JOBS.labels(job.kind, "given-up").inc()
        token = CURRENT.set(job)
        try:
            return {"done": await self._handlers[job.kind].give_up(job, reason)}
        except Later as later:
            return {"reason": later.reason, "seconds": None if later.until is None else later.seconds()}
        except Exception as error:
            log.exception("could not tell that a job was given up", extra={"delivery": job.id, "kind": job.kind})
            return {"reason": f"internal error: {type(error).__name__}", "seconds": None}
        finally:
            CURRENT.reset(token)

    async def _keep(self) -> None:
        """Says that this process is alive, and takes over from those that aren't."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            try:
                await asyncio.to_thread(self._take_over)
            except Exception:
                log.exception("the list of workers could not be kept")

    def _take_over(self) -> None:
        self._workers.beat()
        for executor in self._workers.dead():
            recovered = DBOS._recover_pending_workflows([executor])
            if recovered:
                log.warning("took over jobs of a dead process", extra={"jobs": len(recovered)})
            self._workers.bury(executor)


def _quiet() -> None:
    """DBOS logs to a handler of its own; its lines belong among the others."""
    logger = logging.getLogger("dbos")
    logger.propagate = True
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
