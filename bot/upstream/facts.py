"""What was recorded of the upstream repository: pull requests, commits, tags, branches, and answers about releases.

Any fact may be missing, and they come in any order. What a fact leaves out is None: nothing is made up for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.references import normalise

PullState = Literal["open", "closed", "merged"]
MAX_FACTS = 50_000
"""Facts of one request: the commits of several releases. More is no timeline of one fix."""

MAX_TEXT = 20_000
"""Characters of a title or a message that are read."""


class BadFact(Exception):
    """A fact that does not have its form. The message says which, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request: that of the fix, or one that reverts, lands again or supersedes it."""

    number: int
    state: PullState
    merge_commit: str | None
    merged_at: str | None
    closed_at: str | None
    title: str


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue. Closed says that somebody closed it, not that the defect is gone."""

    number: int
    state: Literal["open", "closed"]
    closed_at: str | None


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit on a branch; `position` orders the commits of that branch. `sha` is empty where it is not known."""

    sha: str
    branch: str | None
    position: int | None
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag: it has what its branch has up to its position."""

    name: str
    sha: str | None
    branch: str | None
    position: int | None


@dataclass(frozen=True, slots=True)
class Branch:
    """Where a branch begins: it has what `origin` has up to `position`."""

    name: str
    origin: str
    position: int


@dataclass(frozen=True, slots=True)
class Contains:
    """Whether the merge commit is an ancestor of a release."""

    release: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether the source of a release has the property that the fix gives it; None: the probe can't tell."""

    release: str
    holds: bool | None
    text: str


@dataclass(frozen=True, slots=True)
class Supersedes:
    """That another reference takes the place of this one, and who says so."""

    by: str
    source: str


Fact = Pull | Issue | Commit | Tag | Branch | Contains | Probe | Supersedes


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts of one reference, by kind, in an order that does not depend on how they came."""

    pulls: tuple[Pull, ...] = ()
    issues: tuple[Issue, ...] = ()
    commits: tuple[Commit, ...] = ()
    tags: tuple[Tag, ...] = ()
    branches: tuple[Branch, ...] = ()
    contains: tuple[Contains, ...] = ()
    probes: tuple[Probe, ...] = ()
    supersedes: tuple[Supersedes, ...] = field(default=())


def collected(facts: Iterable[Fact]) -> Facts:
    """Facts by kind, each once, sorted."""
    kept = set(facts)

    def of(kind: type[Any]) -> tuple[Any, ...]:
        return tuple(sorted((fact for fact in kept if isinstance(fact, kind)), key=repr))

    return Facts(of(Pull), of(Issue), of(Commit), of(Tag), of(Branch), of(Contains), of(Probe), of(Supersedes))


def read_facts(records: Iterable[Mapping[str, Any]], repository: str) -> Facts:
    """Facts from their JSON form. A kind that is not known is left out, and so is a fact that lacks what it is about;
    raises `BadFact` for a broken one.

    `repository` is what a `by` without a repository means.
    """
    facts: list[Fact] = []
    for number, record in enumerate(records, 1):
        if number > MAX_FACTS:
            raise BadFact(f"more than {MAX_FACTS} facts")
        if not isinstance(record, Mapping):
            raise BadFact(f"fact {number} is not an object")
        try:
            fact = _read(_Record(record, number), repository)
        except BadFact as error:
            raise BadFact(f"fact {number} ({str(record.get('kind'))[:40]}): {error}") from None
        if fact is not None:
            facts.append(fact)
    return collected(facts)


def _read(record: _Record, repository: str) -> Fact | None:
    match record.values.get("kind"):
        case "pull":
            return record.pull()
        case "issue":
            if record.lacks("number") or record.lacks("state"):
                return None
            state = record.one_of("state", ("open", "closed"))
            return Issue(record.number(), "closed" if state == "closed" else "open", record.text("closed_at"))
        case "commit":
            title, _, rest = record.words("title").partition("\n")
            message = record.words("message")
            body = message if message.strip() else rest
            return Commit(record.words("sha"), record.branch("branch"), record.integer("position"), title.strip(), body)
        case "tag":
            name = record.words("name").removeprefix("refs/tags/")
            if not name:
                return None
            return Tag(name, record.text("sha"), record.branch("branch"), record.integer("position"))
        case "branch":
            origin, position = record.branch("from"), record.integer("position")
            cut = record.branch("name")
            return Branch(cut, origin, position) if cut and origin and position is not None else None
        case "contains":
            holds = record.truth()
            release = record.text("release")
            return Contains(release, holds) if release and holds is not None else None
        case "probe":
            release = record.text("release")
            return Probe(release, record.truth(), record.words("text")) if release else None
        case "supersedes":
            if record.lacks("by"):
                return None
            by = normalise(str(record.values.get("by", ""))[:200], repository)
            if by is None:
                raise BadFact("`by` is no reference")
            return Supersedes(by, record.words("source"))
    return None


@dataclass(frozen=True, slots=True)
class _Record:
    values: Mapping[str, Any]
    place: int
    """Which of the facts it is."""

    def pull(self) -> Pull | None:
        """A pull request. What is not said is taken from what else is: one without its number may be a revert still."""
        merged = self.text("merged_at") is not None
        if self.lacks("state"):
            if not merged and self.lacks("closed_at") and self.lacks("merge_commit"):
                return None
            merged = merged or not self.lacks("merge_commit")
            state = "closed"
        else:
            state = self.one_of("state", ("open", "closed", "merged"))
        merged = merged or state == "merged"
        return Pull(
            number=-self.place if self.lacks("number") else self.number(),
            state="merged" if merged else "closed" if state == "closed" else "open",
            merge_commit=self.text("merge_commit") if merged else None,
            merged_at=self.text("merged_at"),
            closed_at=self.text("closed_at"),
            title=self.words("title").strip(),
        )

    def lacks(self, key: str) -> bool:
        """Whether a fact leaves a field out."""
        return self.values.get(key) in (None, "")

    def one_of(self, key: str, known: tuple[str, ...]) -> str:
        value = self.values.get(key)
        value = value.lower() if isinstance(value, str) else value
        if value not in known:
            raise BadFact(f"`{key}` is one of {', '.join(known)}")
        return str(value)

    def number(self) -> int:
        value = self.values.get("number")
        if isinstance(value, str):
            digits = value.rpartition("#")[2]
            value = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadFact("`number` is a number")
        return value

    def integer(self, key: str) -> int | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
            return int(value)
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadFact(f"`{key}` is a whole number")
        return value

    def branch(self, key: str) -> str | None:
        """The name of a branch, without where a clone keeps it."""
        name = self.text(key)
        for prefix in ("refs/heads/", "refs/remotes/origin/", "origin/"):
            name = name.removeprefix(prefix) if name else None
        return name or None

    def truth(self) -> bool | None:
        value = self.values.get("holds")
        if value is None or isinstance(value, bool):
            return value
        raise BadFact("`holds` is true, false or null")

    def text(self, key: str) -> str | None:
        value = self.values.get(key)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            raise BadFact(f"`{key}` is a text")
        return value.strip()[:MAX_TEXT] or None

    def words(self, key: str) -> str:
        return self.text(key) or ""
