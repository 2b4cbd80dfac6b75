"""What is read of repositories that anybody may read: the upstream projects that fixes come from.

Whatever is asked for again and again is asked conditionally: its sender keeps the entity tag, and an unchanged answer
is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from bot.github.answers import items_of, object_of
from bot.github.errors import NotFound, Unavailable
from bot.github.model import RepositoryName
from bot.github.requests import Request, Requests, in_repository

PER_PAGE = 100
MAX_REFERENCE_PAGES = 20
"""GitHub gives all matching references at once; were that to change, so many pages are read."""

MAX_TIMELINE_PAGES = 3
MAX_TAG_DEPTH = 3
"""Tags of tags that are followed."""

MAX_TEXT = 20_000
"""Characters of a title, a message or a body that are kept."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """An issue or a pull request, as one request tells it. Of a merged one the commit is told elsewhere."""

    number: int
    kind: Literal["pull", "issue"]
    state: Literal["open", "closed", "merged"]
    title: str
    created_at: float
    closed_at: str | None
    merged_at: str | None
    author: str


@dataclass(frozen=True, slots=True)
class Ref:
    """A branch or a tag, with what it points to: a commit or, for an annotated tag, the tag's own object."""

    name: str
    sha: str
    annotated: bool


@dataclass(frozen=True, slots=True)
class CommitData:
    """A commit. `date` is when it was made in this form (the committer's date), in seconds since the epoch."""

    sha: str
    parents: tuple[str, ...]
    date: float
    message: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Something said about an issue or a pull request, on its page (`number` is its own) or in another one."""

    number: int
    is_pull: bool
    title: str
    body: str
    author: str
    association: str
    state: Literal["open", "closed", "merged"] | None


class Public:
    """Reads public repositories, with whatever credential there is. Every method raises a `GitHubError`."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    @property
    def account(self) -> str:
        """Whose limits are used; no secret."""
        return self._requests.credential.account

    @property
    def anonymous(self) -> bool:
        """Whether nobody in particular asks: then there are 60 requests an hour."""
        return self.account == "anonymous"

    async def default_branch(self, repository: RepositoryName) -> str:
        """The name of the branch that releases come from.

        Raises `NotFound` for a repository that not everybody may read: the credential may be one that may, and what
        is told of it here is told to people who may not.
        """
        data = object_of((await self._requests.send(in_repository("GET", repository, "", etag=""))).data)
        if data.get("private") is not False:
            raise NotFound(f"{repository} is not public")
        return str(data.get("default_branch") or "main")

    async def ticket(
        self, repository: RepositoryName, number: int, etag: str, since: str = ""
    ) -> tuple[Ticket | None, str, str]:
        """An issue or a pull request, in one request for both; with its entity tag, and when it last changed.

        `since` is what such an answer said of that. It is asked with where there is one: an entity tag is of one
        token, and an installation's lives for an hour.
        """
        answer = await self._requests.send(
            in_repository("GET", repository, "/issues/{number}", etag=etag, since=since, number=number)
        )
        ticket = None if answer.status == 304 else _ticket(object_of(answer.data))
        return ticket, answer.etag, answer.modified

    async def merge_commit(self, repository: RepositoryName, number: int) -> str | None:
        """The commit by which a pull request came into its branch; None while it has not."""
        data = object_of(
            (
                await self._requests.send(in_repository("GET", repository, "/pulls/{number}", etag="", number=number))
            ).data
        )
        sha = data.get("merge_commit_sha")
        return str(sha) if data.get("merged_at") and sha else None

    async def branch(self, repository: RepositoryName, name: str, etag: str) -> tuple[str | None, str]:
        """The commit of a branch."""
        answer = await self._requests.send(
            in_repository("GET", repository, "/git/ref/heads/{name}", etag=etag, name=name)
        )
        if answer.status == 304:
            return None, answer.etag
        return _ref(object_of(answer.data)).sha, answer.etag

    async def refs(
        self, repository: RepositoryName, kind: Literal["heads", "tags"], prefix: str, etag: str
    ) -> tuple[tuple[Ref, ...] | None, str]:
        """All branches (`heads`) or tags whose names begin like this, in one request."""
        request = in_repository(
            "GET", repository, "/git/matching-refs/{kind}/{prefix}", etag=etag, kind=kind, prefix=prefix
        )
        answer = await self._requests.send(request)
        if answer.status == 304:
            return None, answer.etag
        first, found = answer.etag, [_ref(item) for item in items_of(answer.data)]
        for _ in range(MAX_REFERENCE_PAGES):
            if answer.next is None:
                break
            answer = await self._requests.send(Request("GET", answer.next, etag=""))
            found += [_ref(item) for item in items_of(answer.data)]
        return tuple(found), first

    async def tagged(self, repository: RepositoryName, sha: str) -> str | None:
        """The commit that an annotated tag's object is about; None where it is about something else."""
        for _ in range(MAX_TAG_DEPTH):
            data = object_of(
                (await self._requests.send(in_repository("GET", repository, "/git/tags/{sha}", etag="", sha=sha))).data
            )
            target = object_of(data.get("object"))
            sha = str(target.get("sha") or "")
            if target.get("type") != "tag":
                return sha if target.get("type") == "commit" else None
        return None

    async def commit(self, repository: RepositoryName, sha: str) -> CommitData:
        """One commit, without its files."""
        data = object_of(
            (await self._requests.send(in_repository("GET", repository, "/git/commits/{sha}", etag="", sha=sha))).data
        )
        return _commit(str(data["sha"]), data, data)

    async def commits(self, repository: RepositoryName, sha: str) -> tuple[CommitData, ...]:
        """The history of a commit (it may be named in short), the newest first: the first hundred."""
        path = "/commits?sha={sha}&per_page={per_page}"
        answer = await self._requests.send(in_repository("GET", repository, path, etag="", sha=sha, per_page=PER_PAGE))
        return tuple(_commit(str(item["sha"]), item, object_of(item.get("commit"))) for item in items_of(answer.data))

    async def remarks(self, repository: RepositoryName, number: int) -> tuple[Remark, ...]:
        """What was said about an issue or a pull request of this repository, on its page and in others that name it;
        the first three hundred events.
        """
        request = in_repository(
            "GET",
            repository,
            "/issues/{number}/timeline?per_page={per_page}",
            etag="",
            number=number,
            per_page=PER_PAGE,
        )
        found: list[Remark] = []
        for _ in range(MAX_TIMELINE_PAGES):
            answer = await self._requests.send(request)
            found += [remark for item in items_of(answer.data) if (remark := _remark(item, repository, number))]
            if answer.next is None:
                break
            request = Request("GET", answer.next, etag="")
        return tuple(found)


def _ticket(data: Mapping[str, Any]) -> Ticket:
    pull = data.get("pull_request")
    merged = pull.get("merged_at") if isinstance(pull, Mapping) else None
    state = "merged" if merged else "closed" if data.get("state") == "closed" else "open"
    return Ticket(
        number=int(data["number"]),
        kind="pull" if isinstance(pull, Mapping) else "issue",
        state=state,  # type: ignore[arg-type]
        title=_text(data.get("title")),
        created_at=_seconds(data.get("created_at")),
        closed_at=_moment(data.get("closed_at")),
        merged_at=_moment(merged),
        author=_login(data.get("user")),
    )


def _ref(item: Mapping[str, Any]) -> Ref:
    target = object_of(item.get("object"))
    name = str(item.get("ref") or "").removeprefix("refs/").partition("/")[2]
    return Ref(name, str(target.get("sha") or ""), target.get("type") == "tag")


def _commit(sha: str, item: Mapping[str, Any], about: Mapping[str, Any]) -> CommitData:
    parents = tuple(str(parent["sha"]) for parent in item.get("parents") or () if isinstance(parent, Mapping))
    who = about.get("committer") or about.get("author") or {}
    return CommitData(sha, parents, _seconds(object_of(who).get("date")), _text(about.get("message")))


def _remark(item: Mapping[str, Any], repository: RepositoryName, number: int) -> Remark | None:
    """What an event of a timeline says; None for one without words, or from another repository."""
    match item.get("event"):
        case "commented":
            body, who = _text(item.get("body")), _login(item.get("user") or item.get("actor"))
            return Remark(number, False, "", body, who, str(item.get("author_association") or "NONE"), None)
        case "cross-referenced":
            source = item.get("source")
            issue = source.get("issue") if isinstance(source, Mapping) else None
            if not isinstance(issue, Mapping) or "number" not in issue:
                return None
            home = "/".join(str(issue.get("repository_url") or "").rsplit("/", 2)[-2:])
            if home.lower() != str(repository).lower():
                return None
            there = _ticket(issue)
            who, role = there.author, str(issue.get("author_association") or "NONE")
            return Remark(
                there.number, there.kind == "pull", there.title, _text(issue.get("body")), who, role, there.state
            )
    return None


def _login(user: object) -> str:
    return str(user.get("login") or "") if isinstance(user, Mapping) else ""


def _text(value: object) -> str:
    return str(value)[:MAX_TEXT] if value is not None else ""


def _moment(value: object) -> str | None:
    return str(value) if value else None


def _seconds(value: object) -> float:
    """A moment in seconds since the epoch. Raises `Unavailable` for what is none: a history needs it."""
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        raise Unavailable("GitHub tells no date") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
