"""Small subjects for the tests of evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bot.engine.model import Pin, Property, Value
from bot.hazards.loader import load_rules
from bot.hazards.model import Observation, Situation, StatedOverlay, Subject, World
from bot.hazards.rule import Rules
from bot.provenance import Position, Reason

PATH = "stack/compose.yml"
PAIR: Mapping[str, Value] = {"prefix_caching": True, "spec_decode.method": "mtp", "model.recurrent": "gdn"}
UNKNOWN = object()
"""As a property's value: not known."""


def known(values: Mapping[str, Any]) -> dict[str, Property]:
    return {
        name: Property(None, "unknown", (Reason("assumption", "", None, "nobody says"),))
        if value is UNKNOWN
        else Property(value, "certain", (Reason("compose", PATH, 10 + index, f"{name} is set here"),))
        for index, (name, value) in enumerate(values.items())
    }


def situation(
    values: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
    *,
    symbols: Mapping[str, str] | None = None,
    release: str | None = "0.25.1",
    releases: tuple[str, ...] = (),
    overlays: Iterable[tuple[str, bool | None]] = (),
    sm: tuple[int, ...] = (86,),
    observations: tuple[Observation, ...] = (),
) -> Situation:
    pin = Pin("example/image", release, why="" if release else "a floating tag", stock=True)
    return Situation(
        world=World(environment or {}, symbols or {}),
        properties=known(values),
        pin=pin,
        releases=(release,) if release else releases,
        overlays=tuple(
            StatedOverlay(f"patch {ref}", (ref,), wired, "its script is not here") for ref, wired in overlays
        ),
        sm=sm,
        observations=observations,
    )


def subject(*situations: Situation) -> Subject:
    return Subject(PATH, "engine", ("stack/one", "stack/two"), Position(PATH, 3), situations)


def observed(kind: str, cause: str = "X", line: int = 7, /, **fields: Any) -> Observation:
    return Observation(kind, cause, Position(PATH, line), (Reason("shell", PATH, line, "seen here"),), fields)


RULE = """\
id: sample
title: A sample
level: error
when: {property: prefix_caching, is: true}
evidence:
  - {grade: established, source: here, sentence: Seen.}
message: It happens.
explanation: Because.
examples: []
"""


def folder_with(tmp_path: Path, **files: str) -> Path:
    """A folder of rules: `rules/hazards/<name>.yml` with the given texts."""
    rules = tmp_path / "rules"
    (rules / "hazards").mkdir(parents=True)
    (rules / "vocabulary.yml").write_text("sets: {drafters: {values: [mtp], source: here}}\n")
    (rules / "upstream.yml").write_text("vllm-project/vllm#1: {title: One}\n")
    for name, text in files.items():
        (rules / "hazards" / f"{name}.yml").write_text(text)
    return rules


def rules_with(tmp_path: Path, **files: str) -> Rules:
    return load_rules(folder_with(tmp_path, **files))
