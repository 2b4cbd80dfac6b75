"""Pull requests and the files that they change (facts, section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.github import commits, issues, revisions, shapes
from bot.sandbox.github.call import Answer, Body, Call, Refused, Routes, invalid, not_found
from bot.sandbox.github.clock import stamp
from bot.sandbox.github.diffs import FileDiff
from bot.sandbox.github.model import Json, Pull, Repository, node_id

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

ROUTES = Routes()

MAX_FILES = 3_000
MAX_COMMITS = 250


def merge_base(repository: Repository, which: Pull, head: str | None = None) -> str:
    """Where the branch of a pull request left its base."""
    return repository.store.merge_base(which.base_sha, head or which.head_sha) or which.base_sha


def diff(repository: Repository, which: Pull, head: str | None = None) -> tuple[FileDiff, ...]:
    """What a pull request changes: from the merge base, not from the base's tip."""
    return repository.store.diff(merge_base(repository, which, head), head or which.head_sha)


def mergeable(repository: Repository, which: Pull) -> bool:
    """Whether no file was changed on both sides (a rough stand-in for a merge)."""
    middle, tip = merge_base(repository, which), repository.branches.get(which.base_ref, which.base_sha)
    theirs = {each.path for each in repository.store.diff(middle, tip)}
    return all(each.path not in theirs for each in diff(repository, which))


def _branch(hub: Hub, repository: Repository | None, ref: str, sha: str, fallback: str) -> Json:
    if repository is None:  # the fork was deleted
        return {"label": f"{fallback}:{ref}", "ref": ref, "sha": sha, "user": None, "repo": None}
    owner = repository.owner
    return {
        "label": f"{owner.login}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": shapes.user(hub, owner),
        "repo": shapes.repository(hub, repository),
    }


def pull(hub: Hub, repository: Repository, which: Pull, *, full: bool = False) -> Json:
    """A pull request as the API shows it; `full` is what its own address answers with, and webhooks."""
    issue = which.issue
    url = f"{hub.url}/repos/{repository.full_name}/pulls/{which.number}"
    issue_url = f"{hub.url}/repos/{repository.full_name}/issues/{which.number}"
    statuses = f"{hub.url}/repos/{repository.full_name}/statuses/{which.head_sha}"
    page = f"{hub.web_url}/{repository.full_name}/pull/{which.number}"
    comment = f"{hub.url}/repos/{repository.full_name}/pulls/comments{{/number}}"
    links = {
        "self": url,
        "html": page,
        "issue": issue_url,
        "comments": f"{issue_url}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": comment,
        "commits": f"{url}/commits",
        "statuses": statuses,
    }
    answer: Json = {
        "url": url,
        "id": which.id,
        "node_id": node_id("PR", which.id),
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issue_url,
        "number": which.number,
        "state": issue.state,
        "locked": issue.locked,
        "title": issue.title,
        "user": shapes.user(hub, issue.user),
        "body": issue.body or None,
        "created_at": stamp(issue.created_at),
        "updated_at": stamp(issue.updated_at),
        "closed_at": stamp(issue.closed_at),
        "merged_at": stamp(which.merged_at),
        "merge_commit_sha": which.merge_commit,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "labels": [shapes.label(hub, repository, each) for each in issue.labels],
        "milestone": None,
        "draft": which.draft,
        "commits_url": links["commits"],
        "review_comments_url": links["review_comments"],
        "review_comment_url": comment,
        "comments_url": links["comments"],
        "statuses_url": statuses,
        "head": _branch(hub, which.head_repository, which.head_ref, which.head_sha, issue.user.login),
        "base": _branch(hub, repository, which.base_ref, which.base_sha, repository.owner.login),
        "_links": {name: {"href": link} for name, link in links.items()},
        "author_association": shapes.association(repository, issue.user),
        "auto_merge": None,
        "active_lock_reason": None,
    }
    if full:
        changed = diff(repository, which)
        able = None if which.merged_at or issue.state == "closed" else mergeable(repository, which)
        answer |= {
            "merged": which.merged_at is not None,
            "mergeable": able,
            "rebaseable": able,
            "mergeable_state": {None: "unknown", True: "clean", False: "dirty"}[able],
            "merged_by": None if issue.closed_by is None or not which.merged_at else shapes.user(hub, issue.closed_by),
            "comments": len(issue.comments),
            "review_comments": len(which.comments),
            "maintainer_can_modify": which.head_repository not in (None, repository),
            "commits": len(repository.store.between(which.base_sha, which.head_sha)),
            "additions": sum(each.additions for each in changed),
            "deletions": sum(each.deletions for each in changed),
            "changed_files": len(changed),
        }
    return answer


def minimal(hub: Hub, repository: Repository, which: Pull) -> Json:
    """A pull request as check runs name it."""
    place = {"id": repository.id, "url": f"{hub.url}/repos/{repository.full_name}", "name": repository.name}
    return {
        "url": f"{hub.url}/repos/{repository.full_name}/pulls/{which.number}",
        "id": which.id,
        "number": which.number,
        "head": {"ref": which.head_ref, "sha": which.head_sha, "repo": place},
        "base": {"ref": which.base_ref, "sha": which.base_sha, "repo": place},
    }


def find(call: Call) -> Pull:
    """The pull request of the path."""
    found = call.repository.pulls.get(call.number("pull_number"))
    if found is None:
        raise not_found()
    return found


@ROUTES.add("GET", "/repos/{owner}/{repo}/pulls", "pull_requests:read")
def list_pulls(call: Call) -> Answer:
    """Pull requests, newest first; by state, base branch and `owner:branch` of the head."""
    repository, query = call.repository, call.query
    state, head, base = query.get("state", "open"), query.get("head"), query.get("base")
    if state not in ("open", "closed", "all"):
        raise invalid("PullRequest", "state", "invalid")
    found = [
        each
        for each in repository.pulls.values()
        if state in ("all", each.issue.state) and base in (None, each.base_ref) and head in (None, _label(each))
    ]
    found.sort(
        key=lambda each: (
            each.issue.updated_at if query.get("sort") == "updated" else each.issue.created_at,
            each.number,
        )
    )
    if query.get("direction", "desc") == "desc":
        found.reverse()
    return Answer([pull(call.hub, repository, each) for each in call.page(found)])


def _label(which: Pull) -> str:
    owner = which.issue.user.login if which.head_repository is None else which.head_repository.owner.login
    return f"{owner}:{which.head_ref}"


@ROUTES.add("GET", "/repos/{owner}/{repo}/commits/{commit_sha}/pulls", "pull_requests:read", "contents:read")
def list_pulls_of_commit(call: Call) -> Answer:
    """The open pull requests that contain a commit, and the merged one that brought it. By the head's id a fork's
    check events find their pull request.
    """
    repository = call.repository
    sha = revisions.resolve(repository, call.parts["commit_sha"])
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {call.parts['commit_sha']}")
    found = [
        each
        for each in repository.pulls.values()
        if (each.issue.state == "open" or each.merged_at)
        and (each.head_sha == sha or sha in repository.store.between(each.base_sha, each.head_sha))
    ]
    return Answer([pull(call.hub, repository, each) for each in call.page(found)])


@ROUTES.add("GET", "/repos/{owner}/{repo}/pulls/{pull_number}", "pull_requests:read")
def get_pull(call: Call) -> Answer:
    """One pull request."""
    return Answer(pull(call.hub, call.repository, find(call), full=True))


@ROUTES.add("PATCH", "/repos/{owner}/{repo}/pulls/{pull_number}", "pull_requests:write")
def update_pull(call: Call) -> Answer:
    """Edit the title, the text, the state or the base."""
    repository, which = call.repository, find(call)
    body = Body(call.body, "title body state base maintainer_can_modify")
    title = body.text("title", which.issue.title, most=issues.MAX_TITLE)
    text = issues.check_body(body.text("body", which.issue.body), "PullRequest")
    action, more = "edited", {"changes": issues.changes(which.issue, title, text)}
    which.issue.title, which.issue.body = title, text
    state = body.one_of("state", "open closed", which.issue.state)
    if state != which.issue.state:
        action, more = ("closed" if state == "closed" else "reopened"), {}
        issues.close(which.issue, call.hub, call.author, action)
    call.hub.events.pull(repository, which, action, call.author, more)
    return Answer(pull(call.hub, repository, which, full=True))


@ROUTES.add("GET", "/repos/{owner}/{repo}/pulls/{pull_number}/files", "pull_requests:read")
def list_files(call: Call) -> Answer:
    """The changed files with their patches; 3,000 at most."""
    repository, which = call.repository, find(call)
    changed = call.page(commits.files(call.hub, repository, diff(repository, which), which.head_sha), MAX_FILES)
    return Answer(list(changed))


@ROUTES.add("GET", "/repos/{owner}/{repo}/pulls/{pull_number}/commits", "pull_requests:read")
def list_commits(call: Call) -> Answer:
    """The commits, oldest first; 250 at most."""
    repository, which = call.repository, find(call)
    known = call.page(repository.store.between(which.base_sha, which.head_sha), MAX_COMMITS)
    return Answer([commits.commit(call.hub, repository, sha) for sha in known])
