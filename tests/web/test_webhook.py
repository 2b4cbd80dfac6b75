"""The server's answers, with nothing behind it."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from bot.github.redaction import Redactor
from bot.github.signatures import sign
from bot.hazards import Rules, load_rules
from bot.jobs.kinds import job_of
from bot.store import CURRENT, DatabaseError, Job
from bot.web import logs, pages, webhook
from bot.web.server import Server, listening

SECRET = "a secret of the tests"
OPENED: dict[str, Any] = {
    "action": "opened",
    "installation": {"id": 3},
    "repository": {"full_name": "acme/serving"},
    "pull_request": {"number": 7, "head": {"sha": "c"}},
}


class Accepting:
    """Takes jobs in."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.broken = False

    async def __call__(self, job: Job) -> bool:
        if self.broken:
            raise DatabaseError("the disk is full")
        self.jobs.append(job)
        return True


@pytest.fixture(scope="module")
def rules() -> Rules:
    return load_rules()


@asynccontextmanager
async def serving(rules: Rules, accept: Accepting | None = None, **more: Any) -> AsyncIterator[aiohttp.ClientSession]:
    server = Server(SECRET, job_of, accept or Accepting(), rules, **more)
    async with listening(server.application(), "127.0.0.1", 0) as url, aiohttp.ClientSession(url) as session:
        yield session


def headers(event: str, body: bytes, **changes: str) -> dict[str, str]:
    return {
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": "d-1",
        "X-Hub-Signature-256": sign(SECRET, body),
        "Content-Type": "application/json",
        **changes,
    }


async def post(session: aiohttp.ClientSession, event: str, payload: Any, **changes: str) -> int:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    async with session.post("/webhook", data=body, headers=headers(event, body, **changes)) as answer:
        return answer.status


async def test_a_delivery_that_needs_something_is_accepted(rules: Rules) -> None:
    accept = Accepting()
    async with serving(rules, accept) as session:
        assert await post(session, "pull_request", OPENED) == 202
        (job,) = accept.jobs
        assert (job.id, job.kind, job.partition) == ("d-1", "review", "acme/serving#7")


async def test_a_form_is_a_delivery_too(rules: Rules) -> None:
    from urllib.parse import urlencode

    accept = Accepting()
    body = urlencode({"payload": json.dumps(OPENED)}).encode()
    async with serving(rules, accept) as session:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert await post(session, "pull_request", body, **kind) == 202
        assert len(accept.jobs) == 1


@pytest.mark.parametrize(
    ("event", "payload", "status"),
    [
        ("ping", {"zen": "x"}, 200),
        ("star", b"no json at all", 200),
        ("pull_request", {**OPENED, "action": "closed"}, 200),
        ("pull_request", {**OPENED, "action": "stacked"}, 200),
        ("pull_request", {}, 200),
        ("pull_request", [], 200),
        ("pull_request", b"{", 400),
        ("pull_request", b"[" * 100_000, 400),
        ("pull_request", b"\xff", 400),
    ],
)
async def test_a_delivery_that_needs_nothing_is_answered(rules: Rules, event: str, payload: Any, status: int) -> None:
    accept = Accepting()
    async with serving(rules, accept) as session:
        assert await post(session, event, payload) == status
        assert accept.jobs == []


@pytest.mark.parametrize(
    "changes",
    [
        {"X-Hub-Signature-256": "sha256=0"},
        {"X-Hub-Signature-256": ""},
        {"X-Hub-Signature-256": sign("other", json.dumps(OPENED).encode())},
    ],
)
async def test_nothing_is_done_without_the_right_signature(rules: Rules, changes: dict[str, str]) -> None:
    accept = Accepting()
    async with serving(rules, accept) as session:
        for event in ("pull_request", "ping", "nonsense"):
            assert await post(session, event, OPENED, **changes) == 401
        assert accept.jobs == []


@pytest.mark.parametrize("name", ["X-GitHub-Event", "X-GitHub-Delivery"])
@pytest.mark.parametrize("value", ["", "x" * 101])
async def test_headers_are_checked(rules: Rules, name: str, value: str) -> None:
    async with serving(rules) as session:
        assert await post(session, "pull_request", OPENED, **{name: value}) in (200, 400)
        assert await post(session, "pull_request", OPENED, **{"X-GitHub-Delivery": value}) == 400


async def test_a_body_over_the_limit_is_refused(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "MAX_BODY_BYTES", 10_000)
    monkeypatch.setattr("bot.web.server.MAX_BODY_BYTES", 10_000)
    async with serving(rules) as session:
        assert await post(session, "pull_request", b"x" * 10_001) == 413

        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(30):
                yield b"x" * 1000

        async with session.post("/webhook", data=chunks(), headers=headers("ping", b"")) as answer:
            assert answer.status == 413


async def test_a_body_that_does_not_end_is_left(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    monkeypatch.setattr(webhook, "READ_SECONDS", 0.05)

    async def slowly() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(2)
        yield b"}"

    async with serving(rules) as session:
        async with session.post("/webhook", data=slowly(), headers=headers("ping", b"")) as answer:
            assert answer.status == 408
        async with session.post("/webhook", data=slowly(), headers={"X-GitHub-Event": "ping"}) as answer:
            assert answer.status == 401, "nothing is received from nobody"


async def test_what_can_not_be_stored_is_not_accepted(rules: Rules) -> None:
    accept = Accepting()
    accept.broken = True
    async with serving(rules, accept) as session:
        assert await post(session, "pull_request", OPENED) == 503


def test_there_is_no_server_without_a_secret(rules: Rules) -> None:
    with pytest.raises(ValueError, match="without a secret"):
        Server("", job_of, Accepting(), rules).application()


async def test_health_and_readiness(rules: Rules) -> None:
    problems: list[str] = []

    async def check() -> None:
        if problems:
            raise RuntimeError(problems[0])

    async with serving(rules, checks=(("the store", check),)) as session:
        async with session.get("/healthz") as answer:
            assert answer.status == 200
        async with session.get("/readyz") as answer:
            assert (answer.status, await answer.text()) == (200, "ready\n")
    problems.append("no disk")
    async with serving(rules, checks=(("the store", check),)) as session:
        async with session.get("/readyz") as answer:
            assert (answer.status, await answer.text()) == (503, "the store does not work; the server's log says why\n")
        async with session.get("/") as answer:
            text = await answer.text()
        assert "the store does not work" in text
        assert "no disk" not in text, "the details are not for everybody"


async def test_metrics(rules: Rules) -> None:
    async with serving(rules) as session:
        await post(session, "some-event-of-an-attacker", b"{}")
        async with session.get("/metrics") as answer:
            text = await answer.text()
    assert 'seamguard_deliveries_total{event="other",result="ignored"}' in text
    assert "attacker" not in text


async def test_metrics_are_for_this_machine_alone_or_for_who_has_the_token(rules: Rules) -> None:
    async with serving(rules) as session, session.get("/metrics", headers={"X-Forwarded-For": "9.9.9.9"}) as answer:
        assert answer.status == 403
    async with serving(rules, metrics_token="a token of the tests") as session:
        for sent, status in (({}, 401), ({"Authorization": "Bearer no"}, 401)):
            async with session.get("/metrics", headers=sent) as answer:
                assert answer.status == status
        proper = {"Authorization": "Bearer a token of the tests", "X-Forwarded-For": "9.9.9.9"}
        async with session.get("/metrics", headers=proper) as answer:
            assert answer.status == 200


async def test_every_rule_has_its_page(rules: Rules) -> None:
    async with serving(rules) as session:
        async with session.get("/hazards") as answer:
            index = await answer.text()
        for identity in rules.ids:
            assert f'href="/hazards/{identity}"' in index
            async with session.get(f"/hazards/{identity}") as answer:
                assert answer.status == 200
                assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
                assert "<h1>" in await answer.text()
        for identity in ("nothing", "../etc", "%2e%2e%2fpasswd", "<script>"):
            async with session.get(f"/hazards/{identity}") as answer:
                assert answer.status == 404
                assert "<script>" not in await answer.text()


@pytest.mark.parametrize(
    "text",
    ["<script>x</script>", "[a](javascript:alert(1))", "![a](javascript:x)", "<img src=x onerror=y>", "</style>"],
)
def test_markdown_is_rendered_safely(text: str) -> None:
    html = pages.rendered(text)
    assert "<script" not in html
    assert "<img src=x" not in html
    assert 'href="javascript' not in html
    assert 'src="javascript' not in html


def test_logs_are_json_without_credentials_and_with_the_delivery() -> None:
    stream = io.StringIO()
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    handler = logs.configure("INFO", Redactor([SECRET]), stream)
    token = CURRENT.set(Job("d-9", "review", "acme/serving#7"))
    try:
        logging.getLogger("x").warning("sent ghs_abcdefghijkl with %s", SECRET, extra={"url": "https://u:pw1234@h"})
        logging.getLogger("x").warning("more", extra={"cause": ValueError(f"no {SECRET}"), "list": [SECRET], "n": 1})
        try:
            raise ValueError(f"no {SECRET}")
        except ValueError:
            logging.getLogger("x").exception("failed\nhere")
    finally:
        CURRENT.reset(token)
        root.removeHandler(handler)
        root.handlers[:], root.level = handlers, level
    first, more, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (first["delivery"], first["about"], first["level"]) == ("d-9", "acme/serving#7", "warning")
    assert more["n"] == 1
    assert "Traceback" in second["exception"]
    assert SECRET not in stream.getvalue()
    assert "abcdefghijkl" not in stream.getvalue()
    assert "pw1234" not in stream.getvalue()
