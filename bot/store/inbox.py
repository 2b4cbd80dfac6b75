"""Takes jobs in, durably, many in one transaction.

A transaction costs as much for one row as for a hundred: its cost is the disk's. So the deliveries that arrive while
one transaction is written wait for the next, together.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import sqlalchemy as sa
from dbos import DBOSClient, EnqueueOptions, WorkflowSerializationFormat
from sqlalchemy.exc import SQLAlchemyError

from bot.store.database import DELIVERIES, Database
from bot.store.job import Job

APPLICATION = "seamguard"
QUEUE = "seamguard"
WORKFLOW = "seamguard.job"
VERSION = "2"
"""Of the stored jobs' form, and of the order of the steps in `Jobs._perform`: a new release goes on in the middle of
the old one's jobs as long as this stays the same. It changes when a step is added, taken out, renamed or moved, or
when a job can no longer be read; jobs of another version begin anew (`Jobs._adopt`), which handlers must bear anyway.
"""

MAX_BATCH = 200
MAX_PRIORITY = 2**31 - 1


class Inbox:
    """Accepts jobs for this process or others to do. The database must have been prepared."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._client = DBOSClient(system_database_engine=database.engine, application_name=APPLICATION)
        self._waiting: list[tuple[Job, asyncio.Future[bool]]] = []
        self._writer: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "seamguard-inbox")
        self._noting = (
            database.insert(DELIVERIES).on_conflict_do_nothing().returning(DELIVERIES.c.id, DELIVERIES.c.sequence)
        )

    async def accept(self, job: Job) -> bool:
        """Returns when the job can't get lost any more: True for a new one, False for one whose id is known.

        Raises `DatabaseError` when it could not be stored.
        """
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, future))
        if not self.storing:
            self._writer = asyncio.create_task(self._write())
        return await future

    @property
    def storing(self) -> bool:
        """Whether a job is being accepted, and can't be found in the database yet."""
        return self._writer is not None and not self._writer.done()

    async def close(self) -> None:
        """Write what is waiting, and end."""
        if self._writer is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await self._writer
        self._thread.shutdown()
        self._client.destroy()

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
            try:
                new = await loop.run_in_executor(self._thread, self.store, [job for job, _ in batch])
            except Exception as error:
                failure = self._database.unusable(error) if isinstance(error, SQLAlchemyError) else error
                for _, future in batch:
                    if not future.done():
                        future.set_exception(failure)
                continue
            for (_, future), is_new in zip(batch, new, strict=True):
                if not future.done():  # whoever asked may have gone
                    future.set_result(is_new)

    def store(self, jobs: Sequence[Job]) -> list[bool]:
        """Accept jobs in one transaction; for each, whether it is new."""
        now = time.time()
        first = {job.id: job for job in reversed(jobs)}
        rows = [
            {"id": job.id, "partition": job.partition, "kind": job.kind, "accepted_at": now} for job in first.values()
        ]
        with self._database.engine.begin() as connection:
            noted = {row.id: int(row.sequence) for row in connection.execute(self._noting, rows[::-1])}
            for identity in sorted(noted, key=noted.__getitem__):
                self._enqueue(connection, first[identity], noted[identity])
        return [job.id in noted and first[job.id] is job for job in jobs]

    def _enqueue(self, connection: sa.Connection, job: Job, sequence: int) -> None:
        self._client.enqueue_in_transaction(connection, self._options(job, job.id, sequence), job.as_json())

    @staticmethod
    def _options(job: Job, identity: str, sequence: int) -> EnqueueOptions:
        return {
            "workflow_name": WORKFLOW,
            "queue_name": QUEUE,
            "workflow_id": identity,
            "queue_partition_key": job.partition,
            # Within a millisecond DBOS would go by the id.
            "priority": min(sequence, MAX_PRIORITY),
            "app_version": VERSION,
            "serialization_type": WorkflowSerializationFormat.PORTABLE,
        }

    def again(self, job: Job, turn: int, state: Mapping[str, Any], seconds: float) -> None:
        """Accept a known job's next turn, to begin after so many seconds; once, however often it is asked for."""
        sequence = sa.select(DELIVERIES.c.sequence).where(DELIVERIES.c.id == job.id)
        with self._database.engine.begin() as connection:
            known = connection.execute(sequence).scalar()
            options = self._options(job, f"{job.id}~{turn}", int(known or MAX_PRIORITY))
            options["delay_seconds"] = max(0.0, seconds)
            self._client.enqueue_in_transaction(connection, options, {**job.as_json(), **state, "turn": turn})

    def newer_waits(self, job: Job) -> bool:
        """Whether a job of the same partition and kind was accepted after this one."""
        mine = sa.select(DELIVERIES.c.sequence).where(DELIVERIES.c.id == job.id).scalar_subquery()
        query = sa.select(sa.literal(1)).where(
            DELIVERIES.c.partition == job.partition, DELIVERIES.c.kind == job.kind, DELIVERIES.c.sequence > mine
        )
        with self._database.engine.connect() as connection:
            return connection.execute(query.limit(1)).scalar() is not None

    def newest(self, partition: str) -> int:
        """The sequence number of the job that was accepted last for a partition; 0 when none is known."""
        query = sa.select(sa.func.max(DELIVERIES.c.sequence)).where(DELIVERIES.c.partition == partition)
        with self._database.engine.connect() as connection:
            return int(connection.execute(query).scalar() or 0)

    def forget_older(self, seconds: float) -> int:
        """Forget the ids of jobs that were accepted so long ago; GitHub redelivers for three days."""
        with self._database.engine.begin() as connection:
            statement = sa.delete(DELIVERIES).where(DELIVERIES.c.accepted_at < time.time() - seconds)
            return int(connection.execute(statement).rowcount)
