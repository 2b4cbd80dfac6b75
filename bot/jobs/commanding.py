"""Slash commands in the conversation of a pull request, or below an issue."""

from __future__ import annotations

import logging

from bot.bootlog import BootLog
from bot.commands import (
    COMMANDS,
    NO_ENGINE,
    Explain,
    Help,
    Mistake,
    Recheck,
    Verify,
    elsewhere_answer,
    explain_hazard,
    hazard_ids,
    help_text,
    may,
    mistake_answer,
    refusal_answer,
)
from bot.github.client import GitHub
from bot.github.errors import Conflict, Forbidden, NotFound, Suspended
from bot.github.model import IssueKey, PullKey, Reaction
from bot.jobs.analysis import Explained, Verified
from bot.jobs.asking import Asked, from_json
from bot.jobs.context import Context
from bot.jobs.gather import Gathering, changed_blobs
from bot.jobs.kinds import installation_of, issue_of, pull_of, review_job
from bot.jobs.learning import learnt
from bot.jobs.reviewing import Reviewing
from bot.store import Job

log = logging.getLogger("seamguard.commands")

PER_MINUTE = 5
"""Commands of one person in one repository: enough for anybody, and no way to use the server up."""

TOO_MANY = f"Up to {PER_MINUTE} commands a minute are answered, and this was one more: please ask again in a minute."


class Commanding:
    """Handles `command` jobs: 👀 when a comment is read, 👍 when it was answered, 😕 when it was refused."""

    def __init__(self, context: Context, reviewing: Reviewing) -> None:
        self._context = context
        self._reviewing = reviewing

    async def do(self, job: Job) -> str:
        """Answers a comment. Attempted again, it answers nothing twice: its answers say which comment they are for."""
        asked = from_json(job.data.get("asked") or ())
        if not asked:
            return "no command"
        issue, github = issue_of(job), await self._context.github(installation_of(job))
        author, comment = str(job.data["author"]), int(job.data["comment"])
        try:
            await self._react(github, issue, comment, "eyes")
            permission = await github.permission(issue.repository, author)
        except NotFound:
            return "the comment is gone"
        is_author = author.lower() == str(job.data.get("by", "")).lower()
        allowed = any(may(command, permission, is_author, False) for command in COMMANDS.values())
        if not allowed and all(isinstance(item, Mistake) for item in asked):
            return "not a command, by somebody who may use none"
        whose = f"{issue.repository}/{author}"
        if not await self._context.facts.may_use_soon("command", whose, job.id, PER_MINUTE, 60.0):
            told = await self._context.facts.may_use_soon("too-many", whose, job.id, 1, 60.0)
            return await self._end(github, job, [TOO_MANY] if told else [], "confused")
        answers: list[str] = []
        refused = False
        for item in asked:
            if isinstance(item, Mistake):
                answer, bad = mistake_answer(item), True
            elif not may(item.command, permission, is_author, False):
                answer, bad = refusal_answer(item.command), True
            elif not item.command.on_issues and not isinstance(issue, PullKey):
                answer, bad = elsewhere_answer(item.command), True
            else:
                answer, bad = await self._carry_out(github, job, issue, item)
            answers += [answer] if answer else []
            refused = refused or bad
        return await self._end(github, job, answers, "confused" if refused else "+1")

    async def give_up(self, job: Job, reason: str) -> str:
        """Says that nothing came of it; a review that was asked for ends its check."""
        issue, github = issue_of(job), await self._context.github(installation_of(job))
        asked = from_json(job.data.get("asked") or ())
        rechecks = any(isinstance(item, Asked) and isinstance(item.request, Recheck) for item in asked)
        if rechecks and isinstance(issue, PullKey):
            await self._reviewing.give_up(review_job(job.id, installation_of(job), issue, None), reason)
        return await self._end(github, job, [f"That did not work: {reason}. Please try again later."], "confused")

    async def _carry_out(self, github: GitHub, job: Job, issue: IssueKey, asked: Asked) -> tuple[str, bool]:
        """The answer to a command, empty where its effect is the answer; and whether it was refused."""
        match asked.request:
            case Help():
                return help_text(), False
            case Recheck():
                review = review_job(job.id, installation_of(job), pull_of(job), None, forced=True)
                said = await self._reviewing.review(review)
                log.info("rechecked", extra={"outcome": said})
                return "", False
            case Explain():
                return await self._explained(github, issue, asked.request), False
            case Verify():
                return await self._verified(github, issue, asked.request, asked.logs)

    async def _explained(self, github: GitHub, issue: IssueKey, asked: Explain) -> str:
        """What the files say about a property; a hazard is the same everywhere."""
        if asked.hazard() in hazard_ids():
            return explain_hazard(asked.subject, self._context.links(issue.repository, ""))
        gathering, sha = await self._gathering(github, issue)
        return await gathering.run(Explained(asked, self._context.links(issue.repository, sha)))

    async def _verified(
        self, github: GitHub, issue: IssueKey, asked: Verify, logs: tuple[BootLog, ...]
    ) -> tuple[str, bool]:
        """What the logs say of what the files say. Where they have no line of an engine, no file is looked at."""
        if not logs:
            return NO_ENGINE, True
        gathering, sha = await self._gathering(github, issue)
        question = Verified(asked, logs, self._context.links(issue.repository, sha))
        found = await gathering.run(question)
        if await learnt(found.lacking):
            found = await gathering.run(question)
        return found.verification.answer, not found.verification.settled

    async def _gathering(self, github: GitHub, issue: IssueKey) -> tuple[Gathering, str]:
        """The files that a command is about, and their commit: those of the pull request's head, over its base's tip;
        for an issue those of the default branch.
        """
        if not isinstance(issue, PullKey):
            sha = await github.tip(issue.repository)
            if sha is None:
                raise Conflict("the repository is empty")
            return Gathering(github, issue.repository, sha, sha), sha
        files = await github.pull_files(issue)
        conversation, blobs = await github.conversation(issue, changed_blobs(files.files))
        base, head = conversation.base_sha, conversation.head_sha
        return Gathering(github, issue.repository, base, head, files.files, blobs), head

    async def _end(self, github: GitHub, job: Job, answers: list[str], reaction: Reaction) -> str:
        issue, comment = issue_of(job), int(job.data["comment"])
        try:
            if answers:
                mark = f"<!-- seamguard:answer v1 comment={comment} -->"
                ours = await github.issues.comments(issue.repository, issue.number)
                if not any(one.body.startswith(mark) for one in ours):
                    await github.create_comment(issue, "\n\n---\n\n".join([f"{mark}\n{answers[0]}", *answers[1:]]))
            await self._react(github, issue, comment, reaction)
        except NotFound:
            return "the comment is gone"
        return "answered" if answers else "done"

    async def _react(self, github: GitHub, issue: IssueKey, comment: int, reaction: Reaction) -> None:
        """A reaction is a courtesy: where the permission for it is missing, the command is carried out all the same."""
        try:
            await github.react(issue, comment, reaction)
        except Suspended:
            raise
        except Forbidden as error:
            log.warning("a reaction was refused: %s", error)
