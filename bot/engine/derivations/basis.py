"""Which reading of vLLM's source a derivation may rest on in a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import yaml

from bot.engine.facts import Fact, Facts
from bot.engine.model import Property
from bot.rules import RULES

TABLE = "vllm/derivations.yml"


@dataclass(frozen=True, slots=True)
class Readings:
    """`rules/vllm/derivations.yml`: what was read, in which release, and what it said."""

    properties: Mapping[str, tuple[str, ...]]
    behaviour: Mapping[str, Mapping[str, Any]]
    fingerprints: Mapping[str, Mapping[str, str]]

    def agree(self, release: str, definition: str, found: str | None) -> bool:
        """Whether a definition with the fingerprint `found` is the one that was read in `release`."""
        return self.fingerprints.get(definition, {}).get(release) == found


@dataclass(frozen=True, slots=True)
class Basis:
    """What may be derived for one release: for each property, the behaviour that was read, or what has changed.

    `literals` and `levels` keep what the release's own tables say, once it has been asked for.
    """

    facts: Facts
    readings: Readings
    literals: dict[str, Property] = field(default_factory=dict)
    levels: dict[int, Fact | None] = field(default_factory=dict)
    _behaviour: dict[str, Mapping[str, Any] | None] = field(default_factory=dict)

    def behaviour(self, subject: str) -> Mapping[str, Any] | None:
        """The behaviour that a property's derivation may rest on; None where nothing verified matches."""
        if subject not in self._behaviour:
            self._behaviour[subject] = self._find(subject)
        return self._behaviour[subject]

    def changed(self, subject: str) -> str:
        """Why a derivation is not applied, for a person to read."""
        newest = max(self.readings.behaviour, key=lambda release: len(self._same(subject, release)))
        same = self._same(subject, newest)
        other = [name.partition(":")[2] for name in self.readings.properties[subject] if name not in same]
        return f"unverified in {self.facts.version}: {', '.join(other)} differ from {newest}"

    def graph_mode(self, level: int) -> Fact | None:
        """The CUDA graph mode that an optimisation level sets."""
        if level not in self.levels:
            self.levels[level] = self.facts.level_table(level).get("compilation_config.cudagraph_mode")
        return self.levels[level]

    def place(self, definition: str) -> tuple[str, int | None]:
        """The file and line of a definition in this release."""
        entry = self.facts.anchors.get(definition)
        return definition.partition(":")[0], entry[1] if entry else None

    def _find(self, subject: str) -> Mapping[str, Any] | None:
        own = self.facts.version
        newest_first = list(self.readings.behaviour)[::-1]
        candidates = [own] if own in newest_first else []
        candidates += [release for release in newest_first if release != own]
        needed = len(self.readings.properties[subject])
        for release in candidates:
            if len(self._same(subject, release)) == needed:
                return self.readings.behaviour[release]
        return None

    def _same(self, subject: str, release: str) -> set[str]:
        anchors = self.facts.anchors
        return {
            name
            for name in self.readings.properties[subject]
            if name in anchors and self.readings.agree(release, name, anchors[name][0] if anchors[name] else None)
        }


@cache
def readings() -> Readings:
    """The table, read once."""
    data = yaml.load((RULES / TABLE).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return Readings(
        properties={name: tuple(definitions) for name, definitions in data["properties"].items()},
        behaviour=data["behaviour"],
        fingerprints=data["fingerprints"],
    )
