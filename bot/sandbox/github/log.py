"""What was asked, for tests to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub


@dataclass(slots=True)
class Logged:
    """A request. `installation` is whose token came with it; `status` 0 when no answer was sent."""

    method: str
    path: str
    query: str
    installation: int | None
    status: int = 0
    fault: str | None = None
    done: bool = False

    @classmethod
    def start(cls, hub: Hub, request: web.Request) -> Logged:
        """The entry for a request that has just come."""
        value = request.headers.get("Authorization", "").rpartition(" ")[2]
        token = hub.tokens.get(value)
        return cls(request.method, request.path, request.query_string, None if token is None else token.installation.id)
