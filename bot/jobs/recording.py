"""Records what upstream repositories say: by conditional requests, durably, once for all installations.

A quiet poll is one request for each reference, and one each for the tags, for main and for the release branches. Only
where one of them has changed is more asked for: commits that are not recorded yet, the commit of a merge, the words
about a pull request that was closed. What could not be had is missing, and asked for again the next time.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.github.errors import Conflict, Forbidden, GitHubError, NotFound, RateLimited, Unauthorised, Unprocessable
from bot.github.model import RepositoryName
from bot.github.public import CommitData, Public, Ref, Remark, Ticket
from bot.references import UPSTREAM
from bot.store import Facts
from bot.upstream.facts import Facts as ClockFacts
from bot.upstream.facts import read_facts
from bot.upstream.lines import Node
from bot.upstream.recorded import (
    Account,
    Record,
    RecordedCommit,
    RecordedReference,
    Said,
    read_said,
    text_that_matters,
    wanted_tags,
)

log = logging.getLogger("seamguard.upstream")

UPSTREAM_KIND = "upstream"
"""A kind of fact: branches and tags of an upstream repository, and how asking for them went."""

REFERENCE_KIND = "upstream-reference"
COMMIT_KIND = "upstream-commit"
"""Kinds of records, under the repository's name: its issues and pull requests by number, its commits by id."""

RELEASE_BRANCHES = "releases/"
"""How vLLM's release branches begin. Of other projects only the references are watched: no pin is one of theirs."""

MARGIN_SECONDS = 24 * 3600.0
"""The history is recorded from so long before the oldest reference was opened: clocks of committers differ."""

MAX_AGE_SECONDS = 3 * 366 * 24 * 3600.0
"""No history is recorded that is older; the clock of an older reference knows its state alone."""

MAX_REQUESTS = 600
"""For one poll of one repository, besides those that are made every time: the next goes on. A first poll of vLLM
takes about two hundred for a year and a half of commits, and one for each tag outside of the release branches."""

MAX_REQUESTS_ANONYMOUS = 20
"""Where there are sixty requests an hour for everything."""

MAX_REFERENCES = 5_000
"""Of one upstream repository, for all that wait: the newest."""

MAX_TAGS = 2_000
MAX_BRANCHES = 300
LONGEST_PAUSE = 24 * 3600.0
PUBLIC_SECONDS = 24 * 3600.0
"""So often it is looked whether a repository is still public, and what its default branch is called."""

DATE_SECONDS = 24 * 3600.0
"""So long a reference is asked for by the date of its last change; then once by its content."""

GIVE_UP_AFTER = 3
"""Failures in a row, after which GitHub is taken for unavailable."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Polled:
    """How a poll of a repository went: whether something was new, and what could not be had."""

    changed: bool
    problems: tuple[str, ...] = ()


class Recording:
    """The record of upstream repositories. `every` is the time between two polls, in seconds; pauses after failures
    are multiples of it.
    """

    def __init__(
        self,
        facts: Facts,
        *,
        every: float = 1800.0,
        now: Callable[[], float] = time.time,
        progress: Progress = lambda _: None,
    ) -> None:
        self._facts = facts
        self._records = facts.records
        self._every = every
        self._now = now
        self._progress = progress
        self._read: dict[str, tuple[str, Record]] = {}

    def read(self, repository: str) -> Record:
        """What is recorded of a repository; read again when something new is."""
        state = self._facts.recall(UPSTREAM_KIND, repository) or {}
        revision = str(state.get("revision", ""))
        known = self._read.get(repository)
        if known is None or known[0] != revision:
            references = self._records.all(REFERENCE_KIND, repository)
            commits = self._records.all(COMMIT_KIND, repository)
            # While a history is being completed, the one before it answers.
            begins = state.get("whole") or {}
            known = self._read[repository] = revision, _record(repository, state, begins, references, commits)
        return known[1]

    def clock_facts(self, references: Iterable[str], pins: Iterable[str]) -> Callable[[str], ClockFacts]:
        """The facts about each of the references, as `bot.upstream.watch` asks for them. Reads the store."""
        pinned = tuple(pins)
        homes = {reference.rpartition("#")[0] for reference in references}
        accounts = {home: Account(self.read(home), pinned if home == UPSTREAM else ()) for home in homes}

        def facts(reference: str) -> ClockFacts:
            home, _, number = reference.rpartition("#")
            account = accounts.get(home)
            return read_facts(account.facts(int(number)), home) if account is not None else ClockFacts()

        return facts

    async def facts_of(self, references: Sequence[str]) -> Mapping[str, ClockFacts]:
        """The facts about those of the references that are recorded, for releases as they are tagged."""
        facts = await asyncio.to_thread(self.clock_facts, references, ())
        found = {reference: facts(reference) for reference in references}
        return {reference: known for reference, known in found.items() if known != ClockFacts()}

    def revision(self, references: Iterable[str]) -> str:
        """Changes whenever something new is recorded of the repositories that the references are of."""
        homes = sorted({reference.rpartition("#")[0] for reference in references})
        states = {home: self._facts.recall(UPSTREAM_KIND, home) or {} for home in homes}
        return " ".join(f"{home}:{state.get('revision', '')}" for home, state in states.items())

    async def poll(self, public: Public, repository: str, numbers: Iterable[int], pins: Iterable[str] = ()) -> Polled:
        """Ask what is new of one repository. Raises `RateLimited` when nothing more may be asked: what was told before
        is recorded. Other failures are among the answer's problems.
        """
        owner, _, name = repository.partition("/")
        state = dict(await self._facts.recall_soon(UPSTREAM_KIND, repository) or {})
        if state.get("until", 0.0) > self._now():
            return Polled(False, (f"{repository}: asked again after {_clock(state['until'])}: {state.get('why', '')}",))
        poll = _Poll(self, public, RepositoryName(owner, name), state, tuple(sorted(set(numbers))), tuple(pins))
        try:
            await poll.run()
        except RateLimited as error:
            poll.rest(str(error), error.until.timestamp())
            raise
        except GitHubError as error:
            poll.problems.append(f"{repository}: {error}")
            poll.rest(str(error))
        finally:
            await poll.close()
        return Polled(poll.changed, tuple(poll.problems))


async def poll_all(
    recording: Recording, public: Public, references: Iterable[str], pins: Iterable[str]
) -> tuple[str, ...]:
    """Asks what is new of every repository that references are of. Returns what could not be had."""
    wanted: dict[str, set[int]] = defaultdict(set)
    for reference in references:
        home, _, number = reference.rpartition("#")
        wanted[home].add(int(number))
    problems: list[str] = []
    for home in sorted(wanted, key=lambda name: (name != UPSTREAM, name)):
        try:
            polled = await recording.poll(public, home, wanted[home], sorted(set(pins)) if home == UPSTREAM else ())
        except RateLimited as error:
            problems.append(f"{home}: {error}")
            break
        problems += polled.problems
    return tuple(problems)


def _record(
    repository: str,
    state: Mapping[str, Any],
    begins: Mapping[str, Any],
    references: Mapping[str, Any],
    commits: Mapping[str, Any],
) -> Record:
    """What is stored, as a record with the history that ends in main at `begins["main"]` and begins at its `since`."""
    branches = (state.get("branches") or {}).get("heads") or {}
    tags = (state.get("tags") or {}).get("heads") or {}
    return Record(
        repository,
        begins.get("main"),
        begins.get("since"),
        branches,
        {name: sha for name, sha in tags.items() if sha},
        {sha: RecordedCommit(Node(tuple(row[0]), row[1]), row[2], row[3]) for sha, row in commits.items()},
        {int(number): _reference(int(number), row) for number, row in references.items() if "state" in row},
    )


def _reference(number: int, row: Mapping[str, Any]) -> RecordedReference:
    return RecordedReference(
        number,
        row["kind"],
        row["state"],
        row["born"],
        row.get("title", ""),
        row.get("closed_at"),
        row.get("merged_at"),
        row.get("merge_commit"),
        tuple((by, source) for by, source in row.get("rivals", ())),
        tuple((other, state, title) for other, state, title in row.get("others", ())),
    )


@dataclass
class _Poll:
    """One poll of one repository."""

    recording: Recording
    public: Public
    repository: RepositoryName
    state: dict[str, Any]
    numbers: tuple[int, ...]
    pins: tuple[str, ...]
    changed: bool = False
    problems: list[str] = field(default_factory=list)
    left: int = MAX_REQUESTS
    failures: int = 0
    rows: dict[str, Any] = field(default_factory=dict)

    async def run(self) -> None:
        """Asks for everything that may have changed, then for what is missing because of it."""
        self.left = MAX_REQUESTS_ANONYMOUS if self.public.anonymous else MAX_REQUESTS
        await self._look_at_the_repository()
        self.rows = await self.recording._records.all_soon(REFERENCE_KIND, str(self.repository))
        for number in self.numbers[-MAX_REFERENCES:]:
            await self._guarded(number, self.rows)
        if str(self.repository) == UPSTREAM:
            await self._heads()
            await self._history(self.rows)
        self.state |= {"failures": 0, "until": 0.0, "why": ""}

    def rest(self, why: str, until: float | None = None) -> None:
        """Leave the repository alone for a while: twice as long after each failure."""
        failures = int(self.state.get("failures", 0)) + 1
        pause = min(LONGEST_PAUSE, self.recording._every * 2.0 ** min(failures - 1, 10))
        moment = until if until is not None else self.recording._now() + pause
        self.state |= {"failures": failures, "until": moment, "why": why[:300]}

    async def close(self) -> None:
        """Keep what was learnt of branches and tags, and how it went.

        References are recorded one by one, before this: a process that dies in between has told nobody. So it is
        compared what the last revision stood for.
        """
        recorded = _digest(self.rows)
        if self.rows and recorded != self.state.get("recorded"):
            self.state["recorded"] = recorded
            self.changed = True
        if self.changed:
            self.state["revision"] = uuid.uuid4().hex  # no number: two processes may be at it
        await self.recording._facts.remember_soon(UPSTREAM_KIND, str(self.repository), self.state)

    # References

    async def _look_at_the_repository(self) -> None:
        now = self.recording._now()
        if now - float(self.state.get("looked_at", 0.0)) < PUBLIC_SECONDS:
            return
        branch = await self.public.default_branch(self.repository)
        if branch != self.state.get("branch"):
            self.state |= {"main": {}, "whole": {}}
        self.state |= {"branch": branch, "looked_at": now}

    async def _guarded(self, number: int, rows: dict[str, Any]) -> None:
        """Asks for a reference; one that can't be had holds up no other. Raises when GitHub seems to be away."""
        row = dict(rows.get(str(number)) or {})
        if row.get("until", 0.0) > self.recording._now():
            return
        try:
            row = await self._reference(number, row)
        except (RateLimited, Unauthorised):
            raise
        except (NotFound, Forbidden, Unprocessable, Conflict) as error:
            self._failed(f"{self.repository}#{number}", row, error)
        except GitHubError as error:
            self._failed(f"{self.repository}#{number}", row, error)
            self.failures += 1
            if self.failures >= GIVE_UP_AFTER:
                raise
        else:
            self.failures = 0
            row = {key: value for key, value in row.items() if key not in ("failures", "until")}
        if row != rows.get(str(number)):
            await self.recording._records.put_soon(REFERENCE_KIND, str(self.repository), {str(number): row})
            rows[str(number)] = row

    def _failed(self, what: str, row: dict[str, Any], error: GitHubError) -> None:
        """Leave a thing alone for a while, twice as long after each failure."""
        failures = int(row.get("failures", 0)) + 1
        pause = min(LONGEST_PAUSE, self.recording._every * (2.0 ** min(failures - 1, 10)) * 0.9)
        row |= {"failures": failures, "until": self.recording._now() + pause}
        self.problems.append(f"{what}: {error}")

    async def _reference(self, number: int, row: dict[str, Any]) -> dict[str, Any]:
        """What is to be recorded of a reference. The tag of the answer is kept with what the answer says."""
        since = str(row.get("modified") or "") if self.recording._now() < row.get("sure_until", 0.0) else ""
        ticket, etag, modified = await self.public.ticket(self.repository, number, str(row.get("etag") or ""), since)
        if ticket is not None:
            told = _told(ticket)
            if any(row.get(key) != value for key, value in told.items()):
                self.changed = True
                self.recording._progress(f"{self.repository}#{number} is {ticket.state}")
            if row.get("state") != ticket.state:
                row = {key: value for key, value in row.items() if key not in ("merge_commit", "heard")}
            row = {**row, **told, "etag": etag, "modified": modified}
        if not since and row.get("modified"):
            row = {**row, "sure_until": self.recording._now() + DATE_SECONDS}
        if row.get("state") == "merged" and not row.get("merge_commit") and self._may_ask():
            row["merge_commit"] = await self.public.merge_commit(self.repository, number)
            self.changed = True
        if row.get("state") == "closed" and row.get("kind") == "pull" and not row.get("heard") and self._may_ask():
            remarks = await self.public.remarks(self.repository, number)
            said = tuple(_said(remark) for remark in remarks)
            rivals, others = read_said(number, str(row.get("author", "")), str(self.repository), said)
            row |= {"rivals": rivals, "others": others, "heard": True}
            self.changed = True
        return row

    def _may_ask(self) -> bool:
        self.left -= 1
        return self.left >= 0

    # Branches, tags, commits

    async def _heads(self) -> None:
        main = self.state.get("main") or {}
        if self.state.get("pins") != sorted(self.pins) and "tags" in self.state:
            self.state["tags"] = {**self.state["tags"], "etag": ""}  # of other tags the commits are wanted now
        sha, etag = await self.public.branch(self.repository, str(self.state["branch"]), str(main.get("etag") or ""))
        if sha is not None:
            self._moved(main.get("sha") != sha)
            self.state["main"] = {"sha": sha, "etag": etag}
        await self._refs("branches", RELEASE_BRANCHES)
        await self._refs("tags", "v")

    async def _refs(self, what: str, prefix: str) -> None:
        known = self.state.get(what) or {}
        kind = "heads" if what == "branches" else "tags"
        refs, etag = await self.public.refs(
            self.repository,
            kind,  # type: ignore[arg-type]
            prefix,
            str(known.get("etag") or ""),
        )
        if refs is None:
            return
        refs = refs[: MAX_TAGS if kind == "tags" else MAX_BRANCHES]
        before, objects = known.get("heads") or {}, known.get("objects") or {}
        heads: dict[str, str | None] = {}
        for ref in refs:
            heads[ref.name] = before.get(ref.name) if objects.get(ref.name) == ref.sha else await self._target(ref)
        self._moved(heads != before)
        kept = {ref.name: ref.sha for ref in refs if heads[ref.name] not in (None, ref.sha)}
        # Where a tag's commit is still to be asked for, the whole list is asked for again.
        whole = None not in heads.values()
        self.state[what] = {"etag": etag if whole else "", "heads": heads, "objects": kept}

    async def _target(self, ref: Ref) -> str | None:
        """The commit of a branch or a tag: None where an annotated tag could not be looked at yet, an empty text where
        it is about something else.
        """
        if not ref.annotated:
            return ref.sha
        if not wanted_tags({ref.name: ref.sha}, self.pins):
            return ref.sha  # nobody asks where it stands
        if not self._may_ask():
            return None
        return await self.public.tagged(self.repository, ref.sha) or ""

    def _moved(self, moved: bool) -> None:
        if moved:
            self.changed = True
            self.state["behind"] = True

    async def _history(self, rows: Mapping[str, Any]) -> None:
        """Commits that are missing, until all lines are complete or enough was asked for."""
        watched = (rows.get(str(number)) or {} for number in self.numbers)
        born = [row["born"] for row in watched if "born" in row]
        oldest = self.recording._now() - MAX_AGE_SECONDS
        young = [moment for moment in born if moment - MARGIN_SECONDS > oldest]
        before = self.state.get("since")
        begins = [moment - MARGIN_SECONDS for moment in young] + ([before] if before is not None else [])
        since = min(begins, default=None)  # never later than it was: others may ask about older ones
        if since != self.state.get("since") or self.state.get("pins") != sorted(self.pins):
            self.state |= {"since": since, "behind": True, "pins": sorted(self.pins)}
            self.changed = True
        if since is None or not self.state.get("behind"):
            return
        commits = await self.recording._records.all_soon(COMMIT_KIND, str(self.repository))
        known: dict[str, Any] = self.state.get("lost") or {}
        lost: dict[str, Any] = {}
        while gaps := [sha for sha in await asyncio.to_thread(self._gaps, commits) if sha not in lost]:
            for gap in gaps:
                if gap in commits:
                    continue
                row = dict(known.get(gap) or {})
                if row.get("until", 0.0) > self.recording._now():
                    lost[gap] = row
                    continue
                if not self._may_ask():
                    self.problems.append(f"{self.repository}: the history is not complete yet; the next poll goes on")
                    return
                try:
                    await self._fetch(gap, commits)
                except (NotFound, Unprocessable, Conflict) as error:
                    self._failed(f"{self.repository}: commit {gap[:12]}", row, error)
                    lost[gap] = row
        self.state |= {"behind": bool(lost), "lost": lost}

    def _gaps(self, commits: Mapping[str, Any]) -> tuple[str, ...]:
        now = {"main": self.state["main"].get("sha"), "since": self.state["since"]}
        record = _record(str(self.repository), self.state, now, {}, commits)
        if record.history is not None and record.history.main.complete and self.state.get("whole") != now:
            self.state["whole"] = now
            self.changed = True
        return Account(record, self.pins).gaps()

    async def _fetch(self, sha: str, commits: dict[str, Any]) -> None:
        """Records a commit and those before it. Raises `NotFound`, also in other forms, when there is none."""
        tagged = sha in ((self.state.get("tags") or {}).get("heads") or {}).values()
        if tagged:  # most are older than the history, which one commit tells
            page: tuple[CommitData, ...] = (await self.public.commit(self.repository, sha),)
        else:
            page = await self.public.commits(self.repository, sha)
        new = {commit.sha: _row(commit) for commit in page if commit.sha not in commits}
        if not new:
            raise NotFound("GitHub lists no commit that was missing")
        await self.recording._records.put_soon(COMMIT_KIND, str(self.repository), new)
        commits |= new
        self.changed = True
        self.recording._progress(f"{self.repository}: {len(commits)} commits")


_APART = ("etag", "modified", "sure_until", "until", "failures")
"""What is recorded of a reference only to ask for it the next time."""


def _digest(rows: Mapping[str, Any]) -> str:
    """Stands for what is recorded of references."""
    said = {number: {key: value for key, value in row.items() if key not in _APART} for number, row in rows.items()}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]


def _told(ticket: Ticket) -> dict[str, Any]:
    return {
        "kind": ticket.kind,
        "state": ticket.state,
        "title": ticket.title,
        "born": ticket.created_at,
        "closed_at": ticket.closed_at,
        "merged_at": ticket.merged_at,
        "author": ticket.author,
    }


def _said(remark: Remark) -> Said:
    return Said(
        remark.number, remark.is_pull, remark.title, remark.body, remark.author, remark.association, remark.state
    )


def _row(commit: CommitData) -> list[Any]:
    title, message = text_that_matters(commit.message)
    return [list(commit.parents), commit.date, title, message]


def _clock(moment: float) -> str:
    return time.strftime("%H:%M UTC", time.gmtime(moment))
