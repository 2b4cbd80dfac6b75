"""The API over HTTP: authentication, limits, conditional requests, faults; then the resources."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import unquote

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from bot.sandbox.github import access
from bot.sandbox.github.call import Answer, Call, Refused, Route, not_found
from bot.sandbox.github.faults import Fault, half
from bot.sandbox.github.log import Logged

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

VERSIONS = ("2022-11-28", "2026-03-10")
"""REST versions that are served; the older one without the header (facts, section 1)."""

MAX_BODY_BYTES = 30 * 1024 * 1024


ADDRESS: web.AppKey[Callable[[str], str]] = web.AppKey("address", Callable[[str], str])  # type: ignore[arg-type]
"""Of the application: makes a path with a repository's number one with its name."""


class Directory:
    """Finds the route of a request."""

    def __init__(self, routes: list[Route]) -> None:
        self._routes = [(route, re.compile(_pattern(route.template))) for route in routes]

    def find(self, method: str, path: str) -> tuple[Route, Mapping[str, str]]:
        """The route and the parts of the path, decoded. Refuses what is not served."""
        for route, pattern in self._routes:
            found = pattern.fullmatch(path) if route.method == method else None
            if found:
                return route, {name: unquote(value) for name, value in found.groupdict().items()}
        raise not_found()


def _pattern(template: str) -> str:
    escaped = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template)
    return re.sub(r"\{(\w+):\*\}", r"(?P<\1>.+)", escaped)


def application(hub: Hub, middlewares: tuple[Middleware, ...]) -> web.Application:
    """The API of `hub`. The middlewares see requests and answers inside of the faults."""

    @web.middleware
    async def watched(request: web.Request, handler: Handler) -> web.StreamResponse:
        entry = Logged.start(hub, request)
        hub.requests.append(entry)
        fault = hub.faults.strike(request.method, request.path)
        try:
            if fault is not None and fault.kind in ("answer", "graphql-errors", "timeout", "reset"):
                entry.fault = fault.kind
                return await _before(hub, request, fault, entry)
            response = await handler(request)
            entry.status = response.status
            if fault is not None:
                entry.fault = fault.kind
                return await _after(hub, request, fault, response)
            return response
        finally:
            entry.done = True

    async def answer(request: web.Request) -> web.Response:
        body = await request.read()
        return respond(request, serve(hub, request, body))

    app = web.Application(middlewares=[watched, *middlewares], client_max_size=MAX_BODY_BYTES)
    app[ADDRESS] = hub.by_name
    app.router.add_route("*", "/{path:.*}", answer)
    return app


async def _before(hub: Hub, request: web.Request, fault: Fault, entry: Logged) -> web.StreamResponse:
    await request.read()
    if fault.kind in ("timeout", "reset"):
        if fault.kind == "timeout":
            await _wait(hub, fault.seconds or 3600.0)
        return _cut(request)
    entry.status = fault.answer().status
    return respond(request, fault.answer())


async def _after(hub: Hub, request: web.Request, fault: Fault, response: web.StreamResponse) -> web.StreamResponse:
    if fault.kind == "drop-after-write":
        return _cut(request)
    if fault.kind == "malformed" and isinstance(response, web.Response) and isinstance(response.body, bytes):
        return web.Response(body=half(response.body), status=response.status, content_type="application/json")
    if fault.kind == "slow":
        await _wait(hub, fault.seconds)
    return response


async def _wait(hub: Hub, seconds: float) -> None:
    try:
        await asyncio.wait_for(hub.closing.wait(), seconds)
    except TimeoutError:
        return


def _cut(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=500)


def serve(hub: Hub, request: web.Request, body: bytes) -> Answer:
    """The answer to a request, refusals included."""
    caller, resource = "anonymous", "graphql" if request.path == "/graphql" else "core"
    try:
        moved = hub.moved(request.rel_url.raw_path)
        if moved is not None:
            return Answer({"message": "Moved Permanently", "url": moved}, 301, {"Location": moved})
        path = hub.by_name(request.rel_url.raw_path)
        route, parts = hub.directory.find(request.method, path)
        call = Call(hub, request.method, path, parts, dict(request.query), request.headers, None, resource=resource)
        access.check_headers(call, VERSIONS)
        caller = access.authenticate(call, route)
        if request.path != "/rate_limit":
            hub.limits.take(caller, resource)
        access.authorise(call, route)
        call.body = _parsed(body)
        answer = route.handler(call)
        answer.headers = {**hub.limits.budget(caller, resource).headers(resource), **call.sent, **answer.headers}
        return _conditional(hub, call, caller, answer)
    except Refused as refusal:
        answer = refusal.answer()
        answer.headers = {**hub.limits.budget(caller, resource).headers(resource), **refusal.headers}
        if resource == "graphql" and answer.headers["X-RateLimit-Remaining"] == "0":
            # GraphQL tells its primary limit with a 200 (facts, 5.1).
            answer.status, answer.body = 200, {"errors": [{"type": "RATE_LIMIT", "message": refusal.message}]}
        return answer


def _parsed(body: bytes) -> object:
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        raise Refused(400, "Problems parsing JSON") from None


def _conditional(hub: Hub, call: Call, caller: str, answer: Answer) -> Answer:
    if call.method != "GET" or answer.status != 200:
        return answer
    # GitHub's tags are of one token: a new one of the same installation gets others for the same content.
    seen = f"{call.headers.get('Accept')}\n{call.headers.get('Authorization')}\n".encode() + encoded(answer)
    etag = f'W/"{hashlib.sha256(seen).hexdigest()}"'
    headers = {**answer.headers, "ETag": etag, "Vary": "Accept, Authorization, Cookie, X-GitHub-OTP"}
    if _unchanged(call, etag, headers.get("Last-Modified")):
        if caller != "anonymous":  # an anonymous 304 is not free (facts, section 6)
            hub.limits.give_back(caller, call.resource)
            headers |= hub.limits.budget(caller, call.resource).headers(call.resource)
        return Answer(None, 304, headers)
    answer.headers = headers
    return answer


def _unchanged(call: Call, etag: str, modified: str | None) -> bool:
    """Whether the caller has this answer. Where he names a tag, its date counts for nothing (RFC 9110, 13.2.2)."""
    tags = call.headers.get("If-None-Match")
    if tags is not None:
        return etag in tags.split(", ")
    since = call.headers.get("If-Modified-Since")
    if not since or not modified:
        return False
    return parsedate_to_datetime(modified) <= parsedate_to_datetime(since)


def encoded(answer: Answer) -> bytes:
    """The bytes of an answer."""
    if isinstance(answer.body, bytes):
        return answer.body
    return b"" if answer.body is None else json.dumps(answer.body, ensure_ascii=False).encode("utf-8")


def respond(request: web.Request, answer: Answer) -> web.Response:
    """The answer as HTTP."""
    version = request.headers.get("X-GitHub-Api-Version", VERSIONS[0])
    headers = {"X-GitHub-Api-Version-Selected": version, "Server": "github.com", **answer.headers}
    body = encoded(answer)
    if body:
        headers["Content-Type"] = answer.content_type
    return web.Response(body=body, status=answer.status, headers=headers)
