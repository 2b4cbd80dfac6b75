"""Resolves an edited tree, and holds it against what was there: the proof of an edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.audit import Report, audit
from bot.audit.audit import UnitReport
from bot.catalog import read_catalog
from bot.hazards import Finding, Rules, compare, worsened
from bot.remedies.model import Candidate, Meant
from bot.resolution import EngineWorld, Repository, ResolvedService
from bot.review.affected import affected
from bot.tree import MemoryTree

World = tuple[tuple[str, str], ...]
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Proved:
    """An edited repository in which the finding is gone and nothing else is otherwise. `composes` were resolved again,
    `left` is what stays of the finding, in other worlds.
    """

    repository: Repository
    report: Report
    composes: int
    left: Finding | None


def edited(repository: Repository, files: Mapping[str, str]) -> Repository:
    """The repository with other texts in some of its files, under the same configuration."""
    below = repository.tree
    if isinstance(below, MemoryTree) and below.below is not None and not below.deleted:
        files, below = {**below.files, **files}, below.below  # one edit after another: no tower of trees
    tree = MemoryTree(files, below)
    documents = repository.documents.over(tree)
    catalog = replace(read_catalog(tree, documents.memory), configuration=repository.catalog.configuration)
    return Repository(tree, catalog, documents)


def prove(
    repository: Repository, files: Mapping[str, str], finding: Finding, candidate: Candidate, rules: Rules, limit: int
) -> Proved | str:
    """What resolving the edited tree shows; or why it proves nothing. No more than `limit` composes are resolved."""
    after = edited(repository, files)
    touched = affected(repository, after, files)
    if len(touched.head) > limit:
        return f"{len(touched.head)} composes would have to be resolved again, which is too many here"
    old = audit(touched.narrow(repository), rules, only=lambda unit: unit in touched.base)
    new = audit(touched.narrow(after), rules, only=lambda unit: unit in touched.head)
    why = _refused(old, new) or _otherwise(old, new, finding, candidate)
    if why:
        return why
    difference = compare(old.findings, new.findings, lambda one: not _resolves(new, one))
    for one in (*difference.introduced, *(b for a, b in difference.changed if worsened(a, b))):
        return f"it would bring {one.rule} to {one.service or one.path} ({one.level}, {one.status})"
    left = next((one for one in new.findings if one.identity == finding.identity), None)
    if not any(one.identity == finding.identity for one in old.findings):
        return "the finding is not there to begin with"
    if left is not None and not (candidate.by_default and left.status in ("reachable", "mitigated")):
        return "the finding would still be there"
    return Proved(after, new, len(touched.head), left)


def _resolves(report: Report, finding: Finding) -> bool:
    return all(report.resolves(path, finding.service) for path in dict.fromkeys((finding.path, *finding.files)))


def _refused(old: Report, new: Report) -> str:
    """Why Compose takes the edited files no longer, or reads other ones."""
    if [unit.unit for unit in old.units] != [unit.unit for unit in new.units]:
        return "another set of composes would be there"
    for before, after in zip(old.units, new.units, strict=True):
        known = {error.message for error in before.project.errors}
        for error in after.project.errors:
            if error.message not in known:
                return f"Docker Compose would refuse {after.unit.path}: {error.message}"
    return ""


def _otherwise(old: Report, new: Report, finding: Finding, candidate: Candidate) -> str:
    """What else would change, in any compose."""
    for before, after in zip(old.units, new.units, strict=True):
        for why in (
            *_in_the_compose(before, after, finding, candidate.meant),
            *_in_engines(before, after, finding, candidate.meant),
        ):
            return why
    return ""


def _in_the_compose(before: UnitReport, after: UnitReport, finding: Finding, meant: Meant) -> Iterator[str]:
    """Fields of services that would be others."""
    old, new = before.project.services, after.project.services
    if old.keys() != new.keys():
        yield f"{after.unit.path} would have other services"
        return
    for name, service in new.items():
        changes = meant if name == finding.service else Meant()
        was, now = (_but_variables(one.config, changes.variables) for one in (old[name], service))
        for key in was.keys() | now.keys():
            if key not in changes.keys and was.get(key) != now.get(key):
                yield f"`{key}` of {name} in {after.unit.path} would change too"


def _but_variables(config: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """A service as Compose gives it, without some of its variables."""
    environment = config.get("environment") or {}
    return {**config, "environment": {name: value for name, value in environment.items() if name not in names}}


def _in_engines(before: UnitReport, after: UnitReport, finding: Finding, meant: Meant) -> Iterator[str]:
    """What engines run that would be otherwise, by default or in a world that was there before."""
    old = {(service.path, service.name): service for service in before.services}
    for service in after.services:
        was = old.pop((service.path, service.name), None)
        own = service.name == finding.service
        if was is None:
            if not own:
                yield f"another service, {service.name}, would run an engine"
            continue
        worlds, now = _worlds(was), _worlds(service)
        changes = meant if own else Meant()
        for world in sorted(worlds.keys() & now.keys()):
            if world and changes.elsewhere:
                continue
            for what in _differences(worlds[world], now[world], changes):
                where = " with " + " ".join(f"{name}={value}" for name, value in world) if world else ""
                yield f"{what} of {service.name}{where} would change too"
    if old:
        yield f"{next(iter(old))[1]} would run no engine any more"


def _worlds(service: ResolvedService) -> dict[World, list[EngineWorld]]:
    """The forks of each world."""
    found: dict[World, list[EngineWorld]] = {}
    for world in service.worlds:
        found.setdefault(tuple(sorted(world.realisation.deviations.items())), []).append(world)
    return found


def _differences(before: list[EngineWorld], after: list[EngineWorld], meant: Meant) -> Iterator[str]:
    """What differs between two states of one world, in any of its forks. What was not known and is now is no change."""
    if {world.kind for world in before} != {world.kind for world in after}:
        yield "what the service runs"
    if "image" not in meant.keys and {world.pin.image for world in before} != {world.pin.image for world in after}:
        yield "the image"
    old, new = _properties(before), _properties(after)
    for name in old.keys() | new.keys():
        was = old.get(name, {UNKNOWN})
        if name not in meant.properties and was != new.get(name, {UNKNOWN}) and was != {UNKNOWN}:
            yield name
    if meant.words is not None and _commands(before, meant.words) != _commands(after, meant.words):
        yield "the command line"


def _properties(forks: list[EngineWorld]) -> dict[str, set[object]]:
    """What each property is, in any fork."""
    found: dict[str, set[object]] = {}
    for world in forks:
        for name, value in (world.engine.properties if world.engine is not None else {}).items():
            found.setdefault(name, set()).add((type(value.value), value.value) if value.known else UNKNOWN)
    return found


def _commands(forks: list[EngineWorld], but: frozenset[str]) -> set[tuple[str, ...] | None]:
    """The command lines without some of their words."""
    found = (world.outcome.argv if world.outcome is not None else None for world in forks)
    return {None if argv is None else tuple(word.text for word in argv if word.text not in but) for argv in found}
