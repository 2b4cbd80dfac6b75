"""Which worlds to look at: single deviations first, then the pairs that a rule could need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from bot.engine import undoubted
from bot.resolution.model import EngineWorld
from bot.worlds.model import Deviation

MAX_PAIRS = 32
"""Pairs tried for one service, most promising first: a finding needs one witness, not all of them."""

MAX_WORK = 2_000_000
"""Characters of scripts and commands interpreted over all worlds of one service: real ones have a few thousand."""

MAX_ARGUMENTS = 100_000
"""Arguments over all worlds of one service that are kept: real ones have about fifty, in some twenty worlds."""

MAX_WORLDS = 600
"""Worlds tried for all services of one file together, in equal shares: few files have more than six services."""

Realise = Callable[[Mapping[str, str]], tuple[EngineWorld, ...]]


@dataclass(frozen=True, slots=True)
class Exploration:
    """The worlds that were tried, and what a bound kept from being tried: single deviations, and a number of pairs."""

    worlds: tuple[EngineWorld, ...]
    untried: tuple[Deviation, ...] = ()
    untried_pairs: int = 0


def explore(
    default: Sequence[EngineWorld],
    deviations: Iterable[Deviation],
    interplay: Iterable[frozenset[str]],
    realise: Realise,
    services: int = 1,
) -> Exploration:
    """The worlds beside the default one, in order of the number of deviations.

    `services` is how many the file has, which share `MAX_WORLDS`.
    `interplay` holds, for each rule, the properties that it reads together. A pair of deviations is tried when each of
    the two alone moves a property of a rule that the other does not: only then can both together make a rule true that
    neither makes true alone.
    """
    rules = tuple(interplay)
    names = frozenset(name for rule in rules for name in rule)
    base = _signature(default, names)
    worlds: list[EngineWorld] = []
    effects: dict[Deviation, frozenset[str]] = {}
    kept, work = _arguments(default), 0
    waiting, share = tuple(deviations), MAX_WORLDS // max(services, 1)
    for index, deviation in enumerate(waiting):
        work += _size(default)
        if kept > MAX_ARGUMENTS or work > MAX_WORK or index >= share:
            return Exploration(tuple(worlds), waiting[index:])
        reached = realise({deviation.name: deviation.value})
        kept += _arguments(reached)
        worlds.extend(reached)
        effects[deviation] = _effect(base, _signature(reached, names))
    pairs = _pairs(effects, rules)
    most = min(MAX_PAIRS, share - len(waiting))
    for first, second in pairs[:most]:
        worlds.extend(realise({first.name: first.value, second.name: second.value}))
    return Exploration(tuple(worlds), (), max(len(pairs) - most, 0))


def _arguments(worlds: Sequence[EngineWorld]) -> int:
    return sum(len(world.outcome.argv or ()) for world in worlds if world.outcome is not None)


def _size(worlds: Sequence[EngineWorld]) -> int:
    started = worlds[0].realisation.start if worlds else None
    return sum(len(word.text) for word in started.process.argv) if started and started.process else 0


def _pairs(
    effects: Mapping[Deviation, frozenset[str]], interplay: tuple[frozenset[str], ...]
) -> list[tuple[Deviation, Deviation]]:
    moving = {deviation: effect for deviation, effect in effects.items() if effect}
    return [
        (a, b)
        for a, b in combinations(moving, 2)
        if a.name != b.name and any(_complement(moving[a] & rule, moving[b] & rule) for rule in interplay)
    ]


def _complement(a: frozenset[str], b: frozenset[str]) -> bool:
    return bool(a - b and b - a)


def _signature(worlds: Sequence[EngineWorld], names: frozenset[str]) -> dict[str, frozenset[object]]:
    """What some properties are over all forks of a world."""
    found: dict[str, set[object]] = {}
    for world in worlds:
        properties = undoubted(world.engine.properties) if world.engine else {}
        for name in names & properties.keys():
            value = properties[name]
            found.setdefault(name, set()).add((value.known, value.value))
    return {name: frozenset(values) for name, values in found.items()}


def _effect(base: Mapping[str, frozenset[object]], other: Mapping[str, frozenset[object]]) -> frozenset[str]:
    return frozenset(name for name in {*base, *other} if base.get(name) != other.get(name))
