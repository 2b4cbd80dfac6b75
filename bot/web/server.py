"""The HTTP server."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bot.github import payloads
from bot.hazards import Rules
from bot.store import Job
from bot.web import pages
from bot.web.webhook import MAX_BODY_BYTES, Webhook

log = logging.getLogger("seamguard.web")


class NotListening(Exception):
    """The address or the port can't be had. The message says why."""


Check = Callable[[], Awaitable[None]]
"""Raises an exception whose message says what is wrong."""

_FORWARDED = ("X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Forwarded", "Via")

CHECK_SECONDS = 5.0
READY_FOR = 5.0
"""Seconds for which the answer to "ready?" is remembered: nobody can make the server ask GitHub by asking it."""


@dataclass
class Server:
    """What the server is made of. `checks` are what has to work before it is ready, each with its name."""

    secret: str
    job_of: Callable[[str, payloads.Event], Job | None]
    accept: Callable[[Job], Awaitable[bool]]
    rules: Rules
    checks: Sequence[tuple[str, Check]] = ()
    sandbox: bool = False
    metrics_token: str | None = None
    _problems: list[str] = field(default_factory=list)
    _checked: float = float("-inf")

    def application(self) -> web.Application:
        """The routes."""
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[_plain_errors])
        app.router.add_post("/webhook", Webhook(self.secret, self.job_of, self.accept).handle)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/", self._status)
        app.router.add_get("/hazards", self._hazards)
        app.router.add_get("/hazards/{id}", self._hazard)
        return app

    async def problems(self) -> list[str]:
        """What is not as it should be."""
        if time.monotonic() - self._checked > READY_FOR:
            found = await asyncio.gather(*(_checked(name, check) for name, check in self.checks))
            self._problems = [problem for problem in found if problem]
            self._checked = time.monotonic()
        return self._problems

    async def _healthz(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _readyz(self, _: web.Request) -> web.Response:
        problems = await self.problems()
        return web.Response(status=503 if problems else 200, text="\n".join(problems or ["ready"]) + "\n")

    async def _metrics(self, request: web.Request) -> web.Response:
        """For who has the token; where none is set, for this machine. They name no repository, but tell how much goes
        on.
        """
        if not self._may_measure(request):
            told = {"WWW-Authenticate": "Bearer"} if self.metrics_token else {}
            return web.Response(status=401 if self.metrics_token else 403, text="not for you\n", headers=told)
        return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    def _may_measure(self, request: web.Request) -> bool:
        if self.metrics_token is not None:
            sent = request.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
            return hmac.compare_digest(sent, f"Bearer {self.metrics_token}".encode())
        # A proxy on this machine asks for somebody else.
        forwarded = any(name in request.headers for name in _FORWARDED)
        return not forwarded and request.remote is not None and ip_address(request.remote).is_loopback

    async def _status(self, _: web.Request) -> web.Response:
        return _html(pages.status_page(await self.problems(), self.rules, sandbox=self.sandbox))

    async def _hazards(self, _: web.Request) -> web.Response:
        return _html(pages.hazards_page(self.rules))

    async def _hazard(self, request: web.Request) -> web.Response:
        found = pages.hazard_page(self.rules, request.match_info["id"])
        if found is None:
            body = '<h1>No such rule</h1><p>All of them are <a href="/hazards">here</a>.</p>'
            return _html(pages.page("No such rule", body), 404)
        return _html(found)


async def _checked(name: str, check: Check) -> str | None:
    """What anybody may know of a problem; its details name hosts and accounts."""
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await check()
    except TimeoutError:
        return f"{name} does not answer in time"
    except Exception as error:
        log.warning("%s does not work: %s", name, error)
        return f"{name} does not work; the server's log says why"
    return None


def _html(text: str, status: int = 200) -> web.Response:
    return web.Response(text=text, status=status, content_type="text/html", headers=pages.HEADERS)


@web.middleware
async def _plain_errors(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """An error of ours is logged here, and told without its details."""
    try:
        return await handler(request)
    except web.HTTPException:
        raise
    except Exception:
        log.exception("a request failed", extra={"path": request.path})
        return web.Response(status=500, text="something went wrong here\n")


@asynccontextmanager
async def listening(app: web.Application, host: str, port: int, grace: float = 10.0) -> AsyncIterator[str]:
    """Serves until the context ends; then answers what has begun. Gives the server's own address.

    Raises `NotListening`.
    """
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=grace, handle_signals=False)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise NotListening(f"can't listen: {error.strerror or error}") from error
        bound = runner.addresses[0]
        shown = host if ":" not in host else f"[{host}]"
        yield f"http://{shown}:{bound[1]}"
    finally:
        await runner.cleanup()
