"""What is recorded of an upstream repository, and the facts about one fix that follow from it.

The record is GitHub's own: issues and pull requests, branches, tags, and commits with their parents. What it does not
hold is no fact.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from bot.references import references_in
from bot.upstream.effects import speaks
from bot.upstream.lines import History, Line, Node
from bot.upstream.pins import is_final, pinned_at, version_of
from bot.upstream.titles import read_title

MAIN = "main"
"""What the branch that releases come from is called in facts, whatever its name is."""

MIN_SHORT = 7
"""Characters of a commit's id that say which it is."""

_NUMBER = re.compile(r"#(\d{1,9})\b|(?<!\d)(\d{4,9})(?!\d)")
"""A number that may be that of a pull request; people leave the sign out."""

_HASH = re.compile(r"\b[0-9a-f]{4,64}\b")
_MARKS = re.compile(r"^(?:\[[^\]]{0,60}\]\s*)+")
_REFERENCE_NEAR = r"\b[^.\n]{0,60}?(?=#|https://|[\w.-]{1,100}/[\w.-]{1,100}#)"
_SUPERSEDES = re.compile(
    r"\b(?:supersed(?:es|ed|ing)|replac(?:es|ed|ing)|takes?\s+over|obsoletes|subsumes|new(?:er)?\s+version\s+of)"
    + _REFERENCE_NEAR,
    re.IGNORECASE,
)
_SUPERSEDED_BY = re.compile(
    r"\b(?:superseded\s+by|replaced\s+by|subsumed\s+by|in\s+favou?r\s+of|continued\s+in|moved\s+to)" + _REFERENCE_NEAR,
    re.IGNORECASE,
)
_NEAR = 200
"""Characters behind such words in which the reference stands."""

_TRUSTED = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""Whose word about another pull request counts, besides that of the author of the one that it is about."""

State = Literal["open", "closed", "merged"]


@dataclass(frozen=True, slots=True)
class RecordedCommit:
    """A commit: its place in the history, its title, and its message where that may matter."""

    node: Node
    title: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class RecordedReference:
    """An issue or a pull request. `born` is when it was opened, in seconds since the epoch: what names it is younger.

    `rivals` are those that take its place, each with who says so; `others` the pull requests that speak of reverting
    it or of landing it again: number, state and title.
    """

    number: int
    kind: Literal["pull", "issue"]
    state: State
    born: float
    title: str = ""
    closed_at: str | None = None
    merged_at: str | None = None
    merge_commit: str | None = None
    rivals: tuple[tuple[str, str], ...] = ()
    others: tuple[tuple[int, State, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """Words about a pull request: on its own page or, with another `number`, in one that names it."""

    number: int
    is_pull: bool
    title: str
    body: str
    author: str
    association: str
    state: State | None = None


@dataclass(frozen=True)
class Record:
    """All that is recorded of one repository.

    `main` is the tip of the branch that releases come from, `branches` those of the release branches. The history
    begins at `since` (seconds since the epoch): younger commits are there, as far as lines are complete.
    """

    repository: str
    main: str | None = None
    since: float | None = None
    branches: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    commits: Mapping[str, RecordedCommit] = field(default_factory=dict)
    references: Mapping[int, RecordedReference] = field(default_factory=dict)

    @cached_property
    def history(self) -> History | None:
        """The lines; None where nothing of main is recorded."""
        if self.main is None or self.since is None:
            return None
        return History({sha: commit.node for sha, commit in self.commits.items()}, self.main, self.since)

    @cached_property
    def words(self) -> Words:
        """What the commits say."""
        return Words(self.commits)

    def commit_named(self, short: str) -> str | None:
        """The commit that an id, maybe a short one, names; None where it is not recorded or could be two."""
        if short in self.commits:
            return short
        found = [sha for sha in self.commits if sha.startswith(short)] if len(short) >= MIN_SHORT else []
        return found[0] if len(found) == 1 else None


class Account:
    """What the record says about fixes, for pins as they are asked for: `v0.27.1`, or a nightly's commit."""

    def __init__(self, record: Record, pins: Iterable[str] = ()) -> None:
        self._record = record
        self._pins = tuple(dict.fromkeys(pins))
        self._lines: dict[str, Line] = {}
        self._tags: dict[str, tuple[str | None, int | None]] = {}
        self._pinned: set[str] = set()
        if record.history is not None:
            self._read(record.history)

    def facts(self, number: int) -> list[dict[str, Any]]:
        """The facts about one reference in their JSON form (`bot.upstream.facts`)."""
        reference = self._record.references.get(number)
        if reference is None:
            return []
        facts = list(_of_reference(reference))
        since = self._record.since
        if not self._lines or since is None or reference.born < since:
            return facts  # the history may lack the one commit that counts
        return [*facts, *self._places(), *self._commits(reference)]

    def gaps(self) -> tuple[str, ...]:
        """Commits that are not recorded and must be, before all that is asked for has its place; main's first."""
        history = self._record.history
        if history is None:
            return ()
        if not history.main.complete:
            return history.main.gaps
        heads = [*self._record.branches.values(), *wanted_tags(self._record.tags, self._pins).values()]
        lines = {head: history.line(head) for head in (*heads, *self._pinned)}
        short = [commit for commit in _commits_of(self._pins) if self._record.commit_named(commit) is None]
        return tuple(dict.fromkeys((*(gap for line in lines.values() for gap in line.gaps), *short)))

    def _read(self, history: History) -> None:
        """The lines that are known, and the places of tags and of pinned commits on them."""
        record = self._record
        self._pinned = {sha for short in _commits_of(self._pins) if (sha := record.commit_named(short))}
        if not history.main.complete:
            return
        self._lines[MAIN] = history.main
        for name, head in sorted(record.branches.items()):
            if (line := history.line(head)).complete:
                self._lines[name] = line
        for name, sha in sorted(wanted_tags(record.tags, self._pins).items()):
            self._tags[name] = self._placed(history, sha, f"tag {name}")
        for sha in sorted(self._pinned):
            self._placed(history, sha, f"commit {sha}")

    def _placed(self, history: History, sha: str, own: str) -> tuple[str | None, int | None]:
        """The line and the position of a commit; one that stands on no known branch gets a line of its own."""
        for name, line in self._lines.items():
            if sha in line.chain:
                return name, line.chain[sha]
        line = history.line(sha)
        if not line.complete:
            return None, None
        self._lines[own] = line
        return own, line.end

    def _places(self) -> Iterator[dict[str, Any]]:
        for name, line in self._lines.items():
            if line.cut is not None:
                yield {"kind": "branch", "name": name, "from": MAIN, "position": line.cut}
        for name, (branch, position) in self._tags.items():
            yield {"kind": "tag", "name": name, "sha": self._record.tags[name], "branch": branch, "position": position}

    def _commits(self, reference: RecordedReference) -> Iterator[dict[str, Any]]:
        wanted = self._that_matter(reference) | self._pinned
        for name, line in self._lines.items():
            for sha in sorted(wanted & line.places.keys()):
                commit = self._record.commits[sha]
                place = {"kind": "commit", "sha": sha, "branch": name, "position": line.places[sha]}
                yield {**place, "title": commit.title, "message": commit.message}

    def _that_matter(self, reference: RecordedReference) -> set[str]:
        """The commits that name the fix, and those that are linked to it."""
        record = self._record
        rivals = (by.rpartition("#") for by, _ in reference.rivals)
        numbers = {int(number) for home, _, number in rivals if home == record.repository}
        numbers |= {reference.number, *(number for number, _, _ in reference.others)}
        merge = reference.merge_commit if reference.merge_commit in record.commits else None
        return record.words.linked(reference.number, numbers, reference.title, merge)


class Words:
    """What commits say of each other: by numbers, by hashes, and by the titles that they quote."""

    def __init__(self, commits: Mapping[str, RecordedCommit]) -> None:
        self._commits = commits
        self._named: dict[int, set[str]] = defaultdict(set)
        self._hashed: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._speaking: dict[str, str] = {}
        self._cut: set[str] = set()
        for sha, commit in commits.items():
            text = f"{commit.title}\n{commit.message}"
            for number in _numbers(text):
                self._named[number].add(sha)
            if speaks(commit.title) or (commit.message and speaks(commit.message)):
                self._speaking[sha] = " ".join(text.split()).casefold()
                for word in _HASH.findall(text.lower()):
                    self._hashed[word[:4]].append((word, sha))
                if "…" in text or "..." in text:
                    self._cut.add(sha)  # a title may be cut there

    def linked(self, number: int, numbers: Iterable[int], title: str, merge: str | None) -> set[str]:
        """The commits that may do something to a fix: those that name it and, of those that speak of picks and reverts,
        all that name, by number, hash or title, one that was found before.
        """
        found, done, seen = set(self._cut), set[str](), {number}
        waiting = list(self._named.get(number, ())) + ([merge] if merge else [])
        # One that names the fix may name who took it back, or pick it under a number of its own.
        fresh = {*numbers, *(named for sha in waiting for named in _numbers(self._text(sha)))}
        waiting += self._quoting(title, done)
        while waiting or fresh:
            for new in fresh - seen:
                named = self._named.get(new, set())
                found |= named
                waiting += [sha for sha in named if sha in self._speaking]
            seen |= fresh
            batch, waiting, fresh = waiting, [], set()
            for sha in batch:
                if sha in done:
                    continue
                done.add(sha)
                own = read_title(self._commits[sha].title).own
                fresh |= {own} if own is not None else set()
                near = self._hashed.get(sha[:4], ())
                waiting += [by for word, by in near if sha.startswith(word) or word.startswith(sha)]
                waiting += self._quoting(self._commits[sha].title, done)
        return found | done

    def _quoting(self, title: str, done: set[str]) -> list[str]:
        """The commits that speak of picks and reverts and have a title in their text."""
        subject = " ".join(_MARKS.sub("", read_title(title).subject).split()).casefold()
        if not subject:
            return []
        return [sha for sha, text in self._speaking.items() if sha not in done and subject in text]

    def _text(self, sha: str) -> str:
        commit = self._commits[sha]
        return f"{commit.title}\n{commit.message}"


def _numbers(text: str) -> set[int]:
    return {int(one or other) for one, other in _NUMBER.findall(text)}


def wanted_tags(tags: Mapping[str, str], pins: Iterable[str] = ()) -> dict[str, str]:
    """The tags whose place must be known: those of final releases, and those that somebody pins."""
    pinned = {at.value for pin in pins if (at := pinned_at(pin)).kind == "release"}
    found = {}
    for name, sha in tags.items():
        version = version_of(name)
        if version is not None and (is_final(version) or str(version) in pinned):
            found[name] = sha
    return found


def text_that_matters(message: str) -> tuple[str, str]:
    """A commit's title, and the rest of its message where that names a number, or speaks of picks and reverts."""
    title, _, rest = message.strip().partition("\n")
    rest = rest.strip()
    return title.strip(), rest if _NUMBER.search(rest) or speaks(rest) else ""


def read_said(
    number: int, author: str, repository: str, said: Iterable[Said]
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[int, State, str], ...]]:
    """What takes the place of a pull request, and which others speak of reverting it or of landing it again.

    The word of strangers does not count, unless what they wrote was merged.
    """
    rivals: dict[str, str] = {}
    others: dict[int, tuple[int, State, str]] = {}
    for words in said:
        trusted = words.association in _TRUSTED or (words.author == author != "")
        if words.number == number:
            by = _behind(_SUPERSEDED_BY, words.body, repository) if trusted else None
            if by is not None and by != f"{repository}#{number}":
                rivals.setdefault(by, f"a comment by {words.author}")
            continue
        if not words.is_pull or words.state is None:
            continue
        if read_title(words.title).verb != "none":
            others[words.number] = (words.number, words.state, words.title)
        elif (trusted or words.state == "merged") and _says_it_supersedes(words, f"{repository}#{number}", repository):
            rivals.setdefault(f"{repository}#{words.number}", f"the text of #{words.number}")
    return tuple(rivals.items()), tuple(others.values())


def _says_it_supersedes(words: Said, reference: str, repository: str) -> bool:
    text = f"{words.title}\n{words.body}"
    return any(
        references_in(text[match.end() : match.end() + _NEAR], repository)[:1] == (reference,)
        for match in _SUPERSEDES.finditer(text)
    )


def _behind(pattern: re.Pattern[str], text: str, repository: str) -> str | None:
    """The reference behind such words."""
    for match in pattern.finditer(text):
        found = references_in(text[match.end() : match.end() + _NEAR], repository)
        if found:
            return found[0]
    return None


def _commits_of(pins: Iterable[str]) -> Iterator[str]:
    for pin in pins:
        at = pinned_at(pin)
        if at.kind == "commit":
            yield at.value


def _of_reference(reference: RecordedReference) -> Iterator[dict[str, Any]]:
    if reference.kind == "issue":
        state = "open" if reference.state == "open" else "closed"
        yield {"kind": "issue", "number": reference.number, "state": state, "closed_at": reference.closed_at}
    else:
        yield {
            "kind": "pull",
            "number": reference.number,
            "state": reference.state,
            "merge_commit": reference.merge_commit,
            "merged_at": reference.merged_at,
            "closed_at": reference.closed_at,
            "title": reference.title,
        }
    for number, state, title in reference.others:
        yield {"kind": "pull", "number": number, "state": state, "title": title}
    for by, source in reference.rivals:
        yield {"kind": "supersedes", "by": by, "source": source}
