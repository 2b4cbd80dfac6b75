"""A rule as it stands in `rules/hazards/<id>.yml`, read and compiled."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from bot.engine.model import Value
from bot.hazards.logic import Predicate, View, Vocabulary
from bot.hazards.model import Grade, Level, Status
from bot.hazards.questions import FixTest
from bot.hazards.releases import Upstream
from bot.hazards.text import Template

EvidenceResult = Literal["defect", "clean"]
_NUMBER = re.compile(r"#(\d+)")
EXAMPLE_OUTCOMES = ("fires", "reachable", "mitigated", "unknown", "silent")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was seen, read or reasoned. `stack` is the predicate of where; `result` "clean" is a run
    without the defect. `sentence` is what a person reads, `source` where it can be checked.
    """

    grade: Grade
    source: str
    stack: Predicate
    result: EvidenceResult
    sentence: str
    size: int


@dataclass(frozen=True, slots=True)
class Mitigation:
    """What makes the hazard harmless when it is *verified*: `when` is true, not unknown."""

    when: Predicate
    text: Template


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do about a finding. `effect` are the properties after it, `fixes` the upstream fixes that it brings:
    a remedy is offered only where they leave no hazard that was not there before. `seam` says that it is
    offered only where a world of the service already has the effect (`{seam}` in the text names it). `edit` names the
    small edit of a file that does what the text says, empty where there is none.
    """

    when: Predicate
    text: Template
    effect: Mapping[str, Value]
    fixes: tuple[str, ...]
    seam: bool
    edit: str = ""


@dataclass(frozen=True, slots=True)
class LevelCase:
    """The level that a situation gives the rule. `statuses` empty means: at any status."""

    when: Predicate
    statuses: frozenset[Status]
    level: Level


@dataclass(frozen=True, slots=True)
class MessageCase:
    """What is said in the situations in which `when` holds."""

    when: Predicate
    text: Template


def said(cases: Iterable[MessageCase], view: View) -> Template:
    """The text of the first case that holds; the last of a rule always does."""
    return next(case.text for case in cases if case.when.decide(view) is True)


@dataclass(frozen=True, slots=True)
class Example:
    """A worked case that the test-suite runs: a request of `bot inspect hazards`, and what the rule makes of it."""

    name: str
    outcome: str
    request: Mapping[str, Any]
    level: Level | None = None


@dataclass(frozen=True)
class Rule:
    """One hazard. `observes` are the kinds of observation that it is about: it then has one finding per cause;
    empty, it is about properties and has at most one finding per service. `undecided` is what would be so, were it
    true: said where that is not known. `words` are parts of words by which people speak of the hazard.
    """

    id: str
    title: str
    level: Level
    silent_corruption: bool
    observes: frozenset[str]
    when: Predicate
    mitigations: tuple[Mitigation, ...]
    evidence: tuple[Evidence, ...]
    levels: tuple[LevelCase, ...]
    messages: tuple[MessageCase, ...]
    undecided: tuple[MessageCase, ...]
    remedies: tuple[Remedy, ...]
    upstream: tuple[str, ...]
    words: tuple[str, ...]
    explanation: str
    examples: tuple[Example, ...]
    path: str

    @cached_property
    def properties(self) -> tuple[str, ...]:
        """The properties that the predicate reads, in its order."""
        return self.when.properties

    def is_named_in(self, comment: str) -> bool:
        """Whether a comment speaks of the hazard: by its words, its name, or a number of an issue behind it."""
        said = " ".join(comment.lower().split())
        numbers = {f"#{number}" for number in _NUMBER.findall(said)}
        return not numbers.isdisjoint(self._numbers) or any(word in said for word in (self.id, *self.words))

    @cached_property
    def _numbers(self) -> frozenset[str]:
        sources = (*self.upstream, *(entry.source for entry in self.evidence))
        return frozenset(f"#{number}" for source in sources for number in _NUMBER.findall(source))

    @cached_property
    def reads(self) -> frozenset[str]:
        """The properties that decide whether the rule stands: those of the predicate and of the mitigations."""
        return frozenset((*self.properties, *(name for m in self.mitigations for name in m.when.properties)))


def _heading(entry: Evidence) -> str:
    return f"{entry.grade}, a clean run" if entry.result == "clean" else entry.grade


@dataclass(frozen=True)
class Rules:
    """All rules, and what they share. `reported` are those whose findings are wanted; None means all."""

    rules: tuple[Rule, ...]
    upstream: Upstream
    vocabulary: Vocabulary
    reported: frozenset[str] | None = None
    named: Mapping[str, Rule] = field(init=False)
    over_properties: tuple[Rule, ...] = field(init=False)
    over_observations: tuple[Rule, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "named", {rule.id: rule for rule in self.rules})
        object.__setattr__(self, "over_properties", tuple(rule for rule in self.rules if not rule.observes))
        object.__setattr__(self, "over_observations", tuple(rule for rule in self.rules if rule.observes))

    @property
    def ids(self) -> frozenset[str]:
        """The names of all rules."""
        return frozenset(self.named)

    @cached_property
    def interplay(self) -> tuple[frozenset[str], ...]:
        """For each rule about properties, those that decide together whether it stands.

        Two seams need to be set together in a world only when they move different properties of one such set.
        """
        return tuple(rule.reads for rule in self.over_properties)

    @cached_property
    def overlaid(self) -> frozenset[str]:
        """The references that some rule looks for in the overlays of a service."""
        asked = (when for rule in self.rules for when in (rule.when, *(m.when for m in rule.mitigations)))
        leaves = (leaf for when in asked for leaf in when.leaves)
        return frozenset(leaf.reference for leaf in leaves if isinstance(leaf, FixTest) and "overlay" in leaf.places)

    def helped_by(self, references: Iterable[str]) -> frozenset[str]:
        """The rules about properties against which one of these fixes helps alone: mitigating, or by being there."""
        return frozenset(rule for reference in references for rule in self._helped.get(reference, ()))

    @cached_property
    def _helped(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for rule in self.over_properties:
            alone = (leaves for m in rule.mitigations if len(leaves := tuple(m.when.leaves)) == 1)
            for leaf in (*rule.when.leaves, *(leaf for leaves in alone for leaf in leaves)):
                if isinstance(leaf, FixTest) and "overlay" in leaf.places:
                    found.setdefault(leaf.reference, set()).add(rule.id)
        return {reference: frozenset(rules) for reference, rules in found.items()}

    def page(self, rule: str) -> str:
        """A rule's page, in Markdown: its title, explanation and evidence."""
        found = self.named[rule]
        evidence = [
            f"- {_heading(entry)} ({entry.source}): {' '.join(entry.sentence.split())}" for entry in found.evidence
        ]
        parts = [f"# {found.title}", f"`{found.id}`, {found.level}", found.explanation.rstrip(), "## Evidence"]
        return "\n\n".join([*parts, "\n".join(evidence)])

    def only(self, ids: Collection[str]) -> Rules:
        """The same, but only these are reported. All are still asked: rules weigh themselves by others.

        Unknown ids are the caller's to refuse (`ids`).
        """
        return Rules(self.rules, self.upstream, self.vocabulary, frozenset(ids))

    def observing(self, kinds: Collection[str]) -> Rules:
        """Only the wanted rules that are about these kinds of observation; no other rule is asked."""
        rules = (rule for rule in self.over_observations if not rule.observes.isdisjoint(kinds))
        wanted = (rule for rule in rules if self.reported is None or rule.id in self.reported)
        return Rules(tuple(wanted), self.upstream, self.vocabulary, self.reported)
