"""Repairs what was missed: GitHub delivers a webhook once, and a server may have been away."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta

from bot.github.client import GitHub
from bot.github.errors import GitHubError, RateLimited, Unavailable
from bot.github.model import Delivery, Installation, OpenPull, RepositoryName
from bot.jobs import checks
from bot.jobs.context import Context
from bot.jobs.kinds import SWEEP, review_job
from bot.jobs.reviewing import REVIEWED
from bot.store import Job

log = logging.getLogger("seamguard.sweep")

REDELIVERY_WINDOW = timedelta(days=3)
"""GitHub delivers nothing again that is older."""

OVERLAP = timedelta(hours=1)
"""What a sweep sees again of the one before: whatever fails once more is then a new attempt, and seen as one."""

SETTLING = timedelta(minutes=2)
"""A delivery may still be on its way for so long."""

EVERY_SECONDS = 300.0
KEEP_SECONDS = 90 * 24 * 3600.0
"""Facts about pull requests that nobody has touched for so long are forgotten: they only save requests."""

MAX_REDELIVERIES = 200
"""Asked for in one sweep; the next goes on."""

MAX_ATTEMPTS = 5
"""At one delivery: what fails so often, fails for a reason that time does not mend."""

AGAIN_SECONDS = 12 * 3600
"""Between two reviews that sweeps ask for of one head. A job is tried for five hours."""

MAX_LOOKS = 50
"""Open pull requests whose checks are looked at in one sweep of one repository."""


def failed(deliveries: Iterable[Delivery]) -> tuple[Delivery, ...]:
    """Those of which no attempt has succeeded, the newest attempt of each, oldest first."""
    newest: dict[str, Delivery] = {}
    succeeded: set[str] = set()
    for delivery in deliveries:
        if delivery.succeeded:
            succeeded.add(delivery.guid)
        known = newest.get(delivery.guid)
        if known is None or delivery.delivered_at > known.delivered_at:
            newest[delivery.guid] = delivery
    left = [delivery for guid, delivery in newest.items() if guid not in succeeded]
    return tuple(sorted(left, key=lambda delivery: delivery.delivered_at))


def sweep_id(pull: OpenPull, now: float) -> str:
    """The id of the review that a sweep asks for: one in `AGAIN_SECONDS`, for what has come to nothing once (an
    installation was suspended, GitHub was away for long) may work today.
    """
    told = f"{pull.key}@{pull.head_sha}/{int(now // AGAIN_SECONDS)}"
    return f"sweep:{hashlib.sha256(told.encode()).hexdigest()[:32]}"


class Sweeping:
    """Handles `sweep` jobs."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._looked_at: datetime | None = None

    async def do(self, job: Job) -> str:
        """Looks for what was missed. One installation's failure is none of another's."""
        again = await self._redeliver()
        reviews = 0
        if job.data.get("pulls", True):
            for installation in await self._context.app.installations():
                if not installation.suspended:
                    reviews += await self._guarded(installation)
        return f"{again} deliveries asked for again, {reviews} reviews"

    async def give_up(self, job: Job, reason: str) -> str:  # noqa: ARG002
        """The next one comes soon."""
        return f"given up: {reason}"

    async def _redeliver(self) -> int:
        now = datetime.now(UTC)
        deliveries = await self._context.app.deliveries(self._looked_at or now - REDELIVERY_WINDOW)
        asked = 0
        for delivery in failed(deliveries):
            if asked >= MAX_REDELIVERIES:
                break
            if delivery.delivered_at > now - SETTLING and not delivery.status_code:
                continue
            if not await self._context.facts.may_use_soon(
                "redelivery", delivery.guid, str(delivery.id), MAX_ATTEMPTS, REDELIVERY_WINDOW.total_seconds()
            ):
                continue
            try:
                await self._context.app.redeliver(delivery.id)
            except (RateLimited, Unavailable):
                raise
            except GitHubError as error:
                log.warning("a delivery can't be asked for again: %s", error, extra={"guid": delivery.guid})
                continue
            asked += 1
        self._looked_at = now - OVERLAP
        return asked

    async def _guarded(self, installation: Installation) -> int:
        try:
            return await self._installation(installation)
        except GitHubError as error:
            log.warning("an installation could not be swept: %s", error, extra={"installation": installation.id})
            return 0

    async def _installation(self, installation: Installation) -> int:
        github = await self._context.github(installation.id)
        reviews = 0
        for repository in await self._context.app.installation_repositories(installation.id):
            for pull in await self._unfinished(github, repository):
                identity = sweep_id(pull, time.time())
                reviews += await self._context.accept(review_job(identity, installation.id, pull.key, pull.head_sha))
        return reviews

    async def _unfinished(self, github: GitHub, repository: RepositoryName) -> list[OpenPull]:
        """The open pull requests whose head has no finished check of ours."""
        left = []
        for pull in (await github.open_pulls(repository))[:MAX_LOOKS]:
            if pull.updated_at is not None and pull.updated_at > datetime.now(UTC) - SETTLING:
                continue
            known = await self._context.facts.recall_soon(REVIEWED, str(pull.key))
            if known is not None and known.get("head") == pull.head_sha:
                continue
            posted = await github.checks(repository, pull.head_sha, checks.NAME)
            if not any(check.status == "completed" for check in posted):
                left.append(pull)
        return left


async def regularly(context: Context, prune: Callable[[], Awaitable[None]], every: float = EVERY_SECONDS) -> None:
    """Asks for a sweep now, and then again and again; forgets what is old. Several processes ask for the same one."""
    while True:
        number = int(time.time() // every)
        try:
            await context.accept(Job(f"sweep:{number}", SWEEP, "sweep", {}, latest_wins=True))
            await prune()
            await asyncio.to_thread(context.facts.forget_older, REVIEWED, KEEP_SECONDS)
            await asyncio.to_thread(context.facts.forget_older, checks.WRITTEN, KEEP_SECONDS)
        except Exception:
            log.exception("the regular work failed")
        await asyncio.sleep(every - time.time() % every + 0.1)
