"""The review of a pull request."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from bot.github.client import GitHub
from bot.github.errors import Forbidden, GitHubError, NotFound, Suspended, TooLarge, Unavailable, Unprocessable
from bot.github.model import ChangedFiles, CheckRun, Conversation, PullKey
from bot.jobs import checks
from bot.jobs.analysis import Analysis, Reviewed
from bot.jobs.applying import Applying, Outcome, Spot, posted
from bot.jobs.context import Context
from bot.jobs.gather import Gathering, changed_blobs, matters
from bot.jobs.kinds import installation_of, pull_of
from bot.jobs.learning import learnt, read_up
from bot.review import Plan, nothing_to_review, plan, unfinished
from bot.store import Job

log = logging.getLogger("seamguard.review")

REVIEWED = "reviewed"
"""A kind of fact: which head of a pull request was reviewed over which base, and whether comments are there."""

NO_CHECKS_SECONDS = 30 * 24 * 3600.0

INCOMPLETE = "GitHub lists only the first 3,000 of its files"


class Reviewing:
    """Handles `review` jobs. A job reviews the head that the pull request has when it is done, whatever it had when the
    job was asked for.
    """

    def __init__(self, context: Context) -> None:
        self._context = context

    async def do(self, job: Job) -> str:
        """Reviews a pull request; again, when an earlier attempt was cut off: what is there already stays."""
        return await self.review(job)

    async def review(self, job: Job) -> str:
        """The review that a job asks for. Raises a `GitHubError`."""
        pull, github = pull_of(job), await self._context.github(installation_of(job))
        try:
            files = await github.pull_files(pull)
            if await self._idle(github, job, pull, files):
                return await self._nothing(github, job, pull, files)
            return await self._full(github, job, pull, files)
        except NotFound as error:
            return await self._missing(github, pull, error)

    async def _missing(self, github: GitHub, pull: PullKey, error: NotFound) -> str:
        """What is not found is gone with its pull request; or GitHub has not heard of it yet, and is asked again."""
        try:
            conversation, _ = await github.conversation(pull)
        except NotFound:
            return "the pull request is gone"
        if not conversation.is_open:
            return "the pull request is closed"
        raise Unavailable(f"not found, though the pull request is there: {error}") from error

    async def give_up(self, job: Job, reason: str) -> str:
        """Ends the check of a review that could not be finished: a required one must not wait for ever."""
        pull = pull_of(job)
        github = await self._context.github(installation_of(job))
        head = job.data.get("head")
        try:
            conversation, _ = await github.conversation(pull)
            if not conversation.is_open:
                return "the pull request is closed"
            head = conversation.head_sha
        except NotFound:
            return "the pull request is gone"
        except GitHubError as error:
            log.warning("the pull request could not be read: %s", error)
        if not isinstance(head, str):
            return f"given up: {reason}"
        check = checks.run_of(unfinished(reason), self._context.details_url)
        await checks.write_alone(github, self._context.facts, pull.repository, head, check)
        return f"given up, and said so: {reason}"

    async def _idle(self, github: GitHub, job: Job, pull: PullKey, files: ChangedFiles) -> bool:
        """Whether nothing has to be looked at: no file matters, nobody insists, and nothing of ours is there."""
        if job.data.get("forced") or not (files.head_sha or job.data.get("head")) or not files.complete:
            return False
        if any(matters(path) for file in files.files for path in (file.path, file.previous_path) if path):
            return False
        return not await self._spoken(github, job, pull)

    async def _spoken(self, github: GitHub, job: Job, pull: PullKey) -> bool:
        """Whether something of ours stands in a pull request. GitHub knows where nothing is remembered: the repository
        may have had another name, or it was long ago.
        """
        known = await self._context.facts.recall_soon(REVIEWED, str(pull))
        if known is not None:
            return bool(known.get("comments"))
        if job.data.get("new"):
            return False
        conversation, _ = await github.conversation(pull)
        return not conversation.complete or any(comment.author_is_app for comment in conversation.comments)

    async def _nothing(self, github: GitHub, job: Job, pull: PullKey, files: ChangedFiles) -> str:
        head = str(files.head_sha or job.data["head"])
        check = checks.run_of(nothing_to_review(), self._context.details_url)
        try:
            await checks.write_alone(github, self._context.facts, pull.repository, head, check)
        except Suspended:
            raise
        except Forbidden as error:
            log.warning("checks can't be written: %s", error)
        await self._reviewed(pull, head, None, comments=False)
        return "nothing that matters has changed"

    async def _full(self, github: GitHub, job: Job, pull: PullKey, files: ChangedFiles) -> str:
        conversation, blobs = await github.conversation(pull, changed_blobs(files.files))
        if not conversation.is_open:
            return "the pull request is closed"
        if files.head_sha is not None and files.head_sha != conversation.head_sha:
            # Somebody has pushed in between: the comments must fit the lines of this head.
            files = await github.pull_files(pull)
        head, base = conversation.head_sha, conversation.base_sha
        if not files.complete:
            return await self._unfinished(github, pull, conversation, INCOMPLETE)
        gathering = Gathering(github, pull.repository, base, head, files.files, blobs)
        try:
            found = await self._found(gathering, files)
        except TooLarge as error:
            return await self._unfinished(github, pull, conversation, str(error))
        if await self._context.superseded(job):
            return "superseded by a newer one"
        try:
            outcome = await self._apply(github, job, pull, conversation, found)
        except Unprocessable:
            now, _ = await github.conversation(pull)
            if now.head_sha != head:
                return "the head has moved meanwhile, which asks for a review of its own"
            raise
        comments = any(comment.author_is_app for comment in conversation.comments) or outcome.commented
        await self._reviewed(pull, head, base, comments=comments)
        news = "" if outcome.commented or outcome.checked else ", nothing new to say"
        return f"reviewed {head[:12]}: {found.review.conclusion}{news}"

    async def _found(self, gathering: Gathering, files: ChangedFiles) -> Analysis:
        """The review, with what had to be learnt for it."""
        found = await gathering.run(Reviewed(files.files))
        facts = await self._context.recorded(found.references) if found.references else {}
        news = [bool(facts), await learnt(found.lacking), await read_up(found.unread)]
        return await gathering.run(Reviewed(files.files, facts)) if any(news) else found

    async def _apply(
        self, github: GitHub, job: Job, pull: PullKey, conversation: Conversation, found: Analysis
    ) -> Outcome:
        head = conversation.head_sha
        links = self._context.links(pull.repository, head)

        def make(seen: Conversation, refused: Mapping[str, Spot]) -> Plan:
            commits = seen.commits if 0 < len(seen.commits) < 100 else None
            return plan(found.review, head, found.diffs, posted(seen), links=links, commits=commits, refused=refused)

        def check_of(made: Plan) -> CheckRun:
            run = checks.run_of(made.check, self._context.details_url)
            return _once_more(run, job) if job.data.get("forced") else run

        # Where not all comments could be read, new ones might say what is there already.
        quiet = conversation.draft or not conversation.complete
        applying = Applying(github, pull, head, quiet=quiet, may_say=lambda: self._may_say_no_checks(pull))
        return await applying.run(conversation, make, check_of)

    async def _may_say_no_checks(self, pull: PullKey) -> bool:
        """In one pull request a month: every change that has nothing wrong would have a comment else."""
        whose = str(pull.repository)
        return await self._context.facts.may_use_soon("no-checks", whose, str(pull), 1, NO_CHECKS_SECONDS)

    async def _unfinished(self, github: GitHub, pull: PullKey, conversation: Conversation, reason: str) -> str:
        check = checks.run_of(unfinished(reason), self._context.details_url)
        await checks.write(github, pull.repository, conversation.head_sha, check, conversation.checks)
        await self._reviewed(pull, conversation.head_sha, conversation.base_sha, comments=True)
        return f"could not be finished: {reason}"

    async def _reviewed(self, pull: PullKey, head: str, base: str | None, *, comments: bool) -> None:
        fact = {"head": head, "base": base, "comments": comments}
        await self._context.facts.remember_soon(REVIEWED, str(pull), fact)


def _once_more(run: CheckRun, job: Job) -> CheckRun:
    """A check that somebody has asked for again is written again, once, even if it says the same."""
    return replace(run, external_id=job.id)
