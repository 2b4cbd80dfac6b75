"""Which deliveries are asked for again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.github.model import Delivery, OpenPull, PullKey, RepositoryName
from bot.jobs.kinds import review_job
from bot.jobs.sweeping import AGAIN_SECONDS, failed, sweep_id

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def attempt(number: int, guid: str, status: int, minute: int) -> Delivery:
    return Delivery(number, guid, "pull_request", "opened", NOW + timedelta(minutes=minute), status)


def test_only_what_never_arrived_and_once() -> None:
    attempts = [
        attempt(1, "arrived", 202, 0),
        attempt(2, "failed", 503, 1),
        attempt(3, "failed", 502, 2),
        attempt(4, "later", 500, 3),
        attempt(5, "later", 202, 4),
        attempt(6, "earlier", 202, 5),
        attempt(7, "earlier", 500, 6),
        attempt(8, "timed out", 0, 7),
    ]
    for order in (attempts, attempts[::-1]):
        assert [delivery.id for delivery in failed(order)] == [3, 8]


def test_a_review_that_came_to_nothing_is_asked_for_again_half_a_day_later() -> None:
    pull = OpenPull(PullKey(RepositoryName("o" * 39, "n" * 100), 123_456), "c" * 64, "main", draft=False)
    now = 100.0 * AGAIN_SECONDS
    assert sweep_id(pull, now) == sweep_id(pull, now + AGAIN_SECONDS - 1) != sweep_id(pull, now + AGAIN_SECONDS)
    assert review_job(sweep_id(pull, now), 1, pull.key, pull.head_sha).latest_wins
