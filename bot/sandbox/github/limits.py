"""Rate limits (facts, section 6)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.sandbox.github.call import Refused
from bot.sandbox.github.clock import Clock
from bot.sandbox.github.model import Json

HOUR = timedelta(hours=1)
AUTHENTICATED = 5_000
ANONYMOUS = 60

_PRIMARY = "API rate limit exceeded for installation. If you reach out to support please include the request ID."
_SECONDARY = "You have exceeded a secondary rate limit and have been temporarily blocked from content creation."


@dataclass(slots=True)
class Budget:
    """What one caller has of one resource until the hour ends."""

    limit: int
    reset: datetime
    used: int = 0

    def headers(self, resource: str) -> dict[str, str]:
        """As they go with every answer."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(max(0, self.limit - self.used)),
            "X-RateLimit-Used": str(self.used),
            "X-RateLimit-Reset": str(int(self.reset.timestamp())),
            "X-RateLimit-Resource": resource,
        }

    def json(self) -> Json:
        """As `GET /rate_limit` has it."""
        remaining = max(0, self.limit - self.used)
        return {"limit": self.limit, "used": self.used, "remaining": remaining, "reset": int(self.reset.timestamp())}


@dataclass(slots=True)
class Limits:
    """The budgets of every caller. `content_per_minute` None leaves the secondary limit for new content (80 a minute
    at GitHub) out, so that long runs of tests need no breaks.
    """

    clock: Clock
    status: int = 403
    content_per_minute: int | None = None
    budgets: dict[tuple[str, str], Budget] = field(default_factory=dict)
    created: dict[str, deque[datetime]] = field(default_factory=dict)

    def budget(self, caller: str, resource: str) -> Budget:
        """The caller's budget now."""
        now = self.clock.now()
        known = self.budgets.get((caller, resource))
        if known is None or known.reset <= now:
            limit = ANONYMOUS if caller == "anonymous" else AUTHENTICATED
            known = self.budgets[(caller, resource)] = Budget(limit, now + HOUR)
        return known

    def exhaust(self, caller: str, resource: str = "core", seconds: float = 3600.0) -> None:
        """Leave the caller nothing until `seconds` from now."""
        self.budgets[(caller, resource)] = Budget(
            AUTHENTICATED, self.clock.now() + timedelta(seconds=seconds), AUTHENTICATED
        )

    def take(self, caller: str, resource: str) -> None:
        """Count one request, or refuse it: 403 or 429 with nothing remaining."""
        budget = self.budget(caller, resource)
        if budget.used >= budget.limit:
            raise Refused(self.status, _PRIMARY)
        budget.used += 1

    def give_back(self, caller: str, resource: str) -> None:
        """An answer 304 is free with a token."""
        self.budget(caller, resource).used -= 1

    def create(self, caller: str) -> None:
        """Count one piece of new content, or refuse it."""
        if self.content_per_minute is None:
            return
        now = self.clock.now()
        recent = self.created.setdefault(caller, deque())
        while recent and now - recent[0] >= timedelta(minutes=1):
            recent.popleft()
        if len(recent) >= self.content_per_minute:
            raise Refused(403, _SECONDARY, headers={"Retry-After": "60"})
        recent.append(now)
