"""How many requests were sent: a metric for operators, and a record for whoever asserts a budget."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from prometheus_client import Counter, Gauge

REQUESTS = Counter("seamguard_github_requests", "Requests sent to GitHub", ["method", "endpoint", "status"])
REMAINING = Gauge("seamguard_github_ratelimit_remaining", "What is left of an account's primary limit", ["account"])

MAX_RECORDED = 1000


@dataclass(frozen=True, slots=True)
class Sent:
    """One request. `endpoint` is the template of its path; `status` is 0 when no answer came."""

    method: str
    endpoint: str
    status: int
    account: str


class RequestCount:
    """The newest requests of one client, and how many there were."""

    def __init__(self) -> None:
        self.total = 0
        self.recent: deque[Sent] = deque(maxlen=MAX_RECORDED)

    def add(self, sent: Sent) -> None:
        """Note a request."""
        self.total += 1
        self.recent.append(sent)
        REQUESTS.labels(sent.method, sent.endpoint, str(sent.status)).inc()
