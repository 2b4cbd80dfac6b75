"""What a repository says about a compose in its catalog, held against what the compose does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from bot.audit.attribution import of_attribution, of_releases
from bot.audit.cards import evaluate_on_cards
from bot.audit.guards import of_broken_guards
from bot.audit.offered import of_offers
from bot.audit.pins import of_pin
from bot.audit.registered import of_registry
from bot.audit.retired import of_retired
from bot.audit.subject import situation
from bot.audit.traps import of_values
from bot.audit.wiring import Surroundings, of_patches
from bot.hazards import Finding, Observation, Rules, Subject, evaluate
from bot.resolution import EngineWorld, Repository, ResolvedService

KINDS = frozenset(
    {
        "attribution",
        "overlay",
        "overlay-release",
        "phantom-seam",
        "pin",
        "registry",
        "retired-patch",
        "seam-trap",
        "vendor-guard",
    }
)
"""The kinds of observation that are made here."""


def against_statements(
    repository: Repository,
    files: tuple[str, ...],
    services: Sequence[ResolvedService],
    rules: Rules,
    findings: Sequence[Finding],
) -> Iterable[Finding]:
    """The findings about statements of the catalog, and about the variables of a compose. `services` are those of it
    that run an inference server, `findings` what the other rules say of them.
    """
    asked = rules.observing(KINDS)
    if not asked.rules:
        return
    catalog = repository.catalog
    for service in services:
        around = Surroundings(
            catalog,
            rules,
            _hazards(service, rules, findings) if catalog.patches else None,
            frozenset(patch.id for other in services if other is not service for patch in other.defaults[0].patches),
        )
        everywhere = tuple(_in_every_world(repository, files, service, asked))
        situations = tuple(
            situation(
                service,
                world,
                (
                    *everywhere,
                    *_seen(service, world, around),
                    *of_registry(catalog, service, world, services),
                    *of_broken_guards(repository, service, world),
                ),
            )
            for world in service.defaults
        )
        yield from evaluate(asked, Subject(service.path, service.name, service.slugs, service.position, situations))


def _hazards(service: ResolvedService, rules: Rules, findings: Sequence[Finding]) -> Mapping[str, Finding] | None:
    """What stands on a service, whether it is to be reported or not."""
    if not any(world.engine is not None for world in service.defaults):
        return None
    found: Iterable[Finding] = (finding for finding in findings if finding.service == service.name)
    if rules.reported is not None:
        found = evaluate_on_cards(replace(rules, reported=None), service, ())
    return {finding.rule: finding for finding in found if not rules.named[finding.rule].observes}


def _in_every_world(
    repository: Repository, files: tuple[str, ...], service: ResolvedService, asked: Rules
) -> Iterator[Observation]:
    """What is to be said of the variables that people set; it takes time, and is left out when nobody asks."""
    if asked.observing({"seam-trap"}).rules:
        yield from of_values(repository.tree, files, service)
    if asked.observing({"phantom-seam"}).rules:
        yield from of_offers(repository, files, service)


def _seen(service: ResolvedService, world: EngineWorld, around: Surroundings) -> tuple[Observation, ...]:
    return (
        *of_patches(service, world, around),
        *of_attribution(service, world, around),
        *of_releases(service, world, around),
        *of_retired(service, world),
        *of_pin(around.catalog, service, world),
    )
