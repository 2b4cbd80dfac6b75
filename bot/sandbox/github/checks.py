"""Check runs and suites (facts, section 2)."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.sandbox.github import commits, pulls, revisions, shapes
from bot.sandbox.github.call import Answer, Body, Call, Refused, Routes, malformed, not_found
from bot.sandbox.github.clock import stamp
from bot.sandbox.github.model import App, CheckRun, CheckSuite, Json, Repository, node_id

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

ROUTES = Routes()

MAX_ANNOTATIONS = 50
MAX_TEXT_BYTES = 65_535
MAX_MESSAGE_BYTES = 64 * 1024
MAX_ACTIONS = 3
KEPT_RUNS = 1_000
"""Of one name in one suite."""

_CONCLUSIONS = "action_required cancelled failure neutral success skipped timed_out"
"""Not "stale": only GitHub may set that."""

_RUN = "name head_sha details_url external_id status started_at conclusion completed_at output actions"
_ANNOTATION = "path start_line end_line start_column end_column annotation_level message title raw_details"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)")


def run(hub: Hub, repository: Repository, which: CheckRun) -> Json:
    """A check run as the API shows it."""
    url = f"{hub.url}/repos/{repository.full_name}/check-runs/{which.id}"
    page = f"{hub.web_url}/{repository.full_name}/runs/{which.id}"
    return {
        "id": which.id,
        "name": which.name,
        "node_id": node_id("CR", which.id),
        "head_sha": which.suite.head_sha,
        "external_id": which.external_id,
        "url": url,
        "html_url": page,
        "details_url": which.details_url or page,
        "status": which.status,
        "conclusion": which.conclusion,
        "started_at": stamp(which.started_at),
        "completed_at": stamp(which.completed_at),
        "output": {
            "title": which.title,
            "summary": which.summary,
            "text": which.text,
            "annotations_count": len(which.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": which.suite.id},
        "app": shapes.app(hub, which.suite.app),
        "pull_requests": _pulls(hub, repository, which.suite.head_sha),
    }


def suite(hub: Hub, repository: Repository, which: CheckSuite) -> Json:
    """A check suite as the API shows it."""
    url = f"{hub.url}/repos/{repository.full_name}/check-suites/{which.id}"
    runs = [each for each in repository.runs.values() if each.suite is which]
    status, conclusion = state(which, runs)
    parents = repository.store.describe(which.head_sha).parents
    return {
        "id": which.id,
        "node_id": node_id("CS", which.id),
        "head_branch": which.head_branch,
        "head_sha": which.head_sha,
        "status": status,
        "conclusion": conclusion,
        "url": url,
        "before": parents[0] if parents else None,
        "after": which.head_sha,
        "pull_requests": _pulls(hub, repository, which.head_sha),
        "app": shapes.app(hub, which.app),
        "repository": shapes.repository(hub, repository),
        "created_at": stamp(which.created_at),
        "updated_at": stamp(which.created_at),
        "rerequestable": True,
        "runs_rerequestable": True,
        "latest_check_runs_count": len(runs),
        "check_runs_url": f"{url}/check-runs",
        "head_commit": commits.simple(repository, which.head_sha),
    }


def state(which: CheckSuite, runs: list[CheckRun]) -> tuple[str, str | None]:
    """Status and conclusion of a suite; asked for again, it is queued until a run is newer."""
    if which.rerequested or not runs:
        return "queued", None
    latest = {each.name: each for each in runs}.values()
    if any(each.status != "completed" for each in latest):
        return "in_progress", None
    order = ["failure", "timed_out", "action_required", "cancelled", "neutral", "skipped", "success"]
    found = {each.conclusion for each in latest}
    return "completed", next((each for each in order if each in found), "success")


def _pulls(hub: Hub, repository: Repository, sha: str) -> list[Json]:
    """Pull requests of this repository's own branches: a fork's are not found (facts, section 2)."""
    return [
        pulls.minimal(hub, repository, each)
        for each in repository.pulls.values()
        if each.head_sha == sha and each.head_repository is repository and each.issue.state == "open"
    ]


def suite_for(hub: Hub, repository: Repository, app: App, sha: str) -> CheckSuite:
    """The App's suite of a commit, made when it is missing."""
    for each in repository.suites.values():
        if each.app is app and each.head_sha == sha:
            return each
    branch = next((name for name, tip in repository.branches.items() if tip == sha), None)
    new = CheckSuite(hub.next_id(), app, sha, branch, hub.clock.now())
    repository.suites[new.id] = new
    return new


@ROUTES.add("POST", "/repos/{owner}/{repo}/check-runs", "checks:write")
def create_run(call: Call) -> Answer:
    """A new run on a commit that the repository holds: of a branch, or the head of a fork's pull request."""
    repository = call.repository
    body = Body(call.body, _RUN)
    name, sha = body.text("name"), body.text("head_sha")
    if not name.strip():
        raise malformed('"name" is blank.')
    if len(sha) != 40 or repository.store.full_id(sha) is None:
        raise Refused(422, f"No commit found for SHA: {sha}")
    found = suite_for(call.hub, repository, call.installation.app, sha)
    new = CheckRun(call.hub.next_id(), found, name, "queued", None, None, None)
    _apply(call, new, body)
    repository.runs[new.id] = new
    same = [each for each in repository.runs.values() if each.suite is found and each.name == name]
    for old in same[:-KEPT_RUNS]:
        del repository.runs[old.id]
    found.rerequested = False
    _tell(call, new, "created")
    return Answer(run(call.hub, repository, new), 201)


@ROUTES.add("PATCH", "/repos/{owner}/{repo}/check-runs/{check_run_id}", "checks:write")
def update_run(call: Call) -> Answer:
    """Change a run of the App's own. Annotations are added to those that are there."""
    found = _find(call)
    if found.suite.app is not call.installation.app:
        raise Refused(
            403, "Invalid app_id `{app_id}` - check run can only be modified by the GitHub App that created it."
        )
    body = Body(call.body, _RUN.replace("head_sha ", ""))
    before = found.status
    found.name = body.text("name", found.name)
    _apply(call, found, body)
    found.suite.rerequested = False
    if before != found.status:
        _tell(call, found, "completed" if found.status == "completed" else "created")
    return Answer(run(call.hub, call.repository, found))


def _tell(call: Call, which: CheckRun, action: str) -> None:
    call.hub.events.check_run(call.repository, which, action, call.author)
    if action == "created" and which.status == "completed":
        call.hub.events.check_run(call.repository, which, "completed", call.author)


def _apply(call: Call, which: CheckRun, body: Body) -> None:
    conclusion = body.one_of("conclusion", _CONCLUSIONS)
    status = body.one_of("status", "queued in_progress completed")
    if status == "completed" and conclusion is None:
        # The description lets it pass (facts, 1.4).
        raise malformed('"conclusion" wasn\'t supplied, and is needed when "status" is "completed".')
    output = body.object("output", "title summary text annotations images")
    # Everything is checked before anything is changed.
    texts = None if output is None else (output.text("title"), _text(output, "summary"), _text(output, "text"))
    added = [] if output is None else [_annotation(each) for each in output.list("annotations", MAX_ANNOTATIONS)]
    actions = [_action(each) for each in body.list("actions", MAX_ACTIONS)]
    started, completed = _time(body, "started_at"), _time(body, "completed_at")
    now = call.hub.clock.now()
    if texts is not None:
        which.title, which.summary, which.text = texts
        if texts[1] is None:
            raise malformed('output: "summary" wasn\'t supplied.')
    which.annotations += added
    which.actions = actions or which.actions
    which.details_url = body.optional("details_url") or which.details_url
    which.external_id = body.text("external_id", which.external_id)
    which.started_at = started or which.started_at or now
    if conclusion is not None:  # giving it completes the run
        which.status, which.conclusion, which.completed_at = "completed", conclusion, completed or now
    elif status is not None:
        which.status, which.conclusion, which.completed_at = status, None, None


def _text(output: Body, name: str) -> str | None:
    """Limited in bytes, though the description says characters (facts, section 2)."""
    text = output.optional(name)
    if text is not None and len(text.encode("utf-8")) > MAX_TEXT_BYTES:
        message = f"{name} exceeds a maximum bytesize of {MAX_TEXT_BYTES}"
        error = {"resource": "CheckRun", "code": "custom", "field": name, "message": message}
        raise Refused(422, "Validation Failed", [error])
    return text


def _annotation(given: object) -> Json:
    body = Body(given, _ANNOTATION, "annotations: ")
    start, end = body.number("start_line"), body.number("end_line")
    if start is None or end is None or start < 1 or end < start:
        raise malformed("annotations: lines start at 1, and end_line is not before start_line.")
    columns = [body.number("start_column"), body.number("end_column")]
    if columns != [None, None] and start != end:
        raise malformed("annotations: columns are taken only where start_line and end_line are the same.")
    if body.one_of("annotation_level", "notice warning failure") is None:
        raise malformed('annotations: "annotation_level" wasn\'t supplied.')
    message, details = body.text("message"), body.optional("raw_details")
    if not message or max(len(message.encode()), len((details or "").encode())) > MAX_MESSAGE_BYTES:
        raise malformed("annotations: message and raw_details hold 1 byte to 64 KB.")
    body.optional("title", most=255)
    assert isinstance(given, dict)
    return {**given, "path": body.text("path")}


def _action(given: object) -> Json:
    body = Body(given, "label description identifier", "actions: ")
    for name, most in (("label", 20), ("description", 40), ("identifier", 20)):
        body.text(name, most=most)
    assert isinstance(given, dict)
    return given


def _time(body: Body, name: str) -> datetime | None:
    text = body.optional(name)
    if text is None:
        return None
    if not _TIME.fullmatch(text):
        raise malformed(f"For '{name}', {text!r} is not a date-time.")
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)


def _find(call: Call) -> CheckRun:
    found = call.repository.runs.get(call.number("check_run_id"))
    if found is None:
        raise not_found()
    return found


@ROUTES.add("GET", "/repos/{owner}/{repo}/check-runs/{check_run_id}", "checks:read")
def get_run(call: Call) -> Answer:
    """One run."""
    return Answer(run(call.hub, call.repository, _find(call)))


@ROUTES.add("GET", "/repos/{owner}/{repo}/check-runs/{check_run_id}/annotations", "checks:read")
def list_annotations(call: Call) -> Answer:
    """The run's annotations."""
    repository, found = call.repository, _find(call)
    blobs = f"{call.hub.web_url}/{repository.full_name}/blob/{found.suite.head_sha}"
    empty = dict.fromkeys(("start_column", "end_column", "title", "raw_details"))
    given = call.page(found.annotations)
    return Answer([{**empty, **each, "blob_href": f"{blobs}/{each['path']}"} for each in given])


@ROUTES.add("GET", "/repos/{owner}/{repo}/commits/{ref}/check-runs", "checks:read")
def list_runs_of_commit(call: Call) -> Answer:
    """Runs of a commit; by default the newest of each name in each suite."""
    repository = call.repository
    sha = revisions.resolve(repository, call.parts["ref"])
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {call.parts['ref']}")
    return _listed(call, [each for each in repository.runs.values() if each.suite.head_sha == sha])


@ROUTES.add("GET", "/repos/{owner}/{repo}/check-suites/{check_suite_id}/check-runs", "checks:read")
def list_runs_of_suite(call: Call) -> Answer:
    """Runs of a suite."""
    found = call.repository.suites.get(call.number("check_suite_id"))
    if found is None:
        raise not_found()
    return _listed(call, [each for each in call.repository.runs.values() if each.suite is found])


def _listed(call: Call, runs: list[CheckRun]) -> Answer:
    query = call.query
    if query.get("filter", "latest") == "latest":
        runs = list({(each.suite.id, each.name): each for each in runs}.values())
    runs = [
        each
        for each in runs
        if query.get("check_name") in (None, each.name)
        and query.get("app_id") in (None, str(each.suite.app.id))
        and query.get("status") in (None, each.status)
    ]
    runs.sort(key=lambda each: -each.id)
    listed = [run(call.hub, call.repository, each) for each in call.page(runs)]
    return Answer({"total_count": len(runs), "check_runs": listed})


@ROUTES.add("GET", "/repos/{owner}/{repo}/commits/{ref}/check-suites", "checks:read")
def list_suites_of_commit(call: Call) -> Answer:
    """Suites of a commit."""
    repository = call.repository
    sha = revisions.resolve(repository, call.parts["ref"])
    app = call.query.get("app_id")
    found = [each for each in repository.suites.values() if each.head_sha == sha and app in (None, str(each.app.id))]
    listed = [suite(call.hub, repository, each) for each in call.page(found)]
    return Answer({"total_count": len(found), "check_suites": listed})


@ROUTES.add("GET", "/repos/{owner}/{repo}/check-suites/{check_suite_id}", "checks:read")
def get_suite(call: Call) -> Answer:
    """One suite."""
    found = call.repository.suites.get(call.number("check_suite_id"))
    if found is None:
        raise not_found()
    return Answer(suite(call.hub, call.repository, found))


@ROUTES.add("POST", "/repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest", "checks:write")
def rerequest_run(call: Call) -> Answer:
    """Ask for the run again. The run itself is not reset: its App has to (facts, section 2)."""
    rerequest(call.hub, call.repository, _find(call))
    return Answer({}, 201)


def rerequest(hub: Hub, repository: Repository, which: CheckRun) -> None:
    """What the button "Re-run" does: the run's App is told, the suite goes back to queued."""
    which.suite.rerequested = True
    sender = next((who for who in hub.users.values() if repository.roles.get(who.login) == "write"), repository.owner)
    hub.events.check_run(repository, which, "rerequested", sender, only=which.suite.app)
