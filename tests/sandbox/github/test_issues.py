"""Issues: listed with labels and pull requests, edited by the App and by people, deleted, switched off."""

from __future__ import annotations

from bot.sandbox.github import Hub, RepositoryHandle
from tests.sandbox.github.caller import Caller

ISSUES = "/repos/acme/serving/issues"


async def test_an_issue_is_made_with_its_label_listed_and_edited(app: Caller, repo: RepositoryHandle) -> None:
    repo.open_pull({"a.yml": "x"})
    repo.open_issue("By hand")
    made = (await app("POST", ISSUES, {"title": "A fix", "body": "text", "labels": ["upstream fix"]})).ok(201)
    listed = (await app("GET", f"{ISSUES}?state=all&labels=upstream%20fix&direction=asc")).ok()
    assert [item["number"] for item in listed] == [made["number"]]
    assert listed[0]["performed_via_github_app"]["id"] == repo.installation.app.id
    everything = (await app("GET", f"{ISSUES}?state=all&sort=created&direction=asc")).ok()
    assert [("pull_request" in item, item["title"]) for item in everything] == [
        (True, "Change files"),
        (False, "By hand"),
        (False, "A fix"),
    ]
    edited = (await app("PATCH", f"{ISSUES}/{made['number']}", {"body": "more"})).ok()
    assert (edited["body"], edited["state"], edited["state_reason"]) == ("more", "open", None)


async def test_people_close_and_edit_and_the_app_reopens(app: Caller, repo: RepositoryHandle) -> None:
    number = (await app("POST", ISSUES, {"title": "A fix", "body": "- [ ] one"})).ok(201)["number"]
    repo.edit_issue(number, "- [x] one")
    repo.close_issue(number, reason="not_planned")
    closed = (await app("GET", f"{ISSUES}/{number}")).ok()
    assert (closed["state"], closed["state_reason"], closed["body"]) == ("closed", "not_planned", "- [x] one")
    assert closed["closed_by"]["login"] == "maintainer"
    assert (await app("GET", ISSUES)).ok() == []
    opened = (await app("PATCH", f"{ISSUES}/{number}", {"state": "open"})).ok()
    assert (opened["state"], opened["state_reason"], opened["closed_by"]) == ("open", "reopened", None)
    repo.comment_on_issue(number, "maintainer", "thanks")
    repo.reopen_issue(number)
    assert [one["body"] for one in (await app("GET", f"{ISSUES}/{number}/comments")).ok()] == ["thanks"]


async def test_a_deleted_issue_is_gone(app: Caller, repo: RepositoryHandle) -> None:
    number = (await app("POST", ISSUES, {"title": "A fix"})).ok(201)["number"]
    repo.delete_issue(number)
    for method, path, body in (("GET", "", None), ("PATCH", "", {"body": "x"}), ("POST", "/comments", {"body": "x"})):
        assert (await app(method, f"{ISSUES}/{number}{path}", body)).status == 410
    assert (await app("GET", f"{ISSUES}/{number + 1}")).status == 404
    assert repo.open_issue("next").number == number + 1


async def test_a_repository_without_issues_has_pull_requests_all_the_same(app: Caller, repo: RepositoryHandle) -> None:
    pull = repo.open_pull({"a.yml": "x"})
    repo.record.has_issues = False
    assert (await app("POST", ISSUES, {"title": "A fix"})).status == 410
    assert [item["number"] for item in (await app("GET", ISSUES)).ok()] == [pull.number]
    (await app("GET", f"{ISSUES}/{pull.number}")).ok()


async def test_a_locked_issue_takes_no_comments_but_edits(app: Caller, repo: RepositoryHandle) -> None:
    number = (await app("POST", ISSUES, {"title": "A fix"})).ok(201)["number"]
    repo.record.issues[number].locked = True
    assert (await app("POST", f"{ISSUES}/{number}/comments", {"body": "x"})).status == 403
    (await app("PATCH", f"{ISSUES}/{number}", {"body": "x"})).ok()


async def test_a_label_is_asked_for_and_made(app: Caller, repo: RepositoryHandle) -> None:
    path = "/repos/acme/serving/labels"
    assert (await app("GET", f"{path}/upstream-fix")).status == 404
    (await app("POST", path, {"name": "upstream-fix", "color": "0e8a16", "description": "x"})).ok(201)
    assert (await app("GET", f"{path}/Upstream-Fix")).ok()["name"] == "upstream-fix"
    again = await app("POST", path, {"name": "upstream-fix", "color": "0e8a16"})
    assert (again.status, again.json["errors"][0]["code"]) == (422, "already_exists")


async def test_lists_may_lag_behind_single_issues(hub: Hub, app: Caller) -> None:
    hub.list_lag = 600.0
    number = (await app("POST", ISSUES, {"title": "A fix"})).ok(201)["number"]
    assert (await app("GET", ISSUES)).ok() == []
    (await app("GET", f"{ISSUES}/{number}")).ok()
    hub.list_lag = 0.0
    assert len((await app("GET", ISSUES)).ok()) == 1
