"""Comments, reactions, issues and labels."""

from __future__ import annotations

import pytest

from bot.sandbox.github import RepositoryHandle
from tests.sandbox.github.caller import Caller

R = "/repos/acme/serving"


async def test_a_reaction_is_given_once(repo: RepositoryHandle, app: Caller) -> None:
    comment = repo.open_pull({"a": "b"}).comment("maintainer", "/recheck")
    path = f"{R}/issues/comments/{comment.id}/reactions"
    first = (await app("POST", path, {"content": "eyes"})).ok(201)
    assert (await app("POST", path, {"content": "eyes"})).ok(200)["id"] == first["id"]
    assert (await app("POST", path, {"content": "shrug"})).status == 422
    assert (await app("POST", path, {})).status == 422
    assert (await app("GET", f"{R}/issues/comments/{comment.id}")).ok()["reactions"]["eyes"] == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "cannot be blank"),
        (" \n", "cannot be blank"),
        ("x" * 262_145, "Body is too long"),
        (None, "wasn't supplied"),
    ],
)
async def test_comments_that_are_refused(repo: RepositoryHandle, app: Caller, body: str | None, message: str) -> None:
    repo.open_pull({"a": "b"})
    reply = await app("POST", f"{R}/issues/1/comments", {"body": body})
    assert (reply.status, message in reply.content.decode()) == (422, True)
    assert (await app("POST", f"{R}/issues/1/comments", {"body": "x" * 262_144})).status == 201


async def test_an_app_edits_only_what_it_wrote(repo: RepositoryHandle, app: Caller) -> None:
    pull = repo.open_pull({"a": "b"})
    theirs = pull.comment("maintainer", "Hello")
    mine = (await app("POST", f"{R}/issues/1/comments", {"body": "One"})).ok(201)
    assert mine["performed_via_github_app"]["slug"] == "seamguard"
    assert (await app("PATCH", f"{R}/issues/comments/{mine['id']}", {"body": "Two"})).ok()["body"] == "Two"
    assert (await app("PATCH", f"{R}/issues/comments/{theirs.id}", {"body": "Two"})).status == 403
    assert (await app("DELETE", f"{R}/issues/comments/{theirs.id}")).status == 403
    assert (await app("PATCH", f"{R}/issues/comments/1", {"body": "x"})).status == 404
    pull.delete_comment(pull.record.issue.comments[1], "maintainer")
    assert (await app("PATCH", f"{R}/issues/comments/{mine['id']}", {"body": "x"})).status == 404


async def test_a_locked_conversation(repo: RepositoryHandle, app: Caller) -> None:
    repo.open_pull({"a": "b"}).record.issue.locked = True
    assert (await app("POST", f"{R}/issues/1/comments", {"body": "x"})).status == 403


async def test_comments_come_oldest_first(repo: RepositoryHandle, app: Caller) -> None:
    pull = repo.open_pull({"a": "b"})
    for index in range(40):
        pull.comment("maintainer", str(index))
    assert [each["body"] for each in (await app("GET", f"{R}/issues/1/comments")).ok()] == [str(n) for n in range(30)]


async def test_issues_are_found_by_state_label_and_author(repo: RepositoryHandle, app: Caller) -> None:
    repo.open_issue("By hand")
    repo.open_pull({"a": "b"})
    made = (await app("POST", f"{R}/issues", {"title": "Mine", "labels": ["clock"]})).ok(201)
    assert (made["number"], made["user"]["login"]) == (3, "seamguard[bot]")
    for query, numbers in (
        ("", [3, 2, 1]),
        ("?labels=Clock", [3]),
        ("?creator=seamguard[bot]", [3]),
        ("?state=closed", []),
        ("?direction=asc", [1, 2, 3]),
    ):
        assert [each["number"] for each in (await app("GET", f"{R}/issues{query}")).ok()] == numbers
    repo.close_issue(3)
    closed = (await app("GET", f"{R}/issues?state=closed&labels=clock")).ok()
    assert [(each["number"], each["closed_by"]["login"]) for each in closed] == [(3, "maintainer")]
    assert ["pull_request" in each for each in (await app("GET", f"{R}/issues?state=all")).ok()] == [False, True, False]


async def test_a_body_that_is_too_long_is_dropped_silently_on_update(app: Caller) -> None:
    assert (await app("POST", f"{R}/issues", {"title": "T", "body": "x" * 262_145})).status == 422
    (await app("POST", f"{R}/issues", {"title": "T", "body": "old"})).ok(201)
    assert (await app("PATCH", f"{R}/issues/1", {"body": "x" * 262_145})).ok()["body"] == "old"


async def test_labels_that_are_refused(app: Caller) -> None:
    (await app("POST", f"{R}/labels", {"name": "seam"})).ok(201)
    for body in ({"name": "Seam"}, {"name": "x", "color": "#ff0000"}, {"name": "x", "colour": "ff0000"}):
        assert (await app("POST", f"{R}/labels", body)).status == 422
