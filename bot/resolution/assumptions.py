"""What rests on an assumption is no certainty: neither by its reasons, nor where the opposite would change it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from bot.engine import Engine
from bot.engine.model import Property
from bot.provenance import Reason
from bot.shell import Outcome


def honest(engine: Engine) -> Engine:
    """The engine with every property `assumed` that has an assumption among its reasons."""
    shaken = {
        name: Property(found.value, "assumed", found.because)
        for name, found in engine.properties.items()
        if found.certainty == "certain" and any(reason.kind == "assumption" for reason in found.because)
    }
    return replace(engine, properties={**engine.properties, **shaken}) if shaken else engine


def shaken(engine: Engine, others: Iterable[Engine | None], texts: Iterable[str]) -> Engine:
    """The engine with every property `assumed` that is another one when these assumptions do not hold.

    `others` are the engines that are then possible, None for one that is not known at all. `texts` are the assumptions.
    """
    because = tuple(Reason("assumption", "", None, text) for text in dict.fromkeys(texts))
    moved: dict[str, Property] = {}
    for other in others:
        for name, found in engine.properties.items():
            if found.known and name not in moved and _differs(found, other.properties if other else {}, name):
                kept = tuple(reason for reason in because if reason not in found.because)
                moved[name] = Property(found.value, "assumed", (*found.because, *kept))
    return replace(engine, properties={**engine.properties, **moved}) if moved else engine


def _differs(found: Property, others: Mapping[str, Property], name: str) -> bool:
    other = others.get(name)
    return other is None or not other.known or other.value != found.value


def agree(one: Outcome, other: Outcome) -> bool:
    """Whether two ways take the symbols that both ask about to be the same."""
    return all(other.assumed.get(name, value) == value for name, value in one.assumed.items())
