"""The answer to `/explain`: a property's chain of reasons, the seams of a compose and what they change, or a hazard."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.audit import Unit, discover
from bot.commands.catalogue import EXPLAIN, Explain
from bot.commands.hazard import explain_hazard, hazard_ids
from bot.commands.subjects import named, no_such
from bot.compose import load_project
from bot.engine import PROPERTIES, Property, source_links, undoubted
from bot.markdown import cell, code, folded, prose
from bot.resolution import EngineWorld, Repository, ResolvedService, resolve_service
from bot.review.chain import chain_lines
from bot.review.links import OFFLINE, Links
from bot.review.sections import Section, fitted, paragraph

MAX_BYTES = 60_000
"""Of an answer; GitHub takes 65,536 characters."""

MAX_LINES = 12
"""Lines of a chain, or of a table, that are shown; the others are folded away."""

MAX_SERVICES = 4
"""Services of one file that are explained."""

MAX_CHANGES = 6
"""Properties that one value of a variable changes, as far as they are named."""

_TABLE = ("| set on the host | what changes |", "|---|---|")


def explain(asked: Explain, repository: Repository, links: Links = OFFLINE) -> str:
    """The answer, as Markdown. `repository` is the state that `links` point at."""
    if asked.hazard() in hazard_ids():
        return explain_hazard(asked.subject, links)
    if asked.property is not None and asked.property not in PROPERTIES:
        return no_such("property", asked.property, PROPERTIES, EXPLAIN)
    units = discover(repository.tree, repository.documents, repository.catalog.configuration).units
    chosen = named(asked.subject, units, repository)
    if not chosen:
        names = [*(unit.path for unit in units), *repository.catalog.slugs, *hazard_ids()]
        return no_such("compose or hazard", asked.subject, names, EXPLAIN)
    sections = [section for unit in chosen for section in _unit(asked, unit, repository, links)]
    return fitted(sections, MAX_BYTES)


def _unit(asked: Explain, unit: Unit, repository: Repository, links: Links) -> Iterable[Section]:
    project = load_project(repository.documents, unit.files, {})
    names = [name for name in project.services if asked.service in (None, name)]
    for error in project.errors[:3]:
        place = links.place(error.path or unit.path, error.line)
        yield paragraph(f"Docker Compose refuses this file, at {place}: {prose(error.message)}")
    if asked.service is not None and not names:
        yield paragraph(no_such("service", asked.service, project.services, EXPLAIN))
    interplay = () if asked.property is None else None
    for name in names[:MAX_SERVICES]:
        service = resolve_service(repository, unit.files, name, interplay=interplay, project=project)
        yield paragraph(f"#### {links.place(unit.path, service.position.line)}, service {code(name)}")
        yield from _chains(service, asked.property, links) if asked.property else _seams(service, links)
    if len(names) > MAX_SERVICES:
        yield paragraph(f"{len(names) - MAX_SERVICES} more services: ask for one with {code(f'{unit.path}:SERVICE')}.")


def _chains(service: ResolvedService, name: str, links: Links) -> Iterable[Section]:
    """The chain in each fork of the default world. Forks that it does not depend on are not told apart."""
    told: dict[str, EngineWorld] = {}
    for world in service.defaults:
        told.setdefault(_chain(service, world, name, links), world)
    for chain, world in told.items():
        yield paragraph(f"{_assumed(world) if len(told) > 1 else ''}{chain}")


def _chain(service: ResolvedService, world: EngineWorld, name: str, links: Links) -> str:
    if world.engine is None:
        return _no_engine(world)
    found = world.engine.properties[name]
    lines = chain_lines(found.because, links, source_links(world.engine.releases, found), service.path)
    value = f"is **{_value(found)}**" if found.known else "is **not known**"
    hedge = ", as far as can be told" if found.certainty == "assumed" else ""
    parts = [
        f"{code(name)} {value}{hedge}:",
        "\n".join(lines[:MAX_LINES]),
        folded(f"{len(lines) - MAX_LINES} more", "\n".join(lines[MAX_LINES:])),
    ]
    return "\n\n".join(part for part in parts if part)


def _assumed(world: EngineWorld) -> str:
    assumed = dict(world.outcome.assumed) if world.outcome else {}
    where = " and ".join(f"{code(name)} is {code(value)}" for name, value in assumed.items())
    return f"Where {where}: " if where else ""


def _no_engine(world: EngineWorld) -> str:
    reasons = "; ".join(prose(item.reason) for item in world.unresolved[:3])
    if not reasons:
        reasons = f"it runs {code(world.kind)}" if world.kind else "no inference server starts"
    return f"No vLLM engine is known to run here: {reasons}."


def _value(found: Property) -> str:
    value = found.value
    if value is None or isinstance(value, bool):
        return {True: "on", False: "off", None: "none"}[value]
    return code(str(value))


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    value: str
    effect: str


def _seams(service: ResolvedService, links: Links) -> Iterable[Section]:
    """What can be set on the host, and what each value changes."""
    yield from (paragraph(_no_engine(world)) for world in service.defaults[:1] if world.engine is None)
    effects = tuple(_effects(service))
    rows = [f"| {cell(code(f'{row.name}={row.value}'))} | {cell(row.effect)} |" for row in effects]
    telling = tuple(row for row in rows if not row.endswith(f"| {_NOTHING} |"))
    silent = tuple(row for row in rows if row.endswith(f"| {_NOTHING} |"))
    yield Section("", telling[:MAX_LINES], _TABLE)
    yield Section(f"{len(telling) - MAX_LINES} more that change something", telling[MAX_LINES:], _TABLE, folded=True)
    yield Section(f"{len(silent)} that {_verb(silent, 'change')} no property", silent, _TABLE, folded=True)
    yield Section("", tuple(_dead(service, links)))
    free = {seam.name for seam in service.survey.seams if seam.open and seam.forwarded}
    lines = _listed(service, free, links)
    yield Section(f"{len(lines)} that {_verb(lines, 'take')} any text", lines, folded=True)
    shown = free | {row.name for row in effects}
    rest = {seam.name for seam in service.survey.seams if seam.forwarded and not {seam.name, seam.host} & shown}
    lines = _listed(service, rest, links)
    yield Section(f"{len(lines)} of which no other value is known", lines, folded=True)
    if not service.survey.seams:
        yield paragraph("Nothing that is set on the host changes what runs here.")
    elif not telling and any(world.engine is not None for world in service.defaults):
        yield paragraph("Of the variables that can be set on the host, none is known to change a property.")


def _listed(service: ResolvedService, names: Collection[str], links: Links) -> tuple[str, ...]:
    """Variables, each with its default and its place."""
    return tuple(
        f"- {code(seam.name)}{f' (by default {code(seam.default)})' if seam.default else ''}, "
        f"{links.place(seam.position.path, seam.position.line)}"
        for seam in service.survey.seams
        if seam.name in names
    )


def _verb(lines: Sequence[str], verb: str) -> str:
    return f"{verb}s" if len(lines) == 1 else verb


_NOTHING = "nothing that is known of"


def _effects(service: ResolvedService) -> Iterable[_Row]:
    base = _properties(service.defaults)
    worlds: dict[tuple[str, str], list[EngineWorld]] = {}
    for world in service.worlds:
        deviations = world.realisation.deviations
        if len(deviations) == 1:
            worlds.setdefault(next(iter(deviations.items())), []).append(world)
    for (name, value), reached in worlds.items():
        yield _Row(name, value, _effect(base, reached))


def _effect(base: Mapping[str, str], reached: Sequence[EngineWorld]) -> str:
    if not any(world.engine is not None for world in reached):
        return _no_engine(reached[0]).rstrip(".")
    there = _properties(reached)
    changed = [
        f"{code(name)}: {base.get(name, 'not known')} → {value}"
        for name, value in there.items()
        if base.get(name) != value
    ]
    if len(changed) > MAX_CHANGES:
        changed = [*changed[:MAX_CHANGES], f"{len(changed) - MAX_CHANGES} more"]
    return ", ".join(changed) or _NOTHING


def _properties(worlds: Iterable[EngineWorld]) -> dict[str, str]:
    """Each property as it is in all of these worlds."""
    found: dict[str, set[str]] = {}
    for world in worlds:
        for name, value in undoubted(world.engine.properties).items() if world.engine else ():
            found.setdefault(name, set()).add(_value(value) if value.known else "not known")
    return {name: values.pop() if len(values) == 1 else "not known" for name, values in found.items()}


def _dead(service: ResolvedService, links: Links) -> Iterable[str]:
    for name, position in {read.name: read.position for read in service.survey.dead}.items():
        place = links.place(position.path, position.line)
        yield f"- {code(name)} does nothing: the entrypoint reads it ({place}), and Compose never forwards it."
