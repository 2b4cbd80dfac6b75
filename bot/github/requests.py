"""Sends a request until there is an answer worth having, and turns every other answer into an error of its kind.

Built from gidgethub's sans-I/O parts; what its own client leaves to its users is done here: answers are cached per
account and form, addresses from answers are checked, transport errors are repeated where that is safe.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import urljoin

import aiohttp
from gidgethub import sansio

from bot.github.auth import Credential
from bot.github.counting import REMAINING, RequestCount, Sent
from bot.github.errors import (
    Conflict,
    Forbidden,
    GitHubError,
    NotFound,
    Suspended,
    TooLarge,
    Unauthorised,
    Unavailable,
    Unprocessable,
)
from bot.github.etags import AnswerKey, EtagCache, KeptAnswer
from bot.github.hosts import Hosts
from bot.github.limits import Limits, Timing, backoff
from bot.github.model import RepositoryName

API_VERSION = "2022-11-28"
"""Sent with every request: what the default is may change."""

USER_AGENT = "seamguard"
MAX_BODY_BYTES = 32 * 1024 * 1024
"""Of an answer that is held in memory. GitHub's largest, a tree, ends at 7 MB; 100 blobs stay far below."""

MAX_REDIRECTS = 3
SETTLED_SECONDS = 60.0
"""Dates of HTTP have whole seconds, and servers' clocks differ (RFC 9110, 8.8.2.2)."""

GRAPHQL = "/graphql"
JSON = sansio.accept_format()
RAW = sansio.accept_format(media="raw", json=False)
SHA = sansio.accept_format(media="sha", json=False)

Method = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]
_REDIRECTS = {301, 302, 307, 308}


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask. `path` is a URI template that `variables` fill; or, from an answer's link, a whole address.

    `repeatable` says that doing it twice is the same as doing it once; every GET is. `mutates` decides whether it takes
    its turn among the writes; a GraphQL query is a POST that doesn't. With `etag` its sender keeps the answers himself:
    the tag of the one that he has, or an empty text; an unchanged answer then has the status 304, and no data. `since`
    is a date of such an answer, sent instead of the tag.
    """

    method: Method
    path: str
    variables: Mapping[str, str | int] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    accept: str = JSON
    repeatable: bool = False
    mutates: bool = True
    etag: str | None = None
    since: str = ""

    @property
    def safe(self) -> bool:
        """Whether it may be sent again when nobody knows what became of it."""
        return self.repeatable or self.method == "GET"

    @property
    def writes(self) -> bool:
        """Whether it takes its turn among the writes."""
        return self.mutates and self.method != "GET"


@dataclass(frozen=True, slots=True)
class Answer:
    """A good answer. `data` is parsed JSON, or text; `next` is the address of the next page, `etag` what to ask with
    whether it has changed. `modified` is when it last did, as a date of HTTP; empty where the answer does not say, or
    where it was too short a time ago to be told from the next change.
    """

    status: int
    data: Any
    next: str | None = None
    kept: bool = False
    etag: str = ""
    modified: str = ""


@dataclass(frozen=True, slots=True)
class _Raw:
    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """One connection pool, with its caches, for all accounts of the process. Close it."""

    def __init__(self, hosts: Hosts, timing: Timing, etags: EtagCache | None = None) -> None:
        self.hosts = hosts
        self.timing = timing
        self.etags = EtagCache() if etags is None else etags
        self.count = RequestCount()
        self._session: aiohttp.ClientSession | None = None

    @property
    def session(self) -> aiohttp.ClientSession:
        """The pool; made when first used, since it belongs to the running event loop."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=self.timing.timeout, sock_connect=self.timing.timeout / 3),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=True,
                trust_env=False,
            )
        return self._session

    async def close(self) -> None:
        """End all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def exchange(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, endpoint: str, account: str
    ) -> _Raw:
        """One request, one answer, whatever it is. Raises `aiohttp.ClientError`, `TimeoutError`, `TooLarge`."""
        status = 0
        try:
            async with self.session.request(method, url, headers=headers, data=body, allow_redirects=False) as response:
                status = response.status
                content = await bounded(response, MAX_BODY_BYTES)
                lowered = {name.lower(): value for name, value in response.headers.items()}
                return _Raw(status, lowered, content)
        finally:
            self.count.add(Sent(method, endpoint, status, account))


async def bounded(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """A body of at most `limit` bytes. Raises `TooLarge`."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_chunked(1 << 16):
        size += len(chunk)
        if size > limit:
            raise TooLarge(f"GitHub answers with more than {limit} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


REPOSITORY = "/repos/{owner}/{repo}"


def in_repository(
    method: Method,
    repository: RepositoryName,
    path: str,
    *,
    body: Mapping[str, Any] | None = None,
    repeatable: bool = False,
    etag: str | None = None,
    since: str = "",
    **variables: str | int,
) -> Request:
    """What to ask of a repository: `path` follows the repository's own."""
    where = {"owner": repository.owner, "repo": repository.name, **variables}
    return Request(method, REPOSITORY + path, where, body=body, repeatable=repeatable, etag=etag, since=since)


class Requests:
    """The requests of one account: an installation, the App, or nobody."""

    def __init__(self, transport: Transport, credential: Credential, limits: Limits | None = None) -> None:
        self.transport = transport
        self.credential = credential
        self.limits = Limits(transport.timing) if limits is None else limits

    async def send(self, request: Request) -> Answer:
        """The answer to a request. Raises a `GitHubError`."""
        timing = self.transport.timing
        renewed = False
        attempt = 0
        while True:
            attempt += 1
            try:
                raw, kept = await self._once(request)
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                unsent = isinstance(error, aiohttp.ClientConnectorError)
                if attempt < timing.attempts and (request.safe or unsent):
                    await asyncio.sleep(backoff(timing, attempt))
                    continue
                raise Unavailable(_failure(error), perhaps_done=not unsent) from error
            if raw.status == HTTPStatus.UNAUTHORIZED and not renewed and self.credential.renew():
                renewed = True
                continue
            try:
                return self._judge(request, raw, kept)
            except Unavailable:
                if attempt >= timing.attempts or not request.safe:
                    raise
                await asyncio.sleep(backoff(timing, attempt))

    async def pages(self, request: Request, limit: int) -> AsyncIterator[Any]:
        """The data of up to `limit` pages. The next one is where the answer says, never worked out."""
        for _ in range(limit):
            answer = await self.send(request)
            yield answer.data
            if answer.next is None:
                return
            request = Request("GET", answer.next, accept=request.accept)

    async def _once(self, request: Request) -> tuple[_Raw, KeptAnswer | None]:
        """One attempt, with the redirects that belong to it: the same request goes to the new address, writes too."""
        hosts = self.transport.hosts
        path = hosts.graphql if request.path == GRAPHQL else request.path
        url = hosts.api_address(sansio.format_url(path, dict(request.variables), base_url=hosts.api))
        endpoint = request.path if request.path.startswith("/") else "(next page)"
        for _ in range(MAX_REDIRECTS + 1):
            key = AnswerKey(self.credential.account, request.accept, url)
            kept = self.transport.etags.get(key) if request.method == "GET" and request.etag is None else None
            etag = request.etag or (kept.etag if kept is not None else None)
            # The credential may itself ask GitHub for a token: outside of the turn, or it would wait for itself.
            headers = _headers(request, await self.credential.authorization(), None if request.since else etag)
            async with self.limits.turn(writes=request.writes):
                raw = await self.transport.exchange(
                    request.method, url, headers, _encoded(request), endpoint, self.credential.account
                )
            target = raw.headers.get("location")
            if raw.status not in _REDIRECTS or target is None:
                self._keep(key, request, raw)
                return raw, kept
            url = hosts.api_address(urljoin(url, target))
        raise Unavailable("GitHub redirects in a circle")

    def _keep(self, key: AnswerKey, request: Request, raw: _Raw) -> None:
        etag = raw.headers.get("etag")
        if request.method == "GET" and raw.status == HTTPStatus.OK and etag and request.etag is None:
            answer = KeptAnswer(etag, raw.body, raw.headers.get("content-type", ""), _next(raw.headers))
            self.transport.etags.put(key, answer)

    def _judge(self, request: Request, raw: _Raw, kept: KeptAnswer | None) -> Answer:
        if raw.status == HTTPStatus.NOT_MODIFIED and kept is not None:
            self.limits.observe(raw.headers)
            return Answer(HTTPStatus.OK, decoded(kept.content_type, kept.body), kept.next, kept=True)
        if raw.status == HTTPStatus.NOT_MODIFIED and (request.etag or request.since):
            self.limits.observe(raw.headers)
            return Answer(raw.status, None, etag=request.etag or "", modified=request.since)
        if 200 <= raw.status < 300:
            self.limits.observe(raw.headers)
            if self.limits.remaining is not None:
                REMAINING.labels(self.credential.account).set(self.limits.remaining)
            try:
                data = decoded(raw.headers.get("content-type", ""), raw.body)
            except Unavailable as error:  # it was done, only what came of it is not known
                raise Unavailable(str(error), perhaps_done=not request.safe) from None
            etag, modified = raw.headers.get("etag", ""), _settled(raw.headers)
            return Answer(raw.status, data, _next(raw.headers), etag=etag, modified=modified)
        raise self.refusal(raw.status, raw.headers, raw.body, request)

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes, request: Request) -> GitHubError:
        """The error that an answer stands for."""
        message, errors = _complaint(headers, body)
        said = f"{request.method} {request.path}: {status} {message}".strip()
        if status in (403, 429):
            limited = self.limits.refused(headers, message)
            if limited is not None:
                return limited
        match status:
            case 401:
                return Unauthorised(said)
            case 403 if "suspended" in message.lower():
                return Suspended(said)
            case 403 | 429 | 451:
                return Forbidden(said, headers.get("x-accepted-github-permissions", ""))
            case 404 | 410:
                return NotFound(said)
            case 409:
                return Conflict(said)
            case 400 | 413 | 422:
                return Unprocessable(said, errors)
            case _ if status >= 500:
                return Unavailable(said, perhaps_done=not request.safe)
            case _:
                return Unavailable(f"{said}: an answer that nobody expects here")


@asynccontextmanager
async def download(
    requests: Requests, path: str, variables: Mapping[str, str | int]
) -> AsyncIterator[aiohttp.ClientResponse]:
    """A body that is too large to hold. The API redirects to another host, which must not see the token.

    Raises a `GitHubError`; what goes wrong while the body is read is for the reader to handle.
    """
    transport = requests.transport
    hosts = transport.hosts
    url = hosts.api_address(sansio.format_url(path, dict(variables), base_url=hosts.api))
    request = Request("GET", path)
    timeout = aiohttp.ClientTimeout(total=transport.timing.download_timeout, sock_read=transport.timing.timeout)
    headers = _headers(request, await requests.credential.authorization(), None)
    async with requests.limits.turn(writes=False):
        first = await transport.exchange("GET", url, headers, None, path, requests.credential.account)
    requests.limits.observe(first.headers)
    if first.status not in _REDIRECTS or "location" not in first.headers:
        raise requests.refusal(first.status, first.headers, first.body, request)
    target = hosts.download_address(urljoin(url, first.headers["location"]))
    async with transport.session.get(
        target, headers={"user-agent": USER_AGENT}, allow_redirects=False, timeout=timeout
    ) as response:
        if response.status != HTTPStatus.OK:
            raise Unavailable(f"the download of {path} answers {response.status}")
        yield response


def _headers(request: Request, authorization: str | None, etag: str | None) -> dict[str, str]:
    headers = sansio.create_headers(USER_AGENT, accept=request.accept)
    headers["x-github-api-version"] = API_VERSION
    if authorization is not None:
        headers["authorization"] = authorization
    if etag:
        headers["if-none-match"] = etag
    if request.since:
        headers["if-modified-since"] = request.since
    if request.body is not None:
        headers["content-type"] = _JSON_TYPE
    return headers


_JSON_TYPE = "application/json; charset=utf-8"


def _encoded(request: Request) -> bytes | None:
    return None if request.body is None else json.dumps(request.body, ensure_ascii=False).encode("utf-8", "replace")


def decoded(content_type: str, body: bytes) -> Any:
    """JSON where the answer says that it is, else text. Raises `Unavailable` for JSON that ends early."""
    if not body:
        return None
    if "json" not in content_type:
        return body
    try:
        return json.loads(body)
    except ValueError:
        raise Unavailable("GitHub's answer is damaged: it is no JSON") from None


def _next(headers: Mapping[str, str]) -> str | None:
    link = headers.get("link")
    _, _, following = sansio.decipher_response(200, {"link": link}, b"") if link else (None, None, None)
    return following


def _settled(headers: Mapping[str, str]) -> str:
    """When an answer last changed, where that is long enough ago that a later change has another date."""
    try:
        modified = parsedate_to_datetime(headers["last-modified"])
        answered = parsedate_to_datetime(headers["date"])
        return headers["last-modified"] if (answered - modified).total_seconds() >= SETTLED_SECONDS else ""
    except (KeyError, ValueError, TypeError):
        return ""


def _complaint(headers: Mapping[str, str], body: bytes) -> tuple[str, tuple[str, ...]]:
    """GitHub's message and its details, in whichever of their several forms they come."""
    try:
        data = decoded(headers.get("content-type", ""), body)
    except Unavailable:
        return "", ()
    if not isinstance(data, Mapping):
        return "", ()
    errors = data.get("errors")
    listed = errors if isinstance(errors, list) else [errors] if errors else []
    return str(data.get("message") or "")[:500], tuple(_detail(error) for error in listed[:20])


def _detail(error: object) -> str:
    if isinstance(error, Mapping):
        parts = [error.get(name) for name in ("resource", "field", "code", "message")]
        return " ".join(str(part) for part in parts if part)[:300]
    return str(error)[:300]


def _failure(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "GitHub does not answer in time"
    return f"the connection to GitHub failed ({type(error).__name__})"
