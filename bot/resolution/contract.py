"""The JSON of `resolve`: what programs may rely on (schema 1, `docs/schema/resolve.schema.json`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bot.compose import ComposeError
from bot.engine import Engine, source_links
from bot.engine.contract import engine_error_json, property_json
from bot.provenance import Word
from bot.resolution.model import EngineWorld, ResolvedService
from bot.resolution.program import server
from bot.shell import Step, Unresolved
from bot.worlds.model import Seam

SCHEMA = 1

Way = tuple[tuple[str, ...], Sequence[ResolvedService]]
"""One way in which a compose is started: the files in `-f` order, and the services that they have."""


def resolution_json(
    path: str, ways: Iterable[Way], errors: Iterable[ComposeError], base: Mapping[str, str]
) -> dict[str, Any]:
    """One compose. `base` is the environment that every world starts from, shown in each world's `env`.

    A service names the files that were given together, where they are not `path` alone.
    """
    return {
        "schema": SCHEMA,
        "file": path,
        "services": [
            {**_service(service, base), **({"files": list(files)} if files != (path,) else {})}
            for files, services in ways
            for service in services
        ],
        "errors": [error_json(error) for error in errors],
    }


def error_json(error: ComposeError) -> dict[str, Any]:
    """A fault of a compose, in Docker Compose's words."""
    return {"message": error.message, "path": error.path, "line": error.line}


def _service(service: ResolvedService, base: Mapping[str, str]) -> dict[str, Any]:
    first = service.worlds[0]
    return {
        "service": service.name,
        "engine": service.kind,
        "image": first.pin.image,
        "release": first.pin.release,
        "worlds": [_world(world, base) for world in service.worlds],
        "seams": [_seam(seam) for seam in service.survey.seams],
        "not_tried": [_unresolved(item) for item in service.cuts],
    }


def _world(world: EngineWorld, base: Mapping[str, str]) -> dict[str, Any]:
    outcome = world.outcome
    argv = server(outcome)[1] if outcome is not None and world.kind is not None else None
    known = argv is not None and all(word.known and not word.splits for word in argv)
    found: dict[str, Any] = {
        "env": {**base, **world.realisation.deviations},
        "symbols": dict(outcome.assumed) if outcome else {},
        "exit": outcome.exit if outcome else None,
        "argv": [word.text for word in argv] if known and argv is not None else None,
        "exec_env": {name: value.text for name, value in outcome.exported.items()} if outcome else {},
        "steps": [_step(step) for step in outcome.steps] if outcome else [],
        "properties": _properties(world.engine) if world.engine else {},
        "engine_errors": [engine_error_json(error) for error in world.engine.errors] if world.engine else [],
        "unresolved": [_unresolved(item) for item in world.unresolved],
    }
    if argv is not None and not known:
        found["argv_template"] = [word.text for word in argv]
        found["unresolved"] += [_open_word(word) for word in argv if not word.known or word.splits]
    if outcome is not None and outcome.program is not None and world.kind is None and not found["unresolved"]:
        text = f"it runs {outcome.program.text}, which is not known to serve a model with these arguments"
        found["unresolved"].append(_at(text, outcome.program))
    return found


def _properties(engine: Engine) -> dict[str, Any]:
    return {
        name: property_json(value, source_links(engine.releases, value)) for name, value in engine.properties.items()
    }


def _open_word(word: Word) -> dict[str, Any]:
    return _at(f"the argument {word.text} holds a value that only the running container knows", word)


def _at(text: str, word: Word) -> dict[str, Any]:
    place = next((reason for reason in word.because if reason.line is not None), None)
    return {"reason": text, "path": place.path if place else "", "line": place.line if place else None}


def _step(step: Step) -> dict[str, Any]:
    return {
        "run": [word.text for word in step.run],
        "before_engine": step.before_engine,
        "failure_stops_boot": step.failure_stops_boot,
    }


def _unresolved(item: Unresolved) -> dict[str, Any]:
    place = item.position
    return {"reason": item.reason, "path": place.path if place else "", "line": place.line if place else None}


def _seam(seam: Seam) -> dict[str, Any]:
    return {
        "name": seam.name,
        "scope": seam.scope,
        "forwarded": seam.forwarded,
        "default": seam.default,
        "values": list(seam.values),
        "open": seam.open,
        "path": seam.position.path,
        "line": seam.position.line,
    }
