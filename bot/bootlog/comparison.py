"""A boot log held against what a service resolves to, property by property and world by world."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.audit.cards import evaluate_on_cards
from bot.bootlog.model import RELEASE, BootLog, Said
from bot.engine import PROPERTIES, Engine, Property
from bot.engine.model import Value
from bot.hazards import Finding, Rules
from bot.provenance import Reason
from bot.resolution import EngineWorld, ResolvedService

EFFECTIVE = "cudagraph_mode_effective"
"""What the worker ends with: what a log says of it is the only proof that there is."""

MAX_WORLDS = 3
"""Other worlds that are named because the log fits them."""

Verdict = Literal["agrees", "contradicts", "log only", "not said"]


@dataclass(frozen=True, slots=True)
class Row:
    """One property, or the release. `resolved` is None where it is not known; then only the log can tell. `said` is
    None where the log does not say it; `doubt` tells why, where it says it in two ways.
    """

    name: str
    verdict: Verdict
    resolved: Property | None
    said: Said | None
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A log and a service, in the world that the rows are about. `world` is what is set on the host there.

    `fits` are other worlds, by what is set, that the log agrees with where it contradicts this one.
    """

    service: ResolvedService
    world: Mapping[str, str]
    rows: tuple[Row, ...]
    fits: tuple[Mapping[str, str], ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Of the whole: one contradiction is enough; without one, one agreement; else nothing was said. What speaks
        against an assumption of how the worker ends is no contradiction, but what only the log says.
        """
        found = {"log only" if row in self.beyond else row.verdict for row in self.rows}
        order: tuple[Verdict, ...] = ("contradicts", "agrees", "log only")
        return next((verdict for verdict in order if verdict in found), "not said")

    @property
    def against(self) -> tuple[str, ...]:
        """The properties that the log contradicts, but for one that the files only let assume: how the worker ends."""
        return tuple(row.name for row in self.rows if _speaks_against(row))

    @property
    def beyond(self) -> tuple[Row, ...]:
        """What the log says otherwise than the files, which only let assume it: how the worker ends."""
        return tuple(row for row in self.rows if row.verdict == "contradicts" and not _speaks_against(row))

    @property
    def agrees(self) -> bool:
        """Whether the log and the files both say one thing at least."""
        return any(row.verdict == "agrees" for row in self.rows)


@dataclass(frozen=True, slots=True)
class Shift:
    """A hazard that is another one with what the log proves. A finding is None where the rule does not stand."""

    rule: str
    before: Finding | None
    after: Finding | None


def compare(log: BootLog, service: ResolvedService) -> Comparison:
    """Hold a log against a service: first its default world, then the others that it was resolved in."""
    default = _best(log, service.defaults)
    if default is None:
        return Comparison(service, {}, tuple(_row(name, None, log) for name in (RELEASE, *PROPERTIES)))
    world, rows = default
    found = Comparison(service, dict(world.realisation.deviations), rows)
    if not found.against:
        return found
    return replace(found, fits=tuple(_fitting(log, service)))


def _fitting(log: BootLog, service: ResolvedService) -> Iterator[Mapping[str, str]]:
    """Other worlds that the log does not speak against, fewest deviations first."""
    groups: dict[tuple[tuple[str, str], ...], list[EngineWorld]] = {}
    for world in service.worlds:
        if not world.default:
            groups.setdefault(tuple(sorted(world.realisation.deviations.items())), []).append(world)
    named: list[set[tuple[str, str]]] = []
    for key in sorted(groups, key=lambda key: (len(key), key)):
        found = _best(log, groups[key])
        if found is None or any(map(_speaks_against, found[1])) or any(less <= set(key) for less in named):
            continue
        named.append(set(key))
        yield dict(key)
        if len(named) == MAX_WORLDS:
            return


def _best(log: BootLog, worlds: Iterable[EngineWorld]) -> tuple[EngineWorld, tuple[Row, ...]] | None:
    """Of the forks of one world, and of the cards that it may run on, those that the log contradicts least: it knows
    which of them ran.
    """
    ways = [(world, _rows(log, world, engine)) for world in worlds for engine in _engines(world)]
    return min(ways, key=lambda way: _misfit(way[1]), default=None)


def _engines(world: EngineWorld) -> Sequence[Engine]:
    return (*world.on_card.values(),) or ((world.engine,) if world.engine is not None else ())


def _rows(log: BootLog, world: EngineWorld, engine: Engine) -> tuple[Row, ...]:
    release = world.pin.release
    pinned = Property(release, "certain", world.pin.because) if release is not None else None
    return (
        _row(RELEASE, pinned, log),
        *(_row(name, engine.properties[name], log) for name in PROPERTIES),
    )


def _row(name: str, found: Property | None, log: BootLog) -> Row:
    known = found if found is not None and found.known and not _left_open(name, found.value) else None
    said = log.said.get(name)
    if said is None:
        return Row(name, "not said", known, None, log.doubts.get(name, ""))
    if known is None:
        return Row(name, "log only", None, said)
    return Row(name, "agrees" if same(name, known.value, said.value) else "contradicts", known, said)


def _left_open(name: str, value: Value) -> bool:
    """Whether a value means that somebody else decides: without a backend in the configuration, the worker chooses."""
    return name == "attention_backend" and value is None


def same(name: str, resolved: Value, said: Value) -> bool:
    """Whether a resolved value and one that a log says are the same thing."""
    if name == RELEASE:
        return _release(str(resolved)) == _release(str(said))
    if isinstance(resolved, bool) or isinstance(said, bool):
        return resolved is said
    if isinstance(resolved, str) and isinstance(said, str):
        return resolved.casefold() == said.casefold()
    return resolved == said


def _release(text: str) -> str:
    """A version without what a build adds to it (`+cu130`)."""
    return re.sub(r"\+.*", "", text.removeprefix("v"))


def _speaks_against(row: Row) -> bool:
    """Whether a log that says this is of another world: how the worker ends is no more than assumed from the files."""
    assumed = row.resolved is not None and row.resolved.certainty == "assumed"
    return row.verdict == "contradicts" and not (row.name == EFFECTIVE and assumed)


def _misfit(rows: Sequence[Row]) -> tuple[int, int, int]:
    """The less, the better a log fits."""
    verdicts = [row.verdict for row in rows]
    return sum(map(_speaks_against, rows)), verdicts.count("contradicts"), -verdicts.count("agrees")


def effects(log: BootLog, service: ResolvedService, rules: Rules) -> tuple[Shift, ...]:
    """The hazards of the default world that change when what the log says of the engine is taken for certain: it shows
    what is so on this machine, not what the repository would do on another.
    """
    proved = {
        name: Property(said.value, "certain", (Reason("assumption", "", None, f"line {said.line} of the boot log"),))
        for name, said in log.said.items()
        if name in PROPERTIES
    }
    if not proved:
        return ()
    plain = replace(service, worlds=service.defaults)
    shown = replace(service, worlds=tuple(_proved(world, proved) for world in service.defaults))
    about = rules.only({rule.id for rule in rules.over_properties})
    before = {finding.rule: finding for finding in evaluate_on_cards(about, plain)}
    after = {finding.rule: finding for finding in evaluate_on_cards(about, shown)}
    return tuple(
        Shift(rule, before.get(rule), after.get(rule))
        for rule in sorted(before.keys() | after.keys())
        if _standing(before.get(rule)) != _standing(after.get(rule))
    )


def _standing(finding: Finding | None) -> tuple[str, str] | None:
    return None if finding is None else (finding.status, finding.level)


def _proved(world: EngineWorld, proved: Mapping[str, Property]) -> EngineWorld:
    if world.engine is None:
        return world
    cards = {card: _with(engine, proved) for card, engine in world.on_card.items()}
    return replace(world, engine=_with(world.engine, proved), on_card=cards)


def _with(engine: Engine, proved: Mapping[str, Property]) -> Engine:
    return replace(engine, properties={**engine.properties, **proved})
