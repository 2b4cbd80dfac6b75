"""A server that answers as it is told, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bot.github.app import App
from bot.github.blobcache import BlobCache
from bot.github.client import GitHub
from bot.github.hosts import Hosts
from bot.github.limits import Timing

QUICK = Timing(between_writes=0.0, patience=0.2, backoff=0.001, max_backoff=0.002, attempts=3, timeout=2.0)
PEM = (
    rsa.generate_private_key(public_exponent=65537, key_size=2048)
    .private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    .decode()
)


@dataclass
class Asked:
    """One request, as it arrived."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    at: float


Answer = tuple[int, Any] | tuple[int, Any, Mapping[str, str]]
Answering = Callable[[Asked], Answer]


@dataclass
class Scripted:
    """`answers` maps "METHOD /path" to an answer, or a list of answers that are given in turn, or a function."""

    url: str = ""
    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    tokens: int = 0

    def paths(self) -> list[str]:
        """What was asked of the API, without the tokens and the App's identity."""
        shown = [f"{asked.method} {asked.path}" for asked in self.asked]
        return [path for path in shown if "access_tokens" not in path and path != "GET /app"]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.can_read_body else None
        asked = Asked(request.method, request.path, dict(request.query), request.headers, body, time.monotonic())
        self.asked.append(asked)
        key = f"{request.method} {request.path}"
        if key in self.answers:
            found = self.answers[key]
            found = found.pop(0) if isinstance(found, list) and len(found) > 1 else found
            found = found[0] if isinstance(found, list) else found
            return await self._respond(request, found(asked) if callable(found) else found)
        if request.path.endswith("/access_tokens"):
            self.tokens += 1
            return web.json_response(
                {"token": f"ghs_{self.tokens}_{'x' * 500}", "expires_at": "2999-01-01T00:00:00Z"}, status=201
            )
        if request.path == "/app":
            return web.json_response({"id": 7, "slug": "seamguard", "name": "Seamguard"})
        return web.json_response({"message": "Not Found"}, status=404)

    async def _respond(self, request: web.Request, answer: Any) -> web.StreamResponse:
        if answer == "cut":
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if answer == "hang":
            await asyncio.sleep(30)
        status, body, headers = answer if len(answer) == 3 else (*answer, {})
        if isinstance(body, bytes):
            return web.Response(status=status, body=body, headers=headers)
        return web.json_response(body, status=status, headers=headers)


@asynccontextmanager
async def scripted(**answers: Any) -> AsyncIterator[Scripted]:
    """A server at a local address."""
    server = Scripted()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


@asynccontextmanager
async def client(
    server: Scripted, timing: Timing = QUICK, cache: BlobCache | None = None, downloads: tuple[str, ...] = ()
) -> AsyncIterator[GitHub]:
    """A client of the server, as installation 1."""
    async with App("Iv1.test", PEM, Hosts(server.url, downloads), cache, timing) as app:
        yield await app.installation(1)
