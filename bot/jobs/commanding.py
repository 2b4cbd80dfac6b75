"""Slash commands in a pull request's conversation."""

from __future__ import annotations

import logging

from bot.commands import (
    COMMANDS,
    Explain,
    Found,
    Help,
    Mistake,
    Recheck,
    explain_hazard,
    find,
    hazard_ids,
    help_text,
    may,
    mistake_answer,
    refusal_answer,
)
from bot.github.client import GitHub
from bot.github.errors import Forbidden, NotFound, Suspended
from bot.github.model import Conversation, PullKey, Reaction
from bot.jobs.analysis import Explained
from bot.jobs.context import Context
from bot.jobs.gather import Gathering, changed_blobs
from bot.jobs.kinds import installation_of, pull_of, review_job
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
        pull, github = pull_of(job), await self._context.github(installation_of(job))
        asked = find(str(job.data["body"]))
        if not asked:
            return "no command"
        author, comment = str(job.data["author"]), int(job.data["comment"])
        try:
            await self._react(github, pull, comment, "eyes")
            permission = await github.permission(pull.repository, author)
        except NotFound:
            return "the comment is gone"
        is_author = author.lower() == str(job.data.get("by", "")).lower()
        allowed = any(may(command, permission, is_author, False) for command in COMMANDS.values())
        if not allowed and all(isinstance(item, Mistake) for item in asked):
            return "not a command, by somebody who may use none"
        whose = f"{pull.repository}/{author}"
        if not await self._context.facts.may_use_soon("command", whose, job.id, PER_MINUTE, 60.0):
            told = await self._context.facts.may_use_soon("too-many", whose, job.id, 1, 60.0)
            return await self._end(github, job, [TOO_MANY] if told else [], "confused")
        answers: list[str] = []
        refused = False
        for item in asked:
            if isinstance(item, Mistake):
                answers.append(mistake_answer(item))
                refused = True
            elif not may(item.command, permission, is_author, False):
                answers.append(refusal_answer(item.command))
                refused = True
            else:
                answer, bad = await self._carry_out(github, job, pull, item)
                answers += [answer] if answer else []
                refused = refused or bad
        return await self._end(github, job, answers, "confused" if refused else "+1")

    async def give_up(self, job: Job, reason: str) -> str:
        """Says that nothing came of it; a review that was asked for ends its check."""
        github = await self._context.github(installation_of(job))
        asked = find(str(job.data["body"]))
        if any(isinstance(item, Found) and isinstance(item.request, Recheck) for item in asked):
            await self._reviewing.give_up(review_job(job.id, installation_of(job), pull_of(job), None), reason)
        return await self._end(github, job, [f"That did not work: {reason}. Please try again later."], "confused")

    async def _carry_out(self, github: GitHub, job: Job, pull: PullKey, found: Found) -> tuple[str, bool]:
        """The answer to a command, empty where its effect is the answer; and whether it was refused."""
        match found.request:
            case Help():
                return help_text(), False
            case Recheck():
                review = review_job(job.id, installation_of(job), pull, None, forced=True)
                said = await self._reviewing.review(review)
                log.info("rechecked", extra={"outcome": said})
                return "", False
            case Explain():
                return await self._explained(github, pull, found.request), False

    async def _explained(self, github: GitHub, pull: PullKey, asked: Explain) -> str:
        """What the pull request's head, over its base's tip, says about a property; a hazard is the same everywhere."""
        if asked.hazard() in hazard_ids():
            return explain_hazard(asked.subject, self._context.links(pull.repository, ""))
        files = await github.pull_files(pull)
        conversation, blobs = await github.conversation(pull, changed_blobs(files.files))
        gathering = Gathering(github, pull.repository, conversation, files.files, blobs)
        return await gathering.run(Explained(asked, self._context.links(pull.repository, conversation.head_sha)))

    async def _end(self, github: GitHub, job: Job, answers: list[str], reaction: Reaction) -> str:
        pull, comment = pull_of(job), int(job.data["comment"])
        try:
            if answers:
                mark = f"<!-- seamguard:answer v1 comment={comment} -->"
                conversation, _ = await github.conversation(pull)
                if not _answered(conversation, mark):
                    await github.create_comment(pull, "\n\n---\n\n".join([f"{mark}\n{answers[0]}", *answers[1:]]))
            await self._react(github, pull, comment, reaction)
        except NotFound:
            return "the comment is gone"
        return "answered" if answers else "done"

    async def _react(self, github: GitHub, pull: PullKey, comment: int, reaction: Reaction) -> None:
        """A reaction is a courtesy: where the permission for it is missing, the command is carried out all the same."""
        try:
            await github.react(pull, comment, reaction)
        except Suspended:
            raise
        except Forbidden as error:
            log.warning("a reaction was refused: %s", error)


def _answered(conversation: Conversation, mark: str) -> bool:
    return any(comment.author_is_app and comment.body.startswith(mark) for comment in conversation.comments)
