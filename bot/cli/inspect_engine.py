"""`inspect engine`: what a release of vLLM makes of a command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.cli.request import BadRequest, text, texts, words
from bot.engine.contract import engine_error_json, property_json
from bot.engine.model import Engine, Launch, Model, Pin
from bot.engine.models import traits
from bot.engine.resolve import resolve
from bot.provenance import Word

MODEL_KINDS: Mapping[str, tuple[bool, bool]] = {
    "dense": (False, False),
    "moe": (False, True),
    "hybrid": (True, False),
    "hybrid-moe": (True, True),
}
"""What each kind of model is: a hybrid, a mixture of experts."""


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """The contract of `inspect engine`. Raises `BadRequest` for a request that asks nothing sensible."""
    release = text(request, "release")
    engine = resolve(
        Launch(
            argv=tuple(Word(word) for word in _argv(request)),
            environment={name: Word(value) for name, value in texts(request, "env").items()},
            pin=Pin(
                image=f"vLLM {release}" if release else "", release=release, why="" if release else "none is given"
            ),
            model=_model(text(request, "model_kind"), text(request, "architecture")),
            sm=_sm(request.get("sm")),
            files=texts(request, "files"),
        ),
        all_files="files" in request,
    )
    return as_json(engine)


def as_json(engine: Engine) -> dict[str, Any]:
    """An engine as plain data."""
    return {
        "release": engine.pin.release,
        "releases": list(engine.releases),
        "parsed": _plain(engine.parsed),
        "properties": {name: property_json(found) for name, found in engine.properties.items()},
        "errors": [engine_error_json(error) for error in engine.errors],
        "ineffective": [
            {"kind": item.kind, "argument": item.argument, "setting": item.setting, "message": item.message}
            for item in engine.ineffective
        ],
    }


def _plain(value: object) -> Any:
    match value:
        case Mapping():
            return {str(key): _plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case str() | int() | float() | bool() | None:
            return value
        case _:
            return None


def _model(kind: str | None, architecture: str | None) -> Model:
    if kind is None and architecture is None:
        return Model()
    known = traits(architecture)
    if kind is None:
        return Model(known.recurrent, known.moe, architecture, hybrid=known.hybrid)
    if kind not in MODEL_KINDS:
        raise BadRequest(f"model_kind is one of {', '.join(MODEL_KINDS)}, not {kind!r}")
    hybrid, moe = MODEL_KINDS[kind]
    recurrent = known.recurrent if hybrid or known.kind == "attention-free" else "none"
    return Model(None if hybrid and recurrent == "none" else recurrent, moe, architecture, hybrid=hybrid)


def _argv(request: Mapping[str, Any]) -> list[str]:
    if "argv" not in request:
        raise BadRequest("the request has no `argv`, a list of words that begins with serve")
    return words(request, "argv")


def _sm(value: object) -> tuple[int, ...]:
    if value is None:
        return ()
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(sm, int) and not isinstance(sm, bool) for sm in values):
        raise BadRequest("sm is a number such as 120")
    return tuple(values)
