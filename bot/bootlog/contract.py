"""The JSON of `verify`: what programs may rely on (schema 1, `docs/schema/verify.schema.json`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.bootlog.comparison import Comparison, Row, Shift
from bot.bootlog.model import BootLog
from bot.engine.contract import property_json
from bot.hazards import Finding

SCHEMA = 1


def verification_json(
    path: str, log: BootLog, found: Comparison, shifts: Iterable[Shift], base: Mapping[str, str]
) -> dict[str, Any]:
    """One log held against one service. `base` is the environment that every world starts from."""
    return {
        "schema": SCHEMA,
        "file": path,
        "service": found.service.name,
        "container": log.container or None,
        "world": {**base, **found.world},
        "verdict": found.verdict,
        "rows": [_row(row) for row in found.rows],
        "fits": [{**base, **fit} for fit in found.fits],
        "hazards": [
            {"rule": shift.rule, "before": _standing(shift.before), "after": _standing(shift.after)} for shift in shifts
        ],
    }


def _row(row: Row) -> dict[str, Any]:
    said = row.said
    found: dict[str, Any] = {
        "property": row.name,
        "verdict": row.verdict,
        "resolved": property_json(row.resolved, {}) if row.resolved is not None else None,
        "said": {"value": said.value, "line": said.line, "message": said.fact} if said is not None else None,
    }
    return {**found, "doubt": row.doubt} if row.doubt else found


def _standing(finding: Finding | None) -> dict[str, str] | None:
    return None if finding is None else {"status": finding.status, "level": finding.level}
