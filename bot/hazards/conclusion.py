"""What a change does to the findings, and what a check should conclude from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from bot.hazards.grading import LOUDNESS, SEVERITY, level
from bot.hazards.model import Finding, Level

Conclusion = Literal["failure", "neutral", "success"]


@dataclass(frozen=True, slots=True)
class Difference:
    """The findings of two states, matched by identity.

    `changed` are there before and after, in another status, level or grade. `fixed` are gone.
    """

    introduced: tuple[Finding, ...]
    changed: tuple[tuple[Finding, Finding], ...]
    fixed: tuple[Finding, ...]
    unchanged: tuple[Finding, ...]


def compare(
    before: Iterable[Finding], after: Iterable[Finding], is_lost: Callable[[Finding], bool] = lambda _: False
) -> Difference:
    """What the change from `before` to `after` did. `is_lost` says of a finding of `before` that nobody knows whether
    it still stands, because its service cannot be resolved any more: it is undecided then, never fixed.

    Text, line, world and property values are not what a finding is: a difference in them alone changes nothing.
    """
    old = {finding.identity: finding for finding in before}
    new = {finding.identity: finding for finding in after}
    new |= {
        identity: _undecided(finding) for identity, finding in old.items() if identity not in new and is_lost(finding)
    }
    pairs = [(old[identity], finding) for identity, finding in new.items() if identity in old]
    return Difference(
        introduced=tuple(finding for identity, finding in new.items() if identity not in old),
        changed=tuple(pair for pair in pairs if _standing(pair[0]) != _standing(pair[1])),
        fixed=tuple(finding for identity, finding in old.items() if identity not in new),
        unchanged=tuple(finding for previous, finding in pairs if _standing(previous) == _standing(finding)),
    )


def _undecided(finding: Finding) -> Finding:
    """The finding as it stands once nobody knows what its service runs."""
    return replace(
        finding,
        level=level(finding.rule_level, finding.evidence_grade, "unknown", silent_corruption=False),
        status="unknown",
        properties={},
        chain=(),
        remedy="",
        message=f"Undecided: what stood here may still stand. {finding.message}",
        missing=("what the service runs now, which cannot be resolved",),
    )


def _standing(finding: Finding) -> tuple[str, str, str]:
    return (finding.status, finding.level, finding.evidence_grade)


def worsened(before: Finding, after: Finding) -> bool:
    """Whether level or status went up. Up from "unknown" to "mitigated" it does not."""
    louder = LOUDNESS[after.level] > LOUDNESS[before.level]
    return louder or SEVERITY[after.status] > SEVERITY[before.status]


def improved(before: Finding, after: Finding) -> bool:
    """Whether level or status went down, and neither up. What is undecided now has not become better."""
    return worsened(after, before) and not worsened(before, after) and after.status != "unknown"


def worse(one: Finding, other: Finding) -> Finding:
    """Of two findings of one identity the one to report: in the worse status, then at the higher level."""
    return max(one, other, key=lambda finding: (SEVERITY[finding.status], LOUDNESS[finding.level]))


def at_least(reached: Level, threshold: str) -> bool:
    """Whether a level reaches a threshold ("error", "warning", "notice")."""
    return LOUDNESS[reached] >= next((rank for name, rank in LOUDNESS.items() if name == threshold), len(LOUDNESS))


def conclusion(difference: Difference) -> Conclusion:
    """Failure for an error that is introduced or worsened, neutral for a warning; what was there before never fails."""
    blamed = [finding.level for finding in difference.introduced]
    blamed += [after.level for before, after in difference.changed if worsened(before, after)]
    if "error" in blamed:
        return "failure"
    return "neutral" if "warning" in blamed else "success"
