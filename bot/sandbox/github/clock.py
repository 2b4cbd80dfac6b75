"""The hub's time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import overload


class Clock:
    """The hub's time: the real one, moved by what a scenario asks for."""

    def __init__(self) -> None:
        self._offset = timedelta()

    def now(self) -> datetime:
        """The time in UTC, whole seconds (as GitHub writes times)."""
        return (datetime.now(UTC) + self._offset).replace(microsecond=0)

    def advance(self, seconds: float) -> None:
        """Let time pass: tokens expire, rate limits reset."""
        self._offset += timedelta(seconds=seconds)


@overload
def stamp(moment: datetime) -> str: ...


@overload
def stamp(moment: None) -> None: ...


def stamp(moment: datetime | None) -> str | None:
    """A time as GitHub writes it; None stays."""
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def http_date(moment: datetime) -> str:
    """A time as headers have it."""
    return format_datetime(moment.astimezone(UTC), usegmt=True)
