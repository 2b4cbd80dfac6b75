"""Which processes are alive, so that the jobs of a dead one are taken over."""

from __future__ import annotations

import os
import socket
import time

import sqlalchemy as sa

from bot.store.database import WORKERS, Database

LEASE_SECONDS = 60.0
"""A process that hasn't been seen for so long is taken for dead."""

BEAT_SECONDS = 5.0


class Workers:
    """The process among those that do jobs. On its own machine a dead one is known at once, by its number."""

    def __init__(self, database: Database, executor: str) -> None:
        self._database = database
        self._executor = executor
        self._host = socket.gethostname()

    def beat(self) -> None:
        """Say that the process is alive."""
        seen = {"host": self._host, "pid": os.getpid(), "seen_at": time.time()}
        statement = self._database.insert(WORKERS, {"executor": self._executor, **seen})
        with self._database.engine.begin() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["executor"], set_=seen))

    def leave(self) -> None:
        """Say that the process ends, and leaves its jobs to others: it is as good as dead."""
        with self._database.engine.begin() as connection:
            connection.execute(sa.update(WORKERS).where(WORKERS.c.executor == self._executor).values(seen_at=0.0))

    def dead(self) -> tuple[str, ...]:
        """The processes that are gone."""
        with self._database.engine.connect() as connection:
            rows = connection.execute(sa.select(WORKERS).where(WORKERS.c.executor != self._executor)).all()
        return tuple(row.executor for row in rows if self._gone(row.host, row.pid, row.seen_at))

    def bury(self, executor: str) -> None:
        """Nothing is left of a dead process."""
        with self._database.engine.begin() as connection:
            connection.execute(sa.delete(WORKERS).where(WORKERS.c.executor == executor))

    def _gone(self, host: str, pid: int, seen_at: float) -> bool:
        if time.time() - seen_at > LEASE_SECONDS:
            return True
        return host == self._host and pid != os.getpid() and not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's process
    return True
