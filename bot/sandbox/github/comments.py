"""Comments in a conversation, and reactions to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.github import issues, shapes
from bot.sandbox.github.call import Answer, Body, Call, Refused, Routes, not_found
from bot.sandbox.github.clock import stamp
from bot.sandbox.github.model import Issue, IssueComment, Json, Reaction, Repository, ReviewComment, node_id

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

ROUTES = Routes()

CONTENTS = "+1 -1 laugh confused heart hooray rocket eyes"
WRITE = ("issues:write", "pull_requests:write")
READ = ("issues:read", "pull_requests:read")


def comment(hub: Hub, repository: Repository, which: Issue, one: IssueComment) -> Json:
    """A comment as the API shows it."""
    url = f"{hub.url}/repos/{repository.full_name}/issues/comments/{one.id}"
    kind = "pull" if which.number in repository.pulls else "issues"
    answer = {
        "url": url,
        "html_url": f"{hub.web_url}/{repository.full_name}/{kind}/{which.number}#issuecomment-{one.id}",
        "issue_url": f"{hub.url}/repos/{repository.full_name}/issues/{which.number}",
        "id": one.id,
        "node_id": one.node,
        "user": shapes.user(hub, one.user),
        "created_at": stamp(one.created_at),
        "updated_at": stamp(one.updated_at),
        "author_association": shapes.association(repository, one.user),
        "body": one.body,
        "reactions": shapes.reactions(url, one.reactions),
        "performed_via_github_app": shapes.app(hub, one.app),
    }
    if one.minimised is not None:
        answer["minimized"] = {"reason": one.minimised.lower()}
    return answer


def find(call: Call) -> tuple[Issue, IssueComment]:
    """The comment of the path."""
    number = call.number("comment_id")
    for which in call.repository.issues.values():
        for one in which.comments:
            if one.id == number:
                return which, one
    raise not_found()


def check_owned(call: Call, one: IssueComment | ReviewComment) -> None:
    """An App edits what it wrote; others' comments only where it may write at all (it then may)."""
    if one.app is not call.installation.app:
        raise Refused(403, "Resource not accessible by integration")


@ROUTES.add("GET", "/repos/{owner}/{repo}/issues/{issue_number}/comments", *READ)
def list_comments(call: Call) -> Answer:
    """Oldest first: a search for a marker must read all pages (facts, section 6)."""
    which = issues.find(call)
    since = call.query.get("since", "")
    found = [one for one in which.comments if (stamp(one.updated_at) or "") >= since]
    return Answer([comment(call.hub, call.repository, which, one) for one in call.page(found)])


@ROUTES.add("POST", "/repos/{owner}/{repo}/issues/{issue_number}/comments", *WRITE)
def create_comment(call: Call) -> Answer:
    """A new comment."""
    which = issues.find(call)
    text = _text(call)
    if which.locked:
        raise Refused(403, "Unable to create comment because issue is locked.")
    call.hub.limits.create(str(call.installation.id))
    now = call.hub.clock.now()
    new = IssueComment(call.hub.next_id(), call.author, text, now, now, call.installation.app)
    add(call.hub, call.repository, which, new)
    return Answer(comment(call.hub, call.repository, which, new), 201)


def add(hub: Hub, repository: Repository, which: Issue, new: IssueComment) -> None:
    """Put a comment into the conversation and tell everybody."""
    which.comments.append(new)
    which.updated_at = new.created_at
    hub.events.comment(repository, which, new, "created", new.user)


def _text(call: Call) -> str:
    text = issues.check_body(Body(call.body, "body").text("body"), "IssueComment")
    if not text.strip():
        error = {
            "resource": "IssueComment",
            "code": "unprocessable",
            "field": "data",
            "message": "Body cannot be blank",
        }
        raise Refused(422, "Validation Failed", [error])
    return text


@ROUTES.add("GET", "/repos/{owner}/{repo}/issues/comments/{comment_id}", *READ)
def get_comment(call: Call) -> Answer:
    """One comment."""
    which, one = find(call)
    return Answer(comment(call.hub, call.repository, which, one))


@ROUTES.add("PATCH", "/repos/{owner}/{repo}/issues/comments/{comment_id}", *WRITE)
def update_comment(call: Call) -> Answer:
    """Edit the text."""
    which, one = find(call)
    check_owned(call, one)
    text = _text(call)
    before, one.body, one.updated_at = one.body, text, call.hub.clock.now()
    changes = {"changes": {"body": {"from": before}}}
    call.hub.events.comment(call.repository, which, one, "edited", call.author, changes)
    return Answer(comment(call.hub, call.repository, which, one))


@ROUTES.add("DELETE", "/repos/{owner}/{repo}/issues/comments/{comment_id}", *WRITE)
def delete_comment(call: Call) -> Answer:
    """Remove it."""
    which, one = find(call)
    check_owned(call, one)
    which.comments.remove(one)
    call.hub.events.comment(call.repository, which, one, "deleted", call.author)
    return Answer(None, 204)


def reaction(hub: Hub, one: Reaction) -> Json:
    """A reaction as the API shows it."""
    return {
        "id": one.id,
        "node_id": node_id("REA", one.id),
        "user": shapes.user(hub, one.user),
        "content": one.content,
        "created_at": stamp(one.created_at),
    }


def react(call: Call, given: list[Reaction]) -> Answer:
    """Add a reaction: 201, or 200 when it is there already (facts, section 9)."""
    content = Body(call.body, "content").one_of("content", CONTENTS)
    if content is None:
        raise Refused(422, 'Invalid request.\n\n"content" wasn\'t supplied.')
    for one in given:
        if one.user is call.author and one.content == content:
            return Answer(reaction(call.hub, one))
    new = Reaction(call.hub.next_id(), call.author, content, call.hub.clock.now())
    given.append(new)
    return Answer(reaction(call.hub, new), 201)


@ROUTES.add("GET", "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", *READ)
def list_reactions(call: Call) -> Answer:
    """Reactions to a comment."""
    wanted = call.query.get("content")
    given = [one for one in find(call)[1].reactions if wanted in (None, one.content)]
    return Answer([reaction(call.hub, one) for one in call.page(given)])


@ROUTES.add("POST", "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", *WRITE)
def create_reaction(call: Call) -> Answer:
    """React to a comment."""
    return react(call, find(call)[1].reactions)


@ROUTES.add("DELETE", "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions/{reaction_id}", *WRITE)
def delete_reaction(call: Call) -> Answer:
    """Take a reaction back."""
    given, number = find(call)[1].reactions, call.number("reaction_id")
    mine = next((one for one in given if one.id == number and one.user is call.author), None)
    if mine is None:
        raise not_found()
    given.remove(mine)
    return Answer(None, 204)


@ROUTES.add("POST", "/repos/{owner}/{repo}/issues/{issue_number}/reactions", *WRITE)
def create_issue_reaction(call: Call) -> Answer:
    """React to an issue or a pull request."""
    return react(call, issues.find(call).reactions)
