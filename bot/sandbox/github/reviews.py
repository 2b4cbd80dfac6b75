"""Reviews (facts, section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.github import anchors, issues, pulls, shapes
from bot.sandbox.github.anchors import Anchor
from bot.sandbox.github.call import Answer, Body, Call, Refused, Routes, malformed, not_found
from bot.sandbox.github.clock import stamp
from bot.sandbox.github.model import App, Json, Pull, Repository, Review, ReviewComment, User, node_id

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

ROUTES = Routes()

_STATES = {"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}
_COMMENT = "path position body line side start_line start_side"
"""Of a review's comments: no `subject_type`, comments on files have another endpoint."""


def review(hub: Hub, repository: Repository, pull: Pull, which: Review) -> Json:
    """A review as the API shows it."""
    page = f"{hub.web_url}/{repository.full_name}/pull/{pull.number}#pullrequestreview-{which.id}"
    url = f"{hub.url}/repos/{repository.full_name}/pulls/{pull.number}"
    answer: Json = {
        "id": which.id,
        "node_id": node_id("PRR", which.id),
        "user": shapes.user(hub, which.user),
        "body": which.body,
        "state": which.state,
        "html_url": page,
        "pull_request_url": url,
        "author_association": shapes.association(repository, which.user),
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "commit_id": which.commit,
    }
    if which.submitted_at is not None:
        answer["submitted_at"] = stamp(which.submitted_at)
    return answer


def check_commit(repository: Repository, pull: Pull, commit: str) -> str:
    """A review is of the head, or of an earlier commit of the pull request; force-pushed ones are gone."""
    store = repository.store
    full = store.full_id(commit) if len(commit) == 40 else None
    if full is None or not store.contains(pull.head_sha, full) or store.contains(pull.base_sha, full):
        error = {
            "resource": "PullRequestReview",
            "code": "custom",
            "field": "commit_id",
            "message": "commit_id is not part of the pull request",
        }
        raise Refused(422, "Validation Failed", [error])
    return full


@ROUTES.add("POST", "/repos/{owner}/{repo}/pulls/{pull_number}/reviews", "pull_requests:write")
def create_review(call: Call) -> Answer:
    """A review with its comments, all or none: one that is not in the diff rejects everything."""
    try:
        return _create(call)
    except Refused as refusal:
        # Here the errors are plain texts, where other addresses have objects.
        texts = [each["message"] if isinstance(each, dict) else each for each in refusal.errors or ()]
        if texts:
            raise Refused(422, "Unprocessable Entity", texts) from None
        raise


def _create(call: Call) -> Answer:
    repository, pull = call.repository, pulls.find(call)
    body = Body(call.body, "commit_id body event comments")
    event = body.one_of("event", "APPROVE REQUEST_CHANGES COMMENT")
    text = issues.check_body(body.text("body", ""), "PullRequestReview")
    commit = check_commit(repository, pull, body.text("commit_id", pull.head_sha))
    given = [Body(each, _COMMENT, f"comments/{index}: ") for index, each in enumerate(body.list("comments"))]
    if event in ("REQUEST_CHANGES", "COMMENT") and not text.strip():
        raise malformed(f'"body" is needed for {event}.')
    if event in ("APPROVE", "REQUEST_CHANGES") and pull.issue.user is call.author:
        raise Refused(422, "Unprocessable Entity", ["Can not approve or request changes on your own pull request"])
    files = pulls.diff(repository, pull, commit)
    made = [(anchors.read(each, files, whole_file=False), comment_text(each)) for each in given]
    mine = [each for each in pull.reviews if each.state == "PENDING" and each.user is call.author]
    if event is None and mine:
        raise Refused(422, "Unprocessable Entity", ["User can only have one pending review per pull request"])
    call.hub.limits.create(str(call.installation.id))
    new = add(call.hub, repository, pull, call.author, call.installation.app, event, text, commit, made)
    return Answer(review(call.hub, repository, pull, new))


def comment_text(body: Body) -> str:
    """The text of a comment."""
    text = issues.check_body(body.text("body"), "PullRequestReviewComment")
    if not text.strip():
        error = {
            "resource": "PullRequestReviewComment",
            "code": "custom",
            "field": "body",
            "message": "body can't be blank",
        }
        raise Refused(422, "Validation Failed", [error])
    return text


def add(
    hub: Hub,
    repository: Repository,
    pull: Pull,
    author: User,
    app: App | None,
    event: str | None,
    text: str,
    commit: str,
    comments: list[tuple[Anchor, str]],
) -> Review:
    """Write a review down and, unless it is pending, tell everybody."""
    now = hub.clock.now()
    state = _STATES.get(event or "", "PENDING")
    new = Review(hub.next_id(), author, text, state, commit, now if event else None, app)  # type: ignore[arg-type]
    pull.reviews.append(new)
    made = [place(hub, pull, author, app, anchor, body, commit, new.id) for anchor, body in comments]
    if commit != pull.head_sha:
        anchors.move(repository, pull)
    if event:
        pull.issue.updated_at = now
        hub.events.review(repository, pull, new, "submitted", author)
        for one in made:
            hub.events.review_comment(repository, pull, one, "created", author)
    return new


def place(
    hub: Hub, pull: Pull, author: User, app: App | None, anchor: Anchor, body: str, commit: str, review: int
) -> ReviewComment:
    """Write a comment down at its place."""
    now = hub.clock.now()
    new = ReviewComment(
        id=hub.next_id(),
        user=author,
        body=body,
        path=anchor.path,
        subject="file" if anchor.line is None else "line",
        commit=commit,
        original_commit=commit,
        side=anchor.side,
        line=anchor.line,
        original_line=anchor.line,
        position=anchor.position,
        original_position=anchor.position,
        diff_hunk=anchor.hunk,
        created_at=now,
        updated_at=now,
        review=review,
        start_line=anchor.start_line,
        original_start_line=anchor.start_line,
        start_side=anchor.start_side,
        app=app,
    )
    pull.comments.append(new)
    return new


def find(call: Call) -> tuple[Pull, Review]:
    """The review of the path; pending ones only for their author."""
    pull, number = pulls.find(call), call.number("review_id")
    for each in pull.reviews:
        if each.id == number and (each.state != "PENDING" or each.app is call.installation.app):
            return pull, each
    raise not_found()


@ROUTES.add("GET", "/repos/{owner}/{repo}/pulls/{pull_number}/reviews", "pull_requests:read")
def list_reviews(call: Call) -> Answer:
    """Oldest first; pending ones only to their author."""
    pull = pulls.find(call)
    app = None if call.token is None else call.token.installation.app
    seen = [each for each in pull.reviews if each.state != "PENDING" or (app is not None and each.app is app)]
    return Answer([review(call.hub, call.repository, pull, each) for each in call.page(seen)])


@ROUTES.add("GET", "/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}", "pull_requests:read")
def get_review(call: Call) -> Answer:
    """One review."""
    pull, found = find(call)
    return Answer(review(call.hub, call.repository, pull, found))


@ROUTES.add("PUT", "/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}", "pull_requests:write")
def update_review(call: Call) -> Answer:
    """Edit a review's text."""
    pull, found = find(call)
    if found.app is not call.installation.app:
        raise Refused(403, "Resource not accessible by integration")
    before, found.body = found.body, issues.check_body(Body(call.body, "body").text("body"), "PullRequestReview")
    changes = {"changes": {"body": {"from": before}}}
    call.hub.events.review(call.repository, pull, found, "edited", call.author, changes)
    return Answer(review(call.hub, call.repository, pull, found))


@ROUTES.add("POST", "/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/events", "pull_requests:write")
def submit_review(call: Call) -> Answer:
    """Submit a pending review."""
    pull, found = find(call)
    body = Body(call.body, "body event")
    event = body.one_of("event", "APPROVE REQUEST_CHANGES COMMENT")
    if event is None or found.state != "PENDING":
        raise malformed('"event" wasn\'t supplied.' if event is None else "The review is submitted already.")
    found.body = body.text("body", found.body)
    if event != "APPROVE" and not found.body.strip():
        raise malformed(f'"body" is needed for {event}.')
    found.state, found.submitted_at = _STATES[event], call.hub.clock.now()  # type: ignore[assignment]
    call.hub.events.review(call.repository, pull, found, "submitted", call.author)
    return Answer(review(call.hub, call.repository, pull, found))
