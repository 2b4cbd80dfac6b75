"""One rule asked about one situation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from bot.hazards.logic import View
from bot.hazards.rule import Mitigation, Rule


class State(IntEnum):
    """What a rule is in one situation, from harmless to bad."""

    FALSE = 0
    MITIGATED = 1
    UNKNOWN = 2
    BARE = 3


@dataclass(frozen=True, slots=True)
class Ruling:
    """A rule in one situation: its state, and what made it so."""

    state: State
    view: View
    mitigation: Mitigation | None = None


def rule_on(rule: Rule, view: View) -> Ruling:
    """Ask one rule about one situation.

    Only a verified mitigation counts; one that covers an undecided hazard leaves it mitigated at worst.
    """
    answer = rule.when.decide(view)
    if answer is False:
        return Ruling(State.FALSE, view)
    for mitigation in rule.mitigations:
        if mitigation.when.decide(view) is True:
            return Ruling(State.MITIGATED, view, mitigation)
    return Ruling(State.BARE if answer else State.UNKNOWN, view)
