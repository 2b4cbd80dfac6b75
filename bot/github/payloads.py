"""What a webhook says, as far as Seamguard listens.

Payloads are read defensively: real ones lack fields that today's description demands, and have unknown ones. An event
is only left aside when it lacks what is needed to act on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from bot.github.model import IssueKey, PullKey, RepositoryName

MAX_CHANGED_PATHS = 3000


@dataclass(frozen=True, slots=True)
class PullEvent:
    """Something happened to a pull request. `base_changed` is about an `edited` one."""

    installation: int
    pull: PullKey
    action: str
    head_sha: str | None
    draft: bool
    base_changed: bool


@dataclass(frozen=True, slots=True)
class CommentEvent:
    """Somebody wrote below an issue or in the conversation of a pull request: `issue` is a `PullKey` there."""

    installation: int
    issue: IssueKey
    comment_id: int
    body: str
    author: str
    author_is_bot: bool
    issue_author: str


@dataclass(frozen=True, slots=True)
class RerequestEvent:
    """Somebody wants a check to run again. `pulls` is empty for a fork: then only the commit tells which they are."""

    installation: int
    repository: RepositoryName
    head_sha: str
    pulls: tuple[int, ...]
    app_id: int | None


@dataclass(frozen=True, slots=True)
class MergeGroupEvent:
    """The merge queue wants to know about a commit that it made."""

    installation: int
    repository: RepositoryName
    head_sha: str
    base_sha: str


@dataclass(frozen=True, slots=True)
class PushEvent:
    """The default branch has a new tip. `paths` are the changed files, None when they are not all told."""

    installation: int
    repository: RepositoryName
    branch: str
    after: str
    paths: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class InstallationEvent:
    """The App was installed, removed, suspended, or given other repositories."""

    installation: int
    action: str
    added: tuple[RepositoryName, ...]
    removed: tuple[RepositoryName, ...]


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing that Seamguard acts on, and why."""

    why: str


Event: TypeAlias = PullEvent | CommentEvent | RerequestEvent | MergeGroupEvent | PushEvent | InstallationEvent | Nothing

EVENTS = (
    "check_run",
    "check_suite",
    "installation",
    "installation_repositories",
    "issue_comment",
    "merge_group",
    "pull_request",
    "push",
)
"""The events that may need something; the payloads of others are not even parsed."""


class _Missing(Exception):
    """A payload lacks what is needed."""


def read(event: str, payload: object) -> Event:
    """What a payload of an event means."""
    reader = _READERS.get(event)
    if reader is None:
        return Nothing(f"nothing is done for {event}")
    if not isinstance(payload, Mapping):
        return Nothing("the payload is no object")
    try:
        return reader(payload)
    except _Missing as missing:
        return Nothing(f"the payload has no {missing}")


def _pull_request(payload: Mapping[str, Any]) -> Event:
    pull = _mapping(payload, "pull_request")
    number = _number(pull.get("number") or payload.get("number"), "pull_request.number")
    return PullEvent(
        _installation(payload),
        PullKey(_repository(payload), number),
        _action(payload),
        _text(_mapping(pull, "head", {}).get("sha")),
        bool(pull.get("draft")),
        "base" in _mapping(payload, "changes", {}),
    )


def _issue_comment(payload: Mapping[str, Any]) -> Event:
    issue = _mapping(payload, "issue")
    if payload.get("action") != "created":
        return Nothing("only a new comment is read")
    comment = _mapping(payload, "comment")
    author = _mapping(comment, "user", {})
    key = IssueKey if issue.get("pull_request") is None else PullKey
    return CommentEvent(
        _installation(payload),
        key(_repository(payload), _number(issue.get("number"), "issue.number")),
        _number(comment.get("id"), "comment.id"),
        str(comment.get("body") or ""),
        str(author.get("login") or "ghost"),
        author.get("type") == "Bot" or bool(comment.get("performed_via_github_app")) or _sender_is_bot(payload),
        str(_mapping(issue, "user", {}).get("login") or "ghost"),
    )


def _check_run(payload: Mapping[str, Any]) -> Event:
    if payload.get("action") != "rerequested":
        return Nothing("only a rerequested check is run again")
    run = _mapping(payload, "check_run")
    return _rerequest(payload, run, _mapping(run, "app", {}))


def _check_suite(payload: Mapping[str, Any]) -> Event:
    if payload.get("action") != "rerequested":
        return Nothing("only a rerequested suite is run again")
    suite = _mapping(payload, "check_suite")
    return _rerequest(payload, suite, _mapping(suite, "app", {}))


def _rerequest(payload: Mapping[str, Any], check: Mapping[str, Any], app: Mapping[str, Any]) -> Event:
    sha = _text(check.get("head_sha"))
    if sha is None:
        raise _Missing("head_sha")
    repository = _repository(payload)
    return RerequestEvent(
        _installation(payload), repository, sha, tuple(_own_pulls(check, repository)), _integer(app.get("id"))
    )


def _own_pulls(check: Mapping[str, Any], repository: RepositoryName) -> list[int]:
    """The pull requests that ask this repository: a commit may be the head of others' too."""
    numbers = []
    for pull in _sequence(check.get("pull_requests")):
        base = _mapping(_mapping(pull, "base", {}), "repo", {}) if isinstance(pull, Mapping) else {}
        number = _integer(pull.get("number")) if isinstance(pull, Mapping) else None
        if number is not None and base.get("name", repository.name) == repository.name:
            numbers.append(number)
    return numbers


def _merge_group(payload: Mapping[str, Any]) -> Event:
    if payload.get("action") != "checks_requested":
        return Nothing("only requested checks concern Seamguard")
    group = _mapping(payload, "merge_group")
    head, base = _text(group.get("head_sha")), _text(group.get("base_sha"))
    if head is None or base is None:
        raise _Missing("merge_group.head_sha or base_sha")
    return MergeGroupEvent(_installation(payload), _repository(payload), head, base)


def _push(payload: Mapping[str, Any]) -> Event:
    default = _text(_mapping(payload, "repository").get("default_branch"))
    after = _text(payload.get("after"))
    if payload.get("deleted") or after is None or set(after) == {"0"}:
        return Nothing("the branch is gone")
    if default is None or payload.get("ref") != f"refs/heads/{default}":
        return Nothing("not a push to the default branch")
    return PushEvent(_installation(payload), _repository(payload), default, after, _changed_paths(payload))


def _changed_paths(payload: Mapping[str, Any]) -> frozenset[str] | None:
    commits = _sequence(payload.get("commits"))
    if payload.get("forced") or not commits or len(commits) >= 2048:
        return None
    paths: set[str] = set()
    for commit in commits:
        for kind in ("added", "removed", "modified"):
            paths.update(str(path) for path in _sequence(_mapping({"commit": commit}, "commit", {}).get(kind)))
    return frozenset(paths) if len(paths) < MAX_CHANGED_PATHS else None


def _installation_event(payload: Mapping[str, Any]) -> Event:
    added = _names(payload.get("repositories_added") or payload.get("repositories"))
    return InstallationEvent(
        _installation(payload), _action(payload), added, _names(payload.get("repositories_removed"))
    )


_READERS = {
    "pull_request": _pull_request,
    "issue_comment": _issue_comment,
    "check_run": _check_run,
    "check_suite": _check_suite,
    "merge_group": _merge_group,
    "push": _push,
    "installation": _installation_event,
    "installation_repositories": _installation_event,
}


def _mapping(payload: Mapping[str, Any], name: str, default: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    found = payload.get(name)
    if isinstance(found, Mapping):
        return found
    if default is None:
        raise _Missing(name)
    return default


def _sequence(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: object, name: str) -> int:
    found = _integer(value)
    if found is None:
        raise _Missing(name)
    return found


def _action(payload: Mapping[str, Any]) -> str:
    action = _text(payload.get("action"))
    if action is None:
        raise _Missing("action")
    return action


def _installation(payload: Mapping[str, Any]) -> int:
    return _number(_mapping(payload, "installation").get("id"), "installation.id")


def _sender_is_bot(payload: Mapping[str, Any]) -> bool:
    return _mapping(payload, "sender", {}).get("type") == "Bot"


def _repository(payload: Mapping[str, Any]) -> RepositoryName:
    repository = _mapping(payload, "repository")
    name = _name(repository)
    if name is None:
        raise _Missing("repository.full_name")
    return name


def _name(repository: Mapping[str, Any]) -> RepositoryName | None:
    owner, slash, name = str(repository.get("full_name") or "").partition("/")
    if slash and owner and name and "/" not in name:
        return RepositoryName(owner, name)
    owner = str(_mapping(repository, "owner", {}).get("login") or "")
    name = str(repository.get("name") or "")
    return RepositoryName(owner, name) if owner and name else None


def _names(value: object) -> tuple[RepositoryName, ...]:
    found = (_name(item) for item in _sequence(value) if isinstance(item, Mapping))
    return tuple(name for name in found if name is not None)
