"""Where a test's App receives its webhooks."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Json = dict[str, Any]


@dataclass
class Received:
    headers: dict[str, str]
    content: bytes

    @property
    def event(self) -> str:
        return self.headers["X-GitHub-Event"]

    @property
    def guid(self) -> str:
        return self.headers["X-GitHub-Delivery"]

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def name(self) -> str:
        action = self.json.get("action")
        return self.event if action is None else f"{self.event}.{action}"


@dataclass
class Inbox:
    url: str = ""
    status: int = 202
    received: list[Received] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.received]

    def last(self, name: str) -> Any:
        return next(each.json for each in reversed(self.received) if each.name == name)


@asynccontextmanager
async def open_inbox() -> AsyncIterator[Inbox]:
    inbox = Inbox()

    async def receive(request: web.Request) -> web.Response:
        inbox.received.append(Received(dict(request.headers), await request.read()))
        return web.Response(status=inbox.status, text="taken")

    app = web.Application(client_max_size=30_000_000)
    app.router.add_post("/webhook", receive)
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    inbox.url = f"http://127.0.0.1:{runner.addresses[0][1]}/webhook"
    try:
        yield inbox
    finally:
        await runner.cleanup()
