"""Reviews: where comments may stand, and what becomes of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.sandbox.github import Hub, RepositoryHandle
from bot.sandbox.github.diffs import FileDiff, parse_diff
from bot.sandbox.github.pull import PullHandle
from tests.sandbox.github.caller import Caller
from tests.sandbox.github.conftest import COMPOSE

P = "/repos/acme/serving/pulls/1"
PATH = "compose/one.yml"


@pytest.fixture
def pull(repo: RepositoryHandle) -> PullHandle:
    """Changes line 10, and removes line 25 (so that 26 is 25 at the head)."""
    changed = COMPOSE.replace("# line 10\n", "# LINE 10\n").replace("    # line 25\n", "")
    return repo.open_pull({PATH: changed, "new.txt": "a\nb\nc\n", "logo.bin": b"\0\2"})


def _review(*comments: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "event": "COMMENT",
        "body": "Seen.",
        "comments": [{"path": PATH, "body": "x", **each} for each in comments],
        **more,
    }


@pytest.mark.parametrize(
    "comment",
    [
        {"line": 10},
        {"line": 7},
        {"line": 13},
        {"line": 10, "side": "LEFT"},
        {"line": 25, "side": "LEFT"},
        {"line": 12, "start_line": 8},
        {"line": 10, "start_line": 10, "start_side": "LEFT", "side": "RIGHT"},
        {"position": 1},
        {"path": "new.txt", "line": 3},
    ],
)
async def test_lines_inside_of_hunks_carry_comments(pull: PullHandle, app: Caller, comment: dict[str, Any]) -> None:
    (await app("POST", f"{P}/reviews", _review(comment))).ok()
    (thread,) = pull.conversation().threads
    assert thread.comment.line == comment.get("line", 7)
    assert thread.comment.diff_hunk.startswith("@@ ")
    assert not thread.folded


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ({"line": 6}, "line must be part of the diff"),
        ({"line": 14}, "line must be part of the diff"),
        ({"line": 999}, "line must be part of the diff"),
        ({"line": 6, "side": "LEFT"}, "line must be part of the diff"),
        ({"line": 23, "start_line": 10}, "part of the same hunk"),
        ({"line": 10, "start_line": 5}, "start line must be part of the diff"),
        ({"line": 10, "start_line": 11}, "must precede"),
        ({"position": 99}, "line must be part of the diff"),
        ({"path": "README.md", "line": 1}, "path is invalid"),
        ({"path": "logo.bin", "line": 1}, "diff hunk can't be blank"),
        ({}, '"line" or "position" wasn\'t supplied'),
        ({"lin": 10}, "is not a permitted key"),
        ({"line": 10, "subject_type": "file"}, "is not a permitted key"),
        ({"line": "10"}, "is not an integer"),
        ({"line": 10, "side": "right"}, "is not a member"),
        ({"line": 10, "body": "  "}, "can't be blank"),
        ({"line": 10, "body": "x" * 262_145}, "Body is too long"),
    ],
)
async def test_one_bad_comment_rejects_the_whole_review(
    pull: PullHandle, app: Caller, comment: dict[str, Any], message: str
) -> None:
    reply = await app("POST", f"{P}/reviews", _review({"line": 10}, comment))
    assert reply.status == 422
    assert message in reply.content.decode().replace("\\", "")
    assert pull.conversation().threads == ()
    assert pull.conversation().reviews == ()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"event": "COMMENTS"}, "is not a member"),
        ({"body": ""}, "is needed for COMMENT"),
        ({"body": "x" * 262_145}, "Body is too long"),
        ({"commit_id": "0" * 40}, "not part of the pull request"),
        ({"commit_id": "main"}, "not part of the pull request"),
        ({"comment": []}, "is not a permitted key"),
    ],
)
async def test_reviews_that_are_refused(pull: PullHandle, app: Caller, more: dict[str, Any], message: str) -> None:
    reply = await app("POST", f"{P}/reviews", _review(**more))
    assert (reply.status, message in reply.content.decode().replace("\\", "")) == (422, True)


async def test_the_base_is_no_commit_of_the_pull_request(repo: RepositoryHandle, pull: PullHandle, app: Caller) -> None:
    assert (await app("POST", f"{P}/reviews", _review(commit_id=repo.tip))).status == 422
    before = pull.head
    pull.force_push({"new.txt": "z\n"})
    assert (await app("POST", f"{P}/reviews", _review(commit_id=before))).status == 422


async def test_a_pending_review_is_seen_by_its_author_alone(hub: Hub, pull: PullHandle, app: Caller) -> None:
    made = (await app("POST", f"{P}/reviews", {"comments": [{"path": PATH, "line": 10, "body": "x"}]})).ok()
    assert made["state"] == "PENDING"
    assert (pull.conversation().reviews, pull.conversation().threads) == ((), ())
    assert [each["id"] for each in (await app("GET", f"{P}/reviews")).ok()] == [made["id"]]
    assert (await app("POST", f"{P}/reviews", {"body": "again"})).status == 422
    assert (await app("POST", f"{P}/reviews/{made['id']}/events", {"event": "COMMENT"})).status == 422
    (await app("POST", f"{P}/reviews/{made['id']}/events", {"event": "COMMENT", "body": "Now."})).ok()
    assert len(pull.conversation().threads) == 1


async def test_an_app_does_not_approve_its_own_pull_request(repo: RepositoryHandle, app: Caller) -> None:
    repo.open_pull({"a": "b"}, author="seamguard[bot]")
    assert (await app("POST", f"{P}/reviews", {"event": "APPROVE"})).status == 422


async def test_a_comment_on_a_file(pull: PullHandle, app: Caller) -> None:
    body = {"path": "logo.bin", "subject_type": "file", "body": "x", "commit_id": pull.head}
    made = (await app("POST", f"{P}/comments", body)).ok(201)
    assert (made["subject_type"], made["line"]) == ("file", None)
    assert (await app("POST", f"{P}/comments", {**body, "path": "nothing"})).status == 422
    missing = {name: value for name, value in body.items() if name != "commit_id"}
    assert (await app("POST", f"{P}/comments", missing)).status == 422
    assert (await app("POST", f"{P}/comments", {**body, "subject_type": "line"})).status == 422
    pull.push({"logo.bin": b"\0\3"})
    assert not pull.conversation().threads[0].comment.outdated


async def test_a_thread_and_its_answers(pull: PullHandle, app: Caller) -> None:
    (await app("POST", f"{P}/reviews", _review({"line": 10}))).ok()
    root = pull.conversation().threads[0].comment
    answer = pull.reply("maintainer", root, "Really?")
    mine = (await app("POST", f"{P}/comments/{root.id}/replies", {"body": "Yes."})).ok(201)
    assert mine["in_reply_to_id"] == root.id
    other = await app("POST", f"{P}/comments", {"body": "And.", "in_reply_to": root.id, "commit_id": "x", "path": "y"})
    assert other.ok(201)["path"] == PATH
    assert (await app("POST", f"{P}/comments/{answer.id}/replies", {"body": "No."})).status == 404
    (thread,) = pull.conversation().threads
    assert [each.body for each in thread.replies] == ["Really?", "Yes.", "And."]
    assert (await app("PATCH", f"/repos/acme/serving/pulls/comments/{answer.id}", {"body": "x"})).status == 403


async def test_comments_follow_their_lines(pull: PullHandle, app: Caller) -> None:
    (
        await app(
            "POST", f"{P}/reviews", _review({"line": 10}, {"line": 12, "start_line": 11}, {"line": 25, "side": "LEFT"})
        )
    ).ok()
    first = pull.head
    text = pull.repository.store.read(pull.head, PATH)
    assert text is not None
    pull.push({PATH: "# new first line\n" + text.decode()})
    lines = [(each.comment.start_line, each.comment.line) for each in pull.conversation().threads]
    assert lines == [(None, 11), (12, 13), (None, 25)]
    assert {each.comment.commit for each in pull.conversation().threads} == {pull.head}
    pull.push({PATH: "# new first line\n" + text.decode().replace("# LINE 10", "# another")})
    one, two, three = (each.comment for each in pull.conversation().threads)
    assert [one.outdated, two.outdated, three.outdated] == [True, False, False]
    assert (one.line, one.original_line, one.original_commit) == (None, 10, first)
    answer = (await app("GET", f"{P}/comments")).ok()
    assert [each["line"] for each in answer] == [None, 13, 25]
    assert answer[0]["original_line"] == 10


async def test_a_comment_is_outdated_when_its_file_leaves_the_diff(pull: PullHandle, app: Caller) -> None:
    (await app("POST", f"{P}/reviews", _review({"line": 10}))).ok()
    pull.push({PATH: COMPOSE})
    assert pull.conversation().threads[0].folded
    pull.push({PATH: None})
    assert pull.conversation().threads[0].comment.outdated


async def test_a_force_push_keeps_what_it_can(pull: PullHandle, app: Caller) -> None:
    (await app("POST", f"{P}/reviews", _review({"line": 10}))).ok()
    pull.rebase()
    assert pull.conversation().threads[0].comment.line == 10


async def test_a_review_of_an_earlier_commit(pull: PullHandle, app: Caller) -> None:
    first = pull.head
    pull.push({PATH: COMPOSE.replace("# line 10", "# another")})
    (await app("POST", f"{P}/reviews", _review({"line": 10}, commit_id=first))).ok()
    assert pull.conversation().threads[0].comment.outdated


LINES = st.lists(st.sampled_from("abcdef"), max_size=30)


@settings(max_examples=200, deadline=None)
@given(old=LINES, data=st.data())
def test_a_line_that_stays_is_found_again(old: list[str], data: st.DataObject) -> None:
    """A diff is made by hand: numbered lines, some dropped, others put between."""
    numbered = [f"{word}{index}" for index, word in enumerate(old, 1)]
    kept = [line for line in numbered if data.draw(st.booleans())]
    new: list[str] = []
    for line in [*kept, None]:
        new += [f"new{len(new)}" for _ in range(data.draw(st.integers(0, 2)))]
        new += [] if line is None else [line]
    diff = _diff(numbered, new)
    for number, line in enumerate(numbered, 1):
        found = diff.new_number(number)
        assert (None if found is None else new[found - 1]) == (line if line in kept else None)


def _diff(old: list[str], new: list[str]) -> FileDiff:
    import difflib

    hunks = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    patch = "diff --git a/f b/f\n--- a/f\n+++ b/f\n" + "\n".join(hunks) + "\n"
    (file,) = parse_diff(f":100644 100644 {'a' * 40} {'b' * 40} M\0f\0", patch)
    return file
