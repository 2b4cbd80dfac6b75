"""What goes wrong on demand, rate limits, conditional requests."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest

from bot.sandbox.github import Hub, RepositoryHandle
from bot.sandbox.github.call import matches
from tests.sandbox.github.caller import Caller

R = "/repos/acme/serving"
COMMENTS = f"{R}/issues/1/comments"


@pytest.mark.parametrize(
    ("pattern", "method", "path", "hit"),
    [
        ("POST /repos/*/pulls/*/reviews", "POST", "/repos/acme/serving/pulls/1/reviews", True),
        ("POST /repos/*/pulls/*/reviews", "GET", "/repos/acme/serving/pulls/1/reviews", False),
        ("* /graphql", "POST", "/graphql", True),
        ("* *", "GET", "/app", True),
        ("GET /app", "GET", "/app/installations", False),
    ],
)
def test_which_requests_are_meant(pattern: str, method: str, path: str, hit: bool) -> None:
    assert matches(pattern, method, path) is hit


@pytest.mark.parametrize("status", [500, 502, 503, 403, 404, 422, 429])
async def test_an_answer_instead_of_doing_it(hub: Hub, repo: RepositoryHandle, app: Caller, status: int) -> None:
    pull = repo.open_pull({"a": "b"})
    hub.faults.add(f"POST {COMMENTS}", status, headers={"Retry-After": "7"}, after=1, times=2)
    statuses = [(await app("POST", COMMENTS, {"body": "x"})).status for _ in range(4)]
    assert statuses == [201, status, status, 201]
    assert len(pull.conversation().comments) == 2
    assert [entry.fault for entry in hub.requests[-4:]] == [None, "answer", "answer", None]
    assert hub.faults.active == []


@pytest.mark.parametrize(("kind", "written"), [("reset", 0), ("drop-after-write", 1)])
async def test_a_cut_connection(hub: Hub, repo: RepositoryHandle, app: Caller, kind: str, written: int) -> None:
    pull = repo.open_pull({"a": "b"})
    hub.faults.add("POST *", kind)  # type: ignore[arg-type]
    with pytest.raises(aiohttp.ClientError):
        await app("POST", COMMENTS, {"body": "x"})
    assert len(pull.conversation().comments) == written
    assert (await app("POST", COMMENTS, {"body": "x"})).status == 201


async def test_no_answer_at_all(hub: Hub, app: Caller) -> None:
    hub.faults.add("GET *", "timeout", times=None)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(app("GET", R), 0.1)


async def test_a_slow_answer_and_half_of_one(hub: Hub, app: Caller) -> None:
    hub.faults.add("GET *", "slow", seconds=0.02)
    assert (await app("GET", R)).status == 200
    hub.faults.add("GET *", "malformed")
    reply = await app("GET", R)
    assert reply.status == 200
    with pytest.raises(ValueError, match=r"Expecting|Unterminated|Invalid"):
        _ = reply.json


async def test_graphqls_errors(hub: Hub, app: Caller) -> None:
    hub.faults.add("POST /graphql", "graphql-errors")
    answer = await app.graphql("{ viewer { login } }")
    assert answer["data"] is None
    assert answer["errors"]


@pytest.mark.parametrize(("status", "after"), [(403, 60), (429, 5), (403, None)])
async def test_the_secondary_limit(
    hub: Hub, repo: RepositoryHandle, app: Caller, status: int, after: int | None
) -> None:
    repo.open_pull({"a": "b"})
    hub.faults.secondary_limit(retry_after=after, status=status)
    reply = await app("POST", COMMENTS, {"body": "x"})
    assert (reply.status, reply.headers.get("Retry-After")) == (status, None if after is None else str(after))
    assert "secondary rate limit" in reply.message


async def test_the_limit_for_new_content(hub: Hub, repo: RepositoryHandle, app: Caller) -> None:
    repo.open_pull({"a": "b"})
    hub.limits.content_per_minute = 2
    statuses = [(await app("POST", COMMENTS, {"body": "x"})).status for _ in range(3)]
    assert statuses == [201, 201, 403]
    hub.clock.advance(61)
    assert (await app("POST", COMMENTS, {"body": "x"})).status == 201


async def test_the_primary_limit(hub: Hub, app: Caller) -> None:
    first = (await app("GET", R)).headers
    second = (await app("GET", R)).headers
    assert int(first["X-RateLimit-Remaining"]) - int(second["X-RateLimit-Remaining"]) == 1
    assert first["X-RateLimit-Resource"] == "core"
    hub.limits.exhaust(f"installation-{app.installation.id}", seconds=120)
    for status in (403, 429):
        hub.limits.status = status
        reply = await app("GET", R)
        assert (reply.status, reply.headers["X-RateLimit-Remaining"]) == (status, "0")
    # Asking for the limits is free.
    assert (await app("GET", "/rate_limit")).ok()["resources"]["core"]["remaining"] == 0
    hub.clock.advance(121)
    assert (await app("GET", R)).status == 200


async def test_an_unchanged_answer_is_free_with_a_token(hub: Hub, repo: RepositoryHandle, app: Caller) -> None:
    first = await app("GET", f"{R}/branches/main")
    etag = first.headers["ETag"]
    again = await app("GET", f"{R}/branches/main", If_None_Match=etag)
    assert (again.status, again.content) == (304, b"")
    assert again.headers["X-RateLimit-Remaining"] == first.headers["X-RateLimit-Remaining"]
    repo.commit({"a": "b"})
    assert (await app("GET", f"{R}/branches/main", If_None_Match=etag)).status == 200
    anonymous = await app.send("GET", R, None, {})
    unchanged = await app.send("GET", R, None, {"If-None-Match": anonymous.headers["ETag"]})
    assert unchanged.status == 304
    assert int(unchanged.headers["X-RateLimit-Used"]) == int(anonymous.headers["X-RateLimit-Used"]) + 1
