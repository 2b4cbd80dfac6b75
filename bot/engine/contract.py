"""Properties and refusals as every JSON answer gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.engine.model import EngineError, Property
from bot.provenance import Reason


def property_json(found: Property, links: Mapping[Reason, str] | None = None) -> dict[str, Any]:
    """A property: without `value` when it is unknown. `links` are the addresses of reasons in a release's source."""
    value = {"value": found.value} if found.known else {}
    because = [reason_json(reason, links) for reason in found.because]
    return {**value, "certainty": found.certainty, "because": because}


def reason_json(reason: Reason, links: Mapping[Reason, str] | None = None) -> dict[str, Any]:
    """One link of a chain; with its `url` where it has an address."""
    told = {"kind": reason.kind, "path": reason.path, "line": reason.line, "text": reason.text}
    address = links.get(reason) if links else None
    return {**told, "url": address} if address else told


def engine_error_json(error: EngineError) -> dict[str, Any]:
    """What stops the server before a worker starts."""
    return {"kind": error.kind, "argument": error.argument, "message": error.message}
