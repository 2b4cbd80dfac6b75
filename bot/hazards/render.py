"""Findings as the `audit` and `review` JSON give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.engine.model import Property
from bot.hazards.model import Finding
from bot.provenance import Reason


def finding_json(finding: Finding) -> dict[str, Any]:
    """The committed form of a finding. A folded finding is a notice that reports show folded away."""
    return {
        "rule": finding.rule,
        "title": finding.title,
        "rule_level": _shown(finding.rule_level),
        "level": _shown(finding.level),
        "folded": finding.level == "folded",
        "status": finding.status,
        "evidence_grade": finding.evidence_grade,
        "path": finding.path,
        "line": finding.line,
        "service": finding.service,
        "slug": finding.slug,
        "cause": finding.cause,
        "world": dict(finding.world.environment),
        "symbols": dict(finding.world.symbols),
        "properties": {name: property_json(found) for name, found in finding.properties.items()},
        "message": finding.message,
        "remedy": finding.remedy,
        "evidence": finding.evidence,
        "missing": list(finding.missing),
        "chain": [reason_json(reason) for reason in finding.chain],
        "upstream": list(finding.upstream),
    }


def _shown(level: str) -> str:
    return "notice" if level == "folded" else level


def property_json(found: Property) -> Mapping[str, Any]:
    """A property as `resolve` gives it: without `value` when it is unknown."""
    value = {"value": found.value} if found.known else {}
    return {**value, "certainty": found.certainty, "because": [reason_json(reason) for reason in found.because]}


def reason_json(reason: Reason) -> Mapping[str, Any]:
    """One link of a chain."""
    return {"kind": reason.kind, "path": reason.path, "line": reason.line, "text": reason.text}
