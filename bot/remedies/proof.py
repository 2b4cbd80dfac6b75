"""Resolves an edited tree, and holds it against what was there: the proof of an edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bot.audit import Report, audit
from bot.audit.audit import UnitReport
from bot.catalog import read_catalog
from bot.hazards import Finding, Rules, compare, worsened
from bot.remedies.model import Candidate, Meant
from bot.resolution import EngineWorld, Repository, ResolvedService
from bot.review.affected import affected
from bot.tree import MemoryTree

Worlds = Mapping[tuple[tuple[str, str], ...], frozenset[object]]


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
    tree = MemoryTree(files, repository.tree)
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
        allowed = meant.keys if name == finding.service else frozenset()
        was = old[name].config
        for key in was.keys() | service.config.keys():
            if key not in allowed and was.get(key) != service.config.get(key):
                yield f"`{key}` of {name} in {after.unit.path} would change too"


def _in_engines(before: UnitReport, after: UnitReport, finding: Finding, meant: Meant) -> Iterator[str]:
    """Properties of engines that would be others, by default or in a world that was there before."""
    old = {(service.path, service.name): service for service in before.services}
    for service in after.services:
        was = old.pop((service.path, service.name), None)
        own = service.name == finding.service
        if was is None:
            if not own:
                yield f"another service, {service.name}, would run an engine"
            continue
        changes = meant if own else Meant()
        worlds, now = _worlds(was, changes), _worlds(service, changes)
        for world in worlds.keys() & now.keys():
            if worlds[world] != now[world]:
                where = " with " + " ".join(f"{name}={value}" for name, value in world) if world else ""
                yield f"{_difference(was, service, changes)} of {service.name}{where} would change too"
    if old:
        yield f"{next(iter(old))[1]} would run no engine any more"


def _worlds(service: ResolvedService, meant: Meant) -> Worlds:
    """What each world runs, but for what may change: one answer for each of its forks."""
    found: dict[tuple[tuple[str, str], ...], set[object]] = {}
    for world in service.worlds:
        found.setdefault(tuple(sorted(world.realisation.deviations.items())), set()).add(_runs(world, meant))
    return {key: frozenset(forks) for key, forks in found.items()}


def _runs(world: EngineWorld, meant: Meant) -> object:
    image = "" if "image" in meant.keys else world.pin.image
    if world.engine is None:
        return world.kind, image
    values = tuple(value for name, value in _properties(world).items() if name not in meant.properties)
    argv = world.engine.launch.argv if world.engine.launch is not None and not meant.arguments else ()
    return world.kind, image, values, tuple(word.text for word in argv)


def _properties(world: EngineWorld) -> dict[str, object]:
    engine = world.engine
    return {
        name: (name, found.value if found.known else "unknown", found.known)
        for name, found in (engine.properties.items() if engine is not None else ())
    }


def _difference(before: ResolvedService, after: ResolvedService, meant: Meant) -> str:
    """The first property that differs by default; the command line where none does."""
    for old, new in zip(before.defaults, after.defaults, strict=False):
        was, now = _properties(old), _properties(new)
        for name in now:
            if name not in meant.properties and was.get(name, now[name]) != now[name]:
                return name
    return "the command line or a property"
