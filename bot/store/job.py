"""A job: what a delivery asks for."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

CURRENT: ContextVar[Job | None] = ContextVar("job", default=None)
"""The job that is being done here: every line that is logged meanwhile belongs to it."""

MAX_ID = 200
"""Characters of a job's id: a delivery's has 36."""


@dataclass(frozen=True, slots=True)
class Job:
    """Something to be done once. Two jobs with the same `id` are one.

    Jobs of one `partition` are done one after the other, in the order in which they came. `data` is plain JSON.
    `latest_wins` marks a kind of which only the newest of a partition needs to be done: it does what the older ones
    would have done. `account` is who waits when there is too much of it: many jobs of one hold up none of another's.
    """

    id: str
    kind: str
    partition: str
    data: Mapping[str, Any] = field(default_factory=dict)
    latest_wins: bool = False
    account: str = ""

    def __post_init__(self) -> None:
        if not self.id or len(self.id) > MAX_ID or not self.id.isprintable():
            raise ValueError("a job needs an id of 1 to 200 printable characters")

    def as_json(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "id": self.id,
            "kind": self.kind,
            "partition": self.partition,
            "data": dict(self.data),
            "latest_wins": self.latest_wins,
            "account": self.account,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Job:
        """Back from where it was stored, perhaps by an older version."""
        return cls(
            str(stored["id"]),
            str(stored["kind"]),
            str(stored["partition"]),
            dict(stored.get("data") or {}),
            bool(stored.get("latest_wins", False)),
            str(stored.get("account", "")),
        )


class Later(Exception):
    """A job can't be done now. `until` is a time (seconds since the epoch) to try again at; without one, after a pause
    that grows. A wait with a time is nobody's failure: it uses up no attempt.
    """

    def __init__(self, reason: str, until: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.until = until

    def seconds(self) -> float:
        """How long until `until`."""
        return max(0.0, (self.until or 0.0) - time.time())
