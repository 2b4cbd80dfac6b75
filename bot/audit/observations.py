"""What the stages saw in a service that is not a property of its engine."""

from __future__ import annotations

from collections.abc import Iterable

from bot.compose import ComposeError
from bot.engine import EngineError, Ineffective
from bot.hazards import Observation
from bot.provenance import Position, Reason
from bot.resolution import EngineWorld, ResolvedService
from bot.worlds.seams import EarlyInterpolation, Offer


def of_compose_error(error: ComposeError, path: str) -> Observation:
    """Docker Compose refuses the file."""
    position = Position(error.path or path, error.line or 1)
    reason = Reason("compose", position.path, position.line, error.message)
    fields = {"kind": error.kind, "message": error.message}
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
        found += (_engine_error(service, error) for error in world.engine.errors)
        if world.default:
            found += (_ineffective(service, item) for item in world.engine.ineffective)
    return tuple(found)


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
    because = [Reason("shell", service.path, service.position.line, f"the entrypoint ends with status {status}")]
    absent = sorted(world.realisation.absent)
    because += (Reason("assumption", "", None, f"{folder} is not in the repository, so it is empty") for folder in absent)
    fields = {"status": status, "absent": absent}
    return Observation("entrypoint-exit", "entrypoint", service.position, tuple(because), fields)


def _engine_error(service: ResolvedService, error: EngineError) -> Observation:
    fields = {"kind": error.kind, "argument": error.argument, "message": error.message}
    cause = f"{error.kind}:{error.argument}"
    return Observation("engine-error", cause, _place(service, error.because), error.because, fields)


def _ineffective(service: ResolvedService, item: Ineffective) -> Observation:
    fields = {"kind": item.kind, "argument": item.argument, "setting": item.setting, "message": item.message}
    return Observation(
        "ineffective", f"{item.kind}:{item.argument}", _place(service, item.because), item.because, fields
    )


def _place(service: ResolvedService, because: tuple[Reason, ...]) -> Position:
    """The first reason that stands in a file of the repository, the service itself for want of one."""
    for reason in because:
        if reason.kind in ("compose", "shell") and reason.line is not None:
            return Position(reason.path, reason.line)
    return service.position
