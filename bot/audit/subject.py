"""A resolved service as the hazard rules see it."""

from __future__ import annotations

from collections.abc import Iterable

from bot.audit.observations import of_seams, of_world
from bot.hazards import Observation, Situation, Subject, World
from bot.resolution import EngineWorld, ResolvedService


def subject(service: ResolvedService, seams: Iterable[Observation] | None = None) -> Subject:
    """The rules' view of a service: its default world, and the others in which an engine starts or may start.

    `seams` replaces the observations about its seams, when more is known of them.
    """
    everywhere = tuple(of_seams(service) if seams is None else seams)
    situations = tuple(
        situation(
            service, world, (*everywhere, *of_world(service, world)) if world.default else of_world(service, world)
        )
        for world in service.worlds
        if world.default or world.engine is not None or not world.resolved
    )
    return Subject(service.path, service.name, service.slugs, service.position, situations)


def situation(service: ResolvedService, world: EngineWorld, observations: tuple[Observation, ...] = ()) -> Situation:
    """One world of a service."""
    engine = world.engine
    asked = engine.releases if engine else ()
    return Situation(
        world=World(world.realisation.deviations, dict(world.outcome.assumed) if world.outcome else {}),
        properties=engine.properties if engine else {},
        pin=world.pin,
        releases=(world.pin.release,) if world.pin.release else asked,
        overlays=world.patches,
        sm=service.sm,
        observations=observations,
        position=service.position,
        asked=asked,
        settings=frozenset(engine.parsed) if engine else None,
    )
