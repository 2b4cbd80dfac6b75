"""Carries out a plan in a pull request, and puts up with what GitHub refuses."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from bot.github.client import GitHub
from bot.github.errors import Forbidden, Suspended, UnplaceableComment, Unprocessable
from bot.github.model import CheckRun, Conversation, Edit, NewComment, PostedComment, PullKey
from bot.jobs import checks
from bot.review import NewComment as Planned
from bot.review import Plan, Posted
from bot.review.marks import SummaryMark, read_mark

log = logging.getLogger("seamguard.review")

Spot = Literal["line", "file"]
Planning = Callable[[Conversation, Mapping[str, Spot]], Plan]
"""Makes a plan for what is there, given the comments that GitHub would not take."""

ROUNDS = 3
"""Plans that are made for one review: the first, and those after refusals."""

NO_CHECKS = (
    "\n\n> [!NOTE]\n> Seamguard may not write checks in this repository, so there is none for this commit: "
    "whoever administers the App has to accept the permission *Checks: read and write*."
)


@dataclass
class Outcome:
    """What was written. `checks_forbidden`: this summary is all that tells of the result."""

    written: bool = False
    checks_forbidden: bool = False
    refused: dict[str, Spot] = field(default_factory=dict)


def posted(conversation: Conversation) -> list[Posted]:
    """The App's own comments, as plans see them."""
    return [
        Posted(
            comment.id,
            comment.node_id,
            comment.kind,
            comment.body,
            comment.minimised,
            any(not reply.author_is_bot for reply in comment.replies),
            comment.path,
            comment.line,
        )
        for comment in conversation.comments
        if comment.author_is_app
    ]


class Applying:
    """One review's way into one pull request. `draft`: nobody is asked to read anything yet but the check."""

    def __init__(self, github: GitHub, pull: PullKey, head_sha: str, *, draft: bool = False) -> None:
        self._github = github
        self._pull = pull
        self._head_sha = head_sha
        self._draft = draft
        self.outcome = Outcome()

    async def run(self, conversation: Conversation, make: Planning, check_of: Callable[[Plan], CheckRun]) -> Outcome:
        """Plans and writes until nothing is refused any more. Raises a `GitHubError`."""
        for _ in range(ROUNDS):
            plan = make(conversation, self.outcome.refused)
            # The check first: whether it can be written decides what the summary says.
            await self._check(conversation, check_of(plan))
            if await self._write(conversation, plan):
                break
            conversation, _ = await self._github.conversation(self._pull)
        return self.outcome

    async def _check(self, conversation: Conversation, check: CheckRun) -> None:
        try:
            wrote = await checks.write(self._github, self._pull.repository, self._head_sha, check, conversation.checks)
        except Suspended:
            raise
        except Forbidden as error:
            log.warning("checks can't be written: %s", error)
            self.outcome.checks_forbidden = True
        else:
            self.outcome.written |= wrote

    async def _write(self, conversation: Conversation, plan: Plan) -> bool:
        """Writes what a plan says; False when a place was refused and a new plan is needed."""
        await self._amend(conversation, plan)
        if self._draft:
            return True
        before = len(self.outcome.refused)
        if plan.inline:
            await self._review(plan)
        for comment in plan.file_level:
            await self._on_file(comment)
        if len(self.outcome.refused) > before:
            return False
        if plan.summary is not None and plan.summary.edit_id is None:
            await self._github.create_comment(self._pull, plan.summary.body + self._note)
            self.outcome.written = True
        return True

    @property
    def _note(self) -> str:
        return NO_CHECKS if self.outcome.checks_forbidden else ""

    async def _amend(self, conversation: Conversation, plan: Plan) -> None:
        """What changes in comments that are there already: all in one request."""
        there = {(comment.kind, comment.id): comment for comment in conversation.comments}
        edits = [Edit(there[edit.kind, edit.id].node_id, edit.kind, edit.body) for edit in plan.edits]
        summary = self._summary(there.values())
        if summary is not None:
            body = None
            if plan.summary is not None and plan.summary.edit_id == summary.id:
                body = plan.summary.body + self._note
            elif self.outcome.checks_forbidden != (NO_CHECKS.strip() in summary.body):
                body = summary.body.replace(NO_CHECKS, "").replace(NO_CHECKS.strip(), "").rstrip() + self._note
            if body is not None and body != summary.body:
                edits.append(Edit(summary.node_id, "issue", body))
        minimise = tuple((item.node_id, item.reason) for item in plan.minimise)
        if edits or minimise:
            failed = await self._github.amend(edits, minimise)
            if failed:
                log.warning("some comments could not be changed", extra={"nodes": " ".join(failed)})
            self.outcome.written = True

    @staticmethod
    def _summary(comments: Iterable[PostedComment]) -> PostedComment | None:
        """The summary that plans go on with: the first that nobody has folded away."""
        found = [
            comment
            for comment in comments
            if comment.kind == "issue" and comment.author_is_app and isinstance(read_mark(comment.body), SummaryMark)
        ]
        return min(found, key=lambda comment: (comment.minimised, comment.id), default=None)

    async def _review(self, plan: Plan) -> None:
        """All comments on lines in one review; one by one when GitHub refuses one of them, to find out which."""
        lines = [_new(comment) for comment in plan.inline]
        try:
            await self._github.create_review(self._pull, self._head_sha, plan.review_body, lines)
        except UnplaceableComment:
            if len(plan.inline) == 1:
                self.outcome.refused[plan.inline[0].key] = "line"
                return
            for comment in plan.inline:
                try:
                    await self._github.create_line_comment(self._pull, self._head_sha, _new(comment))
                except UnplaceableComment:
                    self.outcome.refused[comment.key] = "line"
        self.outcome.written = True

    async def _on_file(self, comment: Planned) -> None:
        try:
            await self._github.create_file_comment(self._pull, self._head_sha, comment.path, comment.body)
        except Unprocessable as error:
            log.warning("a comment on a file was refused: %s", error)
            self.outcome.refused[comment.key] = "file"
        self.outcome.written = True


def _new(comment: Planned) -> NewComment:
    side: Literal["LEFT", "RIGHT"] = "LEFT" if comment.side == "LEFT" else "RIGHT"
    return NewComment(comment.path, comment.line or 1, comment.body, side, comment.start_line)
