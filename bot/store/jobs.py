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
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, Protocol
from weakref import WeakValueDictionary

from dbos import DBOS, DBOSConfig
from prometheus_client import Counter as Metric
from prometheus_client import Histogram
from sqlalchemy.exc import SQLAlchemyError

from bot.store.asking import insist, named
from bot.store.database import Database
from bot.store.inbox import APPLICATION, QUEUE, VERSION, WORKFLOW, Inbox
from bot.store.job import CURRENT, Job, Later
from bot.store.workers import BEAT_SECONDS, Workers

log = logging.getLogger("seamguard.jobs")

JOBS = Metric("seamguard_jobs", "Jobs that ended", ["kind", "outcome"])
SECONDS = Histogram("seamguard_job_seconds", "From the start of a job to its end", ["kind"])

KEEP_SECONDS = 30 * 24 * 3600.0
"""Done jobs are kept for so long: GitHub may redeliver within three days."""

DELETE_AT_ONCE = 500
CROWDED_SECONDS = 30.0
"""After which a job is looked at again whose account has too many others begun."""

INSIST_SECONDS = 60.0
"""For which an attempt waits for the database; then it counts as failed, as one for which GitHub is away does."""

TELLING_PAUSES = 4
"""Attempts at telling that a job was given up, less one."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a job is tried; in seconds. Eleven pauses of these are about five hours.

    `at_once` jobs are at work in one process, and `begun` at work or in a pause of at most `held` seconds; a longer one
    is waited for in the database. Of both an account gets half: those of one that wait for its rate limit, or are many,
    must not hold up everybody else's. A pause looks every `waking` seconds whether something new was asked.
    """

    pauses: tuple[float, ...] = (2, 10, 30, 60, 120, 300, 600, 1800, 3600, 5400, 7200)
    longest_wait: float = 2 * 3600.0
    polling: float = 0.25
    waking: float = 3.0
    held: float = 15.0
    at_once: int = 16
    begun: int = 200


@dataclass(frozen=True, slots=True)
class _State:
    """How far a job has come: the failures that used up an attempt, and, once there were too many, why it was given up;
    then they are those of telling so.
    """

    failures: int = 0
    reason: str | None = None

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> _State:
        """As an earlier turn left it."""
        return cls(int(stored.get("failures", 0)), stored.get("reason"))

    def after(self, outcome: Mapping[str, Any], patience: Patience) -> tuple[_State, float] | None:
        """What follows an attempt that came to nothing, and after how many seconds; None: nothing."""
        pauses = patience.pauses if self.reason is None else patience.pauses[-TELLING_PAUSES:]
        if outcome.get("seconds") is not None:
            return self, min(float(outcome["seconds"]), patience.longest_wait)
        if self.failures < len(pauses):
            return _State(self.failures + 1, self.reason), pauses[self.failures]
        return (_State(0, str(outcome["reason"])), 0.0) if self.reason is None else None


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
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._begun: Counter[str] = Counter()
        self._executor = uuid.uuid4().hex
        self._workers = Workers(database, self._executor)
        self._adopted = False
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
        """Whether no job is being accepted, waiting or being done."""
        if self.inbox.storing:
            return False
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
        """The workflow: attempts with short pauses. After a long one the job has another turn; it waits for that in the
        database, and holds no place here.
        """
        job, state = Job.from_json(stored), _State.of(stored)
        self._begun[job.account] += 1
        try:
            while True:
                step = ("attempt", self._attempt, stored) if state.reason is None else self._telling(stored, state)
                outcome: dict[str, Any] = await DBOS.run_step_async({"name": step[0]}, *step[1:])
                if "done" in outcome:
                    return str(outcome["done"])
                following = state.after(outcome, self._patience)
                if following is None:
                    return self._untold(job, state)
                state, seconds = following
                if state.reason is not None and state.failures == 0:
                    log.error("job given up", extra={"delivery": job.id, "kind": job.kind, "reason": state.reason})
                if seconds > self._patience.held:
                    waited = await DBOS.run_step_async({"name": "again"}, self._again, stored, asdict(state), seconds)
                    if not waited:
                        return f"put off for {seconds:.0f} seconds: {outcome['reason']}"
                elif seconds > 0:
                    until = float(outcome["at"]) + seconds
                    await DBOS.run_step_async({"name": "pause"}, self._pause, job.partition, until, outcome["newest"])
        finally:
            self._begun[job.account] -= 1
            self._begun += Counter()  # forgets whoever has none

    @staticmethod
    def _untold(job: Job, state: _State) -> str:
        """A pull request without a check is found by the next sweep; of anything else the log alone tells."""
        JOBS.labels(job.kind, "untold").inc()
        told = {"delivery": job.id, "kind": job.kind, "about": job.partition, "reason": state.reason}
        log.error("job given up, and nobody could be told", extra=told)
        return f"given up, and nobody was told: {state.reason}"

    def _telling(self, stored: dict[str, Any], state: _State) -> tuple[Any, ...]:
        return "give up", self._give_up, stored, state.reason

    async def _again(self, stored: dict[str, Any], state: Mapping[str, Any], seconds: float) -> bool:
        """Hands the job's next turn to the database. True when that could not be asked for as long as the pause is:
        it is over then, and the job goes on here.
        """
        job, turn, until = Job.from_json(stored), int(stored.get("turn", 0)) + 1, time.time() + seconds
        try:
            await insist(lambda: self.inbox.again(job, turn, state, until - time.time()), seconds)
        except SQLAlchemyError:
            return True
        return False

    async def _pause(self, partition: str, until: float, newest: int) -> None:
        """Ends early when something newer is asked about the same thing: a push waits for nothing it supersedes."""
        while (left := until - time.time()) > 0:
            await asyncio.sleep(min(left, self._patience.waking))
            with contextlib.suppress(SQLAlchemyError):  # then nobody knows of anything newer, and the pause goes on
                if await asyncio.to_thread(self.inbox.newest, partition) > newest:
                    return

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
        crowded = job.account and self._begun[job.account] > self._patience.begun // 2
        outcome: dict[str, Any] = {"reason": "too many jobs of the same account", "seconds": CROWDED_SECONDS}
        newest = 0
        try:
            if crowded:
                newest = await self._newest(job.partition)
            else:
                async with self._turn_of(job.account), self._at_work:
                    newest = await self._newest(job.partition)
                    outcome = await work()
        except SQLAlchemyError as error:
            context = {"delivery": job.id, "kind": job.kind, "reason": named(error)}
            log.error("an attempt has failed: the database can't be asked", extra=context)
            outcome = {"reason": "the database can't be asked", "seconds": None}
        return outcome if "done" in outcome else {**outcome, "at": time.time(), "newest": newest}

    async def _newest(self, partition: str) -> int:
        return await insist(lambda: self.inbox.newest(partition), INSIST_SECONDS)

    def _turn_of(self, account: str) -> contextlib.AbstractAsyncContextManager[object]:
        """An account has at most half of the places at work."""
        if not account:
            return contextlib.nullcontext()
        places = self._turns.get(account)
        if places is None:
            places = self._turns[account] = asyncio.Semaphore(max(1, self._patience.at_once // 2))
        return places

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
        dead = self._workers.dead()
        if dead or not self._adopted:
            self._adopt(dead)
            self._adopted = True
        for executor in dead:
            recovered = DBOS._recover_pending_workflows([executor])
            if recovered:
                log.warning("took over jobs of a dead process", extra={"jobs": len(recovered)})
            self._workers.bury(executor)

    def _adopt(self, dead: Collection[str]) -> None:
        """Jobs that another version of this program has left begin anew: nobody can go on in their middle."""
        for workflow in DBOS.list_workflows(
            status=["ENQUEUED", "PENDING", "DELAYED"], queue_name=QUEUE, load_output=False
        ):
            if workflow.app_version == VERSION or (workflow.status == "PENDING" and workflow.executor_id not in dead):
                continue
            stored: Any = workflow.input["args"][0] if workflow.input and workflow.input["args"] else None
            if isinstance(stored, Mapping):
                job, turn = Job.from_json(stored), int(stored.get("turn", 0)) + 1
                log.warning("a job of another version begins anew", extra={"delivery": job.id, "kind": job.kind})
                self.inbox.again(job, turn, {}, 0.0)
            DBOS.cancel_workflow(workflow.workflow_id)


def _quiet() -> None:
    """DBOS logs to a handler of its own; its lines belong among the others."""
    logger = logging.getLogger("dbos")
    logger.propagate = True
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
