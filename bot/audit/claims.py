"""What the comments of a compose claim about its services, held against what they run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from bot.audit.contradiction import verdict
from bot.audit.discovery import Unit
from bot.audit.subject import situation
from bot.audit.verdict import Verdict
from bot.catalog import Catalog
from bot.claims import DRAFTER, Claim, claims_of_comments
from bot.compose import Project
from bot.hazards import Finding, Observation, Rules, Subject, evaluate
from bot.provenance import QUOTED, Position, Reason
from bot.resolution import EngineWorld, ResolvedService
from bot.tree import Tree, text_of

KINDS = frozenset({"claim"})
"""The kinds of observation that are made here."""

Tied = dict[tuple[str, str], list[Claim]]
"""Claims by the file that they stand in and the service that they are about."""


def against_claims(
    tree: Tree,
    catalog: Catalog,
    unit: Unit,
    project: Project,
    services: Sequence[ResolvedService],
    rules: Rules,
) -> Iterable[Finding]:
    """The findings about claims on one compose, those of its comments and those of the repository's notes. `services`
    are those of it that run an inference server.
    """
    asked = rules.observing(KINDS)
    engines = [service for service in services if all(world.engine is not None for world in service.defaults)]
    if not asked.rules or not engines:
        return
    tied: Tied = {}
    for path in unit.files:
        text = text_of(tree, path)
        found = claims_of_comments(path, text)
        if found:
            _tie(found, text.split("\n"), project, engines, tied)
    by_name = {service.name: service for service in engines}
    for (path, name), claims in tied.items():
        yield from _findings(asked, path, by_name[name], claims)
    for service in engines:
        noted: Tied = {}
        for claim in catalog.claims:
            if service.path in claim.about or not set(service.slugs).isdisjoint(claim.about):
                noted.setdefault((claim.position.path, service.name), []).append(claim)
        for (path, _), claims in noted.items():
            for finding in _findings(asked, path, service, claims, f" of {service.path}"):
                yield replace(finding, files=unit.files)


def _tie(
    claims: Sequence[Claim], lines: Sequence[str], project: Project, engines: Sequence[ResolvedService], tied: Tied
) -> None:
    """Adds each claim to the service that it stands with; one above all services to the engine that is alone there.

    Where several engines are meant, a claim that one of them fulfils may be about that one.
    """
    path = claims[0].position.path
    begins = sorted((s.position.line, name) for name, s in project.services.items() if s.position.path == path)
    by_name = {service.name: service for service in engines}
    for claim in claims:
        owner = _owner(claim, lines, begins)
        if owner is None:
            here = [service for service in engines if len(engines) == 1 or service.path == path]
            meant = here[:1] if all(verdict(claim, s, world).false for s in here for world in s.defaults) else here[:0]
            meant = here if len(here) == 1 else meant
        else:
            meant = [by_name[owner]] if owner in by_name else []
        for service in meant:
            if _is_about(claim, service):
                tied.setdefault((path, service.name), []).append(claim)


def _owner(claim: Claim, lines: Sequence[str], begins: Sequence[tuple[int, str]]) -> str | None:
    """The service in whose lines, or right above whose lines, a claim stands; None above all services."""
    at = claim.position.line
    owner = None
    for line, name in begins:
        if line < at:
            owner = name
        elif _indent(lines[at - 1]) <= _indent(lines[line - 1]) and owner is not None:
            return name
        else:
            break
    return owner


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_about(claim: Claim, service: ResolvedService) -> bool:
    """Whether a claim that names composes names this one."""
    if not claim.about:
        return True
    return any(name in service.slugs or f"/{service.path}".endswith(f"/{name}") for name in claim.about)


def _findings(
    rules: Rules, path: str, service: ResolvedService, claims: Sequence[Claim], whose: str = ""
) -> Iterator[Finding]:
    """The findings in one file about one service; `whose` tells in its identity a compose that is not this file."""
    groups = {f"{identity}{whose}": same for identity, same in _grouped(claims).items()}
    situations = tuple(
        situation(service, world, tuple(_observations(service, world, groups))) for world in service.defaults
    )
    if any(seen.observations for seen in situations):
        subject = Subject(path, service.name, service.slugs, service.position, situations)
        yield from evaluate(rules, subject)


def _grouped(claims: Iterable[Claim]) -> Mapping[str, list[Claim]]:
    """Claims that say the same."""
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        groups.setdefault(claim.identity, []).append(claim)
    return groups


def _observations(
    service: ResolvedService, world: EngineWorld, groups: Mapping[str, Sequence[Claim]]
) -> Iterator[Observation]:
    wrong_drafters: set[Position] = set()
    for identity, claims in groups.items():
        judged = [(claim, verdict(claim, service, world)) for claim in claims]
        false = [(claim, found) for claim, found in judged if found.false]
        if false and false[0][0].subject == DRAFTER:
            wrong_drafters |= {claim.position for claim, _ in false}
        false = [(c, found) for c, found in false if c.subject == DRAFTER or c.position not in wrong_drafters]
        if false:
            yield _observation(identity, [claim for claim, _ in false], false[0][1])


def _observation(identity: str, claims: Sequence[Claim], found: Verdict) -> Observation:
    first = claims[0]
    said = tuple(Reason("catalog", c.position.path, c.position.line, f"{QUOTED}{c.sentence}") for c in claims)
    lines = tuple(dict.fromkeys(claim.position.line for claim in claims[1:]))
    fields = {
        "about": found.about,
        "claimed": found.claimed,
        "actual": found.actual,
        "words": first.words,
        "sentence": first.sentence,
        "where": str(first.position),
        "also": ", ".join(map(str, lines)),
        "setting": "=".join(first.setting) if first.setting else "",
        "variable": first.kind == "default",
        "form": found.form,
        "contradicted": True,
        "claims": tuple(claims),
    }
    return Observation("claim", identity, first.position, (said[0], *found.because, *said[1:]), fields)
