"""Which deliveries are asked for again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.github.model import Delivery
from bot.jobs.sweeping import failed

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
