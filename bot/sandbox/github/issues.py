"""Issues and their labels; the conversation half of pull requests too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.github import shapes
from bot.sandbox.github.call import Answer, Body, Call, Refused, Routes, invalid, not_found
from bot.sandbox.github.clock import http_date, stamp
from bot.sandbox.github.model import Issue, Json, Label, Repository, User, node_id

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

ROUTES = Routes()

MAX_BODY_BYTES = 262_144
"""Of issues and comments: measured, the refusal's text names another number (facts, section 4)."""

MAX_TITLE = 256
TOO_LONG = "Body is too long (maximum is 65536 characters)"


def check_body(text: str, resource: str) -> str:
    """Refuse a body that is too long."""
    if len(text.encode("utf-8")) > MAX_BODY_BYTES:
        error = {"resource": resource, "code": "unprocessable", "field": "data", "message": TOO_LONG}
        raise Refused(422, "Validation Failed", [error])
    return text


def issue(hub: Hub, repository: Repository, which: Issue) -> Json:
    """An issue as the API shows it."""
    url = f"{hub.url}/repos/{repository.full_name}/issues/{which.number}"
    pull = repository.pulls.get(which.number)
    page = f"{hub.web_url}/{repository.full_name}/{'issues' if pull is None else 'pull'}/{which.number}"
    answer: Json = {
        "url": url,
        "repository_url": f"{hub.url}/repos/{repository.full_name}",
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "html_url": page,
        "id": which.id,
        "node_id": node_id("I" if pull is None else "PR", which.id),
        "number": which.number,
        "title": which.title,
        "user": shapes.user(hub, which.user),
        "labels": [shapes.label(hub, repository, each) for each in which.labels],
        "state": which.state,
        "locked": which.locked,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": len(which.comments),
        "created_at": stamp(which.created_at),
        "updated_at": stamp(which.updated_at),
        "closed_at": stamp(which.closed_at),
        "author_association": shapes.association(repository, which.user),
        "active_lock_reason": None,
        "body": which.body or None,
        "closed_by": None if which.closed_by is None else shapes.user(hub, which.closed_by),
        "reactions": shapes.reactions(url, which.reactions),
        "timeline_url": f"{url}/timeline",
        "performed_via_github_app": shapes.app(hub, which.app),
        "state_reason": which.state_reason,
    }
    if pull is not None:
        links = {"url": f"{hub.url}/repos/{repository.full_name}/pulls/{which.number}", "html_url": page}
        links |= {"diff_url": f"{page}.diff", "patch_url": f"{page}.patch"}
        answer |= {"draft": pull.draft, "pull_request": {**links, "merged_at": stamp(pull.merged_at)}}
    return answer


def find(call: Call, name: str = "issue_number") -> Issue:
    """The issue or pull request of the path. One that somebody deleted is gone, not unknown."""
    number = call.number(name)
    found = call.repository.issues.get(number)
    if number in call.repository.deleted_issues:
        raise Refused(410, "This issue was deleted")
    if found is None:
        raise not_found()
    return found


def check_enabled(repository: Repository, number: int | None = None) -> None:
    """Refuse issues where a repository has none; pull requests are there all the same."""
    if not repository.has_issues and number not in repository.pulls:
        raise Refused(410, "Issues are disabled for this repo")


@ROUTES.add("GET", "/repos/{owner}/{repo}/issues", "issues:read")
def list_issues(call: Call) -> Answer:
    """Issues, newest first, pull requests among them; filtered by state, labels, creator and time of change."""
    repository, query = call.repository, call.query
    state = query.get("state", "open")
    if state not in ("open", "closed", "all"):
        raise invalid("Issue", "state", "invalid")
    wanted = {name.lower() for name in query.get("labels", "").split(",") if name}
    found = [
        each
        for each in repository.issues.values()
        if (repository.has_issues or each.number in repository.pulls)
        and state in ("all", each.state)
        and wanted <= {label.name.lower() for label in each.labels}
        and query.get("creator", each.user.login) in (each.user.login, each.user.login.removesuffix("[bot]"))
        and (stamp(each.updated_at) or "") >= query.get("since", "")
        and (call.hub.clock.now() - each.created_at).total_seconds() >= call.hub.list_lag
    ]
    by_update = query.get("sort") == "updated"
    found.sort(key=lambda each: (each.updated_at if by_update else each.created_at, each.number))
    if query.get("direction", "desc") == "desc":
        found.reverse()
    return Answer([issue(call.hub, repository, each) for each in call.page(found)])


@ROUTES.add("POST", "/repos/{owner}/{repo}/issues", "issues:write")
def create_issue(call: Call) -> Answer:
    """A new issue. Labels that do not exist are made, for those who may."""
    repository = call.repository
    check_enabled(repository)
    body = Body(call.body, "title body labels assignees assignee milestone type")
    title = body.text("title", most=MAX_TITLE)
    if not title.strip():
        raise invalid("Issue", "title", "missing_field")
    text = check_body(body.text("body", ""), "Issue")
    call.hub.limits.create(str(call.installation.id))
    now = call.hub.clock.now()
    new = Issue(call.hub.next_id(), repository.next_number(), title, text, call.author, now, now, call.installation.app)
    new.labels = [_label(call, repository, name) for name in body.list("labels")]
    repository.issues[new.number] = new
    call.hub.events.issue(repository, new, "opened", call.author)
    return Answer(issue(call.hub, repository, new), 201)


@ROUTES.add("GET", "/repos/{owner}/{repo}/issues/{issue_number}", "issues:read", "pull_requests:read")
def get_issue(call: Call) -> Answer:
    """One issue."""
    which = find(call)
    check_enabled(call.repository, which.number)
    dates = {"Last-Modified": http_date(which.updated_at), "Date": http_date(call.hub.clock.now())}
    return Answer(issue(call.hub, call.repository, which), headers=dates)


@ROUTES.add("PATCH", "/repos/{owner}/{repo}/issues/{issue_number}", "issues:write", "pull_requests:write")
def update_issue(call: Call) -> Answer:
    """Edit. A body that is too long is dropped silently: 200 and the old one stays (facts, section 4)."""
    repository, which = call.repository, find(call)
    check_enabled(repository, which.number)
    body = Body(call.body, "title body state state_reason labels assignees assignee milestone type")
    title, text = body.text("title", which.title, most=MAX_TITLE), body.text("body", which.body)
    reason = body.one_of("state_reason", "completed not_planned reopened duplicate")
    state = body.one_of("state", "open closed", which.state)
    if len(text.encode("utf-8")) > MAX_BODY_BYTES:
        text = which.body
    action = "edited" if state == which.state else "closed" if state == "closed" else "reopened"
    more = {"changes": changes(which, title, text)} if action == "edited" else {}
    which.title, which.body = title, text
    if "labels" in body:
        which.labels = [_label(call, repository, name) for name in body.list("labels")]
    if action != "edited":
        close(which, call.hub, call.author, action)
        which.state_reason = reason or which.state_reason
    which.updated_at = call.hub.clock.now()
    if which.number in repository.pulls:
        call.hub.events.pull(repository, repository.pulls[which.number], action, call.author, more)
    else:
        call.hub.events.issue(repository, which, action, call.author, more)
    return Answer(issue(call.hub, repository, which))


def changes(which: Issue, title: str, text: str) -> Json:
    """What an edit replaces."""
    replaced = {"title": (which.title, title), "body": (which.body, text)}
    return {name: {"from": old} for name, (old, new) in replaced.items() if old != new}


def close(which: Issue, hub: Hub, who: User, action: str) -> None:
    """Close or reopen."""
    closed = action == "closed"
    which.state = "closed" if closed else "open"
    which.state_reason = "completed" if closed else "reopened"
    which.closed_at = hub.clock.now() if closed else None
    which.closed_by = who if closed else None


def _label(call: Call, repository: Repository, given: object) -> Label:
    name = given.get("name") if isinstance(given, dict) else given
    if not isinstance(name, str) or not name.strip():
        raise invalid("Label", "name", "invalid")
    known = repository.labels.get(name.lower())
    if known is None:
        known = repository.labels[name.lower()] = Label(call.hub.next_id(), name)
    return known


@ROUTES.add("GET", "/repos/{owner}/{repo}/labels", "issues:read", "pull_requests:read")
def list_labels(call: Call) -> Answer:
    """The repository's labels."""
    repository = call.repository
    labels = call.page(sorted(repository.labels.values(), key=lambda each: each.name.lower()))
    return Answer([shapes.label(call.hub, repository, each) for each in labels])


@ROUTES.add("GET", "/repos/{owner}/{repo}/labels/{name}", "issues:read", "pull_requests:read")
def get_label(call: Call) -> Answer:
    """One label, by its name in any case."""
    found = call.repository.labels.get(call.parts["name"].lower())
    if found is None:
        raise not_found()
    return Answer(shapes.label(call.hub, call.repository, found))


@ROUTES.add("POST", "/repos/{owner}/{repo}/labels", "issues:write", "pull_requests:write")
def create_label(call: Call) -> Answer:
    """A new label."""
    repository = call.repository
    body = Body(call.body, "name color description")
    name = body.text("name", most=50)
    if name.lower() in repository.labels:
        raise invalid("Label", "name", "already_exists")
    color = body.text("color", "ededed")
    if len(color) != 6 or not set(color.lower()) <= set("0123456789abcdef"):
        raise invalid("Label", "color", "invalid")
    new = repository.labels[name.lower()] = Label(
        call.hub.next_id(), name, color, body.optional("description", most=100)
    )
    return Answer(shapes.label(call.hub, repository, new), 201)


@ROUTES.add("POST", "/repos/{owner}/{repo}/issues/{issue_number}/labels", "issues:write", "pull_requests:write")
def add_labels(call: Call) -> Answer:
    """Add labels to those that are there."""
    repository, which = call.repository, find(call)
    for name in Body(call.body, "labels").list("labels"):
        new = _label(call, repository, name)
        if new not in which.labels:
            which.labels.append(new)
    return Answer([shapes.label(call.hub, repository, each) for each in which.labels])
