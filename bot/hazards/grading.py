"""How sure a finding is, and how loud: from evidence, status and situation to a grade and a level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.hazards.logic import View
from bot.hazards.model import Grade, Level, Status
from bot.hazards.rule import Evidence, Rule

_LOWER: Mapping[Level, Level] = {"error": "warning", "warning": "notice", "notice": "notice", "folded": "folded"}
LOUDNESS: Mapping[Level, int] = {"folded": 0, "notice": 1, "warning": 2, "error": 3}
SEVERITY: Mapping[Status, int] = {"mitigated": 0, "unknown": 1, "reachable": 2, "active": 3}


@dataclass(frozen=True, slots=True)
class Graded:
    """The grade of a finding, and the sentence of the evidence that gave it."""

    grade: Grade
    sentence: str


def grade(rule: Rule, view: View) -> Graded:
    """The entry whose stack describes the situation most closely decides.

    A stack that is only perhaps this one (something is unknown) does not count. A clean run on a stack
    that describes the situation at least as closely as the best defect contests it.
    """
    fitting = [entry for entry in rule.evidence if entry.stack.decide(view) is True]
    defect = _closest(entry for entry in fitting if entry.result == "defect")
    clean = _closest(entry for entry in fitting if entry.result == "clean")
    if clean is not None and (defect is None or clean.size >= defect.size):
        return Graded("contested", clean.sentence)
    assert defect is not None, f"{rule.id} has an entry without a stack, which always fits"
    return Graded(defect.grade, defect.sentence)


def _closest(entries: Iterable[Evidence]) -> Evidence | None:
    return max(entries, key=lambda entry: entry.size, default=None)


def rule_level(rule: Rule, view: View, status: Status) -> Level:
    """The rule's own level in this situation: the first of its `levels:` that fits, else its `level:`."""
    for case in rule.levels:
        if (not case.statuses or status in case.statuses) and case.when.decide(view) is True:
            return case.level
    return rule.level


def level(own: Level, grade: Grade, status: Status, silent_corruption: bool) -> Level:
    """What grade and status make of a rule's own level: the table of the rules' documentation.

    Mitigated findings are notices that are shown folded.
    """
    if status == "mitigated":
        return "folded"
    if status == "unknown":
        return "folded" if grade == "suspected" else _at_most("notice", own)
    if grade == "suspected":
        return _at_most("notice", own)
    if grade == "contested":
        return _at_most("warning" if status == "active" else "notice", own)
    if grade == "reported" and not silent_corruption:
        own = _at_most("warning", own)
    return own if status == "active" else _LOWER[own]


def _at_most(ceiling: Level, own: Level) -> Level:
    return min(ceiling, own, key=LOUDNESS.__getitem__)
