"""Webhook payloads, and who is told of what (facts, section 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.github import checks, comments, commits, issues, pulls, review_comments, reviews, shapes
from bot.sandbox.github.model import (
    App,
    CheckRun,
    CheckSuite,
    Installation,
    Issue,
    IssueComment,
    Json,
    Pull,
    Repository,
    Review,
    ReviewComment,
    User,
    node_id,
)

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

NOTHING = "0" * 40
"""The id that stands for "no commit" where a branch begins or ends."""

MAX_PUSHED_COMMITS = 2_048


class Events:
    """Tells the Apps what has happened."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def pull(self, repository: Repository, which: Pull, action: str, sender: User, more: Json | None = None) -> None:
        """`pull_request`."""
        body = {
            "action": action,
            "number": which.number,
            "pull_request": pulls.pull(self._hub, repository, which, full=True),
        }
        self._hub.hooks.emit("pull_request", {**body, **(more or {})}, sender, repository)

    def issue(self, repository: Repository, which: Issue, action: str, sender: User, more: Json | None = None) -> None:
        """`issues`."""
        body = {"action": action, "issue": issues.issue(self._hub, repository, which)}
        self._hub.hooks.emit("issues", {**body, **(more or {})}, sender, repository)

    def comment(
        self,
        repository: Repository,
        which: Issue,
        one: IssueComment,
        action: str,
        sender: User,
        more: Json | None = None,
    ) -> None:
        """`issue_comment`; `issue.pull_request` exists on pull requests."""
        body = {"action": action, "issue": issues.issue(self._hub, repository, which)}
        body["comment"] = comments.comment(self._hub, repository, which, one)
        self._hub.hooks.emit("issue_comment", {**body, **(more or {})}, sender, repository)

    def review(
        self, repository: Repository, which: Pull, one: Review, action: str, sender: User, more: Json | None = None
    ) -> None:
        """`pull_request_review`. Its state is in small letters here."""
        written = reviews.review(self._hub, repository, which, one)
        body = {"action": action, "review": {**written, "state": written["state"].lower()}}
        body["pull_request"] = pulls.pull(self._hub, repository, which)
        self._hub.hooks.emit("pull_request_review", {**body, **(more or {})}, sender, repository)

    def review_comment(
        self,
        repository: Repository,
        which: Pull,
        one: ReviewComment,
        action: str,
        sender: User,
        more: Json | None = None,
    ) -> None:
        """`pull_request_review_comment`."""
        body = {"action": action, "comment": review_comments.comment(self._hub, repository, which, one)}
        body["pull_request"] = pulls.pull(self._hub, repository, which)
        self._hub.hooks.emit("pull_request_review_comment", {**body, **(more or {})}, sender, repository)

    def check_run(
        self, repository: Repository, which: CheckRun, action: str, sender: User, only: App | None = None
    ) -> None:
        """`check_run`."""
        written = checks.run(self._hub, repository, which)
        written["check_suite"] = checks.suite(self._hub, repository, which.suite)
        self._hub.hooks.emit("check_run", {"action": action, "check_run": written}, sender, repository, only)

    def check_suite(self, repository: Repository, which: CheckSuite, action: str, sender: User) -> None:
        """`check_suite`, to the suite's App."""
        body = {"action": action, "check_suite": checks.suite(self._hub, repository, which)}
        self._hub.hooks.emit("check_suite", body, sender, repository, which.app)

    def push(
        self, repository: Repository, ref: str, before: str | None, after: str | None, sender: User, *, forced: bool
    ) -> None:
        """`push` of a branch or a tag; commits that are new to it, at most 2,048."""
        store = repository.store
        ends = before is None or after is None
        new = [] if after is None else [after] if before is None else store.between(before, after)
        listed = [_pushed(self._hub, repository, sha) for sha in new[-MAX_PUSHED_COMMITS:]]
        page = f"{self._hub.web_url}/{repository.full_name}/compare"
        body: Json = {
            "ref": ref,
            "before": before or NOTHING,
            "after": after or NOTHING,
            "base_ref": None,
            "compare": page if ends else f"{page}/{before[:12]}...{after[:12]}",  # type: ignore[index]
            "created": before is None,
            "deleted": after is None,
            "forced": forced,
            "commits": listed,
            "head_commit": None if after is None else _pushed(self._hub, repository, after),
            "pusher": {"name": sender.login, "email": f"{sender.login}@users.noreply.example"},
        }
        self._hub.hooks.emit("push", body, sender, repository)

    def merge_group(self, repository: Repository, sha: str, base: str, ref: str, action: str, sender: User) -> None:
        """`merge_group` checks_requested, or destroyed."""
        base_ref = f"refs/heads/{repository.default_branch}"
        written: Json = {"head_sha": sha, "head_ref": ref, "base_sha": base, "base_ref": base_ref}
        written["head_commit"] = commits.simple(repository, sha)
        self._hub.hooks.emit("merge_group", {"action": action, "merge_group": written}, sender, repository)

    def installation(self, which: Installation, action: str, sender: User) -> None:
        """`installation`: created, deleted, suspend, unsuspend, new_permissions_accepted."""
        body: Json = {"action": action, "installation": shapes.installation(self._hub, which)}
        body["sender"] = shapes.user(self._hub, sender)
        if action == "created":
            body["requester"] = None
        if action in ("created", "deleted"):
            body["repositories"] = [_brief(each) for each in _installed(self._hub, which)]
        self._hub.hooks.tell(which.app, "installation", body, which)

    def installation_repositories(
        self, which: Installation, added: list[Repository], removed: list[Repository], sender: User
    ) -> None:
        """`installation_repositories`: added or removed."""
        body: Json = {
            "action": "added" if added else "removed",
            "installation": shapes.installation(self._hub, which),
            "repository_selection": "all" if which.repositories is None else "selected",
            "repositories_added": [_brief(each) for each in added],
            "repositories_removed": [_brief(each) for each in removed],
            "requester": None,
            "sender": shapes.user(self._hub, sender),
        }
        self._hub.hooks.tell(which.app, "installation_repositories", body, which)


def _pushed(hub: Hub, repository: Repository, sha: str) -> Json:
    data = repository.store.describe(sha)
    changed = repository.store.diff(data.parents[0], sha) if data.parents else ()
    who = {"name": data.author, "email": data.email, "username": data.author}
    return {
        "id": sha,
        "tree_id": data.tree,
        "distinct": True,
        "message": data.message,
        "timestamp": data.when,
        "url": f"{hub.web_url}/{repository.full_name}/commit/{sha}",
        "author": who,
        "committer": who,
        "added": [each.path for each in changed if each.status == "added"],
        "removed": [each.path for each in changed if each.status == "removed"],
        "modified": [each.path for each in changed if each.status not in ("added", "removed")],
    }


def _installed(hub: Hub, which: Installation) -> list[Repository]:
    return [
        each
        for each in hub.repositories.values()
        if each.owner is which.account and (which.repositories is None or each.id in which.repositories)
    ]


def _brief(which: Repository) -> Json:
    brief: Json = {"id": which.id, "node_id": node_id("R", which.id), "name": which.name}
    return {**brief, "full_name": which.full_name, "private": which.private}
