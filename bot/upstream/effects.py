"""What each commit does to one fix: it lands it, reverts it, lands it again, or nobody can tell which.

Commits are linked to the fix by number, by hash, by what they were picked from and by the title that they quote,
through reverts of reverts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from bot.upstream.facts import Commit, Facts, Pull
from bot.upstream.titles import (
    MAX_DEPTH,
    Saying,
    bare_numbers,
    blamed,
    closed_issues,
    picked_commits,
    picked_pulls,
    read_title,
    relanded_pulls,
    reverted_commits,
    reverted_pulls,
    same_title,
    says_partly,
    says_revert,
    taken_back,
)

MIN_ABBREVIATION = 7
"""Hexadecimal digits by which a commit may be named in short."""

MIN_HINT = 4
"""Digits below that by which it may be meant: git takes no fewer."""

MAX_LISTED = 500
"""Lines of a message in which picked titles are looked for."""


_NUMBERS = re.compile(r"(?:#|/pull/)(\d{1,9})\b")
_SPEAKS = re.compile(
    r"revert|undo|back(?:s|ed|ing)?[\s-]?out|roll|re-?(?:land|appl|submit|merge)|cherry|back-?port|take 2|attempt",
    re.IGNORECASE,
)
"""Words without which nothing is picked, taken back or landed again."""


class Effect(Enum):
    """What a commit does to the fix. `UNCLEAR`: it takes back a part, or speaks of a revert that is not understood."""

    LANDS = "lands"
    REVERTS = "reverts"
    RELANDS = "lands again"
    UNCLEAR = "may revert"


_UNDONE = {
    Effect.LANDS: Effect.REVERTS,
    Effect.RELANDS: Effect.REVERTS,
    Effect.REVERTS: Effect.RELANDS,
    Effect.UNCLEAR: Effect.UNCLEAR,
}


@dataclass(frozen=True, slots=True)
class Event:
    """A commit with an effect. `pull` is the number of the pull request that made it, `merge` says
    that it is the merge commit of the fix itself.
    """

    effect: Effect
    commit: Commit
    pull: int | None
    merge: bool = False


@dataclass(frozen=True, slots=True)
class Effects:
    """All that happened to one fix. `unplaced` are merged pull requests with an effect whose commit is not known."""

    events: tuple[Event, ...]
    unplaced: tuple[tuple[Effect, int], ...]

    @property
    def landed(self) -> bool:
        """Whether some commit brings the fix in."""
        return any(event.effect in (Effect.LANDS, Effect.RELANDS) for event in self.events)


def effects_on(number: int, facts: Facts, *, issue: bool = False) -> Effects:
    """What the recorded commits do to pull request `number`; for an issue, to the fixes that say they close it."""
    return _Linking(number, facts, issue=issue).effects()


def matches(sha: str, other: str) -> bool:
    """Whether two hashes, either of them maybe short, are of one commit."""
    one, two = sha.lower(), other.lower()
    if min(len(one), len(two)) < MIN_ABBREVIATION:
        return one == two != ""
    return one.startswith(two) or two.startswith(one)


def speaks(text: str) -> bool:
    """Whether a text speaks of picks or reverts; one that does not does nothing to a fix that it does not name."""
    return _SPEAKS.search(text) is not None


class _Linking:
    def __init__(self, number: int, facts: Facts, *, issue: bool) -> None:
        self.number = number
        self.facts = facts
        self.issue = issue
        pulls: dict[int, list[Pull]] = {}
        for pull in facts.pulls:
            pulls.setdefault(pull.number, []).append(pull)
        self.pulls: Mapping[int, list[Pull]] = pulls
        self.merges = {p.merge_commit.lower() for p in pulls.get(number, ()) if p.merge_commit and not issue}
        merges = (pull.merge_commit for pull in facts.pulls if pull.merge_commit)
        self.recorded = {merge[:MIN_ABBREVIATION].lower() for merge in merges}
        self.titles = {read_title(pull.title).subject for pull in pulls.get(number, ()) if pull.title}
        told = (commit.message for commit in facts.commits if str(number) in commit.message)
        self.blamed = {who for message in told for who, whom in blamed(message) if whom == number}
        self.by_sha: dict[str, Effect] = {}
        self.by_pull: dict[int, Effect] = {}
        self.heads: dict[str, list[str]] = {}

    def effects(self) -> Effects:
        commits = [commit for commit in self.facts.commits if self._may_matter(commit)]
        if not self.issue:
            self._set_pull(self.number, Effect.LANDS)
            self._learn_titles(commits)
            self._learn_who_took_it_back(commits)
        found: dict[int, Effect] = {}
        for _ in range(MAX_DEPTH):  # each round links what the one before made known
            before = (len(self.by_sha), len(self.by_pull), len(found))
            for pull in self.facts.pulls:
                if pull.number not in self.by_pull and (effect := self._of_text(pull.title, "", MAX_DEPTH)):
                    self._set_pull(pull.number, effect)
            for index, commit in enumerate(commits):
                if index not in found and (effect := self._of_commit(commit)):
                    found[index] = effect
                    self._set_sha(commit.sha, effect)
                    own = read_title(commit.title).own
                    if own is not None and own not in self.by_pull and effect is not Effect.LANDS:
                        self._set_pull(own, effect)
            if (len(self.by_sha), len(self.by_pull), len(found)) == before:
                break
        events = tuple(self._event(commits[index], effect) for index, effect in sorted(found.items()))
        return Effects(events, tuple(self._unplaced(events)))

    def _may_matter(self, commit: Commit) -> bool:
        """Whether a commit names the fix or a recorded pull request, or speaks of picks and reverts: most don't."""
        number = str(self.number)
        if number in commit.title or number in commit.message or commit.sha[:MIN_ABBREVIATION].lower() in self.recorded:
            return True
        if _SPEAKS.search(commit.title) or _SPEAKS.search(commit.message):
            return True
        return any(int(found) in self.pulls or int(found) in self.blamed for found in _NUMBERS.findall(commit.title))

    def _learn_titles(self, commits: Iterable[Commit]) -> None:
        for commit in commits:
            saying = read_title(commit.title)
            if saying.verb == "none" and (saying.own == self.number or self._is_merge(commit.sha)):
                self.titles.add(saying.subject)

    def _learn_who_took_it_back(self, commits: Iterable[Commit]) -> None:
        """Merges that lost the fix by accident, and say nothing of it: whoever lands it again does."""
        for commit in commits:
            for who, whom in blamed(commit.message):
                if whom == self.number != who and who not in self.by_pull:
                    self._set_pull(who, Effect.REVERTS)

    def _event(self, commit: Commit, effect: Effect) -> Event:
        return Event(effect, commit, self._pull_of(commit), self._is_merge(commit.sha))

    def _pull_of(self, commit: Commit) -> int | None:
        own = read_title(commit.title).own
        if own is not None:
            return own
        for pull in self.facts.pulls:
            if pull.merge_commit and matches(pull.merge_commit, commit.sha):
                return pull.number
        return None

    def _is_merge(self, sha: str) -> bool:
        return any(matches(merge, sha) for merge in self.merges)

    def _set_pull(self, number: int, effect: Effect) -> None:
        self.by_pull[number] = effect
        for pull in self.pulls.get(number, ()):
            if pull.merge_commit:
                self._set_sha(pull.merge_commit, effect)

    def _set_sha(self, sha: str, effect: Effect) -> None:
        lower = sha.lower()
        if lower and lower not in self.by_sha:
            self.by_sha[lower] = effect
            self.heads.setdefault(lower[:MIN_ABBREVIATION], []).append(lower)

    def _at(self, sha: str) -> Effect | None:
        """The effect of the commit that a hash, maybe a short one, names."""
        near = self.heads.get(sha.lower()[:MIN_ABBREVIATION], ())
        return next((self.by_sha[known] for known in near if matches(known, sha)), None)

    def _near(self, sha: str) -> Effect | None:
        """That a hash too short to be sure of may be that of a commit with an effect."""
        if not MIN_HINT <= len(sha) < MIN_ABBREVIATION:
            return None
        return Effect.UNCLEAR if any(known.startswith(sha.lower()) for known in self.by_sha) else None

    def _of_commit(self, commit: Commit) -> Effect | None:
        if self.issue:
            known = self._at(commit.sha)
            closes = self.number in (*closed_issues(commit.title), *closed_issues(commit.message))
            if closes and read_title(commit.title).verb == "none":
                own = read_title(commit.title).own
                if own is not None:
                    self.by_pull.setdefault(own, Effect.LANDS)
                self.titles.add(read_title(commit.title).subject)
                return Effect.LANDS
            if known is not None:
                return known
        elif self._is_merge(commit.sha):
            return Effect.LANDS
        picked = [effect for sha in picked_commits(commit.message) if (effect := self._at(sha))]
        spoken = self._of_text(commit.title, commit.message, MAX_DEPTH)
        if spoken is not None:
            return spoken
        if picked:
            return picked[0]
        if (by_hash := self._at(commit.sha)) is not None:
            return by_hash
        return None

    def _of_text(self, title: str, message: str, depth: int) -> Effect | None:
        saying = read_title(title)
        if depth <= 0:
            return Effect.UNCLEAR
        if saying.verb == "none":
            return self._plain(saying, message)
        if saying.verb == "revert":
            return self._reverting(saying, message, depth)
        return self._relanding(saying, message, depth)

    def _plain(self, saying: Saying, message: str) -> Effect | None:
        own = saying.own
        if own is not None and own in self.by_pull:
            return self.by_pull[own]
        undone = self._undone_by(message)
        if undone is not None:  # takes it back without saying so in its title
            return Effect.UNCLEAR if says_partly(f"{saying.subject} {message}") else undone
        if self.number in relanded_pulls(message) and not self.issue:
            return Effect.RELANDS
        if self.number in picked_pulls(message) and not self.issue:
            return Effect.LANDS
        if saying.picked and self._lists(message):
            return Effect.LANDS
        if self.number in taken_back(message) and self.number != own:
            return Effect.UNCLEAR  # it speaks of it; whether it does it is not said
        if self.number in saying.numbers and any(same_title(saying.subject, one) for one in self.titles):
            return Effect.LANDS  # picked under a number of its own; a follow-up may name it too, but has another title
        if self.number in saying.named and saying.picked and not says_revert(saying.subject):
            return Effect.LANDS
        if self.number in saying.named or (saying.partly and self.number in saying.numbers):
            return Effect.UNCLEAR
        return None

    def _lists(self, message: str) -> bool:
        """Whether a message has the fix among the titles of what it picks."""
        titles = (read_title(line.strip(" *-\t")) for line in message.splitlines()[:MAX_LISTED])
        return any(one.verb == "none" and one.own == self.number and not self.issue for one in titles)

    def _reverting(self, saying: Saying, message: str, depth: int) -> Effect | None:
        if saying.own == self.number and not self.issue and self._is_itself_a_revert(saying):
            return Effect.LANDS
        undone = self._undone_by(message, is_revert=True)
        if undone is None:
            undone = self._undone_title(saying, depth)
        if undone is None:
            return Effect.UNCLEAR if self._may_list(saying, message) else None
        return Effect.UNCLEAR if saying.partly or says_partly(message) else undone

    def _may_list(self, saying: Saying, message: str) -> bool:
        """Whether a revert that does not say of what, in its title, has the fix in its message."""
        about = saying.named or (saying.quoted and read_title(saying.quoted).numbers)
        known = about or reverted_commits(message) or reverted_pulls(message, is_revert=True)
        return not known and not self.issue and str(self.number) in _NUMBERS.findall(message)

    def _undone_title(self, saying: Saying, depth: int) -> Effect | None:
        """What reverting the title that is quoted, or the number that is named, does."""
        for named in saying.named:
            if named in self.by_pull:
                return _UNDONE[self.by_pull[named]]
        if saying.quoted is None:
            return self._by_own_number(saying)
        inner = read_title(saying.quoted)
        bare = bare_numbers(inner.subject) if inner.verb == "none" else ()
        for number in (*reversed(inner.numbers), *bare):
            if number in self.by_pull:
                return _UNDONE[self.by_pull[number]]
        if inner.verb != "none":
            effect = self._of_text(saying.quoted, "", depth - 1)
            return _UNDONE[effect] if effect else None
        if not inner.numbers and any(same_title(inner.subject, title) for title in self.titles):
            return Effect.REVERTS
        return self._by_own_number(saying)

    def _by_own_number(self, saying: Saying) -> Effect | None:
        """`Revert "…" (#N)` by hand, with the number of what it reverts in the place of its own."""
        if self.issue or self.number not in saying.numbers:
            return None
        return Effect.REVERTS

    def _relanding(self, saying: Saying, message: str, depth: int) -> Effect | None:
        if saying.own == self.number and not self.issue:
            return Effect.LANDS
        undone = self._undone_by(message)
        if undone is Effect.RELANDS:
            return undone
        if self.number in relanded_pulls(message) and not self.issue:
            return Effect.RELANDS
        for named in saying.named:
            if named in self.by_pull:
                return Effect.RELANDS
        if saying.quoted is None:
            return None
        inner = read_title(saying.quoted)
        if any(number in self.by_pull for number in inner.numbers):
            return Effect.RELANDS
        if not inner.numbers and any(same_title(inner.subject, title) for title in self.titles):
            return Effect.RELANDS
        if inner.verb != "none":
            effect = self._of_text(saying.quoted, "", depth - 1)
            return Effect.RELANDS if effect in (Effect.REVERTS, Effect.RELANDS) else None
        return None

    def _undone_by(self, message: str, *, is_revert: bool = False) -> Effect | None:
        """What a message does that says which commits or pull requests it reverts."""
        if not message:
            return None
        known = [effect for sha in reverted_commits(message) if (effect := self._at(sha) or self._near(sha))]
        known += [
            self.by_pull[number] for number in reverted_pulls(message, is_revert=is_revert) if number in self.by_pull
        ]
        undone = {_UNDONE[effect] for effect in known}
        if not undone:
            return None
        return undone.pop() if len(undone) == 1 else Effect.UNCLEAR

    def _is_itself_a_revert(self, saying: Saying) -> bool:
        """Whether the fix is a revert of something else; its title then has a number inside and its own behind."""
        if saying.quoted is not None and any(n != self.number for n in read_title(saying.quoted).numbers):
            return True
        return any(read_title(pull.title).verb == "revert" for pull in self.pulls.get(self.number, ()))

    def _unplaced(self, events: Iterable[Event]) -> Iterable[tuple[Effect, int]]:
        """Merged pull requests whose own commit is nowhere: what they do is known, where they did it is not.

        A cherry-pick bears the number too, but stands elsewhere.
        """
        placed = [event.commit for event in events if event.commit.branch and event.commit.position is not None]
        for number, effect in sorted(self.by_pull.items()):
            merged = [pull for pull in self.pulls.get(number, ()) if pull.state == "merged"]
            merges = [pull.merge_commit for pull in merged if pull.merge_commit]
            if merged and not any(_is_of(commit, number, merges) for commit in placed):
                yield effect, number


def _is_of(commit: Commit, number: int, merges: list[str]) -> bool:
    """Whether a commit is the merge of a pull request: by its hash where that is known, else by its number."""
    if merges:
        return any(matches(merge, commit.sha) for merge in merges)
    return read_title(commit.title).own == number
