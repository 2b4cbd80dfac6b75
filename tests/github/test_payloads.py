"""Webhook payloads, as they come and as they shouldn't."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.github.model import IssueKey, PullKey, RepositoryName
from bot.github.payloads import (
    EVENTS,
    CommentEvent,
    InstallationEvent,
    MergeGroupEvent,
    Nothing,
    PullEvent,
    PushEvent,
    RerequestEvent,
    read,
)

REPOSITORY = RepositoryName("acme", "serving")
COMMON: dict[str, Any] = {
    "installation": {"id": 3},
    "repository": {"full_name": "acme/serving", "default_branch": "main"},
    "sender": {"login": "ann", "type": "User"},
}
COMMENT: dict[str, Any] = {
    **COMMON,
    "action": "created",
    "issue": {"number": 7, "pull_request": {}, "user": {"login": "bob"}},
    "comment": {"id": 11, "body": "/recheck", "user": {"login": "ann", "type": "User"}},
}


def test_a_pull_request() -> None:
    payload = {
        **COMMON,
        "action": "edited",
        "number": 7,
        "pull_request": {"head": {"sha": "c"}, "draft": True},
        "changes": {"base": {"ref": {"from": "dev"}}},
    }
    expected = PullEvent(3, PullKey(REPOSITORY, 7), "edited", "c", draft=True, base_changed=True)
    assert read("pull_request", payload) == expected


def test_a_pull_request_of_a_deleted_fork_is_still_one() -> None:
    payload = {**COMMON, "action": "opened", "pull_request": {"number": 7, "head": None}}
    assert isinstance(read("pull_request", payload), PullEvent)


def test_a_repository_is_known_by_its_parts_too() -> None:
    payload = {**COMMENT, "repository": {"name": "serving", "owner": {"login": "acme"}}}
    assert read("issue_comment", payload) == read("issue_comment", COMMENT)


def test_a_comment() -> None:
    expected = CommentEvent(3, PullKey(REPOSITORY, 7), 11, "/recheck", "ann", author_is_bot=False, issue_author="bob")
    assert read("issue_comment", COMMENT) == expected


@pytest.mark.parametrize(
    "change",
    [
        {"comment": {**COMMENT["comment"], "user": {"login": "x[bot]", "type": "Bot"}}},
        {"comment": {**COMMENT["comment"], "performed_via_github_app": {"id": 1}}},
        {"sender": {"login": "x[bot]", "type": "Bot"}},
    ],
)
def test_a_bot_is_known_as_one(change: dict[str, Any]) -> None:
    event = read("issue_comment", {**COMMENT, **change})
    assert isinstance(event, CommentEvent)
    assert event.author_is_bot


def test_a_comment_on_an_issue_is_on_no_pull_request() -> None:
    event = read("issue_comment", {**COMMENT, "issue": {"number": 7, "user": {"login": "bob"}}})
    assert isinstance(event, CommentEvent)
    assert (type(event.issue), str(event.issue), event.issue_author) == (IssueKey, "acme/serving#7", "bob")


@pytest.mark.parametrize("change", [{"action": "edited"}, {"action": "deleted"}])
def test_other_comments_are_nothing(change: dict[str, Any]) -> None:
    assert isinstance(read("issue_comment", {**COMMENT, **change}), Nothing)


@pytest.mark.parametrize("event", ["check_run", "check_suite"])
def test_a_check_that_is_asked_for_again(event: str) -> None:
    check = {
        "head_sha": "c",
        "pull_requests": [{"number": 7}, {"number": 1, "base": {"repo": {"name": "other"}}}, 3],
        "app": {"id": 5},
    }
    payload = {**COMMON, "action": "rerequested", event: check}
    assert read(event, payload) == RerequestEvent(3, REPOSITORY, "c", (7,), 5)
    assert isinstance(read(event, {**payload, "action": "completed"}), Nothing)
    assert isinstance(read(event, {**payload, event: {}}), Nothing)


def test_a_merge_group() -> None:
    payload = {**COMMON, "action": "checks_requested", "merge_group": {"head_sha": "h", "base_sha": "b"}}
    assert read("merge_group", payload) == MergeGroupEvent(3, REPOSITORY, "h", "b")
    assert isinstance(read("merge_group", {**payload, "action": "destroyed"}), Nothing)


def test_a_push() -> None:
    commits = [{"added": ["a"], "removed": [], "modified": ["b"]}, {"added": ["a", "c"]}]
    payload = {**COMMON, "ref": "refs/heads/main", "after": "c0", "commits": commits}
    assert read("push", payload) == PushEvent(3, REPOSITORY, "main", "c0", frozenset("abc"))
    forced = read("push", {**payload, "forced": True})
    assert isinstance(forced, PushEvent)
    assert forced.paths is None
    for change in ({"ref": "refs/heads/x"}, {"ref": "refs/tags/main"}, {"after": "0" * 40}, {"deleted": True}):
        assert isinstance(read("push", {**payload, **change}), Nothing)


def test_an_installation() -> None:
    payload = {"action": "created", "installation": {"id": 3}, "repositories": [{"full_name": "acme/serving"}, None]}
    assert read("installation", payload) == InstallationEvent(3, "created", (REPOSITORY,), ())
    payload = {"action": "removed", "installation": {"id": 3}, "repositories_removed": [{"full_name": "acme/serving"}]}
    assert read("installation_repositories", payload) == InstallationEvent(3, "removed", (), (REPOSITORY,))


@pytest.mark.parametrize("name", ["ping", "star", "", "pull_request_target"])
def test_other_events_are_nothing(name: str) -> None:
    assert isinstance(read(name, COMMON), Nothing)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "action",
                    "number",
                    "installation",
                    "id",
                    "repository",
                    "full_name",
                    "issue",
                    "pull_request",
                    "comment",
                    "user",
                    "head",
                    "sha",
                    "check_run",
                    "merge_group",
                    "head_sha",
                    "base_sha",
                    "commits",
                    "after",
                    "ref",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@given(st.sampled_from(EVENTS), json_values)
@settings(deadline=None)
def test_no_payload_is_an_accident(event: str, payload: Any) -> None:
    read(event, payload)
    if isinstance(payload, dict):
        read(event, {**COMMON, "action": "created", **payload})
