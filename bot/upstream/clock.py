"""The clock of one upstream reference: from recorded facts to how far the fix has come, and which pins have it.

`pinned` is only ever said on evidence: a probe of that release's source, or a history that is known up to its tag and
in which the fix landed and was not reverted. What is not known is `unknown`, and clears nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from packaging.version import Version

from bot.references import UPSTREAM
from bot.upstream.containment import Containment, Verdict
from bot.upstream.facts import Facts, Supersedes
from bot.upstream.history import Held
from bot.upstream.pins import is_final, pinned_at, version_of

State = Literal[
    "open",
    "merged",
    "released",
    "pinned",
    "closed-unmerged",
    "superseded",
    "reverted",
    "re-landed",
    "dead-target",
    "unknown",
]
PinState = Literal["pinned", "not-pinned", "unknown"]
_STATES: dict[bool | None, PinState] = {True: "pinned", False: "not-pinned", None: "unknown"}


@dataclass(frozen=True, slots=True)
class PinAnswer:
    """What is known of one pin. `conflict` is a sentence where source and history disagree: then the source counts."""

    state: PinState
    evidence: tuple[str, ...]
    conflict: str | None = None


@dataclass(frozen=True, slots=True)
class Clock:
    """One reference. `first_release` is the lowest version that has the fix, where that is sure; `why` says why a
    state is unknown.
    """

    reference: str
    state: State
    first_release: str | None
    reverted_by: str | None
    superseded_by: str | None
    pins: dict[str, PinAnswer]
    why: str = ""


def read_clock(reference: str, pins: Iterable[str], facts: Facts) -> Clock:
    """The clock of a reference in normal form (`vllm-project/vllm#48375`), for each of the pins."""
    return _Reading(reference, tuple(dict.fromkeys(pins)), facts).clock()


class _Reading:
    def __init__(self, reference: str, pins: tuple[str, ...], facts: Facts) -> None:
        self.reference = reference
        self.pins = pins
        self.facts = facts
        self.repository, _, number = reference.rpartition("#")
        self.fix = Containment(int(number), facts)
        self.replacement = self._replacement()

    def clock(self) -> Clock:
        verdicts = {pin: self.fix.of(pin) for pin in self.pins}
        first = self._first_release()
        state = self._state(verdicts)
        return Clock(
            reference=self.reference,
            state=state,
            first_release=first,
            reverted_by=self._reverted_by(verdicts),
            superseded_by=self.replacement.by if self.replacement else None,
            pins={pin: self._pin(pin, verdict) for pin, verdict in verdicts.items()},
            why=self._why() if state == "unknown" else "",
        )

    def _pin(self, pin: str, verdict: Verdict) -> PinAnswer:
        evidence = list(verdict.evidence)
        holds = verdict.holds
        if holds is False and not verdict.probed and self.replacement and not self.fix.effects.landed:
            holds = self._by_replacement(pin, self.replacement, evidence)
        return PinAnswer(_STATES[holds], tuple(evidence), verdict.conflict)

    def _by_replacement(self, pin: str, replacement: Supersedes, evidence: list[str]) -> bool | None:
        """That another fix does the same is somebody's word: a release that has it is unknown until it is probed."""
        repository, _, number = replacement.by.rpartition("#")
        if repository != self.repository:
            return False
        other = Containment(int(number), self.facts, probes=False).of(pin)
        if other.holds is False:
            evidence.append(f"superseded by {replacement.by}, which this does not have either")
            return False
        evidence.append(
            f"superseded by {replacement.by}: {'; '.join(other.evidence)}; no probe says that it does the same"
        )
        return None

    def _state(self, verdicts: dict[str, Verdict]) -> State:
        main, landed = self.fix.on_main(), self.fix.effects.landed
        if self.replacement and not landed and self.fix.pull_state != "merged":
            return "superseded"
        if verdicts and all(verdict.holds for verdict in verdicts.values()):
            return "pinned"
        if self._is_reverted(verdicts.values()):
            return "reverted"
        if not any(verdict.holds for verdict in verdicts.values()) and any(v.gone for v in verdicts.values()):
            return "dead-target"
        again = main is not None and main.held is Held.IN and main.again
        if again and not self._some_release(again=True):
            return "re-landed"
        if self._some_release():
            return "released"
        if landed or self.fix.pull_state == "merged":
            return "merged"
        return self._unmerged()

    def _unmerged(self) -> State:
        stated = self.fix.pull_state or self.fix.issue_state
        if stated is None:
            return "unknown"
        return "open" if stated == "open" else "closed-unmerged" if stated == "closed" else "unknown"

    def _why(self) -> str:
        if self.fix.contradictory:
            return "the facts call the pull request open and closed"
        lacking = {probe.release for probe in self.facts.probes if probe.holds is False}
        source = f"; the source of {len(lacking)} releases does not have it" if lacking else ""
        return f"no pull request, issue or commit of it is recorded{source}"

    def _is_reverted(self, verdicts: Iterable[Verdict]) -> bool:
        """Whether main has lost the fix, or the line of a pin has while nothing brought it back on main."""
        main = self.fix.on_main()
        if main is not None and main.held is Held.REVERTED:
            return True
        again = main is not None and main.held is Held.IN and main.again
        lost = any(verdict.holds is not True and verdict.held is Held.REVERTED for verdict in verdicts)
        return (lost and not again) or self.fix.lost_somewhere()

    def _some_release(self, *, again: bool = False) -> bool:
        """Whether a final release has the fix; with `again`, as it came in after a revert."""
        verdicts = (verdict for _, _, verdict in self._releases())
        return any(one.holds and (not again or one.reading is None or one.reading.again) for one in verdicts)

    def _releases(self) -> list[tuple[Version, str, Verdict]]:
        """Every final release that a fact names, lowest first, with what is known of it."""
        names: dict[Version, str] = {}
        for name in (*(f.release for f in self.facts.probes), *(f.release for f in self.facts.contains)):
            self._name(names, name)
        for tag in self.facts.tags:
            self._name(names, tag.name)
        return [(version, names[version], self.fix.of(names[version])) for version in sorted(names)]

    def _name(self, names: dict[Version, str], name: str) -> None:
        version = version_of(name) or version_of(pinned_at(name).value)
        if version is not None and is_final(version):
            names[version] = name

    def _first_release(self) -> str | None:
        """The lowest version with the fix. None while a lower one is unknown: it might be the first."""
        for _, name, verdict in self._releases():
            if verdict.holds:
                return name
            if verdict.holds is None:
                return None
        return None

    def _reverted_by(self, verdicts: dict[str, Verdict]) -> str | None:
        readings = [verdict.reading for verdict in verdicts.values() if verdict.reading is not None]
        main = self.fix.on_main()
        for reading in (*readings, *((main,) if main is not None else ())):
            if reading.held is Held.REVERTED and reading.last is not None:
                return self._named(reading.last.pull, reading.last.commit.sha)
        lost = self.fix.unplaced_revert()
        return self._named(lost, "") if lost is not None and lost > 0 and self.fix.lost_somewhere() else None

    def _named(self, pull: int | None, sha: str) -> str:
        return f"{self.repository or UPSTREAM}#{pull}" if pull is not None else sha

    def _replacement(self) -> Supersedes | None:
        """What supersedes the reference; of several the one that landed, else the first."""
        rivals = [fact for fact in self.facts.supersedes if fact.by != self.reference]
        for fact in rivals:
            repository, _, number = fact.by.rpartition("#")
            if repository == self.repository and Containment(int(number), self.facts, probes=False).effects.landed:
                return fact
        return rivals[0] if rivals else None
