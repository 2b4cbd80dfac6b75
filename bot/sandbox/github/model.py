"""What the simulated GitHub knows: plain records, changed by the requests and by the people of a scenario."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from bot.sandbox.github.store import GitStore

Json: TypeAlias = dict[str, Any]
"""An object of JSON, as it is sent or received."""

Side = Literal["LEFT", "RIGHT"]
Role = Literal["admin", "maintain", "write", "triage", "read"]


def node_id(prefix: str, number: int) -> str:
    """The opaque id that GraphQL has for a record."""
    return f"{prefix}_kwDO{urlsafe_b64encode(number.to_bytes(8, 'big')).decode('ascii').rstrip('=')}"


@dataclass(slots=True)
class User:
    """An account: a person, an organisation or an App's bot."""

    id: int
    login: str
    kind: Literal["User", "Bot", "Organization"] = "User"


@dataclass(slots=True)
class App:
    """A GitHub App as its owner has registered it."""

    id: int
    client_id: str
    slug: str
    name: str
    owner: User
    bot: User
    private_key: str
    public_key: str
    webhook_secret: str
    hook_url: str | None
    permissions: dict[str, str]
    events: list[str]
    created_at: datetime


@dataclass(slots=True)
class Installation:
    """An App installed for an account. `repositories` None: all of the account's."""

    id: int
    app: App
    account: User
    permissions: dict[str, str]
    created_at: datetime
    repositories: set[int] | None = None
    suspended_at: datetime | None = None
    suspended_by: User | None = None
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """An installation token. `repositories` None: all of the installation's."""

    value: str
    installation: Installation
    expires_at: datetime
    permissions: Mapping[str, str]
    repositories: frozenset[int] | None = None


@dataclass(slots=True)
class Label:
    """A repository's label; colour in hexadecimal digits without a hash sign."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass(slots=True)
class Reaction:
    """One reaction of one account."""

    id: int
    user: User
    content: str
    created_at: datetime


@dataclass(slots=True)
class IssueComment:
    """A comment in the conversation of an issue or a pull request."""

    id: int
    user: User
    body: str
    created_at: datetime
    updated_at: datetime
    app: App | None = None
    reactions: list[Reaction] = field(default_factory=list)
    minimised: str | None = None

    @property
    def node(self) -> str:
        """Its id in GraphQL."""
        return node_id("IC", self.id)


@dataclass(slots=True)
class Issue:
    """An issue; also the conversation half of a pull request, with which it shares its number."""

    id: int
    number: int
    title: str
    body: str
    user: User
    created_at: datetime
    updated_at: datetime
    app: App | None = None
    state: Literal["open", "closed"] = "open"
    state_reason: str | None = None
    closed_at: datetime | None = None
    closed_by: User | None = None
    locked: bool = False
    labels: list[Label] = field(default_factory=list)
    comments: list[IssueComment] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)


@dataclass(slots=True)
class ReviewComment:
    """A comment on a file or on lines of it. The `original_` values are where it was written; `line` and `start_line`
    are None, and `position` too, once the lines are no longer in the diff ("outdated").
    """

    id: int
    user: User
    body: str
    path: str
    subject: Literal["line", "file"]
    commit: str
    original_commit: str
    side: Side
    line: int | None
    original_line: int | None
    position: int | None
    original_position: int | None
    diff_hunk: str
    created_at: datetime
    updated_at: datetime
    review: int | None = None
    start_line: int | None = None
    original_start_line: int | None = None
    start_side: Side | None = None
    in_reply_to: int | None = None
    app: App | None = None
    reactions: list[Reaction] = field(default_factory=list)
    minimised: str | None = None
    deleted: bool = False

    @property
    def node(self) -> str:
        """Its id in GraphQL."""
        return node_id("PRRC", self.id)

    @property
    def outdated(self) -> bool:
        """Whether the lines have left the diff."""
        return self.subject == "line" and self.line is None


@dataclass(slots=True)
class Review:
    """A review; its comments name it. PENDING is seen by its author alone."""

    id: int
    user: User
    body: str
    state: Literal["PENDING", "COMMENTED", "APPROVED", "CHANGES_REQUESTED", "DISMISSED"]
    commit: str
    submitted_at: datetime | None
    app: App | None = None


@dataclass(slots=True)
class Pull:
    """A pull request. `head_repository` None: the fork was deleted."""

    issue: Issue
    id: int
    base_ref: str
    base_sha: str
    head_ref: str
    head_sha: str
    head_repository: Repository | None
    draft: bool = False
    merged_at: datetime | None = None
    merge_commit: str | None = None
    reviews: list[Review] = field(default_factory=list)
    comments: list[ReviewComment] = field(default_factory=list)

    @property
    def number(self) -> int:
        """Unique in its repository, among issues too."""
        return self.issue.number


@dataclass(slots=True)
class CheckSuite:
    """All check runs of one App for one commit."""

    id: int
    app: App
    head_sha: str
    head_branch: str | None
    created_at: datetime
    rerequested: bool = False


@dataclass(slots=True)
class CheckRun:
    """One named check of a suite."""

    id: int
    suite: CheckSuite
    name: str
    status: str
    conclusion: str | None
    started_at: datetime | None
    completed_at: datetime | None
    details_url: str | None = None
    external_id: str = ""
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[Json] = field(default_factory=list)
    actions: list[Json] = field(default_factory=list)


@dataclass(slots=True)
class Release:
    """A published release. A bare tag is none."""

    id: int
    tag: str
    name: str
    body: str
    author: User
    created_at: datetime
    draft: bool = False
    prerelease: bool = False


@dataclass(slots=True)
class Repository:
    """A repository. Forks share the `store` of their `parent`, as they do in GitHub's network of forks. `tags` are
    peeled; `annotated` are the objects of those that have one.
    """

    id: int
    owner: User
    name: str
    store: GitStore
    created_at: datetime
    default_branch: str = "main"
    private: bool = False
    description: str | None = None
    parent: Repository | None = None
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    annotated: dict[str, str] = field(default_factory=dict)
    roles: dict[str, Role] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    suites: dict[int, CheckSuite] = field(default_factory=dict)
    runs: dict[int, CheckRun] = field(default_factory=dict)
    releases: list[Release] = field(default_factory=list)
    numbers: int = 0
    has_issues: bool = True
    deleted_issues: set[int] = field(default_factory=set)

    @property
    def full_name(self) -> str:
        """Owner and name, with a slash."""
        return f"{self.owner.login}/{self.name}"

    def next_number(self, number: int | None = None) -> int:
        """The next issue's or pull request's number, or a later one that is asked for."""
        if number is not None and number in self.issues:
            raise ValueError(f"#{number} is taken")
        self.numbers = self.numbers + 1 if number is None else max(self.numbers, number)
        return self.numbers if number is None else number
