"""Who asks: the App itself (a signed JWT), one of its installations (a token of an hour), or nobody."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from gidgethub.apps import get_jwt

JWT_SECONDS = 9 * 60
"""From a minute ago: GitHub allows ten minutes, and its clock may differ from ours."""

JWT_RENEWAL = 6 * 60.0
EXPIRY_MARGIN = timedelta(minutes=5)
"""An installation token is renewed this long before it expires, so that a long job does not outlive it."""


class Credential(Protocol):
    """Gives the value of the `Authorization` header. `account` tells whose answers may be shared."""

    @property
    def account(self) -> str:
        """A name for the caches; no secret."""

    async def authorization(self) -> str | None:
        """The header's value, None to send none at all (an empty one is refused)."""

    def renew(self) -> bool:
        """Forget what was refused; whether asking again makes sense."""


@dataclass
class AppCredential:
    """The App itself. `issuer` is its client id (or, older, its number); the key never shows in a representation."""

    issuer: str
    private_key: str = field(repr=False)
    account: str = "app"
    _token: str = field(default="", repr=False)
    _made: float = float("-inf")

    async def authorization(self) -> str | None:
        """`bearer <JWT>`. Raises `ValueError` for a key that is none."""
        if time.monotonic() - self._made > JWT_RENEWAL:
            self._token = get_jwt(app_id=self.issuer, private_key=self.private_key, expiration=JWT_SECONDS)
            self._made = time.monotonic()
        return f"bearer {self._token}"

    def renew(self) -> bool:
        """Sign anew: a clock may have been set."""
        self._made = float("-inf")
        return True


@dataclass(frozen=True, slots=True)
class InstallationToken:
    """A token, and when it ends. Its form says nothing: it may be of any length."""

    value: str = field(repr=False)
    expires_at: datetime


class InstallationCredential:
    """One installation. `fetch` asks GitHub for a token; it is asked once for all who wait."""

    def __init__(self, installation: int, fetch: Callable[[int], Awaitable[InstallationToken]]) -> None:
        self.account = f"installation-{installation}"
        self._installation = installation
        self._fetch = fetch
        self._token: InstallationToken | None = None
        self._lock = asyncio.Lock()

    async def authorization(self) -> str | None:
        """`token <token>`. Raises what `fetch` raises."""
        async with self._lock:
            if self._token is None or self._token.expires_at - EXPIRY_MARGIN <= datetime.now(UTC):
                self._token = await self._fetch(self._installation)
            return f"token {self._token.value}"

    def renew(self) -> bool:
        """Drop the token: it was revoked, or ended early."""
        self._token = None
        return True


@dataclass(frozen=True)
class GivenCredential:
    """A token that somebody has given, and that nobody renews: a person's, or that of a run of GitHub Actions."""

    token: str = field(repr=False)
    account: str = "token"

    async def authorization(self) -> str | None:
        """`token <token>`."""
        return f"token {self.token}"

    def renew(self) -> bool:
        """There is no other."""
        return False


@dataclass(frozen=True)
class NoCredential:
    """Nobody: GitHub answers 60 requests an hour and address, and counts unchanged answers too."""

    account: str = "anonymous"

    async def authorization(self) -> str | None:
        """No header."""
        return None

    def renew(self) -> bool:
        """There is nothing to renew."""
        return False
