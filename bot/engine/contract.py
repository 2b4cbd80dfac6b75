"""Properties and refusals as every JSON answer gives them."""

from __future__ import annotations

from typing import Any

from bot.engine.model import EngineError, Property
from bot.provenance import Reason


def property_json(found: Property) -> dict[str, Any]:
    """A property: without `value` when it is unknown."""
    value = {"value": found.value} if found.known else {}
    return {**value, "certainty": found.certainty, "because": [reason_json(reason) for reason in found.because]}


def reason_json(reason: Reason) -> dict[str, Any]:
    """One link of a chain."""
    return {"kind": reason.kind, "path": reason.path, "line": reason.line, "text": reason.text}


def engine_error_json(error: EngineError) -> dict[str, Any]:
    """What stops the server before a worker starts."""
    return {"kind": error.kind, "argument": error.argument, "message": error.message}
