"""`POST /webhook`: is it from GitHub, does it need something, and is that stored? Then 202, within milliseconds."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

from aiohttp import web
from prometheus_client import Counter, Histogram

from bot.github import payloads
from bot.github.signatures import HEADER, signed, well_formed
from bot.store import DatabaseError, Job

log = logging.getLogger("seamguard.webhook")

MAX_BODY_BYTES = 26 * 1024 * 1024
"""GitHub sends at most 25 MB."""

READ_SECONDS = 20.0
LARGE_BYTES = 48 * 1024
"""A payload over this size is read in a thread, for it may hold a log: others wait for their answers meanwhile."""

MAX_NAME = 100

DELIVERIES = Counter("seamguard_deliveries", "Webhooks received", ["event", "result"])
ACCEPTING = Histogram(
    "seamguard_accepting_seconds",
    "From the first byte of a webhook to its answer",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10),
)

KNOWN = frozenset((*payloads.EVENTS, "ping"))


class Webhook:
    """Receives deliveries. `job_of` says what a delivery asks for, `accept` stores it, and tells whether it is new."""

    def __init__(
        self,
        secret: str,
        job_of: Callable[[str, payloads.Event], Job | None],
        accept: Callable[[Job], Awaitable[bool]],
    ) -> None:
        if not secret:
            raise ValueError("webhooks without a secret could come from anybody")
        self._secret = secret
        self._job_of = job_of
        self._accept = accept

    async def handle(self, request: web.Request) -> web.Response:
        """Answers a delivery."""
        with ACCEPTING.time():
            event = request.headers.get("X-GitHub-Event", "")
            result, response = await self._receive(request, event)
        DELIVERIES.labels(event if event in KNOWN else "other", result).inc()
        return response

    async def _receive(self, request: web.Request, event: str) -> tuple[str, web.Response]:
        delivery = request.headers.get("X-GitHub-Delivery", "")
        if (request.content_length or 0) > MAX_BODY_BYTES:
            return "too-large", _answer(413, f"a webhook has at most {MAX_BODY_BYTES} bytes")
        if not well_formed(request.headers.get(HEADER)):
            return self._unsigned(delivery)
        try:
            async with asyncio.timeout(READ_SECONDS):
                body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            return "too-large", _answer(413, f"a webhook has at most {MAX_BODY_BYTES} bytes")
        except TimeoutError:
            return "slow", _answer(408, "the body did not arrive in time")
        if not signed(self._secret, body, request.headers.get(HEADER)):
            return self._unsigned(delivery)
        if not _is_name(event) or not _is_name(delivery):
            return "malformed", _answer(400, "X-GitHub-Event or X-GitHub-Delivery is missing")
        if event not in payloads.EVENTS:
            return "ignored", _answer(200, f"nothing is done for {event}")
        asked = (delivery, event, body, request.content_type)
        try:
            told = await asyncio.to_thread(self._read, *asked) if len(body) > LARGE_BYTES else self._read(*asked)
        except ValueError:
            return "malformed", _answer(400, "the payload is no JSON")
        return await self._take(delivery, *told, event)

    def _read(self, delivery: str, name: str, body: bytes, content_type: str) -> tuple[payloads.Event, Job | None]:
        """What a delivery says, and what is to be done for it. Raises `ValueError`."""
        event = payloads.read(name, _parsed(body, content_type))
        return event, self._job_of(delivery, event)

    @staticmethod
    def _unsigned(delivery: str) -> tuple[str, web.Response]:
        log.warning("a delivery without the right signature", extra={"delivery": delivery[:MAX_NAME]})
        return "unsigned", _answer(401, f"{HEADER} is missing or wrong")

    async def _take(self, delivery: str, event: payloads.Event, job: Job | None, name: str) -> tuple[str, web.Response]:
        if job is None:
            why = event.why if isinstance(event, payloads.Nothing) else "nothing to do"
            log.debug("a delivery that needs nothing", extra={"delivery": delivery, "event": name, "why": why})
            return "ignored", _answer(200, why)
        try:
            new = await self._accept(job)
        except DatabaseError as error:
            log.error("a delivery could not be stored: %s", error, extra={"delivery": delivery, "event": name})
            return "failed", _answer(503, "the delivery could not be stored; deliver it again")
        extra = {"delivery": delivery, "event": name, "about": job.partition}
        log.info("accepted" if new else "known already", extra=extra)
        return ("accepted" if new else "repeated"), _answer(202, "accepted" if new else "known already")


def _is_name(text: str) -> bool:
    return 0 < len(text) <= MAX_NAME and text.isascii() and text.isprintable()


def _answer(status: int, text: str) -> web.Response:
    return web.Response(status=status, text=text)


def _parsed(body: bytes, content_type: str) -> Any:
    """The payload, sent as JSON or in a form. Raises `ValueError`."""
    if content_type == "application/x-www-form-urlencoded":
        fields = parse_qs(body.decode("utf-8"), max_num_fields=10)
        body = fields.get("payload", [""])[0].encode()
    try:
        return json.loads(body)
    except RecursionError:
        raise ValueError("nested too deep") from None
