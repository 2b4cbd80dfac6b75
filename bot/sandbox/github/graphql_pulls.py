"""Repositories and pull requests in GraphQL: state, conversation, review threads and reviews."""

from __future__ import annotations

from bot.sandbox.github import pulls, shapes
from bot.sandbox.github.call import Call
from bot.sandbox.github.clock import stamp
from bot.sandbox.github.graphql_git import actor, commit, git_object, reference
from bot.sandbox.github.graphql_types import Fault, Field, Object, check, connection
from bot.sandbox.github.model import IssueComment, Json, Pull, Repository, Review, ReviewComment, node_id


def repository(call: Call, which: Repository) -> Object:
    """A repository."""

    def branch(name: str) -> Object | None:
        sha = which.branches.get(name.removeprefix("refs/heads/"))
        return None if sha is None else reference(call, which, name.removeprefix("refs/heads/"), sha)

    return Object(
        "Repository",
        {
            "id": node_id("R", which.id),
            "databaseId": which.id,
            "name": which.name,
            "nameWithOwner": which.full_name,
            "owner": lambda _: actor(call, which.owner),
            "isPrivate": which.private,
            "isFork": which.parent is not None,
            "isArchived": False,
            "url": f"{call.hub.web_url}/{which.full_name}",
            "defaultBranchRef": lambda _: branch(which.default_branch),
            "ref": Field(lambda given: branch(str(given.get("qualifiedName"))), "qualifiedName"),
            "object": Field(lambda given: git_object(call, which, given), "oid expression"),
            "pullRequest": Field(lambda given: numbered(call, which, given), "number"),
            "pullRequests": connection(
                "PullRequest",
                lambda given: listed(call, which, given),
                lambda each: pull(call, which, each),
                "states headRefName baseRefName orderBy labels",
            ),
        },
    )


def numbered(call: Call, which: Repository, given: Json) -> Object:
    """A pull request by its number."""
    check(call, which, "pull_requests:read")
    number = given.get("number")
    found = which.pulls.get(number) if isinstance(number, int) else None
    if found is None:
        raise Fault(f"Could not resolve to a PullRequest with the number of {number}.", "NOT_FOUND")
    return pull(call, which, found)


def listed(call: Call, which: Repository, given: Json) -> list[Pull]:
    """Pull requests by state and branches, oldest first unless ordered."""
    check(call, which, "pull_requests:read")
    states = given.get("states")
    states = [states] if isinstance(states, str) else states
    found = [
        each
        for each in which.pulls.values()
        if (not states or state(each) in states)
        and given.get("headRefName") in (None, each.head_ref)
        and given.get("baseRefName") in (None, each.base_ref)
    ]
    order = given.get("orderBy") or {}
    if order.get("field") == "UPDATED_AT":
        found.sort(key=lambda each: (each.issue.updated_at, each.number))
    if order.get("direction") == "DESC":
        found.reverse()
    return found


def state(which: Pull) -> str:
    """OPEN, CLOSED or MERGED."""
    return "MERGED" if which.merged_at is not None else which.issue.state.upper()


def pull(call: Call, which: Repository, one: Pull) -> Object:
    """A pull request."""
    home, issue = one.head_repository, one.issue
    page = f"{call.hub.web_url}/{which.full_name}/pull/{one.number}"
    tip = which.branches.get(one.base_ref)
    source = None if home is None else home.branches.get(one.head_ref)
    known = which.store.between(one.base_sha, one.head_sha)

    def pull_commit(sha: str) -> Object:
        return Object("PullRequestCommit", {"id": node_id("PRC", one.id), "commit": lambda _: commit(call, which, sha)})

    return Object(
        "PullRequest",
        {
            "id": node_id("PR", one.id),
            "databaseId": one.id,
            "fullDatabaseId": str(one.id),
            "number": one.number,
            "title": issue.title,
            "body": issue.body,
            "state": state(one),
            "closed": issue.state == "closed",
            "merged": one.merged_at is not None,
            "isDraft": one.draft,
            "locked": issue.locked,
            "url": page,
            "author": lambda _: actor(call, issue.user),
            "authorAssociation": shapes.association(which, issue.user),
            "createdAt": stamp(issue.created_at),
            "updatedAt": stamp(issue.updated_at),
            "headRefOid": one.head_sha,
            "headRefName": one.head_ref,
            "headRef": lambda _: source and reference(call, home or which, one.head_ref, source),
            "headRepository": lambda _: home and repository(call, home),
            "headRepositoryOwner": lambda _: home and actor(call, home.owner),
            "isCrossRepository": home is not which,
            "baseRefOid": one.base_sha,
            "baseRefName": one.base_ref,
            "baseRef": lambda _: tip and reference(call, which, one.base_ref, tip),
            "baseRepository": lambda _: repository(call, which),
            "repository": lambda _: repository(call, which),
            "changedFiles": lambda _: len(pulls.diff(which, one)),
            "mergeable": lambda _: "MERGEABLE" if pulls.mergeable(which, one) else "CONFLICTING",
            "comments": connection(
                "IssueComment", issue.comments, lambda each: comment(call, which, one, each), "orderBy"
            ),
            "reviewThreads": connection(
                "PullRequestReviewThread", _roots(one), lambda each: thread(call, which, one, each)
            ),
            "reviews": connection(
                "PullRequestReview",
                [each for each in one.reviews if each.state != "PENDING"],
                lambda each: review(call, which, one, each),
                "author states",
            ),
            "commits": connection("PullRequestCommit", known, pull_commit),
        },
    )


def _roots(one: Pull) -> list[ReviewComment]:
    pending = {each.id for each in one.reviews if each.state == "PENDING"}
    return [each for each in one.comments if each.in_reply_to is None and each.review not in pending]


def _common(call: Call, which: Repository, one: IssueComment | ReviewComment) -> Json:
    reason = None if one.minimised is None else one.minimised.lower().replace("_", "-")
    return {
        "id": one.node,
        "databaseId": one.id,
        "fullDatabaseId": str(one.id),
        "body": one.body,
        "author": lambda _: actor(call, one.user),
        "authorAssociation": shapes.association(which, one.user),
        "createdAt": stamp(one.created_at),
        "updatedAt": stamp(one.updated_at),
        "isMinimized": one.minimised is not None,
        "minimizedReason": reason,
        "viewerDidAuthor": one.app is not None and one.app is call.installation.app,
        "viewerCanMinimize": True,
    }


_COMMENT = "Node Comment Minimizable Updatable Deletable Reactable"


def comment(call: Call, which: Repository, pull_: Pull | None, one: IssueComment) -> Object:
    """A comment in the conversation."""
    number = next((each.number for each in which.issues.values() if one in each.comments), 0)
    kind = "issues" if pull_ is None else "pull"
    page = f"{call.hub.web_url}/{which.full_name}/{kind}/{number}#issuecomment-{one.id}"
    return Object("IssueComment", {**_common(call, which, one), "url": page}, _COMMENT)


def review_comment(call: Call, which: Repository, pull_: Pull, one: ReviewComment) -> Object:
    """A comment on lines or a file."""
    page = f"{call.hub.web_url}/{which.full_name}/pull/{pull_.number}#discussion_r{one.id}"
    parent = next((each for each in pull_.comments if each.id == one.in_reply_to), None)
    owner = next((each for each in pull_.reviews if each.id == one.review), None)
    fields = {
        **_common(call, which, one),
        "url": page,
        "path": one.path,
        "line": one.line,
        "originalLine": one.original_line,
        "startLine": one.start_line,
        "originalStartLine": one.original_start_line,
        "subjectType": one.subject.upper(),
        "outdated": one.outdated,
        "diffHunk": one.diff_hunk,
        "state": "PENDING" if owner is not None and owner.state == "PENDING" else "SUBMITTED",
        "commit": lambda _: commit(call, which, one.commit),
        "originalCommit": lambda _: commit(call, which, one.original_commit),
        "replyTo": lambda _: parent and review_comment(call, which, pull_, parent),
        "pullRequestReview": lambda _: owner and review(call, which, pull_, owner),
    }
    return Object("PullRequestReviewComment", fields, _COMMENT)


def any_comment(call: Call, which: Repository, pull_: Pull | None, one: IssueComment | ReviewComment) -> Object:
    """A comment of either kind."""
    if isinstance(one, ReviewComment):
        assert pull_ is not None
        return review_comment(call, which, pull_, one)
    return comment(call, which, pull_, one)


def thread(call: Call, which: Repository, pull_: Pull, root: ReviewComment) -> Object:
    """A review comment with its answers."""
    members = [root, *(each for each in pull_.comments if each.in_reply_to == root.id)]
    fields = {
        "id": node_id("PRRT", root.id),
        "isResolved": False,
        "isOutdated": root.outdated,
        "isCollapsed": root.outdated,
        "path": root.path,
        "line": root.line,
        "originalLine": root.original_line,
        "startLine": root.start_line,
        "originalStartLine": root.original_start_line,
        "diffSide": root.side,
        "startDiffSide": root.start_side,
        "subjectType": root.subject.upper(),
        "viewerCanReply": True,
        "comments": connection(
            "PullRequestReviewComment", members, lambda each: review_comment(call, which, pull_, each), "skip"
        ),
    }
    return Object("PullRequestReviewThread", fields)


def review(call: Call, which: Repository, pull_: Pull, one: Review) -> Object:
    """A review."""
    page = f"{call.hub.web_url}/{which.full_name}/pull/{pull_.number}#pullrequestreview-{one.id}"
    mine = [each for each in pull_.comments if each.review == one.id]
    fields = {
        "id": node_id("PRR", one.id),
        "databaseId": one.id,
        "fullDatabaseId": str(one.id),
        "body": one.body,
        "state": one.state,
        "author": lambda _: actor(call, one.user),
        "submittedAt": stamp(one.submitted_at),
        "url": page,
        "commit": lambda _: commit(call, which, one.commit),
        "viewerDidAuthor": one.app is not None and one.app is call.installation.app,
        "comments": connection("PullRequestReviewComment", mine, lambda each: review_comment(call, which, pull_, each)),
    }
    return Object("PullRequestReview", fields)
