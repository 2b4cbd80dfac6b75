"""The smaller jobs: a check that is asked for again, a merge queue's commit, a push, an installation."""

from __future__ import annotations

import asyncio
import logging

from bot.github.errors import NotFound, Unavailable
from bot.github.model import PullKey, RepositoryName
from bot.jobs import checks
from bot.jobs.context import Context
from bot.jobs.kinds import installation_of, repository_of, review_job, stand_job
from bot.jobs.standing import Standings
from bot.review import merge_group_check
from bot.store import Job

log = logging.getLogger("seamguard.jobs")

REPOSITORY = "repository"
"""The kind of fact that says where the App is installed, and what the default branch's tip was."""


class _Quiet:
    """A job that nobody waits for."""

    async def give_up(self, job: Job, reason: str) -> str:
        """Nobody to tell."""
        log.warning("given up", extra={"about": job.partition, "reason": reason})
        return f"given up: {reason}"


class MergeGroups(_Quiet):
    """Handles `merge-group` jobs: the queue's commit gets its check, or a required one would block the queue."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def do(self, job: Job) -> str:
        """Writes the check."""
        github = await self._context.github(installation_of(job))
        check = checks.run_of(merge_group_check(), self._context.details_url)
        try:
            await checks.write_alone(github, self._context.facts, repository_of(job), str(job.data["sha"]), check)
        except NotFound as error:  # perhaps not yet: a queue that waits for the check waits for ever
            raise Unavailable(str(error)) from error
        return "checked"


class Reruns(_Quiet):
    """Handles `rerun` jobs: somebody wants the check of a commit again. For a fork the event names no pull request, so
    those with that head are looked for.
    """

    def __init__(self, context: Context, merge_groups: MergeGroups) -> None:
        self._context = context
        self._merge_groups = merge_groups

    async def do(self, job: Job) -> str:
        """Asks for the reviews, or writes a merge queue's check."""
        repository, sha = repository_of(job), str(job.data["sha"])
        app = job.data.get("app")
        if app is not None and app != (await self._context.app.app()).id:
            return "another App's check"
        pulls = [PullKey(repository, int(number)) for number in job.data.get("pulls") or ()]
        if not pulls:
            github = await self._context.github(installation_of(job))
            pulls = list(await github.pulls_with_head(repository, sha))
        if not pulls:
            return await self._merge_groups.do(job)
        for pull in pulls:
            identity = f"{job.id}:{pull.number}"
            await self._context.accept(review_job(identity, installation_of(job), pull, sha, forced=True))
        return f"asked for {len(pulls)} reviews"


class Index(_Quiet):
    """Handles `index` jobs: the default branch has a new tip. Its tree is fetched now, for the next review."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def do(self, job: Job) -> str:
        """Notes the tip, and reads its tree."""
        repository, sha = repository_of(job), str(job.data["sha"])
        github = await self._context.github(installation_of(job))
        tree = await github.tree(repository, sha)
        fact = {"installation": installation_of(job), "branch": job.data.get("branch"), "tip": sha}
        await self._context.facts.remember_soon(REPOSITORY, str(repository), fact)
        if self._context.poll_seconds is not None:
            await self._context.accept(stand_job(f"stand:{job.id}", installation_of(job), repository, sha))
        return f"{len(tree.entries)} files"


class Installations(_Quiet):
    """Handles `installation` jobs: which repositories there are. Nothing is written to them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._standings = Standings(context.facts)

    async def do(self, job: Job) -> str:
        """Notes them."""
        installation = int(job.data["installation"])
        gone = [RepositoryName(*name.split("/", 1)) for name in job.data.get("removed") or ()]
        known = [RepositoryName(*name.split("/", 1)) for name in job.data.get("added") or ()]
        if job.data.get("action") in ("deleted", "suspend"):
            gone, known = known, []
        for repository in gone:
            await asyncio.to_thread(self._context.facts.forget, REPOSITORY, str(repository))
            await self._standings.forget(repository)
        for repository in known:
            await self._context.facts.remember_soon(REPOSITORY, str(repository), {"installation": installation})
        if self._context.poll_seconds is not None:
            for number, repository in enumerate(known):
                await self._context.accept(stand_job(f"stand:{job.id}:{number}", installation, repository, None))
        return f"{len(known)} repositories noted, {len(gone)} forgotten"
