"""What the stages saw in a service that is not a property of its engine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from bot.compose import ComposeError
from bot.engine import EngineError, Ineffective, successor
from bot.engine.facts import load as load_facts
from bot.hazards import Observation
from bot.provenance import Position, Reason
from bot.resolution import EngineWorld, ResolvedService
from bot.worlds.comments import Offer
from bot.worlds.early import EarlyInterpolation

_ASKS_FOR = re.compile(r"\brequires\s+[`'\"]?(--[a-z][a-z0-9-]*(?:=[\w.-]+)?)")
_ASKS_AWAY = re.compile(r"\bremove\s+[`'\"]?(--[a-z][a-z0-9-]*)")

_SIGNS_OF_A_FRAGMENT = ("has neither an image nor a build context", "refers to undefined")
"""What Docker Compose says of a file that is meant to be laid over another one (`-f base.yml -f this.yml`)."""


def of_compose_error(error: ComposeError, path: str, needs: tuple[str, ...]) -> Observation:
    """Docker Compose refuses the file. `needs` are variables without a default that would make it accept the file."""
    position = Position(error.path or path, error.line or 1)
    reason = Reason("compose", position.path, position.line, error.message)
    fields = {
        "kind": error.kind,
        "message": error.message,
        "incomplete": bool(needs),
        "needs": ", ".join(needs),
        "fragment": any(sign in error.message for sign in _SIGNS_OF_A_FRAGMENT),
    }
    return Observation("compose-error", error.kind, position, (reason,), fields)


def of_seams(service: ResolvedService) -> tuple[Observation, ...]:
    """Dead seams and early interpolation: properties of the text, the same in every world."""
    return (*_dead_seams(service), *(_early_interpolation(item) for item in service.survey.early))


def of_world(service: ResolvedService, world: EngineWorld) -> tuple[Observation, ...]:
    """What stops this engine, and which of its settings do nothing."""
    found: list[Observation] = []
    if world.default and world.kind is None and world.outcome is not None and world.outcome.exit is not None:
        found.append(_exit(service, world, world.outcome.exit))
    if world.engine is not None:
        found += (_engine_error(service, world, error) for error in world.engine.errors)
        if world.default:
            own = _read_by_the_entrypoint(world)
            found += (_ineffective(service, item) for item in world.engine.ineffective if item.setting not in own)
    return tuple(found)


def _read_by_the_entrypoint(world: EngineWorld) -> frozenset[str]:
    """Variables that are for the script, not for the engine: that the engine does not read them is no fault."""
    run = world.realisation.run
    return frozenset(read.name for read in run.reads) if run is not None else frozenset()


def _dead_seams(service: ResolvedService) -> Iterable[Observation]:
    for read in service.survey.dead:
        offers = tuple(offer for offer in service.survey.offers if offer.name == read.name)
        because = [Reason("shell", read.position.path, read.position.line, f"the entrypoint reads {read.name}")]
        because += (_offered(offer) for offer in offers[:1])
        fields = {"name": read.name, "documented": bool(offers), "documented_as_mitigation_of": ()}
        yield Observation("dead-seam", read.name, read.position, tuple(because), fields)


def _offered(offer: Offer) -> Reason:
    return Reason("compose", offer.position.path, offer.position.line, f"# {offer.text}")


def _early_interpolation(item: EarlyInterpolation) -> Observation:
    read = item.read
    text = f"Compose replaces ${{{read.name}}} on the host, before the script runs; {item.setter}"
    because = (Reason("compose", read.position.path, read.position.line, text),)
    fields = {"name": read.name, "changes_arguments": item.changes_arguments}
    return Observation("early-interpolation", read.name, read.position, because, fields)


def _exit(service: ResolvedService, world: EngineWorld, status: int) -> Observation:
    ended = world.outcome.ended if world.outcome else None
    place = ended.position if ended and ended.position else service.position
    why = f"the entrypoint ends with status {status}" + (f": {ended.reason}" if ended else "")
    because = [Reason("shell", place.path, place.line, why)]
    absent = sorted(world.realisation.absent)
    because += (
        Reason("assumption", "", None, f"{folder} is not in the repository, so it is empty") for folder in absent
    )
    fields = {"status": status, "setup": bool(absent), "absent": ", ".join(absent), **_incomplete(service)}
    return Observation("entrypoint-exit", "entrypoint", place, tuple(because), fields)


def _engine_error(service: ResolvedService, world: EngineWorld, error: EngineError) -> Observation:
    offer = _offer_of(service, world)
    fields = {
        "kind": error.kind,
        "argument": error.argument,
        "message": error.message,
        "alike": error.alike,
        "add": _named(_ASKS_FOR, error.message),
        "remove": _named(_ASKS_AWAY, error.message),
        "near": _nearest_flag(world, error) if error.kind == "unknown-flag" else "",
        "successor": _successor(world, error) if error.kind == "unknown-flag" else "",
        "documented": offer is not None,
        "comment": offer.text if offer else "",
        **_incomplete(service),
    }
    cause = f"{error.kind}:{_flag(error.argument)}"
    return Observation("engine-error", cause, _place(service, error.because), error.because, fields)


def _named(pattern: re.Pattern[str], message: str) -> str:
    """The flag that the engine's message asks for, or asks to leave out; empty when it names none."""
    found = pattern.search(message)
    return found[1] if found else ""


def _nearest_flag(world: EngineWorld, error: EngineError) -> str:
    """The flag of the release that is spelt most like one that it does not have; empty when none is near."""
    asked = world.engine.releases if world.engine else ()
    known = load_facts(asked[-1]).spellings if asked else ()
    return next(iter(get_close_matches(_flag(error.argument), known, 1, 0.8)), "")


def _successor(world: EngineWorld, error: EngineError) -> str:
    """What the flag became in the release that does not have it; empty when that is not known."""
    asked = world.engine.releases if world.engine else ()
    return successor(_flag(error.argument), asked[-1]) if asked else ""


def _flag(argument: str) -> str:
    """The flag of an argument: another value for it is the same mistake."""
    return argument.strip().split(" ", 1)[0].partition("=")[0]


def _offer_of(service: ResolvedService, world: EngineWorld) -> Offer | None:
    """The comment that offers exactly what this world sets; None for the default world and for undocumented values."""
    chosen = dict(world.realisation.deviations).items()
    offers = (offer for offer in service.survey.offers if not offer.denied)
    return next((offer for offer in offers if (offer.name, offer.value) in chosen), None)


def _ineffective(service: ResolvedService, item: Ineffective) -> Observation:
    fields = {"kind": item.kind, "argument": item.argument, "setting": item.setting, "message": item.message}
    return Observation(
        "ineffective", f"{item.kind}:{item.setting}", _place(service, item.because), item.because, fields
    )


def _incomplete(service: ResolvedService) -> dict[str, object]:
    """Whether the default world lacks values that the author asks for, and which: nobody means to start it so."""
    needs = service.survey.needs
    return {"incomplete": bool(needs), "needs": ", ".join(needs)}


def _place(service: ResolvedService, because: tuple[Reason, ...]) -> Position:
    """The first reason that stands in a file of the repository, the service itself for want of one."""
    for reason in because:
        if reason.kind in ("compose", "shell") and reason.line is not None:
            return Position(reason.path, reason.line)
    return service.position
