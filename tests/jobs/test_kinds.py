"""Which job a delivery asks for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.github.model import IssueKey, PullKey
from bot.github.payloads import read
from bot.jobs.kinds import issue_of, job_of, pull_of
from bot.store import Job

COMMON: dict[str, Any] = {
    "installation": {"id": 3},
    "repository": {"full_name": "acme/serving", "default_branch": "main"},
    "pull_request": {"number": 7, "head": {"sha": "c"}},
}


def job(event: str, **payload: Any) -> Job | None:
    return job_of("guid", read(event, {**COMMON, **payload}))


@pytest.mark.parametrize("action", ["opened", "synchronize", "reopened", "ready_for_review"])
def test_a_pull_request_is_reviewed(action: str) -> None:
    found = job("pull_request", action=action)
    assert found is not None
    assert (found.id, found.kind, found.partition, found.latest_wins) == ("guid", "review", "acme/serving#7", True)
    assert str(pull_of(found)) == "acme/serving#7"
    assert Job.from_json(json.loads(json.dumps(found.as_json()))) == found


@pytest.mark.parametrize("action", ["closed", "labeled", "converted_to_draft", "stacked", "edited"])
def test_other_actions_need_nothing(action: str) -> None:
    assert job("pull_request", action=action) is None


def test_a_new_base_is_a_review() -> None:
    assert job("pull_request", action="edited", changes={"base": {}}) is not None
    assert job("pull_request", action="edited", changes={"title": {}}) is None


@pytest.mark.parametrize(
    ("body", "kind", "asks"),
    [("/recheck", "User", True), ("thanks", "User", False), ("/recheck", "Bot", False), ("> /recheck", "User", False)],
)
def test_a_comment_with_a_command(body: str, kind: str, asks: bool) -> None:
    comment = {"id": 1, "body": body, "user": {"login": "ann", "type": kind}}
    found = job("issue_comment", action="created", issue={"number": 7, "pull_request": {}}, comment=comment)
    assert (found is not None) == asks
    if found is not None:
        assert (found.kind, found.partition, found.latest_wins) == ("command", "acme/serving#7", False)


def test_the_rest_of_the_table() -> None:
    rerun = job("check_run", action="rerequested", check_run={"head_sha": "c", "pull_requests": []})
    group = job("merge_group", action="checks_requested", merge_group={"head_sha": "h", "base_sha": "b"})
    push = job("push", ref="refs/heads/main", after="d", commits=[])
    installed = job("installation", action="created", repositories=[{"full_name": "acme/serving"}])
    assert [found and (found.kind, found.partition) for found in (rerun, group, push, installed)] == [
        ("rerun", "acme/serving@c"),
        ("merge-group", "acme/serving@h"),
        ("index", "acme/serving"),
        ("installation", "installation 3"),
    ]
    assert job("ping") is None
    assert job("check_suite", action="completed", check_suite={"head_sha": "c"}) is None


@pytest.mark.parametrize(("issue", "kind"), [({"pull_request": {}}, PullKey), ({}, IssueKey)])
def test_a_command_knows_whether_it_is_on_a_pull_request(issue: dict[str, Any], kind: type) -> None:
    comment = {"id": 1, "body": "/verify a.yml\n```\nsecret\n```", "user": {"login": "ann", "type": "User"}}
    found = job("issue_comment", action="created", issue={"number": 7, **issue}, comment=comment)
    assert found is not None
    assert (type(issue_of(found)), str(issue_of(found)), found.partition) == (kind, "acme/serving#7", "acme/serving#7")
    assert "secret" not in json.dumps(found.as_json())
