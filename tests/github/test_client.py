"""The smaller calls of the client and of the App."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.github.app import App
from bot.github.hosts import Hosts
from bot.github.model import Identity, NewComment, PostedCheck, PullKey, RepositoryName, RepositoryTree, TreeEntry
from bot.github.trees import TreeCache
from bot.github.writing import MAX_BODY_BYTES, cut
from tests.github.scripted import PEM, QUICK, client, scripted

REPOSITORY = RepositoryName("acme", "serving")
PULL = PullKey(REPOSITORY, 7)
HERE = "/repos/acme/serving"


async def test_comments_and_their_bodies() -> None:
    comment = NewComment("a.yml", 9, "text", start_line=7)
    async with scripted() as server, client(server) as github:
        for path in ("pulls/7/comments", "issues/7/comments", "pulls/7/reviews"):
            server.answers[f"POST {HERE}/{path}"] = (201, {"id": 42})
        server.answers[f"POST {HERE}/issues/comments/5/reactions"] = (200, {"id": 1})
        assert await github.create_line_comment(PULL, "c0ffee", comment) == 42
        assert await github.create_file_comment(PULL, "c0ffee", "a.yml", "text") == 42
        assert await github.create_comment(PULL, "é" * 60_000) == 42
        assert await github.create_review(PULL, "c0ffee", "body", [comment]) == 42
        await github.react(PULL, 5, "eyes")
        bodies = [asked.body for asked in server.asked if asked.path.startswith("/repos/")]
    line = {"path": "a.yml", "line": 9, "side": "RIGHT", "start_line": 7, "start_side": "RIGHT", "body": "text"}
    assert bodies[0] == {**line, "commit_id": "c0ffee"}
    assert bodies[1] == {"path": "a.yml", "subject_type": "file", "body": "text", "commit_id": "c0ffee"}
    assert len(bodies[2]["body"].encode()) <= MAX_BODY_BYTES
    assert bodies[3] == {"commit_id": "c0ffee", "event": "COMMENT", "body": "body", "comments": [line]}
    assert bodies[4:] == [{"content": "eyes"}]


@pytest.mark.parametrize("limit", range(40, 60))
def test_a_text_is_cut_between_characters(limit: int) -> None:
    text = cut("🌊é" * 100, limit)
    assert len(text.encode()) <= limit
    assert text.endswith("takes no more)")
    assert cut("short", limit) == "short"


async def test_lists_of_pull_requests() -> None:
    pull = {"number": 7, "state": "open", "head": {"sha": "c"}, "base": {"ref": "main"}, "draft": True,
            "updated_at": "2026-01-01T00:00:00Z"}  # fmt: skip
    async with scripted() as server, client(server) as github:
        server.answers[f"GET {HERE}/commits/c/pulls"] = (
            200,
            [pull, {**pull, "number": 8, "state": "closed"}, {**pull, "number": 9, "head": {"sha": "other"}}],
        )
        server.answers[f"GET {HERE}/pulls"] = (200, [pull])
        assert await github.pulls_with_head(REPOSITORY, "c") == (PULL,)
        (found,) = await github.open_pulls(REPOSITORY)
    assert (found.key, found.head_sha, found.draft, found.updated_at) == (
        PULL,
        "c",
        True,
        datetime(2026, 1, 1, tzinfo=UTC),
    )


async def test_the_checks_of_a_commit() -> None:
    run = {"id": 1, "name": "Seamguard", "status": "completed", "conclusion": "success", "external_id": "x:1"}
    async with scripted() as server, client(server) as github:
        server.answers[f"GET {HERE}/commits/c/check-runs"] = (200, {"check_runs": [run]})
        expected = PostedCheck(1, "Seamguard", "c", "completed", "success", "x:1")
        assert await github.checks(REPOSITORY, "c", "Seamguard") == (expected,)
        assert server.asked[-1].query["app_id"] == "7"


async def test_the_app_itself() -> None:
    now = datetime.now(UTC).replace(microsecond=0)

    def delivery(number: int, age: timedelta) -> dict[str, Any]:
        at = (now - age).isoformat().replace("+00:00", "Z")
        return {"id": number, "guid": f"g{number}", "event": "push", "action": None, "delivered_at": at,
                "status_code": 202, "redelivery": False, "installation_id": 1}  # fmt: skip

    async with scripted() as server, App("Iv1.test", PEM, Hosts(server.url), None, QUICK) as app:
        server.answers["GET /app"] = (200, {"id": 7, "slug": "seamguard", "name": "Seamguard", "events": ["push"]})
        server.answers["GET /app/installations"] = (
            200,
            [{"id": 1, "account": {"login": "acme"}, "suspended_at": None, "permissions": {"checks": "write"}},
             {"id": 2, "account": None, "suspended_at": "2026-01-01T00:00:00Z"}],
        )  # fmt: skip
        server.answers["GET /installation/repositories"] = (
            200,
            {"repositories": [{"full_name": "acme/serving"}, {"full_name": "acme/old", "archived": True}]},
        )
        server.answers["GET /app/hook/deliveries"] = (
            200, [delivery(3, timedelta(0)), delivery(2, timedelta(hours=1)), delivery(1, timedelta(days=4))],
        )  # fmt: skip
        server.answers["POST /app/hook/deliveries/3/attempts"] = (202, {})
        identity = await app.app()
        assert (identity.login, identity.events) == ("seamguard[bot]", ("push",))
        assert isinstance(identity, Identity)
        first, second = await app.installations()
        assert (first.account, first.suspended, second.suspended) == ("acme", False, True)
        assert await app.installation_repositories(1) == (REPOSITORY,)
        recent = await app.deliveries(now - timedelta(days=3))
        assert [each.id for each in recent] == [3, 2]
        assert recent[0].succeeded
        await app.redeliver(3)


def test_trees_are_kept_as_far_as_they_are_small() -> None:
    def tree(files: int) -> RepositoryTree:
        return RepositoryTree({f"{n}": TreeEntry(f"{n}", "a", 1, "100644") for n in range(files)})

    cache = TreeCache(100)
    for number in range(5):
        cache.keep(("account", "acme/serving", f"{number}"), tree(30))
    cache.keep(("account", "acme/serving", "huge"), tree(1000))
    assert [key[2] for key in cache] == ["2", "3", "4"]
