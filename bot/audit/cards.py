"""A service that is meant for several cards is judged on each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bot.audit.subject import subject
from bot.hazards import Finding, Observation, Rules, evaluate, worse
from bot.resolution import ResolvedService


def evaluate_on_cards(
    rules: Rules, service: ResolvedService, seams: Iterable[Observation] | None = None
) -> tuple[Finding, ...]:
    """What the rules say of a service. Where its cards differ, each finding is that of the card on which it is worst:
    somebody runs it there.
    """
    seams = None if seams is None else tuple(seams)
    worst: dict[tuple[str, ...], Finding] = {}
    for alone in _alone(service):
        for finding in evaluate(rules, subject(alone, seams)):
            worst[finding.identity] = worse(worst.get(finding.identity, finding), finding)
    return tuple(sorted(worst.values(), key=lambda finding: finding.rule))


def _alone(service: ResolvedService) -> Iterable[ResolvedService]:
    """The service as it is on each of its cards alone."""
    cards = dict.fromkeys(card for world in service.worlds for card in world.on_card)
    if not cards:
        yield service
    for card in cards:
        worlds = tuple(replace(world, engine=world.on_card.get(card, world.engine)) for world in service.worlds)
        yield replace(service, sm=(card,), worlds=worlds)
