"""Which reading of vLLM's source a derivation may rest on in a release.

`rules/vllm/derivations.yml` says what was read: for each property the upstream definitions that decide it, the
releases in which all of them were read, and what they do there, as values that hold from one release to the next
change. `rules/vllm/anchors.json` has the definitions' fingerprints as they were when they were read. A release
whose definitions are all known is derived for; where one differs, the property is unverified.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import yaml

from bot.engine.facts import Fact, Facts
from bot.engine.model import Property
from bot.provenance import Reason
from bot.rules import RULES

TABLE = "vllm/derivations.yml"
ANCHORS = "vllm/anchors.json"
SETTINGS: Final = frozenset({"mamba_cache_mode", "optimization_level"})
"""Properties that are settings of a release, and are none where it lacks them."""

NAMED = 3
"""Changed definitions that a reason names; `learn` lists them all."""


@dataclass(frozen=True, slots=True)
class Readings:
    """What was read.

    `releases` are those that were read, oldest first; `definitions` and `verified` are by property; `behaviour` is by
    property and release; `fingerprints` by definition and release, without those that a release lacks.
    """

    releases: tuple[str, ...]
    definitions: Mapping[str, tuple[str, ...]]
    verified: Mapping[str, tuple[str, ...]]
    behaviour: Mapping[str, Mapping[str, Mapping[str, Any]]]
    fingerprints: Mapping[str, Mapping[str, str]]

    def agree(self, release: str, definition: str, found: str | None) -> bool:
        """Whether a definition with the fingerprint `found` is the one that was read in `release`."""
        return self.fingerprints[definition].get(release) == found


@dataclass(frozen=True, slots=True)
class Basis:
    """What may be derived for one release: for each property, the behaviour that was read, or what has changed.

    What has been asked for once is kept.
    """

    facts: Facts
    readings: Readings
    _literals: dict[str, Property] = field(default_factory=dict)
    _levels: dict[int, Fact | None] = field(default_factory=dict)
    _behaviour: dict[str, Mapping[str, Any] | None] = field(default_factory=dict)
    _changed: dict[str, Reason] = field(default_factory=dict)

    def behaviour(self, subject: str) -> Mapping[str, Any] | None:
        """The behaviour that a property's derivation may rest on; None where nothing verified matches."""
        if subject not in self._behaviour:
            self._behaviour[subject] = self._find(subject)
        return self._behaviour[subject]

    def moved(self, subject: str) -> tuple[str, ...]:
        """The definitions that keep a property from being derived: those that differ from the nearest reading."""
        return self._nearest(subject)[1]

    def changed(self, subject: str) -> Reason:
        """Why a derivation is not applied, at the first definition that has changed."""
        if subject not in self._changed:
            self._changed[subject] = self._say(subject)
        return self._changed[subject]

    def literal(self, dest: str) -> Property:
        """The parser's own default of a setting."""
        found = self._literals.get(dest)
        if found is None:
            found = self._literals[dest] = _literal(self.facts, dest)
        return found

    def graph_mode(self, level: int) -> Fact | None:
        """The CUDA graph mode that an optimisation level sets."""
        if level not in self._levels:
            self._levels[level] = self.facts.level_table(level).get("compilation_config.cudagraph_mode")
        return self._levels[level]

    def place(self, definition: str) -> tuple[str, int | None]:
        """The file and line of a definition in this release."""
        entry = self.facts.anchors.get(definition)
        return definition.partition(":")[0], entry[1] if entry else None

    def _find(self, subject: str) -> Mapping[str, Any] | None:
        own = self.facts.version
        verified = self.readings.verified[subject]
        candidates = (
            (own, *verified[::-1]) if own in verified else () if own in self.readings.releases else verified[::-1]
        )
        for release in candidates:
            if not self._differing(subject, release):
                return self.readings.behaviour[subject][release]
        return None

    def _say(self, subject: str) -> Reason:
        nearest, moved = self._nearest(subject)
        start = f"unverified in {self.facts.version}:"
        if not moved:
            return Reason("engine-default", "", None, f"{start} nobody has read how it decides this")
        names = ", ".join(name.partition(":")[2] for name in moved[:NAMED])
        more = f" and {len(moved) - NAMED} more" if len(moved) > NAMED else ""
        path, line = next((place for place in map(self.place, moved) if place[1]), ("", None))
        return Reason("engine-default", path, line, f"{start} {names}{more} differ from {nearest}")

    def _nearest(self, subject: str) -> tuple[str, tuple[str, ...]]:
        differing = {release: self._differing(subject, release) for release in self.readings.verified[subject][::-1]}
        nearest = min(differing, key=lambda release: len(differing[release]))
        return nearest, differing[nearest]

    def _differing(self, subject: str, release: str) -> tuple[str, ...]:
        return tuple(name for name in self.readings.definitions[subject] if not self._is_as_in(release, name))

    def _is_as_in(self, release: str, definition: str) -> bool:
        anchors = self.facts.anchors
        entry = anchors.get(definition)
        return definition in anchors and self.readings.agree(release, definition, entry[0] if entry else None)


def _literal(facts: Facts, dest: str) -> Property:
    fact, release = facts.default(dest), f"vLLM {facts.version}"
    if fact is None:
        return Property(None, "unknown", (Reason("engine-default", "", None, f"{release} has no setting {dest}"),))
    if not fact.known:
        text = f"{release} computes {dest}"
        return Property(None, "unknown", (Reason("engine-default", fact.path, fact.line, text),))
    text = f"{release}: {dest} defaults to {fact.value!r}"
    return Property(fact.value, "certain", (Reason("engine-default", fact.path, fact.line, text),))


def unverified(facts: Facts) -> dict[str, tuple[str, ...]]:
    """The properties that cannot be derived in a release, each with the definitions that differ from the nearest
    reading. `conflicts` stands for the configuration's own refusals. Not among them are settings that it lacks.
    """
    basis = Basis(facts, readings())
    return {
        subject: basis.moved(subject)
        for subject in basis.readings.definitions
        if basis.behaviour(subject) is None and not lacks(facts, subject)
    }


def lacks(facts: Facts, subject: str) -> bool:
    """Whether a property is a setting that the release does not have: it is none there."""
    return subject in SETTINGS and facts.default(subject) is None


def unread(facts: Facts) -> tuple[str, ...]:
    """The definitions of a release that are as in no release that was read."""
    known = readings().fingerprints
    return tuple(
        name
        for name, entry in facts.anchors.items()
        if name in known and (entry[0] if entry else None) not in {*known[name].values(), None}
    )


@cache
def readings() -> Readings:
    """The tables, read once."""
    data = yaml.load((RULES / TABLE).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    anchors = json.loads((RULES / ANCHORS).read_text(encoding="utf-8"))
    releases = tuple(data["releases"])
    return Readings(
        releases=releases,
        definitions={name: tuple(entry["definitions"]) for name, entry in data["properties"].items()},
        verified={name: _between(releases, entry["verified"]) for name, entry in data["properties"].items()},
        behaviour={
            name: _by_release(releases, entry.get("behaviour") or {}) for name, entry in data["properties"].items()
        },
        fingerprints={name: _by_hash(releases, entry) for name, entry in anchors.items()},
    )


def written(fingerprints: Mapping[str, Mapping[str, str]], releases: Sequence[str]) -> str:
    """`rules/vllm/anchors.json` for the fingerprints of definitions by release."""
    lines = []
    for name in sorted(fingerprints):
        hashes: dict[str, list[str]] = {}
        for release in releases:
            found = fingerprints[name].get(release)
            if found is not None:
                hashes.setdefault(found, []).append(release)
        spans = {value: " ".join(_spans(releases, read)) for value, read in hashes.items()}
        lines.append(f" {json.dumps(name)}: {json.dumps(spans)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _spans(releases: Sequence[str], some: Sequence[str]) -> list[str]:
    """Releases as spans of the list: `0.11.0-0.12.0`, or `0.14.0` for one alone."""
    spans: list[list[str]] = []
    for release in some:
        if spans and releases.index(spans[-1][-1]) + 1 == releases.index(release):
            spans[-1].append(release)
        else:
            spans.append([release])
    return [span[0] if len(span) == 1 else f"{span[0]}-{span[-1]}" for span in spans]


def _between(releases: tuple[str, ...], spans: str) -> tuple[str, ...]:
    """The releases of some spans, in order."""
    found: list[str] = []
    for span in spans.split():
        first, _, last = span.partition("-")
        found += releases[releases.index(first) : releases.index(last or first) + 1]
    return tuple(found)


def _by_hash(releases: tuple[str, ...], entry: Mapping[str, str]) -> dict[str, str]:
    return {release: value for value, spans in entry.items() for release in _between(releases, spans)}


def _by_release(releases: tuple[str, ...], keys: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The values of each release, from values that hold from a release on."""
    found: dict[str, dict[str, Any]] = {}
    current: dict[str, Any] = {}
    for release in releases:
        current = {**current, **{key: since[release] for key, since in keys.items() if release in since}}
        found[release] = current
    return found
