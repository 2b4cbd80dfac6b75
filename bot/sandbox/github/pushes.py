"""What a push does: branches move, pull requests follow, checks are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.github import anchors, checks
from bot.sandbox.github.model import Pull, Repository, User

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

_WRITERS = ("admin", "maintain", "write")


def writer(repository: Repository) -> str:
    """Somebody who may write."""
    return next(login for login, role in repository.roles.items() if role in _WRITERS)


def move_branch(hub: Hub, repository: Repository, branch: str, sha: str, who: User, *, quiet: bool = False) -> None:
    """Point a branch at a commit, with all that follows. `quiet` sends no webhooks."""
    before = repository.branches.get(branch)
    repository.branches[branch] = sha
    if before == sha:
        return
    if not quiet:
        forced = before is not None and not repository.store.contains(sha, before)
        hub.events.push(repository, f"refs/heads/{branch}", before, sha, who, forced=forced)
        request_suites(hub, repository, sha, who)
    for other in list(hub.repositories.values()):
        for pull in other.pulls.values():
            if pull.head_repository is repository and pull.head_ref == branch and pull.issue.state == "open":
                _follow(hub, other, pull, before or sha, who, quiet=quiet)


def _follow(hub: Hub, repository: Repository, pull: Pull, before: str, who: User, *, quiet: bool) -> None:
    """Let a pull request take over the tip of its branch."""
    assert pull.head_repository is not None
    pull.head_sha = pull.head_repository.branches[pull.head_ref]
    # The base's tip is noted when the head moves, and is old soon after.
    pull.base_sha = repository.branches.get(pull.base_ref, pull.base_sha)
    pull.issue.updated_at = hub.clock.now()
    anchors.move(repository, pull)
    if not quiet:
        hub.events.pull(repository, pull, "synchronize", who, {"before": before, "after": pull.head_sha})


def request_suites(hub: Hub, repository: Repository, sha: str, who: User) -> None:
    """Ask every App that may write checks for those of a commit (facts, section 2)."""
    for installation in hub.installed_for(repository):
        if installation.permissions.get("checks") == "write":
            suite = checks.suite_for(hub, repository, installation.app, sha)
            hub.events.check_suite(repository, suite, "requested", who)
