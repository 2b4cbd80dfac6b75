"""Says a verdict: message, remedy, place and chain of a finding."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.engine import source_links
from bot.engine.model import Property, Value
from bot.hazards.asking import ways_to_tell
from bot.hazards.grading import Graded, grade, level, rule_level
from bot.hazards.logic import View
from bot.hazards.model import Finding, Level, Status, Subject, World
from bot.hazards.questions import FactsTest, FixTest, asked_releases
from bot.hazards.rule import Mitigation, Remedy, Rule, Rules, said
from bot.hazards.ruling import State, rule_on
from bot.provenance import Reason

MAX_CHAIN = 40
"""Links shown of a finding's provenance: more than a screen helps nobody."""

_CONDITION = re.compile(
    r"(?:if|elif|while|until)\b(?:.*\b(?:then|do)(?:\s+#.*)?$|(?!.*\b(?:then|do)\b))|case\b.*\bin$|[^()]*\)$"
)
"""A line of a script that decides and does nothing else: `if …; then`, `case … in`, `on|true)`."""

_EXCLUSION = " is none of "
"""In a reason that only says what is not the case: true, and of no help to a reader."""

UNKNOWN_PROPERTY = Property(None, "unknown", ())


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's worst status on a subject, and the view in which it has it.

    `forked` says that an "unknown" is true in some forks of its world, rather than undecidable; `shared`, that it is
    the same in all of them.
    """

    status: Status
    view: View
    mitigation: Mitigation | None = None
    forked: bool = False
    shared: bool = False

    @property
    def world(self) -> World:
        """The world to report. What its forks assume does not matter to a verdict that all of them share."""
        found = self.view.situation.world
        return World(found.environment) if self.shared or self.status in ("active", "reachable") else found


def finding_of(rules: Rules, rule: Rule, subject: Subject, verdict: Verdict) -> Finding:
    """The finding that a verdict means."""
    view = verdict.view
    graded = grade(rule, view)
    own = rule_level(rule, view, verdict.status)
    values = _values(subject, view)
    advice, edit = _advice(rules, rule, subject, verdict, values)
    return Finding(
        rule=rule.id,
        title=rule.title,
        rule_level=own,
        level=_loudness(rule, own, graded, verdict),
        status=verdict.status,
        evidence_grade=graded.grade,
        path=subject.path,
        line=_line(rule, subject, view),
        service=subject.service,
        slug=subject.slugs[0] if subject.slugs else None,
        cause=view.observation.cause if view.observation else "",
        world=verdict.world,
        properties={name: view.situation.properties.get(name, UNKNOWN_PROPERTY) for name in rule.properties},
        chain=_chain(rule, view),
        links=_addresses(rule, view),
        message=_message(rule, verdict, graded, values),
        remedy=advice,
        evidence=graded.sentence,
        upstream=rule.upstream,
        missing=_missing(rule, verdict),
        edit=edit,
        observed=view.observation.fields if view.observation else {},
    )


def _loudness(rule: Rule, own: Level, graded: Graded, verdict: Verdict) -> Level:
    """The level. What is undecidable is folded where it would flood a report: when no property is known to be as
    the rule wants it (little is known of the service at all), and in worlds other than the default.
    """
    view = verdict.view
    if verdict.status == "unknown" and not verdict.forked:
        speaking = view.observation is not None or rule.when.affirmed(view)
        if not speaking or not view.situation.world.default:
            return "folded"
    return level(own, graded.grade, verdict.status, rule.silent_corruption)


class _Known(Mapping[str, Value]):
    """The values of those properties that are known, each found when a text names it."""

    def __init__(self, properties: Mapping[str, Property]) -> None:
        self._properties = properties

    def __getitem__(self, name: str) -> Value:
        found = self._properties[name]
        if not found.known:
            raise KeyError(name)
        return found.value

    def __iter__(self) -> Iterator[str]:
        return (name for name, found in self._properties.items() if found.known)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _values(subject: Subject, view: View) -> ChainMap[str, Any]:
    """What the holes of the rule's texts may be filled with. Observations win: they are the more specific."""
    situation = view.situation
    values: dict[str, Any] = {}
    values |= {"service": subject.service, "file": subject.path, "slug": subject.slugs[0] if subject.slugs else None}
    values |= {"image": situation.pin.image or "(no image)", "world": assignment(situation.world.environment)}
    values["gpu"] = " and ".join(f"sm_{capability}" for capability in situation.sm)
    values["variables"] = " and ".join(situation.world.environment)
    values["release"] = situation.pin.release or _range(view.releases)
    values["asked"] = _range(asked_releases(view))
    if view.observation:
        values |= _parts_of_argument(view.observation.fields)
        values |= view.observation.fields
    return ChainMap(values, _Known(view.properties))  # type: ignore[arg-type] # only ever read


def _parts_of_argument(fields: Mapping[str, Any]) -> dict[str, str]:
    """`--flag value`, `--flag=value` and `NAME=value` in parts: a sentence about a flag seldom wants its value."""
    flag, _, value = " ".join(str(fields.get("argument", "")).split()).partition(" ")
    name, _, assigned = flag.partition("=")
    return {"flag": name, "value": assigned or value}


def assignment(environment: Mapping[str, str]) -> str:
    """A world as a person types it."""
    return " ".join(f"{name}={_quoted(value)}" for name, value in environment.items())


def _quoted(value: str) -> str:
    plain = value and all(character.isalnum() or character in "-_=./:,+@%" for character in value)
    return value if plain else "'" + value.replace("'", "'\\''") + "'"


def _range(releases: tuple[str, ...]) -> str:
    """A release, or the first and the last of several."""
    if not releases:
        return "the pinned release"
    first, last = releases[0], releases[-1]
    return first if first == last else f"{first} to {last}"


def _message(rule: Rule, verdict: Verdict, graded: Graded, values: Mapping[str, Any]) -> str:
    undecidable = verdict.status == "unknown" and not verdict.forked
    cases = rule.undecided if undecidable and rule.undecided else rule.messages
    message = _ended(said(cases, verdict.view).fill(values))
    if verdict.mitigation is not None:
        harmless = f"{_ended(verdict.mitigation.text.fill(values))}{_by_patch(verdict.mitigation, verdict.view)}"
        return f"Mitigated: {harmless} Without that: {message}"
    if undecidable:
        message = f"Undecided: {message}"
    elif verdict.status == "unknown":
        message = f"It depends on what only the running container knows. In one case: {message}"
    if graded.grade == "contested":
        return f"{message} This is contested: it was measured one way and the other."
    return message


def _by_patch(mitigation: Mitigation, view: View) -> str:
    """Whose word it is that the engine has a fix, where no release has it."""
    fixes = (leaf for leaf in mitigation.when.leaves if isinstance(leaf, FixTest))
    patches = dict.fromkeys(patch for fix in fixes if (patch := fix.patch(view)))
    named = ", ".join(patches)
    if not named:
        return ""
    return f" That is {named}, which runs before the engine or stops the boot; what its files do was not checked."


def _ended(sentence: str) -> str:
    """A sentence that ends as one: its last word may be the engine's own."""
    return sentence if sentence.endswith((".", "!", "?", ")")) else f"{sentence}."


def _missing(rule: Rule, verdict: Verdict) -> tuple[str, ...]:
    """What would decide the rule, or one of the mitigations that may cover it."""
    view = verdict.view
    lacking = list(rule.when.missing(view)) if rule.when.decide(view) is None else []
    if verdict.forked:
        symbols = view.situation.world.symbols
        lacking += [f"what {name} is: this is so when it is {value}" for name, value in symbols.items()]
    if verdict.status != "mitigated":
        for mitigation in rule.mitigations:
            if mitigation.when.decide(view) is None:
                lacking += mitigation.when.missing(view)
    return tuple(dict.fromkeys(lacking))


def _advice(
    rules: Rules, rule: Rule, subject: Subject, verdict: Verdict, values: ChainMap[str, Any]
) -> tuple[str, str]:
    """What to do, and the name of the edit that does it; of a hazard that may not be there, only in case it is."""
    if verdict.status == "mitigated":
        return "", ""
    remedy, edit = _remedy(rules, rule, subject, verdict.view, values)
    if verdict.status != "unknown":
        return remedy, edit
    asks = ways_to_tell(rule.when, verdict.view)[:1] if not verdict.forked else ()
    return " ".join([*asks, *([f"If it is so: {remedy}"] if remedy else [])]), ""


def _remedy(rules: Rules, rule: Rule, subject: Subject, view: View, values: ChainMap[str, Any]) -> tuple[str, str]:
    """The first remedy that fits the situation, undoes the hazard, and leaves no other that was not there before; with
    the name of its edit.
    """
    for remedy in rule.remedies:
        if remedy.when.decide(view) is not True:
            continue
        if remedy.seam:
            world = _switch(rules, rule, subject, view, remedy)
            if world is not None:
                seam = assignment(world.situation.world.environment)
                return remedy.text.fill(values.new_child({"seam": seam})), remedy.edit
        elif not (remedy.effect or remedy.fixes) or _is_safe(rules, rule, view, _after(view, remedy)):
            return remedy.text.fill(values), remedy.edit
    return "", ""


def _after(view: View, remedy: Remedy) -> View:
    effect = {name: Property(value, "certain", ()) for name, value in remedy.effect.items()}
    return view.changed(effect, remedy.fixes)


def _is_safe(rules: Rules, rule: Rule, before: View, after: View) -> bool:
    if not rule.observes and rule_on(rule, after).state > State.MITIGATED:
        return False
    plain = View.of(before.situation, rules.upstream)
    return all(
        rule_on(other, after).state <= max(State.MITIGATED, rule_on(other, plain).state)
        for other in rules.over_properties
        if other is not rule
    )


def _switch(rules: Rules, rule: Rule, subject: Subject, view: View, remedy: Remedy) -> View | None:
    """The world with the fewest deviations that has the remedy's effect and is no worse otherwise."""
    others = [s for s in subject.situations if not s.world.default]
    for situation in sorted(others, key=lambda s: len(s.world.environment)):
        there = View.of(situation, rules.upstream)
        reached = all(_has(there, name, value) for name, value in remedy.effect.items())
        if reached and _is_safe(rules, rule, view, there):
            return there
    return None


def _has(view: View, name: str, value: object) -> bool:
    found = view.properties.get(name)
    return found is not None and found.known and found.value == value and type(found.value) is type(value)


def _line(rule: Rule, subject: Subject, view: View) -> int:
    """Where a person should look: what was observed, else the first property of the predicate with a line there."""
    if view.observation is not None:
        position = view.observation.position
        return position.line if position.path == subject.path else _own_line(subject)
    for name in rule.properties:
        found = view.properties.get(name)
        line = _cause(found.because, subject.path) if found and found.known else None
        if line is not None:
            return line
    return _own_line(subject)


def _own_line(subject: Subject) -> int:
    """The line of the service; the first of the file when the service begins in another one."""
    return subject.position.line if subject.position.path == subject.path else 1


def _cause(because: Iterable[Reason], path: str) -> int | None:
    """The line of the file that gives a value. A condition above it only lets the value through."""
    here = [
        (reason.line, reason.text)
        for reason in because
        if reason.path == path and reason.line is not None and reason.kind in ("compose", "shell")
    ]
    conditions = {line for line, text in here if _CONDITION.match(text)}
    return next((line for line, _ in here if line not in conditions), here[0][0] if here else None)


def _chain(rule: Rule, view: View) -> tuple[Reason, ...]:
    """What has a place comes first, in the order of the predicate; then what is assumed, exclusions last."""
    links = dict.fromkeys(_links(rule, view))
    return tuple(sorted(links, key=lambda reason: (not reason.path, _EXCLUSION in reason.text)))[:MAX_CHAIN]


def _links(rule: Rule, view: View) -> Iterator[Reason]:
    if view.observation is not None:
        yield from view.observation.because
        if any(isinstance(leaf, FactsTest) for leaf in rule.when.leaves):
            yield from _assumption(view)
    for name in rule.properties:
        found = view.situation.properties.get(name)
        if found is not None:
            yield from (reason for reason in found.because if found.known or name not in reason.text)
    if rule.when.asks_release or any(mitigation.when.asks_release for mitigation in rule.mitigations):
        yield from view.situation.pin.because
    references = frozenset(_fixes(rule))
    for overlay in view.situation.overlays:
        if references.intersection(overlay.upstream):
            yield from overlay.because


def _assumption(view: View) -> Iterator[Reason]:
    """That the release which runs is as those that were asked, where it was not asked itself."""
    release, asked = view.situation.pin.release, asked_releases(view)
    if asked and set(asked) != {release}:
        why = f" ({view.situation.pin.why})" if view.situation.pin.why else ""
        which = f"which release runs is not known{why}" if release is None else f"release {release} was not asked"
        yield Reason("assumption", "", None, f"{which}: it is assumed to be as {_range(asked)}, which agree")


def _addresses(rule: Rule, view: View) -> dict[Reason, str]:
    """Where the reasons that a release's source gave can be read."""
    asked = asked_releases(view)
    properties = view.situation.properties
    found = [properties[name] for name in rule.properties if name in properties]
    return {reason: link for prop in found for reason, link in source_links(asked, prop).items()}


def _fixes(rule: Rule) -> Iterable[str]:
    for predicate in (rule.when, *(mitigation.when for mitigation in rule.mitigations)):
        for leaf in predicate.leaves:
            if isinstance(leaf, FixTest):
                yield leaf.reference
