"""A client of the simulated GitHub that hides nothing: status, headers and JSON of every answer."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import aiohttp
import jwt

from bot.sandbox.github import App, Hub, Installation


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    def ok(self, status: int = 200) -> Any:
        assert self.status == status, (self.status, self.content.decode("utf-8", "replace"))
        return self.json if self.content else None

    @property
    def message(self) -> str:
        return str(self.json["message"])


def app_token(app: App, **claims: Any) -> str:
    now = int(time.time())
    payload = {"iat": now - 60, "exp": now + 540, "iss": app.client_id} | claims
    return jwt.encode(payload, app.private_key, algorithm="RS256")


class Caller:
    """Sends requests with an installation token that it fetches first; `as_app` sends the App's own."""

    def __init__(self, hub: Hub, installation: Installation) -> None:
        self.hub = hub
        self.installation = installation
        self.token = ""

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(headers={"User-Agent": "tests"})
        self.token = (await self.as_app("POST", f"/app/installations/{self.installation.id}/access_tokens")).ok(201)[
            "token"
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def as_app(self, method: str, path: str, body: Any = None) -> Reply:
        return await self.send(method, path, body, {"Authorization": f"Bearer {app_token(self.installation.app)}"})

    async def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.send(method, path, body, {"Authorization": f"Bearer {self.token}", **named})

    async def send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Reply:
        url = path if path.startswith("http") else self.hub.url + path
        data = None if body is None else json.dumps(body).encode()
        async with self._session.request(method, url, data=data, headers=headers, allow_redirects=False) as answer:
            return Reply(answer.status, answer.headers, await answer.read())

    async def graphql(self, query: str, **variables: Any) -> Any:
        return (await self("POST", "/graphql", {"query": query, "variables": variables})).ok()
