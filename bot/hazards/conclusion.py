"""What a change does to the findings, and what a check should conclude from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from bot.hazards.grading import LOUDNESS, SEVERITY
from bot.hazards.model import Finding, Level

Conclusion = Literal["failure", "neutral", "success"]


@dataclass(frozen=True, slots=True)
class Difference:
    """The findings of two states, matched by identity.

    `changed` are there before and after, in another status, level or grade. `fixed` are gone. `lost` are gone only
    because their file could no longer be resolved: nobody knows, so they are not fixed.
    """

    introduced: tuple[Finding, ...]
    changed: tuple[tuple[Finding, Finding], ...]
    fixed: tuple[Finding, ...]
    unchanged: tuple[Finding, ...]
    lost: tuple[Finding, ...] = ()


def compare(before: Iterable[Finding], after: Iterable[Finding], unresolved: Collection[str] = ()) -> Difference:
    """What the change from `before` to `after` did. `unresolved` are the files that could not be resolved after it.

    Text, line, world and property values are not what a finding is: a difference in them alone changes nothing.
    """
    old = {finding.identity: finding for finding in before}
    new = {finding.identity: finding for finding in after}
    pairs = [(old[identity], finding) for identity, finding in new.items() if identity in old]
    gone = [finding for identity, finding in old.items() if identity not in new]
    return Difference(
        introduced=tuple(finding for identity, finding in new.items() if identity not in old),
        changed=tuple(pair for pair in pairs if _standing(pair[0]) != _standing(pair[1])),
        fixed=tuple(finding for finding in gone if finding.path not in unresolved),
        unchanged=tuple(finding for previous, finding in pairs if _standing(previous) == _standing(finding)),
        lost=tuple(finding for finding in gone if finding.path in unresolved),
    )


def _standing(finding: Finding) -> tuple[str, str, str]:
    return (finding.status, finding.level, finding.evidence_grade)


def worsened(before: Finding, after: Finding) -> bool:
    """Whether level or status went up. Up from "unknown" to "mitigated" it does not."""
    louder = LOUDNESS[after.level] > LOUDNESS[before.level]
    return louder or SEVERITY[after.status] > SEVERITY[before.status]


def at_least(level: Level, threshold: str) -> bool:
    """Whether a level reaches a threshold ("error", "warning", "notice")."""
    return LOUDNESS[level] >= next((rank for name, rank in LOUDNESS.items() if name == threshold), len(LOUDNESS))


def conclusion(difference: Difference) -> Conclusion:
    """Failure for an error that is introduced or worsened, neutral for a warning; what was there before never fails."""
    blamed = [finding.level for finding in difference.introduced]
    blamed += [after.level for before, after in difference.changed if worsened(before, after)]
    if "error" in blamed:
        return "failure"
    return "neutral" if "warning" in blamed else "success"
