"""What a change of the pin alone does to a service: the same arguments and variables, in another release.

Asked is the engine as the change proposes it, once with the pin that it had and once with the new one: what the
change's own lines set is the same in both, and cannot be taken for a default that moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from bot.audit import Report
from bot.audit.subject import subject
from bot.engine import Pin, Property, source_link
from bot.engine.facts import is_known
from bot.engine.flips import Flip, Flips, Reread, flips
from bot.hazards import Finding, Observation, evaluate, load_rules
from bot.provenance import Position, Reason
from bot.resolution import EngineWorld, ResolvedService
from bot.review.comments import FLIP


def default_flips(base: Report, head: Report, renamed: Mapping[str, str]) -> tuple[Finding, ...]:
    """One finding for each service whose pin moves and whose engine changes by that, in its default world."""
    old = {(renamed.get(s.path, s.path), s.name): s for unit in base.units for s in unit.services}
    stood = {_key(finding, renamed): finding for finding in base.findings if finding.status == "active"}
    stand = {_key(finding, {}) for finding in head.findings}
    found: list[Finding] = []
    for unit in head.units:
        new_hazards = [f for f in unit.findings if f.status == "active" and _key(f, {}) not in stood]
        for service in unit.services:
            before = old.get((service.path, service.name))
            if before is not None:
                hazards = [finding for finding in new_hazards if finding.service == service.name]
                place = (service.path, service.name)
                gone = [one for key, one in stood.items() if key[1:3] == place and key not in stand]
                flips_here = _of_service(before, service, hazards, gone)
                found += (head.taken(finding, service) for finding in flips_here)
    return tuple(found)


def _key(finding: Finding, renamed: Mapping[str, str]) -> tuple[str, ...]:
    rule, path, *rest = finding.identity
    return (rule, renamed.get(path, path), *rest)


def _of_service(
    before: ResolvedService, after: ResolvedService, hazards: list[Finding], gone: list[Finding]
) -> Iterable[Finding]:
    """The finding about the pin that the file names; else about that of its engine profile, which a launcher sets."""
    was = next((world.pin for world in before.defaults if world.engine is not None), None)
    for world in after.defaults:
        changed = _moved(world, was, world.pin)
        if changed and (changed.properties or changed.reread):
            yield _finding(after, world, changed, _pin_reasons(world), hazards, gone)
            return
    for world in after.defaults:
        # What the new release refuses or no longer reads is told by other rules, but of the pin in the file alone.
        changed = _moved(world, before.launched, after.launched)
        if changed and after.launched is not None:
            yield _finding(after, world, changed, after.launched.because[:1], [], [], " in the engine profile")
            return


def _moved(world: EngineWorld, was: Pin | None, now: Pin | None) -> Flips | None:
    """What the move of a pin changes in a world; None where it does not move or nothing is known to change.

    A pin that names no release (`latest`) may have been any: what ran before is not known, so nothing is known to
    have changed.
    """
    engine = world.engine
    if engine is None or engine.launch is None or engine.errors or was is None or now is None:
        return None
    if was.release == now.release or not (_is_known(was) and _is_known(now)):
        return None
    return flips(engine.launch, was, now)


def _is_known(pin: Pin) -> bool:
    return pin.release is not None and is_known(pin.release)


def _finding(
    service: ResolvedService,
    world: EngineWorld,
    changed: Flips,
    where: tuple[Reason, ...],
    hazards: list[Finding],
    gone: list[Finding],
    there: str = "",
) -> Finding:
    names = {flip.name for flip in changed.properties}
    caused, ended = (
        tuple(dict.fromkeys(finding.rule for finding in some if names & set(finding.properties)))
        for some in (hazards, gone)
    )
    texts = [_text(flip) for flip in changed.properties] + [_reread(item) for item in changed.reread]
    texts += [f"{error.argument} is refused" for error in changed.refused if there]
    texts += [f"{item.argument} is no longer read" for item in changed.lost if there]
    fields = {
        "old": changed.old,
        "new": f"{changed.new}{there}",
        "changes": tuple(texts),
        "hazards": caused,
        "ended": ended,
    }
    sources = _sources(changed)
    reasons = (*where, *sources)
    observation = Observation(FLIP, "", _position(service, reasons), reasons, fields)
    seen = subject(replace(service, worlds=(world,)), ())
    alone = replace(seen, situations=tuple(replace(one, observations=(observation,)) for one in seen.situations))
    return replace(evaluate(load_rules().only({FLIP}), alone)[0], links=sources)


def _pin_reasons(world: EngineWorld) -> tuple[Reason, ...]:
    described = world.realisation.service
    image = described.image if described is not None else None
    return image.because if image is not None else ()


def _position(service: ResolvedService, reasons: tuple[Reason, ...]) -> Position:
    own = [reason for reason in reasons if reason.path == service.path and reason.line is not None]
    return Position(own[-1].path, own[-1].line or 1) if own else service.position


def _sources(changed: Flips) -> dict[Reason, str]:
    """The lines of both releases that decide, with their addresses."""
    found: dict[tuple[str, str, int | None], Reason] = {}
    for flip in changed.properties:
        for release, reasons in zip((changed.old, changed.new), flip.places, strict=True):
            for reason in reasons[:1]:
                found.setdefault((release, reason.path, reason.line), reason)
    return {reason: source_link(release, reason.path, reason.line) for (release, *_), reason in found.items()}


def _text(flip: Flip) -> str:
    return f"{flip.name} from {_word(flip.before)} to {_word(flip.after)}"


def _reread(item: Reread) -> str:
    return f"{item.setting} from {_plain(item.before)} to {_plain(item.after)}"


def _word(held: Property) -> str:
    if isinstance(held.value, bool):
        return "on" if held.value else "off"
    return _plain(held.value)


def _plain(value: object) -> str:
    return "none" if value is None else str(value)
