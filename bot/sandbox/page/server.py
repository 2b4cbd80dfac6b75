"""The page over HTTP, for a browser on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.sandbox.page import files, view

if TYPE_CHECKING:
    from bot.sandbox.scenario import Scenario

TICK_SECONDS = 0.4
"""How often a watched page is looked at for changes."""

MAX_COMMENT = 65_536

_KINDS = {"page.css": "text/css", "live.js": "text/javascript"}
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})

_HEADERS = {
    # Nothing is loaded from elsewhere, and no text of a comment can start a script.
    "Content-Security-Policy": "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; "
    "connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    # Not "no-referrer": with that a browser does not tell where a form comes from.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def application(scenario: Scenario) -> web.Application:
    """Serves the pull request of a scenario under the address that it has at GitHub."""
    base = f"/{scenario.repository.full_name}/pull/{scenario.pull.number}"
    page = _Page(scenario, base)
    app = web.Application(middlewares=[_only_from_here], client_max_size=1024 * 1024)
    app.add_routes(
        [
            web.get("/", page.begin),
            web.get(base, page.begin),
            web.get(f"{base}/", page.show),
            web.get(f"{base}/live", page.live),
            web.get(f"{base}/events", page.events),
            web.post(f"{base}/comment", page.comment),
            web.post(f"{base}/fix", page.fix),
            web.post(f"{base}/rerequest", page.rerequest),
            web.get(f"/{scenario.repository.full_name}/blob/{{sha:[0-9a-f]{{40}}}}/{{path:.+}}", page.file),
            web.get(f"/{scenario.repository.full_name}/commit/{{sha:[0-9a-f]{{40}}}}", page.commit),
            web.get("/assets/{name}", asset),
        ]
    )
    return app


@web.middleware
async def _only_from_here(request: web.Request, handler: Handler) -> web.StreamResponse:
    """No other website may read or press anything: neither by a name of its own that leads here, nor by a form."""
    host = urlsplit(f"//{request.host}").hostname
    origin = request.headers.get("Origin")
    if host not in _LOCAL or (request.method == "POST" and origin not in (None, f"{request.scheme}://{request.host}")):
        raise web.HTTPForbidden(text="This page is for this machine only.\n")
    response = await handler(request)
    if not response.prepared:
        response.headers.update(_HEADERS)
    return response


async def asset(request: web.Request) -> web.Response:
    """A style sheet or a script of the page."""
    name = request.match_info["name"]
    if name not in _KINDS:
        raise web.HTTPNotFound
    return web.Response(text=view.asset(name), content_type=_KINDS[name])


class _Page:
    def __init__(self, scenario: Scenario, base: str) -> None:
        self._scenario = scenario
        self._hub = scenario.hub
        self._base = base

    def _state(self) -> tuple[dict[str, str], str]:
        """What changes, and a name for its state."""
        parts = view.parts(self._scenario)
        return parts, hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:16]

    async def begin(self, _: web.Request) -> web.Response:
        raise web.HTTPFound(f"{self._base}/")

    async def show(self, request: web.Request) -> web.Response:
        _, version = self._state()
        writing = "write" in request.query
        text = view.page(self._scenario, version, writing=writing)
        return web.Response(text=text, content_type="text/html")

    async def file(self, request: web.Request) -> web.Response:
        sha, path = request.match_info["sha"], request.match_info["path"]
        return _found(files.file_page(self._scenario.repository, sha, path, f"{self._base}/"))

    async def commit(self, request: web.Request) -> web.Response:
        return _found(files.commit_page(self._scenario.repository, request.match_info["sha"], f"{self._base}/"))

    async def live(self, _: web.Request) -> web.Response:
        parts, version = self._state()
        return web.json_response({"version": version, "parts": parts})

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events: the name of the state, whenever it changes."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **_HEADERS})
        await response.prepare(request)
        told = ""
        with contextlib.suppress(ConnectionResetError):  # the browser has gone
            while not self._hub.closing.is_set():
                _, version = self._state()
                # An empty comment finds out whether anybody still listens.
                await response.write(f"data: {version}\n\n".encode() if version != told else b":\n\n")
                told = version
                await asyncio.sleep(TICK_SECONDS)
        return response

    async def comment(self, request: web.Request) -> web.Response:
        form = await request.post()
        body, author = str(form.get("body", "")), str(form.get("author", self._scenario.people[0][0]))
        if not body.strip() or len(body) > MAX_COMMENT or author not in dict(self._scenario.people):
            raise web.HTTPBadRequest(text="The comment is empty or too long, or by nobody known.\n")
        self._scenario.pull.comment(author, body.replace("\r\n", "\n"))
        raise web.HTTPSeeOther(f"{self._base}/")

    async def fix(self, _: web.Request) -> web.Response:
        self._scenario.push_fix()
        raise web.HTTPSeeOther(f"{self._base}/")

    async def rerequest(self, request: web.Request) -> web.Response:
        number = str((await request.post()).get("run", ""))
        run = self._scenario.repository.record.runs.get(int(number)) if number.isdecimal() else None
        if run is None:
            raise web.HTTPNotFound(text="There is no such check.\n")
        self._scenario.pull.rerequest(run)
        raise web.HTTPSeeOther(f"{self._base}/")


def _found(text: str | None) -> web.Response:
    if text is None:
        raise web.HTTPNotFound(text="There is no such file or commit in the sandbox.\n")
    return web.Response(text=text, content_type="text/html")
