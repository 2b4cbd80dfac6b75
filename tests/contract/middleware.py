"""Holds every request to the simulated GitHub, and every answer of it, against GitHub's own description."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import quote

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from openapi_core import Config, OpenAPI
from openapi_core.datatypes import RequestParameters
from openapi_core.exceptions import OpenAPIError
from werkzeug.datastructures import Headers, ImmutableMultiDict

from bot.sandbox.github.call import Refused
from bot.sandbox.github.hub import sorted_routes
from bot.sandbox.github.server import ADDRESS, Directory
from tests.contract import description, graphql_schema

UNDESCRIBED_REFUSALS = frozenset({400, 401, 403, 404, 409, 422, 429})
"""Any request may be answered so, whether its own description says it or not."""


class _Request:
    """A request in the form that openapi-core reads."""

    def __init__(self, request: web.Request, path: str, body: bytes) -> None:
        self.host_url = "https://api.github.com"
        self.path = path
        self.method = request.method.lower()
        self.content_type = "application/json" if body else ""
        self.body = body or None
        query = ImmutableMultiDict(list(request.query.items()))
        self.parameters = RequestParameters(query=query, header=Headers(dict(request.headers)))


class _Response:
    """An answer in the form that openapi-core reads."""

    def __init__(self, status: int, content_type: str, body: bytes, headers: Mapping[str, str]) -> None:
        self.status_code = status
        self.content_type = content_type
        self.data = body or None
        self.headers = Headers(dict(headers))


@cache
def _openapi() -> OpenAPI:
    # Without this setting the whole description would be validated first.
    return OpenAPI.from_dict(description.description(), config=Config(spec_validator_cls=None))  # type: ignore[arg-type]


class Contract:
    """What broke the description. Give `middlewares` to `simulated_github`, and ask `assert_kept` at the end.

    Where the description was not fetched, nothing is checked; a test of its own is then skipped and says so.
    """

    def __init__(self) -> None:
        self.broken: list[str] = []
        self.checked = 0
        self._directory = Directory(sorted_routes())

    @property
    def middlewares(self) -> tuple[Middleware, ...]:
        """None where there is nothing to check against."""

        @web.middleware
        async def checked(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._check(request, handler)

        return (checked,) if description.AVAILABLE else ()

    def assert_kept(self) -> None:
        """Fail with every break."""
        assert not self.broken, "\n".join(self.broken)

    async def _check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        body = await request.read()
        response = await handler(request)
        assert isinstance(response, web.Response)
        content = response.body if isinstance(response.body, bytes) else b""
        self.checked += 1
        if request.path == "/graphql":
            self._check_graphql(body, content)
        elif response.status != 301:
            self._check_rest(request, body, response, content)
        return response

    def _check_rest(self, request: web.Request, body: bytes, response: web.Response, content: bytes) -> None:
        what = f"{request.method} {request.path_qs} -> {response.status}"
        try:
            raw = request.app[ADDRESS](request.rel_url.raw_path)
            route, parts = self._directory.find(request.method, raw)
        except Refused:
            self.broken.append(f"{what}: no such route")
            return
        # The description's templates match one part of a path each.
        path = route.template.replace(":*}", "}").format(**{name: quote(each, safe="") for name, each in parts.items()})
        asked = _Request(request, path, body)
        if response.status < 400:  # a test may send what is to be refused
            self._note(what, "request", lambda: _openapi().validate_request(asked))
        if response.status == 304:
            return
        if response.status in UNDESCRIBED_REFUSALS and not self._describes(
            route.method, route.template, response.status
        ):
            if not {"message", "documentation_url"} <= json.loads(content).keys():
                self.broken.append(f"{what}: a refusal without message and documentation_url")
            return
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if kind.startswith("application/vnd.github"):
            return  # raw content
        given = _Response(response.status, kind, content, response.headers)
        self._note(what, "answer", lambda: _openapi().validate_response(asked, given))

    def _describes(self, method: str, template: str, status: int) -> bool:
        wanted = description.plain(template)
        for known, methods in description.description()["paths"].items():
            if description.plain(known) == wanted:
                return str(status) in methods[method.lower()]["responses"]
        return False

    def _note(self, what: str, side: str, check: Any) -> None:
        try:
            check()
        except OpenAPIError as error:
            reasons = [str(each).partition("\n")[0][:300] for each in _causes(error)]
            self.broken.append(f"{what}: {side}: {'; '.join(reasons)}")

    def _check_graphql(self, body: bytes, content: bytes) -> None:
        if not graphql_schema.AVAILABLE:
            return
        if "errors" not in json.loads(content):  # a test may send what is to be refused
            self.broken += [f"GraphQL: {fault}" for fault in graphql_schema.faults(json.loads(body)["query"])]


def _causes(error: BaseException) -> list[BaseException]:
    below = getattr(error, "schema_errors", None)
    if below:
        found: list[BaseException] = []
        for each in below:
            where = "/".join(str(part) for part in each.absolute_path)
            found.append(ValueError(f"{where}: {each.message}"))
        return found
    return _causes(error.__cause__) if error.__cause__ is not None else [error]
