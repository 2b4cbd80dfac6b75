"""Whether a release has one fix: by a probe of its source, by its history, or by an ancestry answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from bot.upstream.effects import Effect, Effects, Event, effects_on, matches
from bot.upstream.facts import Facts
from bot.upstream.history import MAIN, Held, History, Reading, read_event
from bot.upstream.pins import PinnedAt, pinned_at

_GONE = re.compile(
    r"\b(?:gone|removed|deleted|dead[- ]target|no longer (?:exists?|there|defined|present)|does(?: not|n't) exist|"
    r"(?:no|has no) such (?:file|class|function|method))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a pin has the fix (None: unknown), and why.

    `probed` says that a probe decided; `held` is what the history alone says; `gone` that a probe found no code that
    the fix could be about.
    """

    holds: bool | None
    evidence: tuple[str, ...]
    conflict: str | None = None
    probed: bool = False
    reading: Reading | None = None
    gone: bool = False

    @property
    def held(self) -> Held:
        """What the history says."""
        return self.reading.held if self.reading is not None else Held.UNKNOWN


class Containment:
    """One fix, and what the facts say about releases. With `probes` off, they are not asked: they probe another fix."""

    def __init__(self, number: int, facts: Facts, *, probes: bool = True) -> None:
        self.number = number
        self.facts = facts
        self.probes = facts.probes if probes else ()
        self.contains = facts.contains if probes else ()
        pulls = [pull for pull in facts.pulls if pull.number == number]
        issues = [issue for issue in facts.issues if issue.number == number]
        self.is_issue = bool(issues) and not pulls
        states = {pull.state for pull in pulls}
        self.contradictory = states == {"open", "closed"} or (not pulls and len({i.state for i in issues}) > 1)
        self.pull_state: Literal["open", "closed", "merged"] | None = None
        if "merged" in states:
            self.pull_state = "merged"
        elif len(states) == 1:
            self.pull_state = states.pop()
        self.issue_state = issues[0].state if self.is_issue and not self.contradictory else None
        self.effects: Effects = effects_on(number, facts, issue=self.is_issue)
        self.history = History(self.effects.events, facts.branches)
        self._known: dict[str, Verdict] = {}

    def of(self, pin: str) -> Verdict:
        """Whether a pin has the fix."""
        if pin not in self._known:
            self._known[pin] = self._judge(pin)
        return self._known[pin]

    @cached_property
    def _main(self) -> Reading | None:
        readings = [self.history.at(name, None) for name in MAIN]
        return next((reading for reading in readings if reading.held is not Held.NEVER), readings[0])

    def on_main(self) -> Reading | None:
        """What main holds at its end, as far as it is recorded."""
        return self._main

    def unplaced_revert(self) -> int | None:
        """A merged revert of the fix of which nobody knows where it landed."""
        return next((n for effect, n in self.effects.unplaced if effect in (Effect.REVERTS, Effect.UNCLEAR)), None)

    def lost_somewhere(self) -> bool:
        """Whether, of all that is recorded without a place, a revert is the last word."""
        if self.unplaced_revert() is None:
            return False
        again = any(effect is Effect.RELANDS for effect, _ in self.effects.unplaced)
        return not again and not any(event.effect is Effect.RELANDS for event in self.effects.events)

    def _judge(self, pin: str) -> Verdict:
        at = pinned_at(pin)
        history, reading, notes = self._by_history(pin, at)
        answers = {fact.holds: fact.text for fact in self.probes if _same(fact.release, pin, at)}
        if not answers:
            return Verdict(history, tuple(notes), reading=reading)
        if reading is None:
            notes = notes[1:]  # that no place of it is recorded says nothing beside its source
        gone = any(holds is None and _GONE.search(text) for holds, text in answers.items())
        definite = [holds for holds in answers if holds is not None]
        said = [f"probe of the source: {_word(holds)}{f' ({text})' if text else ''}" for holds, text in answers.items()]
        said.sort()
        if len(definite) == 2:
            return Verdict(None, (*said, *notes), "two probes of one release disagree", True, reading, gone)
        if len(answers) > 1 or not definite:  # the source was looked at and did not tell: history alone won't clear it
            held = False if history is False and not definite else None
            return Verdict(held, (*said, *notes), None, False, reading, gone)
        (holds,) = definite
        conflict = None
        if history is not None and history is not holds:
            conflict = (
                f"by its history {pin} {'has' if history else 'does not have'} the fix, "
                f"but the probe of its source says that it {'has it' if holds else 'does not'}"
            )
        return Verdict(holds, (*said, *notes), conflict, True, reading, gone)

    def _by_history(self, pin: str, at: PinnedAt) -> tuple[bool | None, Reading | None, list[str]]:
        """Whether the history up to a pin has the fix, the reading of its line where that is known, and the reasons."""
        reading, notes = self._line(pin, at)
        holds = _HOLDS[reading.held] if reading is not None else None
        if reading is not None and reading.why:
            notes.append(reading.why)
        if reading is not None and holds is False and reading.held is Held.NEVER:
            notes.append(f"no commit up to {pin} brings it")
        ancestry = {fact.holds for fact in self.contains if _same(fact.release, pin, at)}
        if ancestry:
            holds = self._with_ancestry(ancestry, holds, reading, notes)
        holds = self._with_unplaced(holds, False in ancestry, reading, notes)
        if holds is None and True not in ancestry and self._was_never_merged(at):
            notes.append(f"#{self.number} is {self.pull_state or self.issue_state}, and no commit lands it")
            return False, reading, notes
        if self.is_issue and holds:
            notes.append("that a commit says it closes an issue does not show that the defect is gone: no probe")
            return None, reading, notes
        if self.is_issue and holds is False and not self.effects.events and self.issue_state == "closed":
            notes.append("the issue is closed and no fix of it is recorded: only the source can tell")
            return None, reading, notes
        return holds, reading, notes

    def _line(self, pin: str, at: PinnedAt) -> tuple[Reading | None, list[str]]:
        places = self._places(pin, at)
        if len(places) > 1:
            return None, [f"the facts place {pin} at more than one commit"]
        if places:
            ((branch, position),) = places
            return self.history.at(branch, position), [f"{pin} is on {branch}"]
        if (event := self._at_itself(pin, at)) is not None:
            return read_event(event), [f"{pin} is {event.commit.sha[:12]} itself"]
        return None, [f"{pin}: {at.why}" if at.why else f"no place of {pin} in the history is recorded"]

    def _places(self, pin: str, at: PinnedAt) -> set[tuple[str, int]]:
        found: set[tuple[str, int]] = set()
        for tag in self.facts.tags:
            if not _same(tag.name, pin, at):
                continue
            if tag.branch is not None and tag.position is not None:
                found.add((tag.branch, tag.position))
            elif tag.sha is not None:
                found.update(self._commit_places(tag.sha))
        if at.kind == "commit":
            found.update(self._commit_places(at.value))
        return found

    def _at_itself(self, pin: str, at: PinnedAt) -> Event | None:
        """What the very commit of a pin does, where it has no place; None when nothing, or its facts disagree."""
        shas = [tag.sha for tag in self.facts.tags if tag.sha and _same(tag.name, pin, at)]
        shas += [at.value] if at.kind == "commit" else []
        found = {e for e in self.effects.events if any(matches(e.commit.sha, sha) for sha in shas)}
        return found.pop() if len(found) == 1 else None

    def _commit_places(self, sha: str) -> set[tuple[str, int]]:
        return {
            (commit.branch, commit.position)
            for commit in self.facts.commits
            if matches(commit.sha, sha) and commit.branch is not None and commit.position is not None
        }

    def _with_ancestry(
        self, ancestry: set[bool], holds: bool | None, reading: Reading | None, notes: list[str]
    ) -> bool | None:
        """The history with an ancestry answer: it speaks of the merge commit alone, of no cherry-pick and no revert."""
        if len(ancestry) > 1:
            notes.append("two ancestry answers disagree")
            return None
        (inside,) = ancestry
        notes.append(f"the merge commit is {'an' if inside else 'no'} ancestor")
        if self.pull_state != "merged" and not self.effects.landed:
            return None if inside else holds
        if inside:
            if holds is not None and reading is not None:
                if reading.held is not Held.NEVER:
                    return holds
                if (Effect.LANDS, self.number) in self.effects.unplaced:
                    return True  # the one that landed it was not recorded, and no revert is on the way
                notes.append("but it is not on the recorded way there")
                return None
            reverts = [e for e in self.effects.events if e.effect in (Effect.REVERTS, Effect.UNCLEAR)]
            if reverts:
                notes.append("but there are reverts, and whether they lie on its way is not recorded")
                return None
            return None if reading is not None and reading.last is not None else True
        if holds and reading is not None and reading.merge:
            notes.append("but the recorded way there has it")
            return None
        if holds is None:
            others = any(e.effect in (Effect.LANDS, Effect.RELANDS) and not e.merge for e in self.effects.events)
            return None if others else False
        return holds

    def _with_unplaced(
        self, holds: bool | None, no_ancestor: bool, reading: Reading | None, notes: list[str]
    ) -> bool | None:
        """The history where something merged at a place that nobody recorded."""
        if holds and (lost := self._unplaced_reverts()):
            notes.append(f"{lost} reverts it, at a place that is not recorded")
            return None
        for effect, number in self.effects.unplaced:
            if holds and effect in (Effect.REVERTS, Effect.UNCLEAR):
                notes.append(f"{_named(number)} reverts it and is merged, where is not recorded")
                return None
            never = reading is not None and reading.held is Held.NEVER
            if holds is False and never and effect in (Effect.LANDS, Effect.RELANDS) and not no_ancestor:
                notes.append(f"{_named(number)} is merged, where is not recorded")
                return None
        return holds

    def _unplaced_reverts(self) -> str:
        """A commit that may take the fix back and of which no branch is recorded; empty where there is none."""
        placed = [e.commit.sha for e in self.effects.events if e.commit.branch is not None and e.commit.sha]
        for event in self.effects.events:
            takes_back = event.effect in (Effect.REVERTS, Effect.UNCLEAR)
            if takes_back and event.commit.branch is None and not any(matches(event.commit.sha, s) for s in placed):
                return event.commit.sha[:12] or f'"{event.commit.title[:80]}"'
        return ""

    def _was_never_merged(self, at: PinnedAt) -> bool:
        """Whether no release can have it: nothing landed. Images of unknown make may have anything."""
        if self.effects.events or self.effects.unplaced or at.kind == "unknown":
            return False
        if self.is_issue:
            return self.issue_state == "open"
        return self.pull_state in ("open", "closed")


_HOLDS: dict[Held, bool | None] = {Held.IN: True, Held.NEVER: False, Held.REVERTED: False, Held.UNKNOWN: None}


def _same(release: str, pin: str, at: PinnedAt) -> bool:
    """Whether a fact's release is the pin's."""
    if release == pin:
        return True
    other = pinned_at(release)
    if at.kind == "unknown" or other.kind != at.kind:
        return False
    return matches(other.value, at.value) if at.kind == "commit" else other.value == at.value


def _named(number: int) -> str:
    return f"#{number}" if number > 0 else "a pull request without its number"


def _word(holds: bool | None) -> str:
    return {True: "the fix is there", False: "the fix is not there", None: "cannot tell"}[holds]
