"""The jobs that there are, and what a webhook asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.github import payloads
from bot.github.model import IssueKey, PullKey, RepositoryName
from bot.jobs.asking import as_json, asked_in
from bot.store import Job

REVIEW = "review"
COMMAND = "command"
RERUN = "rerun"
MERGE_GROUP = "merge-group"
INDEX = "index"
INSTALLATION = "installation"
SWEEP = "sweep"
POLL = "poll"
STAND = "stand"

REVIEWED_ACTIONS = frozenset({"opened", "synchronize", "reopened", "ready_for_review"})


def job_of(delivery: str, event: payloads.Event) -> Job | None:
    """What to do for a delivery; None for nothing. The delivery's id is the job's: one that comes again is the same."""
    match event:
        case payloads.PullEvent():
            edited = event.action == "edited" and event.base_changed
            if event.action not in REVIEWED_ACTIONS and not edited:
                return None
            new = event.action == "opened"
            return review_job(delivery, event.installation, event.pull, event.head_sha, new=new)
        case payloads.CommentEvent():
            asked = () if event.author_is_bot else asked_in(event.body)
            if not asked:
                return None
            about = {**_issue(event.installation, event.issue), "is_pull": isinstance(event.issue, PullKey)}
            who = {"comment": event.comment_id, "author": event.author, "by": event.issue_author}
            return Job(
                delivery,
                COMMAND,
                str(event.issue),
                {**about, **who, "asked": as_json(asked)},
                account=event.issue.repository.owner,
            )
        case payloads.RerequestEvent():
            data = {**_repository(event.installation, event.repository), "sha": event.head_sha}
            where = f"{event.repository}@{event.head_sha}"
            return Job(
                delivery,
                RERUN,
                where,
                {**data, "pulls": list(event.pulls), "app": event.app_id},
                account=event.repository.owner,
            )
        case payloads.MergeGroupEvent():
            data = {**_repository(event.installation, event.repository), "sha": event.head_sha}
            return Job(
                delivery, MERGE_GROUP, f"{event.repository}@{event.head_sha}", data, account=event.repository.owner
            )
        case payloads.PushEvent():
            data = {**_repository(event.installation, event.repository), "sha": event.after, "branch": event.branch}
            paths = None if event.paths is None else sorted(event.paths)
            return Job(
                delivery,
                INDEX,
                str(event.repository),
                {**data, "paths": paths},
                latest_wins=True,
                account=event.repository.owner,
            )
        case payloads.InstallationEvent():
            data = {
                "installation": event.installation,
                "action": event.action,
                "added": [str(name) for name in event.added],
                "removed": [str(name) for name in event.removed],
            }
            return Job(delivery, INSTALLATION, f"installation {event.installation}", data)
        case payloads.Nothing():
            return None


def review_job(
    identity: str, installation: int, pull: PullKey, head_sha: str | None, *, forced: bool = False, new: bool = False
) -> Job:
    """The review of a pull request. `forced`: somebody asked for it, so nothing is skipped. `new`: it was opened just
    now, so nothing of ours can stand in it.
    """
    data = {**_issue(installation, pull), "head": head_sha, "forced": forced, "new": new}
    return Job(identity, REVIEW, str(pull), data, latest_wins=True, account=pull.repository.owner)


def stand_job(identity: str, installation: int, repository: RepositoryName, sha: str | None) -> Job:
    """A look at what a repository waits for, at a commit of its default branch (None: at its tip)."""
    data = {**_repository(installation, repository), "sha": sha}
    return Job(identity, STAND, f"standing of {repository}", data, latest_wins=True)


def installation_of(job: Job) -> int:
    """Whose token a job needs."""
    return int(job.data["installation"])


def repository_of(job: Job) -> RepositoryName:
    """The repository that a job is about."""
    return RepositoryName(str(job.data["owner"]), str(job.data["name"]))


def pull_of(job: Job) -> PullKey:
    """The pull request that a job is about."""
    return PullKey(repository_of(job), int(job.data["number"]))


def issue_of(job: Job) -> IssueKey:
    """The issue that a command was written below: a `PullKey` for a pull request."""
    return pull_of(job) if job.data["is_pull"] else IssueKey(repository_of(job), int(job.data["number"]))


def _repository(installation: int, repository: RepositoryName) -> Mapping[str, Any]:
    return {"installation": installation, "owner": repository.owner, "name": repository.name}


def _issue(installation: int, issue: IssueKey) -> Mapping[str, Any]:
    return {**_repository(installation, issue.repository), "number": issue.number}
