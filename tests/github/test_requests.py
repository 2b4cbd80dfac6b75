"""Requests that fail, wait, and are sent again."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import jwt
import pytest

from bot.github.app import App
from bot.github.errors import (
    Forbidden,
    ForeignHost,
    GitHubError,
    NotFound,
    RateLimited,
    Suspended,
    Unauthorised,
    Unavailable,
    UnplaceableComment,
    Unprocessable,
)
from bot.github.hosts import Hosts
from bot.github.limits import Timing
from bot.github.model import CheckRun, NewComment, PullKey, RepositoryName
from tests.github.scripted import PEM, QUICK, client, scripted

REPOSITORY = RepositoryName("acme", "serving")
PULL = PullKey(REPOSITORY, 7)
FILES = "GET /repos/acme/serving/pulls/7/files"
REVIEWS = "POST /repos/acme/serving/pulls/7/reviews"
COMMENTS = "POST /repos/acme/serving/issues/7/comments"


async def test_every_request_says_who_asks_and_for_which_version() -> None:
    async with scripted() as server, client(server) as github:
        server.answers[FILES] = (200, [])
        await github.pull_files(PULL)
        identity, token, files = server.asked
    assert identity.headers["Authorization"].startswith("bearer ey")
    assert token.headers["Authorization"].startswith("bearer ey")
    assert files.headers["Authorization"] == f"token ghs_1_{'x' * 500}"
    assert all(asked.headers["X-GitHub-Api-Version"] == "2022-11-28" for asked in server.asked)


async def test_the_apps_jwt_bears_clocks_that_differ() -> None:
    async with scripted() as server, client(server):
        signed = server.asked[0].headers["Authorization"].removeprefix("bearer ")
    claims = jwt.decode(signed, options={"verify_signature": False})
    assert claims["iss"] == "Iv1.test"
    assert claims["iat"] <= time.time() - 59
    assert claims["exp"] <= time.time() + 9 * 60
    assert claims["exp"] - claims["iat"] <= 600


@pytest.mark.parametrize("fault", [(502, {}), (500, {}), (503, b"<html>"), "cut", (200, b'[{"a"')])
async def test_a_read_is_repeated(fault: Any) -> None:
    headers = {"Content-Type": "application/json"}
    answer = (*fault, headers) if isinstance(fault, tuple) and isinstance(fault[1], bytes) else fault
    async with scripted() as server, client(server) as github:
        server.answers[FILES] = [answer, (200, [])]
        assert (await github.pull_files(PULL)).files == ()
        assert server.paths() == [FILES, FILES]


@pytest.mark.parametrize("fault", [(502, {}), "cut"])
async def test_a_write_whose_fate_nobody_knows_is_not_repeated(fault: Any) -> None:
    async with scripted() as server, client(server) as github:
        server.answers[COMMENTS] = [fault, (201, {"id": 1})]
        with pytest.raises(Unavailable) as caught:
            await github.create_comment(PULL, "hello")
        assert caught.value.perhaps_done
        assert server.paths() == [COMMENTS]


async def test_a_server_that_hangs_is_left() -> None:
    async with scripted() as server, client(server, Timing(timeout=0.1, attempts=2, backoff=0.001)) as github:
        server.answers[FILES] = "hang"
        with pytest.raises(Unavailable):
            await github.pull_files(PULL)
        assert server.paths() == [FILES, FILES]


@pytest.mark.parametrize(
    ("status", "body", "headers", "kind"),
    [
        (404, {"message": "Not Found"}, {}, NotFound),
        (410, {"message": "Gone"}, {}, NotFound),
        (
            403,
            {"message": "Resource not accessible by integration"},
            {"X-Accepted-GitHub-Permissions": "checks=write"},
            Forbidden,
        ),
        (403, {"message": "This installation has been suspended"}, {}, Suspended),
        (422, {"message": "Validation Failed", "errors": ["body is too long"]}, {}, Unprocessable),
        (401, {"message": "Bad credentials"}, {}, Unauthorised),
        (500, b"oops", {}, Unavailable),
        (418, {}, {}, Unavailable),
    ],
)
async def test_a_refusal_is_an_error_of_its_kind(
    status: int, body: Any, headers: dict[str, str], kind: type[GitHubError]
) -> None:
    async with scripted() as server, client(server) as github:
        server.answers[COMMENTS] = (status, body, headers)
        with pytest.raises(GitHubError) as caught:
            await github.create_comment(PULL, "hello")
        assert type(caught.value) is kind
        assert "ghs_" not in str(caught.value)
        if isinstance(caught.value, Forbidden) and headers:
            assert caught.value.needs == "checks=write"


async def test_a_token_that_is_refused_is_renewed_once() -> None:
    async with scripted() as server, client(server) as github:
        server.answers[FILES] = [(401, {"message": "Bad credentials"}), (200, [])]
        await github.pull_files(PULL)
        assert server.tokens == 2
        server.answers[FILES] = (401, {"message": "Bad credentials"})
        with pytest.raises(Unauthorised):
            await github.pull_files(PULL)
        assert server.tokens == 3


@pytest.mark.parametrize("status", [403, 404])
async def test_no_token_is_a_suspension(status: int) -> None:
    async with scripted() as server, client(server) as github:
        server.answers["POST /app/installations/1/access_tokens"] = (status, {"message": "no"})
        with pytest.raises(Suspended):
            await github.pull_files(PULL)


@pytest.mark.parametrize("status", [403, 429])
async def test_a_primary_limit_waits_for_its_reset(status: int) -> None:
    reset = int(time.time()) + 600
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(reset)}
    async with scripted() as server, client(server) as github:
        server.answers[FILES] = (status, {"message": "API rate limit exceeded"}, headers)
        for _ in range(2):
            with pytest.raises(RateLimited) as caught:
                await github.pull_files(PULL)
            assert caught.value.until == datetime.fromtimestamp(reset, UTC)
        assert server.paths() == [FILES], "nothing is sent before the reset"


async def test_a_secondary_limit_without_a_time_waits_a_minute_and_then_longer() -> None:
    async with scripted() as server, client(server) as github:
        server.answers[FILES] = (403, {"message": "You have exceeded a secondary rate limit"})
        with pytest.raises(RateLimited) as first:
            await github.pull_files(PULL)
        assert 55 < first.value.until.timestamp() - time.time() <= 60
        github._requests.limits._blocked_until = 0.0
        with pytest.raises(RateLimited) as second:
            await github.pull_files(PULL)
        assert 115 < second.value.until.timestamp() - time.time() <= 120


async def test_a_short_wait_is_waited_for() -> None:
    async with scripted() as server, client(server) as github:
        server.answers[COMMENTS] = [(429, {"message": "slow down"}, {"Retry-After": "0"}), (201, {"id": 3})]
        with pytest.raises(RateLimited):
            await github.create_comment(PULL, "hello")
        assert await github.create_comment(PULL, "hello") == 3


async def test_the_last_request_of_the_hour_is_known_to_be_the_last() -> None:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(time.time()) + 600)}
    async with scripted() as server, client(server) as github:
        server.answers[FILES] = (200, [], headers)
        await github.pull_files(PULL)
        with pytest.raises(RateLimited):
            await github.pull_files(PULL)


async def test_writes_are_sent_one_after_the_other() -> None:
    async with scripted() as server, client(server, Timing(between_writes=0.05)) as github:
        server.answers[COMMENTS] = (201, {"id": 1})
        await asyncio.gather(*(github.create_comment(PULL, str(index)) for index in range(3)))
        times = [asked.at for asked in server.asked if asked.path.endswith("/comments")]
    assert all(later - earlier >= 0.045 for earlier, later in pairwise(times))


async def test_pages_are_where_the_answer_says() -> None:
    async with scripted() as server, client(server) as github:
        link = f'<{server.url}/repositories/1/pulls/7/files?page=2>; rel="next", <{server.url}/x>; rel="last"'
        server.answers[FILES] = (200, [{"filename": "a.yml", "status": "added", "sha": "1"}], {"Link": link})
        server.answers["GET /repositories/1/pulls/7/files"] = (200, [{"filename": "b.yml", "status": "removed"}])
        found = await github.pull_files(PULL)
    assert [file.path for file in found.files] == ["a.yml", "b.yml"]


@pytest.mark.parametrize(
    "where", ["http://127.0.0.1:1/next", "https://api.github.com.evil.example/next", "file:///etc/x"]
)
async def test_a_page_elsewhere_is_not_asked(where: str) -> None:
    async with scripted() as server, client(server) as github:
        server.answers[FILES] = (200, [], {"Link": f'<{where}>; rel="next"'})
        with pytest.raises(ForeignHost):
            await github.pull_files(PULL)


@pytest.mark.parametrize("status", [301, 307])
async def test_a_renamed_repository_is_followed(status: int) -> None:
    async with scripted() as server, client(server) as github:
        server.answers[FILES] = (301, {}, {"Location": f"{server.url}/repositories/9/pulls/7/files"})
        server.answers["GET /repositories/9/pulls/7/files"] = (200, [])
        server.answers[COMMENTS] = (status, {}, {"Location": f"{server.url}/repositories/9/issues/7/comments"})
        server.answers["POST /repositories/9/issues/7/comments"] = (201, {"id": 4})
        await github.pull_files(PULL)
        assert await github.create_comment(PULL, "hello") == 4
        server.answers[FILES] = (301, {}, {"Location": "http://127.0.0.1:1/"})
        with pytest.raises(ForeignHost):
            await github.pull_files(PULL)
        server.answers[FILES] = (302, {}, {"Location": f"{server.url}/repos/acme/serving/pulls/7/files"})
        with pytest.raises(Unavailable, match="circle"):
            await github.pull_files(PULL)


async def test_an_unchanged_answer_is_taken_from_the_cache() -> None:
    def files(asked: Any) -> Any:
        if asked.headers.get("If-None-Match") == '"1"':
            return 304, None
        return 200, [{"filename": "a.yml", "status": "added", "sha": "1"}], {"ETag": '"1"'}

    async with scripted() as server, App("Iv1.test", PEM, Hosts(server.url), None, QUICK) as app:
        server.answers[FILES] = files
        first, other = await app.installation(1), await app.installation(2)
        assert (await first.pull_files(PULL)) == (await first.pull_files(PULL))
        assert "If-None-Match" in server.asked[-1].headers
        await other.pull_files(PULL)
        assert "If-None-Match" not in server.asked[-1].headers, "another installation's answers are its own"


async def test_a_bad_anchor_is_known_as_one() -> None:
    async with scripted() as server, client(server) as github:
        server.answers[REVIEWS] = (
            422,
            {"message": "Unprocessable Entity", "errors": ["Pull request review thread line must be part of the diff"]},
        )
        with pytest.raises(UnplaceableComment):
            await github.create_review(PULL, "c0ffee", "", [NewComment("a.yml", 3, "x")])
        server.answers[REVIEWS] = (422, {"message": "Validation Failed", "errors": [{"message": "Body is too long"}]})
        with pytest.raises(Unprocessable) as caught:
            await github.create_review(PULL, "c0ffee", "", [NewComment("a.yml", 3, "x")])
        assert not isinstance(caught.value, UnplaceableComment)


async def test_annotations_go_in_fifties_and_texts_are_cut_at_bytes() -> None:
    from bot.github.model import Annotation

    annotations = tuple(Annotation("a.yml", line, line, "warning", "m") for line in range(1, 121))
    async with scripted() as server, client(server) as github:
        server.answers["POST /repos/acme/serving/check-runs"] = (201, {"id": 5})
        server.answers["PATCH /repos/acme/serving/check-runs/5"] = (200, {"id": 5})
        check = CheckRun("Seamguard", "t", "🌊" * 30_000, "failure", annotations)
        assert await github.create_check(REPOSITORY, "c0ffee", check) == 5
        bodies = [asked.body for asked in server.asked if asked.path.startswith("/repos/")]
    assert [len(body["output"]["annotations"]) for body in bodies] == [50, 50, 20]
    assert all(len(body["output"]["summary"].encode()) <= 65_535 for body in bodies)
    assert bodies[0]["output"]["summary"].startswith("🌊")
    assert bodies[0]["head_sha"] == "c0ffee"
    assert all(body["status"] == "completed" and body["conclusion"] == "failure" for body in bodies)


async def test_the_count_of_requests_can_be_asserted() -> None:
    async with scripted() as server, client(server) as github:
        server.answers[FILES] = (200, [])
        await github.pull_files(PULL)
        count = github._requests.transport.count
        assert [(sent.method, sent.status, sent.account) for sent in count.recent][-1] == ("GET", 200, "installation-1")
        assert count.total == len(server.asked)


@pytest.mark.parametrize("address", ["ftp://x", "https://", "https://user:pw@api.github.com", "api.github.com"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="not the address"):
        Hosts(address)


def test_a_host_is_more_than_a_beginning() -> None:
    hosts = Hosts("https://ghes.example/api/v3")
    assert hosts.graphql == hosts.api_address("https://ghes.example/api/graphql")
    assert Hosts().graphql == "https://api.github.com/graphql"
    assert hosts.api_address("https://ghes.example:443/api/v3/app")
    for address in (
        "https://ghes.example/api/v33/app",
        "https://ghes.example/x",
        "http://ghes.example/api/v3/app",
        "https://user@ghes.example/api/v3/app",
        "https://ghes.example:444/api/v3/app",
    ):
        with pytest.raises(ForeignHost):
            hosts.api_address(address)
