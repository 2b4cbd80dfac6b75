"""The roots of GraphQL: what queries and mutations begin with."""

from __future__ import annotations

from bot.sandbox.github import access, graphql_pulls
from bot.sandbox.github.call import Call
from bot.sandbox.github.clock import stamp
from bot.sandbox.github.graphql_git import actor
from bot.sandbox.github.graphql_types import Fault, Field, Object, check
from bot.sandbox.github.model import IssueComment, Json, Pull, Repository, ReviewComment, node_id

CLASSIFIERS = ("ABUSE", "DUPLICATE", "LOW_QUALITY", "OFF_TOPIC", "OUTDATED", "RESOLVED", "SPAM")


Comment = IssueComment | ReviewComment


def query(call: Call, cost: int) -> Object:
    """The root of queries."""
    budget = call.hub.limits.budget(f"installation-{call.installation.id}", "graphql")
    limit = {
        "limit": budget.limit,
        "cost": cost,
        "used": budget.used,
        "remaining": budget.limit - budget.used,
        "nodeCount": 0,
        "resetAt": stamp(budget.reset),
    }
    return Object(
        "Query",
        {
            "repository": Field(lambda given: _named(call, given), "owner name followRenames"),
            "node": Field(lambda given: _node(call, given.get("id")), "id"),
            "nodes": Field(lambda given: [_node(call, each) for each in given.get("ids", [])], "ids"),
            "rateLimit": Field(Object("RateLimit", limit, ""), "dryRun"),
            "viewer": lambda _: actor(call, call.author),
        },
        "",
    )


def _named(call: Call, given: Json) -> Object:
    owner, name = str(given.get("owner")), str(given.get("name"))
    found = call.hub.find_repository(owner, name)
    if found is None and given.get("followRenames") is not False:
        found = call.hub.formerly(owner, name)
    hidden = found is not None and found.private and (call.token is None or not access.covers(call.token, found))
    if found is None or hidden:
        raise Fault(f"Could not resolve to a Repository with the name '{owner}/{name}'.", "NOT_FOUND")
    return graphql_pulls.repository(call, found)


def _comment_of(call: Call, node: object) -> tuple[Repository, Pull | None, Comment] | None:
    for which in call.hub.repositories.values():
        for issue in which.issues.values():
            pull = which.pulls.get(issue.number)
            found: list[Comment] = [*issue.comments, *(pull.comments if pull is not None else [])]
            for one in found:
                if one.node == node:
                    return which, pull, one
    return None


def _node(call: Call, node: object) -> Object | None:
    found = _comment_of(call, node)
    if found is not None:
        return graphql_pulls.any_comment(call, *found)
    for which in call.hub.repositories.values():
        if node == node_id("R", which.id):
            return graphql_pulls.repository(call, which)
        for pull in which.pulls.values():
            if node == node_id("PR", pull.id):
                return graphql_pulls.pull(call, which, pull)
    raise Fault(f"Could not resolve to a node with the global id of '{node}'", "NOT_FOUND")


def mutation(call: Call) -> Object:
    """The root of mutations."""
    return Object(
        "Mutation",
        {
            "minimizeComment": Field(lambda given: _minimise(call, given["input"], fold=True), "input"),
            "unminimizeComment": Field(lambda given: _minimise(call, given["input"], fold=False), "input"),
            "updateIssueComment": Field(lambda given: _edit(call, given["input"], "id"), "input"),
            "updatePullRequestReviewComment": Field(
                lambda given: _edit(call, given["input"], "pullRequestReviewCommentId"), "input"
            ),
            # Needs contents: write, which a reviewer does not have (facts, section 9).
            "resolveReviewThread": Field(lambda _: _refused(), "input"),
        },
        "",
    )


def _refused() -> Object:
    raise Fault("Resource not accessible by integration", "FORBIDDEN")


def _edit(call: Call, given: Json, key: str) -> Object:
    """A new text for a comment, as the REST endpoints change it."""
    found = _comment_of(call, given.get(key))
    if found is None or isinstance(found[2], IssueComment) != (key == "id"):
        raise Fault(f"Could not resolve to a node with the global id of '{given.get(key)}'", "NOT_FOUND")
    which, pull, one = found
    check(call, which, "issues:write", "pull_requests:write")
    if one.app is not call.installation.app:
        raise Fault("Resource not accessible by integration", "FORBIDDEN")
    body = given.get("body")
    if not isinstance(body, str) or not body.strip() or len(body) > 65_536:
        raise Fault("Body can't be blank, and is not too long", "UNPROCESSABLE")
    before, one.body, one.updated_at = one.body, body, call.hub.clock.now()
    changes = {"changes": {"body": {"from": before}}}
    subject = graphql_pulls.any_comment(call, which, pull, one)
    if isinstance(one, IssueComment):
        issue = next(issue for issue in which.issues.values() if one in issue.comments)
        call.hub.events.comment(which, issue, one, "edited", call.author, changes)
    elif pull is not None:
        call.hub.events.review_comment(which, pull, one, "edited", call.author, changes)
    kind = "IssueComment" if isinstance(one, IssueComment) else "PullRequestReviewComment"
    payload = {"clientMutationId": given.get("clientMutationId"), f"{kind[0].lower()}{kind[1:]}": subject}
    return Object(f"Update{kind}Payload", payload, "")


def _minimise(call: Call, given: Json, *, fold: bool) -> Object:
    found = _comment_of(call, given.get("subjectId"))
    if found is None:
        raise Fault(f"Could not resolve to a node with the global id of '{given.get('subjectId')}'", "NOT_FOUND")
    which, pull, one = found
    check(call, which, "issues:write", "pull_requests:write")
    if fold and given.get("classifier") not in CLASSIFIERS:
        raise Fault(
            "Argument 'classifier' on InputObject 'MinimizeCommentInput' has an invalid value.",
            "argumentLiteralsIncompatible",
        )
    one.minimised = str(given["classifier"]) if fold else None
    subject = graphql_pulls.any_comment(call, which, pull, one)
    payload = {"clientMutationId": given.get("clientMutationId"), "minimizedComment": subject}
    if not fold:
        payload["unminimizedComment"] = payload.pop("minimizedComment")
    return Object("MinimizeCommentPayload" if fold else "UnminimizeCommentPayload", payload, "")
