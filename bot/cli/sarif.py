"""An audit as SARIF 2.1.0, the form in which code scanning takes findings."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from bot import __version__
from bot.audit import Report
from bot.hazards import Finding, Level, Rule, Rules
from bot.printable import printable

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MAX_PLACES = 10
"""Places of a chain that a result shows."""

_LEVELS: Mapping[Level, str] = {"error": "error", "warning": "warning", "notice": "note", "folded": "note"}


def report_sarif(report: Report, rules: Rules) -> dict[str, Any]:
    """One run. Findings that reports fold away are left out; what could not be read is a notification."""
    found = [finding for finding in report.findings if finding.level != "folded"]
    notes = [(problem.position.path, problem.position.line, problem.message) for problem in report.problems]
    notes += [(item.path, 1, item.reason) for item in report.skipped]
    run = {
        "tool": {
            "driver": {"name": "Seamguard", "version": __version__, "rules": [_rule(rule) for rule in rules.rules]}
        },
        "results": [_result(finding) for finding in found],
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {"level": "note", "message": _text(message), "locations": [_place(path, line)]}
                    for path, line, message in notes
                ],
            }
        ],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "help": {"text": rule.explanation, "markdown": rule.explanation},
        "defaultConfiguration": {"level": _LEVELS[rule.level]},
    }


def _result(finding: Finding) -> dict[str, Any]:
    chain = [reason for reason in finding.chain if reason.kind in ("compose", "shell", "catalog") and reason.path]
    return {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.level],
        "message": _text(f"{finding.message} {finding.remedy}".strip()),
        "locations": [{**_place(finding.path, finding.line), **_service(finding)}],
        "relatedLocations": [
            {"id": number, **_place(reason.path, reason.line or 1), "message": _text(reason.text)}
            for number, reason in enumerate(chain[:MAX_PLACES], 1)
        ],
        "partialFingerprints": {"identity/v1": _fingerprint(finding)},
        "properties": {
            "status": finding.status,
            "evidenceGrade": finding.evidence_grade,
            "service": finding.service,
            "world": dict(finding.world.environment),
        },
    }


def _service(finding: Finding) -> dict[str, Any]:
    return {"logicalLocations": [{"name": finding.service, "kind": "module"}]} if finding.service else {}


def _text(message: str) -> dict[str, str]:
    """A message in which nothing is a link: in brackets SARIF writes them."""
    escaped = printable(message).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return {"text": escaped}


def _place(path: str, line: int) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": quote(path)}, "region": {"startLine": line}}}


def _fingerprint(finding: Finding) -> str:
    return hashlib.sha256("\0".join(finding.identity).encode("utf-8", "surrogateescape")).hexdigest()
