"""When the next request may be sent: GitHub's primary and secondary limits, kept per installation.

The primary limit is a number of requests an hour, told by headers. The secondary ones are told only when they are hit:
then `Retry-After` counts, else the reset of the primary limit, else a minute that doubles with each repetition.
Requests that write are sent one after the other, a second apart, as GitHub asks for.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.github.errors import RateLimited

SECONDARY_SECONDS = 60.0
"""The least to wait after a secondary limit that says nothing more exact."""

MAX_SECONDARY_SECONDS = 3600.0

MAX_WAIT_SECONDS = 24 * 3600.0
"""A wait over a day is taken for a mistake, of a clock or of a header."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How patient a client is; in seconds. Tests make it short.

    `patience` is the longest wait for a limit inside a call: a longer one is the caller's business (`RateLimited`).
    """

    between_writes: float = 1.0
    patience: float = 5.0
    backoff: float = 0.5
    max_backoff: float = 8.0
    attempts: int = 4
    timeout: float = 30.0
    download_timeout: float = 120.0


def backoff(timing: Timing, attempt: int) -> float:
    """Seconds before the attempt after the `attempt`-th: doubling, with full jitter over its upper half."""
    longest = min(timing.max_backoff, timing.backoff * 2.0 ** (attempt - 1))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, protects nothing


class Limits:
    """What one installation may do now. Shared by all requests of the installation in this process."""

    def __init__(self, timing: Timing, now: Callable[[], float] = time.time) -> None:
        self._timing = timing
        self._now = now
        self._blocked_until = 0.0
        self._secondary_hits = 0
        self._writes = asyncio.Lock()
        self._last_write = float("-inf")
        self.remaining: int | None = None
        """What is left of the primary limit, as last told."""

    @asynccontextmanager
    async def turn(self, *, writes: bool) -> AsyncIterator[None]:
        """Waits until a request may be sent. Raises `RateLimited` when that takes longer than the client is patient."""
        if not writes:
            await self._wait()
            yield
            return
        async with self._writes:
            pause = self._last_write + self._timing.between_writes - time.monotonic()
            if pause > 0:
                await asyncio.sleep(pause)
            await self._wait()
            try:
                yield
            finally:
                self._last_write = time.monotonic()

    async def _wait(self) -> None:
        while (left := self._blocked_until - self._now()) > 0:
            if left > self._timing.patience:
                raise RateLimited("the rate limit is used up", _moment(self._blocked_until))
            await asyncio.sleep(left)

    def observe(self, headers: Mapping[str, str]) -> None:
        """Take in the headers of a good answer. The limit's end is known before it is hit."""
        self._secondary_hits = 0
        self.remaining = _number(headers, "x-ratelimit-remaining")
        reset = _number(headers, "x-ratelimit-reset")
        if self.remaining == 0 and reset is not None:
            self._block(float(reset))

    def refused(self, headers: Mapping[str, str], message: str) -> RateLimited | None:
        """Take in a 403 or 429, or GraphQL's equivalent. None when it is about something else than a limit."""
        retry_after = _number(headers, "retry-after")
        remaining = _number(headers, "x-ratelimit-remaining")
        reset = _number(headers, "x-ratelimit-reset")
        if retry_after is not None:
            until = self._now() + max(retry_after, 0)
        elif remaining == 0 and reset is not None:
            until = float(reset)
        elif _speaks_of_a_limit(message):
            until = self._now() + min(MAX_SECONDARY_SECONDS, SECONDARY_SECONDS * 2.0**self._secondary_hits)
        else:
            return None
        self._secondary_hits = min(self._secondary_hits + 1, 10)
        self._block(until)
        return RateLimited(message or "the rate limit is used up", _moment(self._blocked_until))

    def _block(self, until: float) -> None:
        self._blocked_until = max(self._blocked_until, min(until, self._now() + MAX_WAIT_SECONDS))


def _speaks_of_a_limit(message: str) -> bool:
    lowered = message.lower()
    return "rate limit" in lowered or "abuse detection" in lowered


def _number(headers: Mapping[str, str], name: str) -> int | None:
    try:
        return int(headers[name])
    except (KeyError, ValueError):
        return None


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
