"""Webhooks: what is sent, to whom, signed how; and what is kept of it."""

from __future__ import annotations

import hashlib
import hmac

from bot.sandbox.github import Hub, RepositoryHandle, signature
from tests.sandbox.github.caller import Caller
from tests.sandbox.github.inbox import Inbox

R = "/repos/acme/serving"


def test_the_published_example_of_a_signature() -> None:
    expected = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert signature("It's a Secret to Everybody", b"Hello, World!") == expected


async def test_a_delivery_is_signed_and_has_githubs_headers(hub: Hub, repo: RepositoryHandle, inbox: Inbox) -> None:
    pull = repo.open_pull({"a": "b"}, author="stranger", fork=True)
    await hub.settled()
    (received,) = inbox.received
    app = repo.installation.app
    digest = hmac.new(app.webhook_secret.encode(), received.content, hashlib.sha256).hexdigest()
    assert received.headers["X-Hub-Signature-256"] == f"sha256={digest}"
    assert received.headers["User-Agent"].startswith("GitHub-Hookshot/")
    assert received.headers["X-GitHub-Hook-Installation-Target-ID"] == str(app.id)
    assert received.headers["X-GitHub-Hook-Installation-Target-Type"] == "integration"
    assert received.headers["Content-Type"] == "application/json"
    payload = received.json
    assert payload["installation"]["id"] == repo.installation.id
    assert (payload["action"], payload["number"], payload["sender"]["login"]) == ("opened", 1, "stranger")
    assert payload["pull_request"]["head"]["sha"] == pull.head
    assert payload["organization"]["login"] == "acme"


async def test_what_people_do_is_told(hub: Hub, repo: RepositoryHandle, app: Caller, inbox: Inbox) -> None:
    pull = repo.open_pull({"a": "b"})
    comment = pull.comment("maintainer", "/recheck")
    pull.edit_comment(comment, "/help")
    first = pull.head
    pull.push({"a": "c"})
    pull.close()
    pull.reopen()
    await hub.settled()
    assert sorted(inbox.names) == sorted(
        [
            "push", "check_suite.requested", "pull_request.opened", "issue_comment.created", "issue_comment.edited",
            "push", "check_suite.requested", "pull_request.synchronize", "pull_request.closed", "pull_request.reopened",
        ]
    )  # fmt: skip
    assert inbox.last("issue_comment.created")["issue"]["pull_request"]["url"].endswith("/pulls/1")
    assert inbox.last("issue_comment.edited")["changes"] == {"body": {"from": "/recheck"}}
    moved = inbox.last("pull_request.synchronize")
    assert (moved["before"], moved["after"]) == (first, pull.head)


async def test_a_push_tells_its_commits(hub: Hub, repo: RepositoryHandle, inbox: Inbox) -> None:
    before = repo.tip
    sha = repo.commit({"new.txt": "x", "README.md": None, "logo.bin": b"\0"}, "Do things")
    await hub.settled()
    told = inbox.last("push")
    assert (told["ref"], told["before"], told["after"], told["forced"]) == ("refs/heads/main", before, sha, False)
    (commit,) = told["commits"]
    assert (commit["added"], commit["removed"], commit["modified"]) == (["new.txt"], ["README.md"], ["logo.bin"])
    repo.force_push("main", {"x": "y"}, onto=before)
    await hub.settled()
    assert inbox.last("push")["forced"] is True
    repo.commit({"x": "y"}, branch="new")
    await hub.settled()
    assert (inbox.last("push")["created"], inbox.last("push")["before"]) == (True, "0" * 40)


async def test_a_forks_own_pushes_are_not_told(hub: Hub, repo: RepositoryHandle, app: Caller, inbox: Inbox) -> None:
    pull = repo.open_pull({"a": "b"}, author="stranger", fork=True)
    run = (await app("POST", f"{R}/check-runs", {"name": "S", "head_sha": pull.head, "conclusion": "failure"})).ok(201)
    pull.rerequest(repo.record.runs[run["id"]])
    await hub.settled()
    assert "push" not in inbox.names
    assert inbox.last("check_run.rerequested")["check_run"]["pull_requests"] == []


async def test_the_apps_own_comments_come_back(hub: Hub, repo: RepositoryHandle, app: Caller, inbox: Inbox) -> None:
    repo.open_pull({"a": "b"})
    (await app("POST", f"{R}/issues/1/comments", {"body": "Mine"})).ok(201)
    await hub.settled()
    told = inbox.last("issue_comment.created")
    assert (told["sender"]["type"], told["comment"]["performed_via_github_app"]["slug"]) == ("Bot", "seamguard")


async def test_events_need_subscription_and_permission(hub: Hub, repo: RepositoryHandle, inbox: Inbox) -> None:
    pull = repo.open_pull({"a": "b"}, quiet=True)
    hub.set_permissions(repo.installation, {"pull_requests": "write", "checks": "read"})
    pull.comment("maintainer", "no permission for issues")
    repo.add_to_merge_queue(pull)
    repo.open_issue("not subscribed")
    pull.retitle("Another")
    await hub.settled()
    assert inbox.names == ["pull_request.edited"]


async def test_a_merge_group(hub: Hub, repo: RepositoryHandle, inbox: Inbox) -> None:
    pull = repo.open_pull({"a": "b"}, quiet=True)
    sha = repo.add_to_merge_queue(pull)
    await hub.settled()
    group = inbox.last("merge_group.checks_requested")["merge_group"]
    assert (group["head_sha"], group["base_sha"]) == (sha, repo.tip)
    assert group["head_ref"].startswith("refs/heads/gh-readonly-queue/main/pr-1-")


async def test_a_suspended_installation_hears_nothing(hub: Hub, repo: RepositoryHandle, inbox: Inbox) -> None:
    hub.suspend(repo.installation)
    repo.open_pull({"a": "b"})
    await hub.settled()
    assert inbox.names == ["installation.suspend"]


async def test_a_failed_delivery_is_kept_and_sent_again(
    hub: Hub, repo: RepositoryHandle, app: Caller, inbox: Inbox
) -> None:
    inbox.status = 500
    repo.open_pull({"a": "b"}, author="stranger", fork=True)
    await hub.settled()
    path = "/app/hook/deliveries"
    (failed,) = (await app.as_app("GET", f"{path}?status=failure")).ok()
    assert (failed["status"], failed["status_code"]) == ("Invalid HTTP Response: 500", 500)
    inbox.status = 202
    assert (await app.as_app("POST", f"{path}/{failed['id']}/attempts")).status == 202
    await hub.settled()
    assert [each.guid for each in inbox.received] == [failed["guid"]] * 2
    assert inbox.received[0].content == inbox.received[1].content
    latest = (await app.as_app("GET", path)).ok()[0]
    assert (latest["guid"], latest["redelivery"], latest["status"]) == (failed["guid"], True, "OK")
    shown = (await app.as_app("GET", f"{path}/{latest['id']}")).ok()
    assert shown["request"]["headers"]["X-GitHub-Delivery"] == failed["guid"]
    assert shown["response"]["payload"] == "taken"
    assert (await app.as_app("POST", f"{path}/1/attempts")).status == 404
    hub.clock.advance(3 * 24 * 3600 + 60)
    assert hub.hooks.deliveries[0].created_at < hub.clock.now()
    gone = await app.as_app("GET", path)
    assert gone.status == 401 or gone.json == []  # the token of the test is older, too


async def test_an_unreachable_app_has_no_status_code(hub: Hub, repo: RepositoryHandle, app: Caller) -> None:
    repo.installation.app.hook_url = "http://127.0.0.1:9/webhook"
    repo.open_pull({"a": "b"}, author="stranger", fork=True)
    await hub.settled()
    # The filter for failures looks at the code, so it misses this one.
    assert (await app.as_app("GET", "/app/hook/deliveries?status=failure")).ok() == []
    (failed, *_) = (await app.as_app("GET", "/app/hook/deliveries")).ok()
    assert (failed["status"], failed["status_code"]) == ("failed to connect to host", 0)


async def test_deliveries_are_paged_by_a_cursor(hub: Hub, repo: RepositoryHandle, app: Caller, inbox: Inbox) -> None:
    pull = repo.open_pull({"a": "b"}, quiet=True)
    for index in range(5):
        pull.comment("maintainer", str(index))
    await hub.settled()
    seen = []
    path = "/app/hook/deliveries?per_page=2"
    while path:
        reply = await app.as_app("GET", path)
        seen += [each["id"] for each in reply.ok()]
        path = reply.headers.get("Link", "").partition(">")[0].strip("<")
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 5
    for wrong in ("per_page=500", "cursor=x", "status=bad"):
        assert (await app.as_app("GET", f"/app/hook/deliveries?{wrong}")).status == 422


async def test_deliveries_can_be_held_and_sent_in_any_order(hub: Hub, repo: RepositoryHandle, inbox: Inbox) -> None:
    pull = repo.open_pull({"a": "b"}, quiet=True)
    hub.hooks.held = True
    pull.comment("maintainer", "one")
    pull.comment("maintainer", "two")
    pull.comment("maintainer", "three")
    await hub.settled()
    assert inbox.received == []
    hub.hooks.send(hub.hooks.deliveries[-1])
    await hub.settled()
    hub.hooks.release()
    await hub.settled()
    bodies = [each.json["comment"]["body"] for each in inbox.received]
    assert bodies[0] == "three"
    assert sorted(bodies) == ["one", "three", "two"]


async def test_a_payload_that_is_too_large_is_lost(hub: Hub, repo: RepositoryHandle, inbox: Inbox) -> None:
    pull = repo.open_pull({"a": "b"}, quiet=True)
    pull.comment("maintainer", "x" * (25 * 1024 * 1024))
    await hub.settled()
    assert (inbox.received, hub.hooks.lost) == ([], 1)


async def test_installing_for_another_repository_is_told(hub: Hub, repo: RepositoryHandle, inbox: Inbox) -> None:
    repo.installation.repositories = {repo.record.id}
    other = hub.repository("acme/other", {"a": "b"}, installed=True)
    await hub.settled()
    (added,) = inbox.last("installation_repositories.added")["repositories_added"]
    assert added["full_name"] == other.full_name
