"""Findings as the `audit` and `review` JSON give them."""

from __future__ import annotations

from typing import Any

from bot.engine.contract import property_json, reason_json
from bot.hazards.model import Accepted, Finding


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
        "properties": {name: property_json(found, finding.links) for name, found in finding.properties.items()},
        "message": finding.message,
        "remedy": finding.remedy,
        "evidence": finding.evidence,
        "missing": list(finding.missing),
        "chain": [reason_json(reason, finding.links) for reason in finding.chain],
        "replay": finding.replay,
        "upstream": list(finding.upstream),
        "accepted": _accepted_json(finding.accepted),
    }


def _accepted_json(accepted: Accepted | None) -> dict[str, Any] | None:
    if accepted is None:
        return None
    return {
        "reason": accepted.reason,
        "until": list(accepted.until),
        "by": accepted.by,
        "path": accepted.position.path,
        "line": accepted.position.line,
        "ended": accepted.ended,
    }


def _shown(level: str) -> str:
    return "notice" if level == "folded" else level
