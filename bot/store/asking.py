"""Asks a database that is away until it is back, within bounds."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TypeVar

from prometheus_client import Counter
from sqlalchemy.exc import SQLAlchemyError

log = logging.getLogger("seamguard.jobs")
T = TypeVar("T")

AWAY = Counter("seamguard_database_failures", "Times that the database could not be asked for the sake of a job")

AWAY_SECONDS = 1.0
MAX_AWAY_SECONDS = 15.0
"""After which the database is asked again that could not be asked: the first time, doubling, and at most."""


async def insist(ask: Callable[[], T], seconds: float) -> T:
    """What the database says, as soon as it can be asked: a job that ended with its error would be lost. (DBOS waits in
    the same way with what it writes itself.) Raises that error after so many seconds: every caller has its own end.
    """
    end, pause = time.monotonic() + seconds, AWAY_SECONDS
    while True:
        try:
            return await asyncio.to_thread(ask)
        except SQLAlchemyError as error:
            AWAY.inc()
            log.warning("the database could not be asked", extra={"reason": named(error)})
            if time.monotonic() + pause > end:
                raise
        await asyncio.sleep(pause)
        pause = min(2 * pause, MAX_AWAY_SECONDS)


def named(error: SQLAlchemyError) -> str:
    """An error's kind alone: its text holds what was asked with."""
    return type(getattr(error, "orig", None) or error).__name__
