"""What people do with a repository: commit, push, fork, open pull requests and issues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from bot.sandbox.github import comments, issues, pushes
from bot.sandbox.github.model import Installation, Issue, IssueComment, Pull, Release, Repository, Role, User
from bot.sandbox.github.pull import PullHandle

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

Files = Mapping[str, str | bytes | None]
"""Contents by path; None deletes."""


class RepositoryHandle:
    """A repository in people's hands. Everything they do is told to the installed Apps by webhooks."""

    def __init__(self, hub: Hub, record: Repository) -> None:
        self.hub = hub
        self.record = record

    @property
    def full_name(self) -> str:
        """Owner and name."""
        return self.record.full_name

    @property
    def tip(self) -> str:
        """The commit of the default branch."""
        return self.record.branches[self.record.default_branch]

    @property
    def installation(self) -> Installation:
        """The first working installation that covers it."""
        return self.hub.installed_for(self.record)[0]

    def collaborator(self, login: str, role: Role) -> User:
        """Give an account a role."""
        who = self.hub.user(login)
        self.record.roles[who.login] = role
        return who

    def writer(self) -> str:
        """Somebody who may write."""
        return pushes.writer(self.record)

    def commit(
        self,
        files: Files,
        message: str = "Change files",
        *,
        branch: str | None = None,
        author: str | None = None,
        quiet: bool = False,
    ) -> str:
        """Commit to a branch (the default one; one that is missing begins at the default branch) and push. `quiet`
        sends no webhooks.
        """
        who = self.hub.user(author or self.writer())
        name = branch or self.record.default_branch
        before = self.record.branches.get(name)
        parent = before or self.record.branches.get(self.record.default_branch)
        parents = [] if parent is None else [parent]
        sha = self.record.store.commit(files, parents, message, who.login, self.hub.clock.now())
        pushes.move_branch(self.hub, self.record, name, sha, who, quiet=quiet)
        return sha

    def force_push(self, branch: str, files: Files, message: str = "Rewrite", *, onto: str | None = None) -> str:
        """Replace a branch by one commit on the default branch, or on another commit."""
        who = self.hub.user(self.writer())
        sha = self.record.store.commit(files, [onto or self.tip], message, who.login, self.hub.clock.now())
        pushes.move_branch(self.hub, self.record, branch, sha, who)
        return sha

    def branch(self, name: str, commit: str | None = None) -> str:
        """Make a branch at a commit (the default branch's tip) and push it."""
        sha = commit or self.tip
        pushes.move_branch(self.hub, self.record, name, sha, self.hub.user(self.writer()))
        return sha

    def cherry_pick(self, commit: str, branch: str, message: str | None = None, *, traced: bool = False) -> str:
        """Take a commit's changes over to another branch, under its own message; `traced` as with git's `-x`."""
        store = self.record.store
        text = message or store.describe(commit).message
        if traced:
            text += f"\n\n(cherry picked from commit {commit})"
        return self.commit(self._changes(commit), text, branch=branch)

    def revert(self, commit: str, branch: str | None = None, *, number: int | None = None) -> str:
        """Take a commit back, as git's `revert` does; `number` is that of the pull request that did it."""
        title = self.record.store.describe(commit).message.partition("\n")[0]
        behind = "" if number is None else f" (#{number})"
        message = f'Revert "{title}"{behind}\n\nThis reverts commit {commit}.'
        return self.commit(self._changes(commit, back=True), message, branch=branch)

    def _changes(self, commit: str, *, back: bool = False) -> Files:
        """The files that a commit changed, as they are after it or, `back`, as they were before."""
        store = self.record.store
        parent = store.describe(commit).parents[0]
        side = parent if back else commit
        changed = store.diff(parent, commit)
        paths = {path for file in changed for path in (file.path, file.previous) if path is not None}
        return {path: store.read(side, path) for path in sorted(paths)}

    def tag(self, name: str, commit: str | None = None, message: str | None = None) -> None:
        """Tag a commit (the default branch's tip) and push the tag; with a message, an annotated one."""
        sha = self.record.tags[name] = commit or self.tip
        self.record.annotated.pop(name, None)
        if message is not None:
            now = self.hub.clock.now()
            self.record.annotated[name] = self.record.store.annotate(name, sha, message, self.writer(), now)
        self.hub.events.push(self.record, f"refs/tags/{name}", None, sha, self.hub.user(self.writer()), forced=False)

    def release(self, tag: str, body: str = "", *, prerelease: bool = False, draft: bool = False) -> Release:
        """Publish a release of a tag, which is made when it is missing."""
        self.record.tags.setdefault(tag, self.tip)
        who = self.hub.user(self.writer())
        now = self.hub.clock.now()
        new = Release(self.hub.next_id(), tag, tag, body, who, now, draft, prerelease)
        self.record.releases.append(new)
        return new

    def fork(self, owner: str) -> RepositoryHandle:
        """The owner's fork, made when it is missing; in the same network: its commits are reachable from here by their
        ids.
        """
        source = self.record
        known = self.hub.find_repository(owner, source.name)
        if known is not None:
            return RepositoryHandle(self.hub, known)
        new = Repository(
            self.hub.next_id(),
            self.hub.user(owner),
            source.name,
            source.store,
            self.hub.clock.now(),
            source.default_branch,
            source.private,
            parent=source,
            branches=dict(source.branches),
            tags=dict(source.tags),
        )
        new.roles[new.owner.login] = "admin"
        self.hub.add(new)
        return RepositoryHandle(self.hub, new)

    def open_pull(
        self,
        files: Files | None = None,
        *,
        branch: str = "change",
        title: str = "Change files",
        body: str = "",
        author: str = "contributor",
        fork: bool | RepositoryHandle = False,
        base: str | None = None,
        draft: bool = False,
        quiet: bool = False,
        number: int | None = None,
    ) -> PullHandle:
        """Open a pull request from a branch, to which `files` are committed first. `fork` opens it from a fork: True
        makes one of the author's. `number` is a later one than the next.
        """
        who = self.hub.user(author)
        source = self if fork is False else self.fork(author) if fork is True else fork
        base_ref = base or self.record.default_branch
        if fork is False:
            self.record.roles.setdefault(who.login, "write")
        if files is not None:
            source.record.branches.setdefault(branch, self.record.branches[base_ref])
            source.commit(files, title, branch=branch, author=author, quiet=quiet or fork is not False)
        now = self.hub.clock.now()
        issue = Issue(self.hub.next_id(), self.record.next_number(number), title, body, who, now, now)
        head = source.record.branches[branch]
        base_sha = self.record.branches[base_ref]
        pull = Pull(issue, self.hub.next_id(), base_ref, base_sha, branch, head, source.record, draft)
        self.record.issues[issue.number] = issue
        self.record.pulls[issue.number] = pull
        if not quiet:
            self.hub.events.pull(self.record, pull, "opened", who)
        return PullHandle(self.hub, self.record, pull)

    def open_issue(
        self, title: str, body: str = "", author: str = "contributor", *, number: int | None = None
    ) -> Issue:
        """Open an issue by hand; `number` is a later one than the next."""
        who, now = self.hub.user(author), self.hub.clock.now()
        new = Issue(self.hub.next_id(), self.record.next_number(number), title, body, who, now, now)
        self.record.issues[new.number] = new
        self.hub.events.issue(self.record, new, "opened", who)
        return new

    def close_issue(
        self, number: int, by: str | None = None, *, reason: Literal["completed", "not_planned"] = "completed"
    ) -> None:
        """Close an issue by hand."""
        self._move_issue(number, by, "closed")
        self.record.issues[number].state_reason = reason

    def reopen_issue(self, number: int, by: str | None = None) -> None:
        """Open an issue again by hand."""
        self._move_issue(number, by, "reopened")

    def _move_issue(self, number: int, by: str | None, action: str) -> None:
        which, who = self.record.issues[number], self.hub.user(by or self.writer())
        issues.close(which, self.hub, who, action)
        which.updated_at = self.hub.clock.now()
        self.hub.events.issue(self.record, which, action, who)

    def edit_issue(self, number: int, body: str | None = None, title: str | None = None, by: str | None = None) -> None:
        """Change an issue's text by hand, as ticking a task does too."""
        which, who = self.record.issues[number], self.hub.user(by or self.writer())
        new_title, new_body = which.title if title is None else title, which.body if body is None else body
        more = {"changes": issues.changes(which, new_title, new_body)}
        which.title, which.body, which.updated_at = new_title, new_body, self.hub.clock.now()
        self.hub.events.issue(self.record, which, "edited", who, more)

    def comment_on_issue(self, number: int, author: str, body: str) -> IssueComment:
        """Write below an issue."""
        who, now = self.hub.user(author), self.hub.clock.now()
        new = IssueComment(self.hub.next_id(), who, body, now, now)
        comments.add(self.hub, self.record, self.record.issues[number], new)
        return new

    def delete_issue(self, number: int) -> None:
        """Delete an issue, which only an administrator may."""
        del self.record.issues[number]
        self.record.deleted_issues.add(number)

    def pull(self, number: int) -> PullHandle:
        """A pull request by its number."""
        return PullHandle(self.hub, self.record, self.record.pulls[number])

    def add_to_merge_queue(self, pull: PullHandle) -> str:
        """Queue a pull request: a commit of its merge with the base is made, and its checks are asked for."""
        record = pull.record
        sha = pull.merged_commit()
        ref = f"refs/heads/gh-readonly-queue/{record.base_ref}/pr-{record.number}-{self.tip}"
        self.record.branches[ref.removeprefix("refs/heads/")] = sha
        who = self.hub.user(self.writer())
        pushes.request_suites(self.hub, self.record, sha, who)
        self.hub.events.merge_group(self.record, sha, self.tip, ref, "checks_requested", who)
        return sha
