"""What people do with a pull request, and what they see of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.sandbox.github import anchors, checks, comments, pulls, pushes, review_comments, reviews
from bot.sandbox.github.model import (
    CheckRun,
    IssueComment,
    Pull,
    Repository,
    Review,
    ReviewComment,
)

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub


@dataclass(frozen=True, slots=True)
class Thread:
    """A review comment with its answers."""

    comment: ReviewComment
    replies: tuple[ReviewComment, ...]

    @property
    def folded(self) -> bool:
        """Whether it is shown folded: minimised, or its lines have left the diff."""
        return self.comment.minimised is not None or self.comment.outdated


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a person sees on a pull request's page."""

    comments: tuple[IssueComment, ...]
    reviews: tuple[Review, ...]
    threads: tuple[Thread, ...]
    checks: tuple[CheckRun, ...]
    """The newest run of each name of the head commit."""


class PullHandle:
    """A pull request in people's hands. Everything they do is told to the installed Apps by webhooks."""

    def __init__(self, hub: Hub, repository: Repository, record: Pull) -> None:
        self.hub = hub
        self.repository = repository
        self.record = record

    @property
    def number(self) -> int:
        """Unique in its repository."""
        return self.record.number

    @property
    def head(self) -> str:
        """The newest commit."""
        return self.record.head_sha

    def push(
        self, files: Mapping[str, str | bytes | None], message: str = "Change files", author: str | None = None
    ) -> str:
        """Add a commit."""
        return self._commit([self.head], files, message, author)

    def force_push(
        self, files: Mapping[str, str | bytes | None], message: str = "Rewrite", author: str | None = None
    ) -> str:
        """Replace all commits by one on the base branch's tip."""
        tip = self.repository.branches[self.record.base_ref]
        return self._commit([tip], files, message, author)

    def rebase(self, author: str | None = None) -> str:
        """Replace all commits by one with the same changes on the base branch's tip."""
        store = self.repository.store
        changed: dict[str, str | bytes | None] = {}
        for file in pulls.diff(self.repository, self.record):
            if file.previous is not None and file.status == "renamed":
                changed[file.previous] = None
            changed[file.path] = None if file.status == "removed" else store.read(self.head, file.path)
        return self.force_push(changed, "Rebase", author)

    def _commit(
        self, parents: list[str], files: Mapping[str, str | bytes | None], message: str, author: str | None
    ) -> str:
        home = self.record.head_repository
        if home is None:
            raise ValueError("the fork of this pull request was deleted")
        who = self.hub.user(author or self.record.issue.user.login)
        sha = self.repository.store.commit(files, parents, message, who.login, self.hub.clock.now())
        pushes.move_branch(self.hub, home, self.record.head_ref, sha, who)
        return sha

    def comment(self, author: str, body: str) -> IssueComment:
        """Write into the conversation."""
        who, now = self.hub.user(author), self.hub.clock.now()
        new = IssueComment(self.hub.next_id(), who, body, now, now)
        comments.add(self.hub, self.repository, self.record.issue, new)
        return new

    def edit_comment(self, which: IssueComment, body: str, by: str | None = None) -> None:
        """Change a comment's text."""
        before, which.body, which.updated_at = which.body, body, self.hub.clock.now()
        who = which.user if by is None else self.hub.user(by)
        changes = {"changes": {"body": {"from": before}}}
        self.hub.events.comment(self.repository, self.record.issue, which, "edited", who, changes)

    def delete_comment(self, which: IssueComment, by: str) -> None:
        """Remove a comment from the conversation."""
        self.record.issue.comments.remove(which)
        self.hub.events.comment(self.repository, self.record.issue, which, "deleted", self.hub.user(by))

    def reply(self, author: str, parent: ReviewComment, body: str) -> ReviewComment:
        """Answer in a thread."""
        who = self.hub.user(author)
        return review_comments.reply(self.hub, self.repository, self.record, parent, who, None, body)

    def review(self, author: str, body: str) -> Review:
        """A review without comments."""
        who = self.hub.user(author)
        made: list[tuple[anchors.Anchor, str]] = []
        return reviews.add(self.hub, self.repository, self.record, who, None, "COMMENT", body, self.head, made)

    def close(self, by: str | None = None) -> None:
        """Close without merging."""
        self._set_state("closed", by)

    def reopen(self, by: str | None = None) -> None:
        """Open again."""
        self._set_state("open", by)

    def merge(self, by: str | None = None, *, squash: bool = False, message: str | None = None) -> str:
        """Merge into the base branch and close; with `squash`, as one commit that ends its title in the number.
        `message` is another than GitHub's own.
        """
        who = self.hub.user(by or pushes.writer(self.repository))
        sha = self.record.merge_commit = self.merged_commit(squash=squash, message=message)
        self.record.merged_at = self.hub.clock.now()
        self._set_state("closed", who.login)
        pushes.move_branch(self.hub, self.repository, self.record.base_ref, sha, who)
        return sha

    def merged_commit(self, *, squash: bool = False, message: str | None = None) -> str:
        """A commit of the head's changes merged with the base branch's tip."""
        tip = self.repository.branches[self.record.base_ref]
        store = self.repository.store
        files: dict[str, str | bytes | None] = {}
        for file in pulls.diff(self.repository, self.record):
            if file.status == "renamed" and file.previous is not None:
                files[file.previous] = None
            files[file.path] = None if file.status == "removed" else store.read(self.head, file.path)
        title = f"{self.record.issue.title} (#{self.number})" if squash else f"Merge pull request #{self.number}"
        parents = [tip] if squash else [tip, self.head]
        return store.commit(files, parents, message or title, "web-flow", self.hub.clock.now())

    def _set_state(self, state: str, by: str | None) -> None:
        issue, now = self.record.issue, self.hub.clock.now()
        who = self.hub.user(by or issue.user.login)
        closed = state == "closed"
        issue.state, issue.updated_at = "closed" if closed else "open", now
        issue.closed_at, issue.closed_by = (now, who) if closed else (None, None)
        self.hub.events.pull(self.repository, self.record, "closed" if closed else "reopened", who)

    def retitle(self, title: str, by: str | None = None) -> None:
        """Change the title."""
        before, self.record.issue.title = self.record.issue.title, title
        self._edited({"title": {"from": before}}, by)

    def rebase_onto(self, branch: str, by: str | None = None) -> None:
        """Change the base branch (and no commit)."""
        old_ref, old_sha = self.record.base_ref, self.record.base_sha
        self.record.base_ref, self.record.base_sha = branch, self.repository.branches[branch]
        anchors.move(self.repository, self.record)
        self._edited({"base": {"ref": {"from": old_ref}, "sha": {"from": old_sha}}}, by)

    def _edited(self, changes: Mapping[str, object], by: str | None) -> None:
        who = self.hub.user(by or self.record.issue.user.login)
        self.record.issue.updated_at = self.hub.clock.now()
        self.hub.events.pull(self.repository, self.record, "edited", who, {"changes": dict(changes)})

    def ready(self) -> None:
        """A draft no longer."""
        self.record.draft = False
        self.hub.events.pull(self.repository, self.record, "ready_for_review", self.record.issue.user)

    def rerequest(self, run: CheckRun) -> None:
        """Press "Re-run" at a check."""
        checks.rerequest(self.hub, self.repository, run)

    def rerequest_all(self, run: CheckRun) -> None:
        """Press "Re-run all checks" of the run's App."""
        run.suite.rerequested = True
        who = self.hub.user(next(iter(self.repository.roles)))
        self.hub.events.check_suite(self.repository, run.suite, "rerequested", who)

    def conversation(self) -> Conversation:
        """What a person sees."""
        pending = {each.id for each in self.record.reviews if each.state == "PENDING"}
        seen = [each for each in self.record.comments if each.review not in pending]
        threads = [
            Thread(each, tuple(other for other in seen if other.in_reply_to == each.id))
            for each in seen
            if each.in_reply_to is None
        ]
        return Conversation(
            tuple(self.record.issue.comments),
            tuple(each for each in self.record.reviews if each.id not in pending),
            tuple(threads),
            tuple(self._latest_checks()),
        )

    def _latest_checks(self) -> Sequence[CheckRun]:
        runs = [each for each in self.repository.runs.values() if each.suite.head_sha == self.head]
        return list({(each.suite.id, each.name): each for each in runs}.values())
