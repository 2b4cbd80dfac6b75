"""Comments on a pull request's files and lines, and replies to them (facts, section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.github import anchors, comments, issues, pulls, reviews, shapes
from bot.sandbox.github.call import Answer, Body, Call, Routes, not_found
from bot.sandbox.github.clock import stamp
from bot.sandbox.github.model import App, Json, Pull, Repository, ReviewComment, User

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

ROUTES = Routes()

_FIELDS = "body commit_id path position side line start_line start_side in_reply_to subject_type"


def comment(hub: Hub, repository: Repository, pull: Pull, which: ReviewComment) -> Json:
    """A review comment as the API shows it; outdated ones have `line: null`."""
    url = f"{hub.url}/repos/{repository.full_name}/pulls/comments/{which.id}"
    page = f"{hub.web_url}/{repository.full_name}/pull/{pull.number}#discussion_r{which.id}"
    pull_url = f"{hub.url}/repos/{repository.full_name}/pulls/{pull.number}"
    answer: Json = {
        "url": url,
        "pull_request_review_id": which.review,
        "id": which.id,
        "node_id": which.node,
        "diff_hunk": which.diff_hunk,
        "path": which.path,
        "commit_id": which.commit,
        "original_commit_id": which.original_commit,
        "user": shapes.user(hub, which.user),
        "body": which.body,
        "created_at": stamp(which.created_at),
        "updated_at": stamp(which.updated_at),
        "html_url": page,
        "pull_request_url": pull_url,
        "author_association": shapes.association(repository, which.user),
        "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": pull_url}},
        "reactions": shapes.reactions(url, which.reactions),
        "start_line": which.start_line,
        "original_start_line": which.original_start_line,
        "start_side": which.start_side,
        "line": which.line,
        "original_line": which.original_line,
        "side": which.side,
        "position": which.position,
        "original_position": which.original_position,
        "subject_type": which.subject,
    }
    if which.subject == "file":
        answer |= {"position": 1, "original_position": 1}
    if which.in_reply_to is not None:
        answer["in_reply_to_id"] = which.in_reply_to
    return answer


def _find(call: Call) -> tuple[Pull, ReviewComment]:
    number = call.number("comment_id")
    for pull in call.repository.pulls.values():
        for each in pull.comments:
            if each.id == number:
                return pull, each
    raise not_found()


def _visible(pull: Pull) -> list[ReviewComment]:
    pending = {each.id for each in pull.reviews if each.state == "PENDING"}
    return [each for each in pull.comments if each.review not in pending]


@ROUTES.add("GET", "/repos/{owner}/{repo}/pulls/{pull_number}/comments", "pull_requests:read")
def list_comments(call: Call) -> Answer:
    """Comments of a pull request, oldest first."""
    pull = pulls.find(call)
    seen = _visible(pull)
    if call.query.get("direction") == "desc":
        seen.reverse()
    return Answer([comment(call.hub, call.repository, pull, each) for each in call.page(seen)])


@ROUTES.add("POST", "/repos/{owner}/{repo}/pulls/{pull_number}/comments", "pull_requests:write")
def create_comment(call: Call) -> Answer:
    """A comment of its own, or a reply: with `in_reply_to` everything but the body is ignored."""
    repository, pull = call.repository, pulls.find(call)
    body = Body(call.body, _FIELDS)
    text = reviews.comment_text(body)
    number = body.number("in_reply_to")
    if number is not None:
        parent = next((each for each in pull.comments if each.id == number), None)
        if parent is None:
            raise not_found()
        return _answered(call, pull, parent, text)
    commit = reviews.check_commit(repository, pull, body.text("commit_id"))
    anchor = anchors.read(body, pulls.diff(repository, pull, commit), whole_file=True)
    call.hub.limits.create(str(call.installation.id))
    app, author = call.installation.app, call.author
    new = reviews.add(call.hub, repository, pull, author, app, "COMMENT", "", commit, [(anchor, text)])
    made = next(each for each in pull.comments if each.review == new.id)
    return Answer(comment(call.hub, repository, pull, made), 201)


@ROUTES.add("POST", "/repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies", "pull_requests:write")
def create_reply(call: Call) -> Answer:
    """Answer in a thread. Replies to replies are not taken."""
    pull, parent = _find(call)
    if pull is not pulls.find(call) or parent.in_reply_to is not None:
        raise not_found()
    return _answered(call, pull, parent, reviews.comment_text(Body(call.body, "body")))


def _answered(call: Call, pull: Pull, parent: ReviewComment, text: str) -> Answer:
    call.hub.limits.create(str(call.installation.id))
    new = reply(call.hub, call.repository, pull, parent, call.author, call.installation.app, text)
    return Answer(comment(call.hub, call.repository, pull, new), 201)


def reply(
    hub: Hub, repository: Repository, pull: Pull, parent: ReviewComment, author: User, app: App | None, text: str
) -> ReviewComment:
    """Write an answer into a thread and tell everybody."""
    anchor = anchors.Anchor(
        parent.path, parent.side, parent.original_line, hunk=parent.diff_hunk, position=parent.original_position
    )
    body: list[tuple[anchors.Anchor, str]] = []
    review = reviews.add(hub, repository, pull, author, app, "COMMENT", "", parent.commit, body)
    new = reviews.place(hub, pull, author, app, anchor, text, parent.original_commit, review.id)
    new.in_reply_to = parent.in_reply_to or parent.id
    new.subject, new.commit, new.line, new.position = parent.subject, parent.commit, parent.line, parent.position
    hub.events.review_comment(repository, pull, new, "created", author)
    return new


@ROUTES.add("GET", "/repos/{owner}/{repo}/pulls/comments/{comment_id}", "pull_requests:read")
def get_comment(call: Call) -> Answer:
    """One comment."""
    pull, found = _find(call)
    return Answer(comment(call.hub, call.repository, pull, found))


@ROUTES.add("PATCH", "/repos/{owner}/{repo}/pulls/comments/{comment_id}", "pull_requests:write")
def update_comment(call: Call) -> Answer:
    """Edit the text."""
    pull, found = _find(call)
    comments.check_owned(call, found)
    text = issues.check_body(reviews.comment_text(Body(call.body, "body")), "PullRequestReviewComment")
    before, found.body, found.updated_at = found.body, text, call.hub.clock.now()
    changes = {"changes": {"body": {"from": before}}}
    call.hub.events.review_comment(call.repository, pull, found, "edited", call.author, changes)
    return Answer(comment(call.hub, call.repository, pull, found))


@ROUTES.add("DELETE", "/repos/{owner}/{repo}/pulls/comments/{comment_id}", "pull_requests:write")
def delete_comment(call: Call) -> Answer:
    """Remove it."""
    pull, found = _find(call)
    comments.check_owned(call, found)
    pull.comments.remove(found)
    call.hub.events.review_comment(call.repository, pull, found, "deleted", call.author)
    return Answer(None, 204)


@ROUTES.add("POST", "/repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions", "pull_requests:write")
def create_reaction(call: Call) -> Answer:
    """React to a comment."""
    return comments.react(call, _find(call)[1].reactions)


@ROUTES.add("GET", "/repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions", "pull_requests:read")
def list_reactions(call: Call) -> Answer:
    """Reactions to a comment."""
    given = call.page(_find(call)[1].reactions)
    return Answer([comments.reaction(call.hub, each) for each in given])


@ROUTES.add("GET", "/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments", "pull_requests:read")
def list_review_comments(call: Call) -> Answer:
    """The comments of one review."""
    pull, found = reviews.find(call)
    mine = [each for each in pull.comments if each.review == found.id]
    return Answer([comment(call.hub, call.repository, pull, each) for each in call.page(mine)])
