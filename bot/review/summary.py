"""The summary of a review, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.engine import Value
from bot.hazards import Finding, improved, worsened
from bot.markdown import cell, code, prose
from bot.review.compare import PropertyChange, Review

_VERDICTS = {
    "failure": "**This change introduces a hazard.**",
    "neutral": "**This change introduces something to look at.**",
    "success": "**This change introduces no hazard.**",
}


def summary(review: Review) -> str:
    """Introduced, worsened, improved and fixed findings, property changes; what is unchanged or undecided is folded."""
    shown = [finding for finding in review.introduced if finding.level != "folded" and finding.status != "unknown"]
    undecided = [finding for finding in review.introduced if finding.status == "unknown"]
    sections = [
        _VERDICTS[review.conclusion],
        _table("Introduced", [_Row(finding, finding.status, finding.level) for finding in shown]),
        _changed("Worsened", [pair for pair in review.changed if worsened(*pair)]),
        _changed("Improved", [pair for pair in review.changed if improved(*pair)]),
        _changed("Changed", [pair for pair in review.changed if not worsened(*pair) and not improved(*pair)]),
        _table("Fixed", [_Row(finding, f"was {finding.status}", finding.level) for finding in review.fixed]),
        _properties(
            [change for change in review.property_changes if change.unmentioned], "Changes that no line mentions"
        ),
        _folded("Other property changes", _properties([c for c in review.property_changes if not c.unmentioned], "")),
        _folded(f"Undetermined ({len(undecided)})", _undecided(undecided)),
        _folded(f"Unchanged ({len(review.unchanged)})", _unchanged(review.unchanged)),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of a table of findings; `status` and `level` as they are to be read."""

    finding: Finding
    status: str
    level: str


def _changed(title: str, pairs: Sequence[tuple[Finding, Finding]]) -> str:
    """Findings before and after, and what is left to do about each that has no comment of its own."""
    table = _table(
        title,
        [
            _Row(after, _arrow(before.status, after.status), _arrow(before.level, after.level))
            for before, after in pairs
        ],
    )
    left = [
        f"- {_where(after)}{_cause(after)}: {after.remedy}"
        for before, after in pairs
        if after.remedy and not worsened(before, after)
    ]
    return "\n".join([table, "", "What remains to be done:", *left]) if left else table


def _unchanged(findings: Sequence[Finding]) -> str:
    """Those that a report shows, and how many it folds away."""
    shown = [finding for finding in findings if finding.level != "folded"]
    rest = len(findings) - len(shown)
    table = _table("", [_Row(finding, finding.status, finding.level) for finding in shown])
    return "\n\n".join(part for part in (table, f"{rest} more are mitigated or undecided." if rest else "") if part)


def _arrow(before: str, after: str) -> str:
    return after if before == after else f"{before} → {after}"


def _table(title: str, rows: Sequence[_Row]) -> str:
    if not rows:
        return ""
    lines = [f"### {title}"] if title else []
    lines += ["| hazard | where | status | level |", "|---|---|---|---|"]
    for row in rows:
        finding = row.finding
        hazard, where = cell(finding.title + _cause(finding)), cell(_where(finding))
        lines.append(f"| {hazard} | {where} | {row.status}{cell(_world(finding))} | {row.level} |")
    return "\n".join(lines)


def _where(finding: Finding) -> str:
    return code(f"{finding.path}:{finding.line}") + (f" ({code(finding.slug)})" if finding.slug else "")


def _cause(finding: Finding) -> str:
    """The variable or the flag that an observation is about: a service may have several findings of one rule."""
    _, _, argument = finding.cause.partition(":")
    name = (argument or finding.cause).split(" ", 1)[0]
    return f": {code(name)}" if name else ""


def _world(finding: Finding) -> str:
    if not finding.world.environment:
        return ""
    return " with " + code(" ".join(f"{name}={value}" for name, value in finding.world.environment.items()))


def _properties(changes: Sequence[PropertyChange], title: str) -> str:
    if not changes:
        return ""
    lines = [f"### {title}"] if title else []
    lines += ["| service | property | before | after | because |", "|---|---|---|---|---|"]
    lines += [
        f"| {cell(code(change.slug or change.service))} | {code(change.property)} | {_value(change.before)} "
        f"| {_value(change.after)} | {cell(code(change.cause)) if change.cause else ''} |"
        for change in changes
    ]
    return "\n".join(lines)


def _value(value: Value) -> str:
    return cell(
        code(
            {True: "on", False: "off", None: "none"}[value] if value is None or isinstance(value, bool) else str(value)
        )
    )


def _undecided(findings: Iterable[Finding]) -> str:
    return "\n".join(
        f"- {finding.title}{_cause(finding)}, {_where(finding)}: {'; '.join(map(prose, finding.missing))}"
        for finding in findings
    )


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{content}\n\n</details>" if content else ""
