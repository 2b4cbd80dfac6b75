"""Carries out a plan in a pull request, and puts up with what GitHub refuses."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
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


NO_CHECKS_MARK = "<!-- seamguard:no-checks v1 -->"
"""Begins the comment that says so where there is no summary to say it in."""

NO_COMMENTS = (
    "> [!NOTE]\n> Seamguard may not comment here, so all there is to say stands in this check: whoever administers the "
    "App has to accept the permissions *Pull requests* and *Issues: read and write*.\n\n"
)


@dataclass
class Outcome:
    """What was written, and what may not be."""

    commented: bool = False
    checked: bool = False
    checks_forbidden: bool = False
    comments_forbidden: bool = False
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
    """One review's way into one pull request. `quiet`: no new comments, only the check. `may_say` is asked before
    a comment is written only to say that there can be no check.
    """

    def __init__(
        self,
        github: GitHub,
        pull: PullKey,
        head_sha: str,
        *,
        quiet: bool = False,
        may_say: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        self._github = github
        self._pull = pull
        self._head_sha = head_sha
        self._quiet = quiet
        self._may_say = may_say
        self.outcome = Outcome()

    async def run(self, conversation: Conversation, make: Planning, check_of: Callable[[Plan], CheckRun]) -> Outcome:
        """Plans and writes until nothing is refused any more; the check comes last. Raises a `GitHubError`."""
        first = conversation
        # Where a summary says that checks can't be written, that is taken for true until one was.
        summary = self._summary(conversation.comments)
        self.outcome.checks_forbidden = noted = summary is not None and NO_CHECKS.strip() in summary.body
        for _ in range(ROUNDS):
            plan = make(conversation, self.outcome.refused)
            try:
                if await self._write(conversation, plan):
                    break
            except Suspended:
                raise
            except Forbidden as error:
                log.warning("comments can't be written: %s", error)
                self.outcome.comments_forbidden = True
                break
            conversation, _ = await self._github.conversation(self._pull)
        await self._check(first, check_of(plan))
        if self.outcome.checks_forbidden != noted and not self.outcome.comments_forbidden:
            await self._note_about_checks()
        return self.outcome

    async def _check(self, conversation: Conversation, check: CheckRun) -> None:
        if self.outcome.comments_forbidden:
            check = replace(check, summary=NO_COMMENTS + check.summary)
        try:
            wrote = await checks.write(self._github, self._pull.repository, self._head_sha, check, conversation.checks)
        except Suspended:
            raise
        except Forbidden as error:
            log.warning("checks can't be written: %s", error)
            self.outcome.checks_forbidden = True
        else:
            self.outcome.checks_forbidden = False
            self.outcome.checked = wrote

    async def _note_about_checks(self) -> None:
        """Says in the summary, if there is one, that there can be no check; or no longer says so."""
        conversation, _ = await self._github.conversation(self._pull)
        summary = self._summary(conversation.comments)
        told = any(item.author_is_app and item.body.startswith(NO_CHECKS_MARK) for item in conversation.comments)
        if summary is None and self.outcome.checks_forbidden and not told and await self._may_tell(conversation):
            await self._github.create_comment(self._pull, f"{NO_CHECKS_MARK}\n{NO_CHECKS.strip()}")
            self.outcome.commented = True
        if summary is not None:
            body = summary.body.replace(NO_CHECKS.strip(), "").rstrip() + self._note
            await self._github.amend([Edit(summary.node_id, "issue", body)])

    async def _may_tell(self, conversation: Conversation) -> bool:
        return conversation.complete and not self._quiet and self._may_say is not None and await self._may_say()

    async def _write(self, conversation: Conversation, plan: Plan) -> bool:
        """Writes what a plan says; False when a place was refused and a new plan is needed."""
        await self._amend(conversation, plan)
        if self._quiet:
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
            self.outcome.commented = True
        return True

    @property
    def _note(self) -> str:
        return NO_CHECKS if self.outcome.checks_forbidden else ""

    async def _amend(self, conversation: Conversation, plan: Plan) -> None:
        """What changes in comments that are there already: all in one request."""
        there = {(comment.kind, comment.id): comment for comment in conversation.comments}
        edits = [Edit(there[edit.kind, edit.id].node_id, edit.kind, edit.body) for edit in plan.edits]
        summary = self._summary(there.values())
        if summary is not None and plan.summary is not None and plan.summary.edit_id == summary.id:
            edits.append(Edit(summary.node_id, "issue", plan.summary.body + self._note))
        minimise = tuple((item.node_id, item.reason) for item in plan.minimise)
        if edits or minimise:
            failed = await self._github.amend(edits, minimise)
            if failed:
                log.warning("some comments could not be changed", extra={"nodes": " ".join(failed)})
            self.outcome.commented = True

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
        self.outcome.commented = True

    async def _on_file(self, comment: Planned) -> None:
        try:
            await self._github.create_file_comment(self._pull, self._head_sha, comment.path, comment.body)
        except Unprocessable as error:
            log.warning("a comment on a file was refused: %s", error)
            self.outcome.refused[comment.key] = "file"
        self.outcome.commented = True


def _new(comment: Planned) -> NewComment:
    side: Literal["LEFT", "RIGHT"] = "LEFT" if comment.side == "LEFT" else "RIGHT"
    return NewComment(comment.path, comment.line or 1, comment.body, side, comment.start_line)
