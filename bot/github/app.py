"""What Seamguard does at GitHub as the App itself, and the way to each of its installations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from bot.github.answers import object_of
from bot.github.auth import (
    AppCredential,
    GivenCredential,
    InstallationCredential,
    InstallationToken,
    NoCredential,
)
from bot.github.blobcache import BlobCache
from bot.github.client import GitHub
from bot.github.errors import Forbidden, GitHubError, NotFound, Suspended
from bot.github.hosts import Hosts
from bot.github.limits import Timing
from bot.github.model import Delivery, Identity, Installation, RepositoryName
from bot.github.public import Public
from bot.github.requests import Request, Requests, Transport
from bot.github.trees import TreeCache

MAX_PAGES = 50
"""Pages of 100 that are read of any of the App's lists."""


class App:
    """The App. Close it, or use it as an asynchronous context manager; it belongs to one event loop."""

    def __init__(
        self,
        issuer: str,
        private_key: str,
        hosts: Hosts | None = None,
        cache: BlobCache | None = None,
        timing: Timing | None = None,
        token: str | None = None,
    ) -> None:
        self.transport = Transport(hosts or Hosts(), timing or Timing())
        self._cache = BlobCache() if cache is None else cache
        self._requests = Requests(self.transport, AppCredential(issuer, private_key))
        self._installations: dict[int, Requests] = {}
        self._trees = TreeCache()
        self._identity: Identity | None = None
        self._token_given = None if token is None else Requests(self.transport, GivenCredential(token))
        self._nobody: Requests | None = None

    async def __aenter__(self) -> App:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End all connections."""
        await self.transport.close()

    async def app(self) -> Identity:
        """Who the App is; asked once."""
        if self._identity is None:
            data = object_of((await self._requests.send(Request("GET", "/app"))).data)
            self._identity = Identity(
                id=int(data["id"]),
                slug=str(data.get("slug") or ""),
                name=str(data.get("name") or ""),
                permissions=dict(data.get("permissions") or {}),
                events=tuple(data.get("events") or ()),
                html_url=data.get("html_url"),
            )
        return self._identity

    async def installation(self, installation: int) -> GitHub:
        """The client of an installation. All of them share the caches; each has its own token and limits."""
        identity = await self.app()
        return GitHub(self._of(installation), self._cache, identity.id, self._trees)

    async def public(self, installations: Iterable[int] = ()) -> Public:
        """Reads what everybody may read: with the token that was given, else as the first of the installations that
        works (an installation's token reads all public repositories), else as nobody.
        """
        if self._token_given is not None:
            return Public(self._token_given)
        for installation in installations:
            requests = self._of(installation)
            try:
                await requests.credential.authorization()
            except GitHubError:
                continue
            return Public(requests)
        if self._nobody is None:
            self._nobody = Requests(self.transport, NoCredential())
        return Public(self._nobody)

    def _of(self, installation: int) -> Requests:
        if installation not in self._installations:
            credential = InstallationCredential(installation, self._token)
            self._installations[installation] = Requests(self.transport, credential)
        return self._installations[installation]

    async def _token(self, installation: int) -> InstallationToken:
        request = Request(
            "POST", "/app/installations/{id}/access_tokens", {"id": installation}, repeatable=True, mutates=False
        )
        try:
            data = object_of((await self._requests.send(request)).data)
        except NotFound as error:
            raise Suspended(f"installation {installation} is gone: {error}") from error
        except Forbidden as error:
            raise Suspended(f"installation {installation} gives no token: {error}") from error
        return InstallationToken(str(data["token"]), datetime.fromisoformat(str(data["expires_at"])))

    async def installations(self) -> tuple[Installation, ...]:
        """Where the App is installed."""
        found: list[Installation] = []
        async for page in self._requests.pages(Request("GET", "/app/installations?per_page=100"), MAX_PAGES):
            found += [_installation(item) for item in page if isinstance(item, dict)]
        return tuple(found)

    async def installation_repositories(self, installation: int) -> tuple[RepositoryName, ...]:
        """The repositories that an installation may read; archived ones are left out."""
        found: list[RepositoryName] = []
        request = Request("GET", "/installation/repositories?per_page=100")
        async for page in self._of(installation).pages(request, MAX_PAGES):
            for item in object_of(page).get("repositories") or ():
                if not item.get("archived") and not item.get("disabled"):
                    owner, _, name = str(item["full_name"]).partition("/")
                    found.append(RepositoryName(owner, name))
        return tuple(found)

    async def deliveries(self, since: datetime) -> tuple[Delivery, ...]:
        """The attempts at delivering webhooks since a moment, newest first."""
        found: list[Delivery] = []
        async for page in self._requests.pages(Request("GET", "/app/hook/deliveries?per_page=100"), MAX_PAGES):
            batch = [_delivery(item) for item in page if isinstance(item, dict)]
            found += [delivery for delivery in batch if delivery.delivered_at >= since]
            if any(delivery.delivered_at < since for delivery in batch):
                break
        return tuple(found)

    async def hook_url(self) -> str | None:
        """Where webhooks go; None where no address is set."""
        data = object_of((await self._requests.send(Request("GET", "/app/hook/config"))).data)
        return str(data.get("url") or "") or None

    async def redeliver(self, delivery: int) -> None:
        """Have a webhook delivered again. It arrives under the same id."""
        await self._requests.send(
            Request("POST", "/app/hook/deliveries/{id}/attempts", {"id": delivery}, repeatable=True)
        )


def _installation(item: Mapping[str, Any]) -> Installation:
    return Installation(
        id=int(item["id"]),
        account=str((item.get("account") or {}).get("login") or ""),
        suspended=item.get("suspended_at") is not None,
        permissions=dict(item.get("permissions") or {}),
        events=tuple(item.get("events") or ()),
    )


def _delivery(item: Mapping[str, Any]) -> Delivery:
    return Delivery(
        id=int(item["id"]),
        guid=str(item["guid"]),
        event=str(item.get("event") or ""),
        action=item.get("action"),
        delivered_at=datetime.fromisoformat(str(item["delivered_at"])),
        status_code=int(item.get("status_code") or 0),
        redelivery=bool(item.get("redelivery")),
        installation_id=item.get("installation_id"),
    )
