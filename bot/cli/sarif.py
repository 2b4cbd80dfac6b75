"""Findings as SARIF 2.1.0, the form in which code scanning takes them."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from bot import __version__
from bot.audit import Report, Undecided
from bot.cli.severity import worst_first
from bot.hazards import Finding, Level, Rule, Rules
from bot.markdown import shortened
from bot.printable import printable
from bot.provenance import Reason
from bot.remedies import Fixes
from bot.review import Fix, Replacement, Review

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"
"""What all places are relative to: the root of the repository. Whoever reads the log knows where he has it."""

CATEGORY = "seamguard/"
"""By this code scanning knows which of two uploads replaces the other."""

MAX_RESULTS = 5_000
"""GitHub refuses a run with more than 25,000 and shows the worst 5,000."""

MAX_GZIPPED_BYTES = 10_000_000
"""GitHub refuses an upload over 10 MB, gzipped."""

MAX_PLACES = 10
"""Places of a chain besides its flow that a result names; GitHub keeps 100 of at most 1,000."""

MAX_TEXT = 2_000
"""Characters of a message."""

MAX_FIX = 20_000
"""Characters that a fix puts in: a line that is longer was made to be long."""

MAX_DESCRIPTION = 1_000
"""Characters of a rule's description; GitHub takes 1,024."""

_LEVELS: Mapping[Level, str] = {"error": "error", "warning": "warning", "notice": "note", "folded": "note"}
_SEVERITIES: Mapping[Level, str] = {
    "error": "error",
    "warning": "warning",
    "notice": "recommendation",
    "folded": "recommendation",
}


@dataclass(frozen=True, slots=True)
class _Told:
    """A finding, and SARIF's word for how it compares with the state before, empty when nothing was compared; `fix` is
    an edit that ends it.
    """

    finding: Finding
    baseline: str = ""
    fix: Fix | None = None


def report_sarif(report: Report, rules: Rules, fixes: Fixes | None = None) -> dict[str, Any]:
    """An audit. Findings that reports fold away are left out, but for accepted risks, which are suppressed; what could
    not be read is a notification. `fixes` are edits that are proved to end findings.
    """
    notes = [(problem.position.path, problem.position.line, problem.message) for problem in report.problems]
    notes += [(item.path, 1, item.reason) for item in report.skipped]
    notes += _undecided(report.undecided)
    edits = fixes or {}
    return _log([_Told(finding, fix=edits.get(finding.identity)) for finding in report.findings], rules, notes)


def review_sarif(review: Review, rules: Rules) -> dict[str, Any]:
    """What a change does: the findings that it introduces (`new`) or alters (`updated`), on its new version."""
    told = [_Told(finding, "new", review.fixes.get(finding.identity)) for finding in review.introduced]
    told += [_Told(after, "updated", review.fixes.get(after.identity)) for _, after in review.changed]
    return _log(told, rules, _undecided(review.undecided))


def _undecided(found: Iterable[Undecided]) -> list[tuple[str, int, str]]:
    return [(one.place.path, one.place.line, f"{one.path}: {one.told}") for one in found]


def _log(told: Iterable[_Told], rules: Rules, notes: Iterable[tuple[str, int, str]] = ()) -> dict[str, Any]:
    """One run, cut to what GitHub takes: the mildest findings go first."""
    worth = (item for item in told if item.finding.level != "folded" or _suppressions(item.finding))
    shown = worst_first(worth, lambda item: item.finding)
    kept = min(len(shown), MAX_RESULTS)
    while True:
        writer = _Writer(rules)
        log = writer.log(shown[:kept], [*notes, *_left_out(len(shown) - kept)])
        if not kept or not _is_too_large(log):
            return log
        kept //= 2


def _left_out(count: int) -> Iterator[tuple[str, int, str]]:
    if count:
        yield "", 0, f"{count} more findings, none of them worse, are left out: code scanning takes no more"


def _is_too_large(log: Mapping[str, Any]) -> bool:
    text = json.dumps(log, indent=2).encode("ascii")
    return len(text) > MAX_GZIPPED_BYTES and len(gzip.compress(text, 6)) > MAX_GZIPPED_BYTES


class _Writer:
    """Writes one run."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._numbers = {rule.id: number for number, rule in enumerate(rules.rules)}

    def log(self, told: Sequence[_Told], notes: Iterable[tuple[str, int, str]]) -> dict[str, Any]:
        driver = {
            "name": "Seamguard",
            "version": __version__,
            "semanticVersion": __version__,
            "rules": [self._rule(rule) for rule in self._rules.rules],
        }
        run = {
            "tool": {"driver": driver},
            "automationDetails": {"id": CATEGORY},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
            "results": [self._result(item) for item in told],
            "invocations": [
                {"executionSuccessful": True, "toolExecutionNotifications": [self._note(*note) for note in notes]}
            ],
        }
        return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}

    def _rule(self, rule: Rule) -> dict[str, Any]:
        first, _, _ = rule.explanation.strip().partition("\n\n")
        return {
            "id": rule.id,
            "shortDescription": {"text": rule.title},
            "fullDescription": {"text": shortened(" ".join(first.split()), MAX_DESCRIPTION)},
            "help": {"text": rule.explanation, "markdown": self._rules.page(rule.id)},
            "defaultConfiguration": {"level": _LEVELS[rule.level]},
            "properties": {
                "tags": ["vllm", *(["silent-corruption"] if rule.silent_corruption else [])],
                "problem.severity": _SEVERITIES[rule.level],
            },
        }

    def _result(self, told: _Told) -> dict[str, Any]:
        finding = told.finding
        here = {**self._place(finding.path, finding.line), **_service(finding)}
        number = self._numbers.get(finding.rule)
        return {
            "ruleId": finding.rule,
            **({"ruleIndex": number} if number is not None else {}),
            "level": _LEVELS[finding.level],
            **({"baselineState": told.baseline} if told.baseline else {}),
            "message": _text(f"{finding.message} {finding.remedy}".strip()),
            "locations": [here],
            "relatedLocations": [
                {"id": number, **self._place(reason.path, reason.line or 1), "message": _text(reason.text)}
                for number, reason in enumerate(filter(_is_here, finding.chain[:MAX_PLACES]), 1)
            ],
            "codeFlows": [{"threadFlows": [{"locations": list(self._steps(finding))}]}],
            **self._fixes(told.fix),
            **_suppressions(finding),
            "partialFingerprints": {"identity/v1": _fingerprint(finding)},
            "properties": {
                "status": finding.status,
                "evidenceGrade": finding.evidence_grade,
                "service": finding.service,
                "world": {name: printable(value) for name, value in finding.world.environment.items()},
                "replay": printable(finding.replay),
            },
        }

    def _fixes(self, fix: Fix | None) -> dict[str, Any]:
        """The proved edit, file by file."""
        if fix is None or not fix.replacements or sum(len(one.text) for one in fix.replacements) > MAX_FIX:
            return {}
        changes = [
            {
                "artifactLocation": _artifact(path),
                "replacements": [_replacement(one) for one in fix.replacements if one.path == path],
            }
            for path in dict.fromkeys(one.path for one in fix.replacements)
        ]
        return {"fixes": [{"description": _text(f"{fix.does}. {fix.proved}"), "artifactChanges": changes}]}

    def _steps(self, finding: Finding) -> Iterator[dict[str, Any]]:
        """The chain as a way that a reader walks, to the place of the finding. What the engine decides itself, and
        what is assumed, is told there: it has no place in the repository.
        """
        for reason in finding.chain:
            place = (reason.path, reason.line or 1) if _is_here(reason) else (finding.path, finding.line)
            told = {**self._place(*place), "message": _text(_step(finding, reason))}
            yield {"location": told, "importance": "important"}
        end = {**self._place(finding.path, finding.line), "message": _text(finding.title)}
        yield {"location": end, "importance": "essential"}

    def _note(self, path: str, line: int, message: str) -> dict[str, Any]:
        where = {"locations": [self._place(path, line)]} if path else {}
        return {"level": "note", "message": _text(message), **where}

    def _place(self, path: str, line: int) -> dict[str, Any]:
        region = {"startLine": max(line, 1)}
        return {"physicalLocation": {"artifactLocation": _artifact(path), "region": region}}


def _artifact(path: str) -> dict[str, str]:
    return {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": ROOT}


def _replacement(part: Replacement) -> dict[str, Any]:
    """Whole lines: up to the first column of the line behind them, or the end of a last line without an end."""
    (line, column), (last, end) = part.begin, part.end
    region = {"startLine": line, "startColumn": column, "endLine": last, "endColumn": end}
    return {"deletedRegion": region, "insertedContent": {"text": part.text}}


def _is_here(reason: Reason) -> bool:
    """Whether a reason stands in a file of the repository."""
    return bool(reason.path) and reason.kind in ("compose", "shell", "catalog")


def _step(finding: Finding, reason: Reason) -> str:
    """A link of the chain; of one in the engine's source with its place there."""
    if reason.kind != "engine-default" or not reason.path:
        return reason.text
    place = f"{reason.path}:{reason.line}" if reason.line else reason.path
    return " ".join(filter(None, (f"{reason.text} ({place})", finding.links.get(reason))))


def _service(finding: Finding) -> dict[str, Any]:
    if not finding.service:
        return {}
    return {"logicalLocations": [{"name": printable(finding.service), "kind": "module"}]}


def _suppressions(finding: Finding) -> dict[str, Any]:
    """That the repository takes the risk knowingly, where that still counts."""
    accepted = finding.accepted
    if accepted is None or accepted.ended:
        return {}
    until = f" (until {', '.join(accepted.until)})" if accepted.until else ""
    why = printable(shortened(f"{accepted.reason}{until}", MAX_TEXT))
    return {"suppressions": [{"kind": "external", "status": "accepted", "justification": why}]}


def _text(message: str) -> dict[str, str]:
    """A message in which nothing is a link: in brackets SARIF writes them."""
    escaped = printable(shortened(message, MAX_TEXT)).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return {"text": escaped}


def _fingerprint(finding: Finding) -> str:
    return hashlib.sha256("\0".join(finding.identity).encode("utf-8", "surrogateescape")).hexdigest()
