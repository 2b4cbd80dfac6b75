"""What a branch has up to a position: its own commits, after those of the branch that it was cut from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from bot.upstream.effects import Effect, Event
from bot.upstream.facts import Branch

MAIN = ("main", "master")
"""Branches that are cut from no other."""

MAX_CUTS = 16
"""Branches cut from branches; a patch of a release is cut twice."""


class Held(Enum):
    """Whether a line has the fix at its end."""

    NEVER = "never had it"
    IN = "has it"
    REVERTED = "had it, and reverted it"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a line holds, the event that decided it, and the sentence that says so.

    `again` says that the fix came in once more after a revert.
    """

    held: Held
    last: Event | None
    why: str
    again: bool = False
    merge: bool = False


class History:
    """The branches, and the events on them that have a place."""

    def __init__(self, events: Iterable[Event], branches: Iterable[Branch]) -> None:
        on: dict[str, list[Event]] = defaultdict(list)
        for event in events:
            if event.commit.branch is not None:
                on[event.commit.branch].append(event)
        self._placed = {branch: _in_order(found) for branch, found in on.items()}
        self._cuts: dict[str, set[tuple[str, int]]] = defaultdict(set)
        for branch in branches:
            self._cuts[branch.name].add((branch.origin, branch.position))

    def at(self, branch: str, position: int | None) -> Reading:
        """What `branch` holds up to `position`, that included; None means up to its end."""
        return self._read(branch, position, MAX_CUTS)

    def _read(self, branch: str, position: int | None, cuts: int) -> Reading:
        reading = self._before(branch, cuts)
        placed = self._placed.get(branch, ())
        if placed is None:
            return Reading(Held.UNKNOWN, None, f"a commit on {branch} has no known position")
        before: tuple[int, Effect | None] | None = None
        for place, event in placed:
            if position is not None and place > position:
                break
            if before is not None and before[0] == place and before[1] is not event.effect:
                reading = Reading(Held.UNKNOWN, event, f"two commits share position {place} of {branch}")
                before = (place, None)
            else:
                reading = _after(reading, event)
                before = (place, event.effect)
        return reading if position is None else _doubted(reading, _next(placed, position))

    def _before(self, branch: str, cuts: int) -> Reading:
        """What a branch had when it was cut."""
        found = self._cuts.get(branch, set())
        if not found:
            if branch in MAIN:
                return Reading(Held.NEVER, None, "")
            return Reading(Held.UNKNOWN, None, f"where {branch} was cut is not known")
        if len(found) > 1 or cuts <= 0:
            return Reading(Held.UNKNOWN, None, f"{branch} is said to be cut at more than one place")
        ((origin, position),) = found
        return self._read(origin, position, cuts - 1)


def read_event(event: Event) -> Reading:
    """What a line holds right at an event, whatever came before it."""
    return _after(Reading(Held.NEVER, None, ""), event)


def _in_order(events: Iterable[Event]) -> tuple[tuple[int, Event], ...] | None:
    """Events by position, those that land it first; None where one has no position."""
    placed: list[tuple[int, Event]] = []
    for event in events:
        if event.commit.position is None:
            return None
        placed.append((event.commit.position, event))
    placed.sort(key=lambda item: (item[0], item[1].effect is not Effect.LANDS, repr(item[1].commit)))
    return tuple(placed)


def _doubted(reading: Reading, after: Event | None) -> Reading:
    """What a line holds, in the light of what comes next: what is landed again was lost before, maybe here already."""
    if reading.held is not Held.IN or after is None or after.effect is not Effect.RELANDS:
        return reading
    why = f"{_where(after)} lands it again, so that something before took it back: nobody recorded where"
    return Reading(Held.UNKNOWN, after, why, reading.again, reading.merge)


def _next(placed: Iterable[tuple[int, Event]], position: int) -> Event | None:
    """The first event behind a position."""
    return next((event for place, event in placed if place > position), None)


def _where(event: Event) -> str:
    return f"{event.commit.sha[:12]} on {event.commit.branch}, {_quoted(event.commit.title)}"


def _after(before: Reading, event: Event) -> Reading:
    where = _where(event)
    if event.effect is Effect.UNCLEAR:
        return Reading(Held.UNKNOWN, event, f"{where} may take back a part of it", before.again, before.merge)
    if event.effect is Effect.REVERTS:
        return Reading(Held.REVERTED, event, f"reverted by {where}", before.again)
    again = event.effect is Effect.RELANDS or before.held is Held.REVERTED or before.again
    how = "landed again with" if again else "landed with" if event.merge else "came in with"
    return Reading(Held.IN, event, f"{how} {where}", again, before.merge or event.merge)


def _quoted(title: str) -> str:
    """A title between marks that it does not hold itself."""
    words = " ".join(title.replace("“", '"').replace("”", '"').split())
    return f"“{words if len(words) <= 100 else f'{words[:99]}…'}”"
