"""Which rules stand on a service, in which world, and how badly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bot.engine.model import Property
from bot.hazards.finding import Verdict, finding_of
from bot.hazards.logic import View
from bot.hazards.model import Finding, Level, Situation, Status, Subject
from bot.hazards.releases import Truth
from bot.hazards.rule import Rule, Rules
from bot.hazards.ruling import Ruling, State, rule_on


@dataclass(slots=True)
class _Worlds:
    """The situations of a subject, one group of forks per world: the default first, then by deviations."""

    groups: list[list[View]]

    @classmethod
    def of(cls, rules: Rules, subject: Subject) -> _Worlds:
        found: dict[tuple[tuple[str, str], ...], list[View]] = {}
        for situation in subject.situations:
            key = tuple(sorted(situation.world.environment.items()))
            found.setdefault(key, []).append(View.of(situation, rules.upstream))
        return cls([found[key] for key in sorted(found, key=len)])

    @property
    def views(self) -> Iterator[View]:
        for group in self.groups:
            yield from group


@dataclass(slots=True)
class _Others:
    """What the rules about properties make of the subject, for those that weigh themselves by it."""

    rules: Rules
    found: dict[str, Finding] = field(default_factory=dict)

    def status(self, rule: str) -> Status | None:
        return self.found[rule].status if rule in self.found else None

    def level(self, rule: str) -> Level | None:
        return self.found[rule].level if rule in self.found else None

    def depends_on(self, situation: Situation, setting: str) -> Truth:
        """A rule hangs on a setting when it is undecided without the properties that the setting decides."""
        lost = decided_by(self.rules, setting)
        here = View.of(situation, self.rules.upstream)
        blind = here.changed(dict.fromkeys(lost, _LOST), ())
        answer: Truth = False
        for rule in self.rules.over_properties:
            if lost.isdisjoint(rule.reads) or rule_on(rule, blind).state is not State.UNKNOWN:
                continue
            if rule_on(rule, here).state is not State.UNKNOWN:
                return True
            answer = None
        return answer


_LOST = Property(None, "unknown", ())


def decided_by(rules: Rules, setting: str) -> frozenset[str]:
    """The properties that a setting decides: itself, and what the vocabulary says of it or of its last part.

    A setting may be a property (`prefix_caching`), an option (`enable_prefix_caching`, `--enforce-eager`) or a key
    of one (`compilation_config.cudagraph_mode`).
    """
    name = setting.lstrip("-").replace("-", "_")
    spellings = (name, name.rpartition(".")[2], name.partition(".")[0])
    known = (properties for spelling in spellings for properties in rules.vocabulary.settings.get(spelling, ()))
    return frozenset((name, *known))


def evaluate(rules: Rules, subject: Subject) -> tuple[Finding, ...]:
    """Every rule that stands on the subject or is undecided: one finding per identity, in its worst status.

    In the order of the rules' names; observations in the order in which they were made.
    """
    worlds = _Worlds.of(rules, subject)
    if not worlds.groups:
        return ()
    others = _Others(rules)
    for rule in rules.over_properties:
        verdict = _verdict([[rule_on(rule, view) for view in group] for group in worlds.groups])
        if verdict is not None:
            others.found[rule.id] = finding_of(rules, rule, subject, verdict)
    findings = [*others.found.values()]
    for rule in rules.over_observations:
        findings += [finding_of(rules, rule, subject, verdict) for verdict in _observed(rule, worlds, others)]
    wanted = findings if rules.reported is None else [found for found in findings if found.rule in rules.reported]
    return tuple(sorted(wanted, key=lambda finding: finding.rule))


def _observed(rule: Rule, worlds: _Worlds, others: _Others) -> Iterator[Verdict]:
    """One verdict per cause among the observations that the rule is about."""
    seen: dict[str, None] = {}
    by_view = [[_rulings(rule, view, others, seen) for view in group] for group in worlds.groups]
    for cause in seen:
        rulings = [
            [found.get(cause) or Ruling(State.FALSE, view) for found, view in zip(group, views, strict=True)]
            for group, views in zip(by_view, worlds.groups, strict=True)
        ]
        verdict = _verdict(rulings)
        if verdict is not None:
            yield verdict


def _rulings(rule: Rule, view: View, others: _Others, seen: dict[str, None]) -> dict[str, Ruling]:
    """What a rule makes of the observations of one situation: the worst for each cause."""
    found: dict[str, Ruling] = {}
    for observation in view.situation.observations:
        if observation.kind in rule.observes:
            ruling = rule_on(rule, view.about(observation, others))
            seen.setdefault(observation.cause)
            if observation.cause not in found or ruling.state > found[observation.cause].state:
                found[observation.cause] = ruling
    return found


def _verdict(groups: Sequence[Sequence[Ruling]]) -> Verdict | None:
    """The worst status over all worlds; None when the rule is false in all of them."""
    worst = max(ruling.state for group in groups for ruling in group)
    if worst is State.FALSE:
        return None
    if worst is State.MITIGATED:
        ruling = next(ruling for group in groups for ruling in group if ruling.state is State.MITIGATED)
        return Verdict("mitigated", ruling.view, ruling.mitigation)
    for group in groups:
        if all(ruling.state is State.BARE for ruling in group):
            view = group[0].view
            return Verdict("active" if view.situation.world.default else "reachable", view)
    return _undecided(groups)


def _undecided(groups: Sequence[Sequence[Ruling]]) -> Verdict:
    """True in some forks of a world, or undecidable. A fork in which the rule is true says more."""
    for state in (State.BARE, State.UNKNOWN):
        for group in groups:
            for ruling in group:
                if ruling.state is state:
                    shared = all(other.state is state for other in group)
                    return Verdict("unknown", ruling.view, forked=state is State.BARE, shared=shared)
    raise AssertionError("nothing here is undecided")
