"""What Seamguard reads from GitHub and writes to it, freed of the shapes of the two APIs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

FileStatus = Literal["added", "removed", "modified", "renamed", "copied", "changed", "unchanged"]
CommentKind = Literal["issue", "review"]
Permission = Literal["admin", "write", "read", "none"]
Conclusion = Literal["success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"]
AnnotationLevel = Literal["notice", "warning", "failure"]
MinimiseReason = Literal["OUTDATED", "RESOLVED", "DUPLICATE"]
Reaction = Literal["+1", "-1", "confused", "eyes", "heart", "hooray", "laugh", "rocket"]
Side = Literal["LEFT", "RIGHT"]


@dataclass(frozen=True, slots=True, order=True)
class RepositoryName:
    """A repository as a person writes it: `owner/name`."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True, order=True)
class IssueKey:
    """One issue of a repository. At GitHub every pull request is one, too: they share numbers, and the API of comments
    and reactions.
    """

    repository: RepositoryName
    number: int

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"


@dataclass(frozen=True, slots=True, order=True)
class PullKey(IssueKey):
    """One pull request of the repository that it asks to be merged into."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a pull request touches.

    `sha` is the blob at the head, None where there is none (a submodule). `patch` is None where GitHub gives none: a
    binary file, a pure rename, or a diff that is too large.
    """

    path: str
    status: FileStatus
    sha: str | None
    previous_path: str | None = None
    patch: str | None = None


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The files of a pull request. `complete` is False at GitHub's cap of 3,000. `head_sha` is the head that was
    listed, None when no file tells.
    """

    files: tuple[ChangedFile, ...]
    complete: bool = True
    head_sha: str | None = None


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file of a commit. `size` is in bytes; `mode` is git's: that of a symbolic link is `120000`."""

    path: str
    sha: str
    size: int | None
    mode: str


@dataclass(frozen=True, slots=True)
class RepositoryTree:
    """Every file of a commit, by path. `truncated` says that some are missing even after its folders were asked for."""

    entries: Mapping[str, TreeEntry]
    truncated: bool = False
    commit: str | None = None


@dataclass(frozen=True, slots=True)
class Blob:
    """The text of a file. `text` is None when it can't be used; `problem` says why: binary, too large, not UTF-8."""

    sha: str
    text: str | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A comment below one of ours, in the same thread."""

    id: int
    author_login: str
    author_is_bot: bool
    body: str


@dataclass(frozen=True, slots=True)
class PostedComment:
    """A comment that is on a pull request. `line` is None once it has left the diff; `replies` are its thread's."""

    id: int
    node_id: str
    body: str
    author_is_app: bool
    author_login: str
    kind: CommentKind
    path: str | None = None
    line: int | None = None
    original_commit: str | None = None
    minimised: bool = False
    replies: tuple[Reply, ...] = ()


@dataclass(frozen=True, slots=True)
class PostedCheck:
    """A check run of this App. `conclusion` is None until it is completed."""

    id: int
    name: str
    head_sha: str
    status: str
    conclusion: str | None
    external_id: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A pull request's state, and what this App has said in it.

    `head_repository` is None when the fork is deleted. `complete` says that all comments and checks are here.
    `review_bodies` are the App's submitted reviews, newest last; `commits` the newest hundred of the pull request.
    """

    head_sha: str
    base_ref: str
    base_sha: str
    is_open: bool
    draft: bool
    author: str
    head_repository: str | None
    comments: tuple[PostedComment, ...] = ()
    checks: tuple[PostedCheck, ...] = ()
    complete: bool = True
    default_branch: str | None = None
    merged: bool = False
    review_bodies: tuple[str, ...] = ()
    commits: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NewComment:
    """A comment to be placed on a line of the diff. Lines count from 1, `start_line` for a comment on several."""

    path: str
    line: int
    body: str
    side: Side = "RIGHT"
    start_line: int | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark of a check run on lines of a file."""

    path: str
    start_line: int
    end_line: int
    level: AnnotationLevel
    message: str
    title: str | None = None
    raw_details: str | None = None


@dataclass(frozen=True, slots=True)
class CheckRun:
    """What a check run says. A `conclusion` completes it; without one it is in progress."""

    name: str
    title: str
    summary: str
    conclusion: Conclusion | None = None
    annotations: tuple[Annotation, ...] = ()
    text: str | None = None
    details_url: str | None = None
    external_id: str | None = None


@dataclass(frozen=True, slots=True)
class OpenPull:
    """An open pull request, as a list of them shows it."""

    key: PullKey
    head_sha: str
    base_ref: str
    draft: bool
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A webhook that GitHub tried to deliver. Every attempt has its own `id`; they share the `guid`."""

    id: int
    guid: str
    event: str
    action: str | None
    delivered_at: datetime
    status_code: int
    redelivery: bool = False
    installation_id: int | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the receiver answered 2xx."""
        return 200 <= self.status_code < 300


@dataclass(frozen=True, slots=True)
class Installation:
    """The App on an account."""

    id: int
    account: str
    suspended: bool = False
    permissions: Mapping[str, str] = field(default_factory=dict)
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Identity:
    """The App as GitHub knows it. Its comments' author is `login`, `slug[bot]`."""

    id: int
    slug: str
    name: str
    permissions: Mapping[str, str] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    html_url: str | None = None

    @property
    def login(self) -> str:
        """The login of the App's own user."""
        return f"{self.slug}[bot]"


@dataclass(frozen=True, slots=True)
class Edit:
    """A new text for a comment."""

    node_id: str
    kind: CommentKind
    body: str


@dataclass(frozen=True, slots=True)
class PostedIssue:
    """An issue. `state_reason` is why it was closed (`completed`, `not_planned`, `duplicate`), or `reopened`."""

    number: int
    title: str
    body: str
    is_open: bool
    state_reason: str | None
    author_is_app: bool
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IssueComment:
    """A comment of this App on an issue."""

    id: int
    body: str
