"""Webhooks: sent signed, kept, listed and sent again (facts, section 8)."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import aiohttp

from bot.sandbox.github.call import Answer, Call, Refused, Routes, not_found
from bot.sandbox.github.clock import stamp
from bot.sandbox.github.model import App, Installation, Json, Repository, User, node_id
from bot.sandbox.github.shapes import organization as organization_json
from bot.sandbox.github.shapes import repository as repository_json
from bot.sandbox.github.shapes import user as user_json

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

LARGEST = 25 * 1024 * 1024
"""A larger payload is not delivered at all."""

PATIENCE_SECONDS = 10.0
KEPT = timedelta(days=3)
NOT_SENT = "not sent"
"""Of events for an App that has no address for webhooks."""

ROUTES = Routes()

_PERMISSION = {
    "pull_request": "pull_requests",
    "pull_request_review": "pull_requests",
    "pull_request_review_comment": "pull_requests",
    "issue_comment": "issues",
    "issues": "issues",
    "check_run": "checks",
    "check_suite": "checks",
    "push": "contents",
    "create": "contents",
    "delete": "contents",
    "release": "contents",
    "merge_group": "merge_queues",
    "repository": "metadata",
}
"""Without this permission an event is never delivered."""

_WITHOUT_ASKING = ("installation", "installation_repositories", "check_suite", "ping")
"""Events that come without a subscription; of check suites those that an App with checks: write is asked to run."""


@dataclass(slots=True)
class Delivery:
    """One attempt to deliver an event. Attempts of the same event share the `guid`."""

    id: int
    guid: str
    app: App
    event: str
    payload: Json
    installation: int | None
    repository: int | None
    created_at: datetime
    redelivery: bool = False
    status: str = "queued"
    status_code: int = 0
    duration: float = 0.0
    answer: str = ""
    answer_headers: dict[str, str] | None = None
    request_headers: dict[str, str] | None = None

    @property
    def action(self) -> str | None:
        """The payload's action."""
        return self.payload.get("action")


class Hooks:
    """All deliveries. While `held`, events wait in order until `send` or `release`."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self.deliveries: list[Delivery] = []
        self.held = False
        self.lost = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Stop delivering."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    def emit(
        self, event: str, payload: Json, sender: User, repository: Repository, only: App | None = None
    ) -> list[Delivery]:
        """Tell every App that is installed for the repository, has subscribed and may know; or `only` one of them."""
        common: Json = {"repository": repository_json(self._hub, repository), "sender": user_json(self._hub, sender)}
        if repository.owner.kind == "Organization":
            common["organization"] = organization_json(self._hub, repository.owner)
        made = []
        for installation in self._hub.installed_for(repository):
            if only in (None, installation.app) and _may_know(installation, event):
                short = {"id": installation.id, "node_id": node_id("MDIz", installation.id)}
                whole = {**payload, **common, "installation": short}
                made.append(self._new(installation.app, event, whole, installation.id, repository.id))
        return made

    def tell(self, app: App, event: str, payload: Json, installation: Installation) -> Delivery:
        """An event about the installation itself."""
        return self._new(app, event, payload, installation.id, None)

    def release(self) -> None:
        """Send what was held, in order, and hold no longer."""
        self.held = False
        for delivery in self.deliveries:
            if delivery.status == "queued":
                self.send(delivery)

    def send(self, delivery: Delivery) -> None:
        """Make the attempt now, in the background."""
        delivery.status = "sending"
        task = asyncio.get_running_loop().create_task(self._attempt(delivery))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def redeliver(self, delivery: Delivery) -> Delivery:
        """Attempt again, under the same guid."""
        again = Delivery(
            self._hub.next_id(),
            delivery.guid,
            delivery.app,
            delivery.event,
            delivery.payload,
            delivery.installation,
            delivery.repository,
            self._hub.clock.now(),
            redelivery=True,
        )
        self._add(again)
        return again

    async def settled(self) -> None:
        """Wait until every attempt has ended."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def _new(self, app: App, event: str, payload: Json, installation: int | None, repository: int | None) -> Delivery:
        now = self._hub.clock.now()
        # The payload is what it was at this moment, whatever happens to the records afterwards.
        frozen: Json = json.loads(json.dumps(payload))
        delivery = Delivery(self._hub.next_id(), str(uuid.uuid4()), app, event, frozen, installation, repository, now)
        if len(_encoded(frozen)) > LARGEST:
            self.lost += 1
            return delivery
        self._add(delivery)
        return delivery

    def _add(self, delivery: Delivery) -> None:
        self.deliveries.append(delivery)
        if delivery.app.hook_url is None:
            delivery.status = NOT_SENT
        elif not self.held:
            self.send(delivery)

    async def _attempt(self, delivery: Delivery) -> None:
        body = _encoded(delivery.payload)
        headers = delivery.request_headers = _headers(delivery, body)
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=PATIENCE_SECONDS), auto_decompress=False
            )
        start = time.monotonic()
        try:
            url = delivery.app.hook_url or ""
            async with self._session.post(url, data=body, headers=headers, allow_redirects=False) as answer:
                delivery.answer = (await answer.read())[:65_536].decode("utf-8", "replace")
                delivery.answer_headers = dict(answer.headers)
                delivery.status_code = answer.status
                good = 200 <= answer.status < 300
                delivery.status = "OK" if good else f"Invalid HTTP Response: {answer.status}"
        except TimeoutError:
            delivery.status = "timed out"
        except (aiohttp.ClientError, OSError):
            delivery.status = "failed to connect to host"
        delivery.duration = round(time.monotonic() - start, 3)


def _may_know(installation: Installation, event: str) -> bool:
    permission = _PERMISSION.get(event, "metadata")
    level = "read" if permission == "metadata" else installation.permissions.get(permission)
    if event == "issue_comment":
        # On pull requests too it is the permission for issues that counts (facts, section 10).
        level = installation.permissions.get("issues")
    subscribed = event in installation.app.events
    if event == "check_suite" and not subscribed:
        return level == "write"
    return level is not None and (subscribed or event in _WITHOUT_ASKING)


def _encoded(payload: Json) -> bytes:
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def signature(secret: str, body: bytes) -> str:
    """The value of X-Hub-Signature-256."""
    return "sha256=" + hmac.new(secret.encode("utf-8"), body, hashlib.sha256).hexdigest()


def _headers(delivery: Delivery, body: bytes) -> dict[str, str]:
    return {
        "Accept": "*/*",
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/5d1a9e0",
        "X-GitHub-Delivery": delivery.guid,
        "X-GitHub-Event": delivery.event,
        "X-GitHub-Hook-ID": str(500_000_000 + delivery.app.id),
        "X-GitHub-Hook-Installation-Target-ID": str(delivery.app.id),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-Hub-Signature": "sha1=" + hmac.new(delivery.app.webhook_secret.encode(), body, hashlib.sha1).hexdigest(),
        "X-Hub-Signature-256": signature(delivery.app.webhook_secret, body),
    }


def _item(delivery: Delivery) -> Json:
    return {
        "id": delivery.id,
        "guid": delivery.guid,
        "delivered_at": stamp(delivery.created_at),
        "redelivery": delivery.redelivery,
        "duration": delivery.duration,
        "status": delivery.status,
        "status_code": delivery.status_code,
        "event": delivery.event,
        "action": delivery.action,
        "installation_id": delivery.installation,
        "repository_id": delivery.repository,
        "throttled_at": None,
    }


def _attempts(call: Call) -> list[Delivery]:
    assert call.app is not None
    since = call.hub.clock.now() - KEPT
    made = [each for each in call.hub.hooks.deliveries if each.app is call.app and each.created_at >= since]
    return [each for each in made if each.status not in ("queued", "sending", NOT_SENT)][::-1]


def _one(call: Call) -> Delivery:
    number = call.number("delivery_id")
    found = next((delivery for delivery in _attempts(call) if delivery.id == number), None)
    if found is None:
        raise not_found()
    return found


@ROUTES.add("GET", "/app/hook/deliveries", who="app")
def list_deliveries(call: Call) -> Answer:
    """Newest first, paged by a cursor. A timeout has no status code, so the filter for failures misses it."""
    attempts = _attempts(call)
    status = call.query.get("status")
    if status == "failure":
        attempts = [each for each in attempts if 400 <= each.status_code < 600]
    elif status == "success":
        attempts = [each for each in attempts if 200 <= each.status_code < 400]
    elif status is not None:
        raise Refused(422, "status must be success or failure")
    size = call.query.get("per_page", "30")
    if not size.isdigit() or not 1 <= int(size) <= 100:
        raise Refused(422, "per_page must be at most 100")
    cursor = call.query.get("cursor")
    if cursor is not None:
        bound = cursor.removeprefix("v1_")
        if not cursor.startswith("v1_") or not bound.isdigit():
            raise Refused(422, "cursor is not valid")
        attempts = [each for each in attempts if each.id < int(bound)]
    page = attempts[: int(size)]
    if len(attempts) > len(page):
        link = f"{call.hub.url}/app/hook/deliveries?per_page={size}&cursor=v1_{page[-1].id}"
        link += f"&status={status}" if status else ""
        call.sent["Link"] = f'<{link}>; rel="next"'
    return Answer([_item(each) for each in page])


@ROUTES.add("GET", "/app/hook/deliveries/{delivery_id}", who="app")
def get_delivery(call: Call) -> Answer:
    """A delivery with what was sent and answered."""
    found = _one(call)
    request = {"headers": found.request_headers, "payload": found.payload}
    response = {"headers": found.answer_headers, "payload": found.answer}
    url = found.app.hook_url or ""
    return Answer({**_item(found), "url": url, "request": request, "response": response})


@ROUTES.add("POST", "/app/hook/deliveries/{delivery_id}/attempts", who="app")
def redeliver(call: Call) -> Answer:
    """Send it again, under the same guid."""
    call.hub.hooks.redeliver(_one(call))
    return Answer({}, 202)


@ROUTES.add("GET", "/app/hook/config", who="app")
def get_configuration(call: Call) -> Answer:
    """Where the App's webhooks go. The secret is masked."""
    assert call.app is not None
    url = call.app.hook_url
    return Answer({"content_type": "json", "insecure_ssl": "0", "secret": "********", **({"url": url} if url else {})})
