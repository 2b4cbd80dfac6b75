"""The summary of a review, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.engine import Value
from bot.hazards import Finding
from bot.review.compare import PropertyChange, Review
from bot.review.markdown import cell, code

_VERDICTS = {
    "failure": "**This change introduces a hazard.**",
    "neutral": "**This change introduces something to look at.**",
    "success": "**This change introduces no hazard.**",
}


def summary(review: Review) -> str:
    """Introduced, changed and fixed findings, property changes; what is unchanged or undecided is folded."""
    shown = [finding for finding in review.introduced if finding.level != "folded" and finding.status != "unknown"]
    undecided = [finding for finding in review.introduced if finding.status == "unknown"]
    sections = [
        _VERDICTS[review.conclusion],
        _table("Introduced", [(finding, finding.status) for finding in shown]),
        _table("Changed", [(after, f"{before.status} → {after.status}") for before, after in review.changed]),
        _table("Fixed", [(finding, f"was {finding.status}") for finding in review.fixed]),
        _properties(
            [change for change in review.property_changes if change.unmentioned], "Changes that no line mentions"
        ),
        _folded("Other property changes", _properties([c for c in review.property_changes if not c.unmentioned], "")),
        _folded(f"Undetermined ({len(undecided)})", _undecided(undecided)),
        _folded(f"Unchanged ({len(review.unchanged)})", _table("", [(f, f.status) for f in review.unchanged])),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _table(title: str, rows: Sequence[tuple[Finding, str]]) -> str:
    if not rows:
        return ""
    lines = [f"### {title}"] if title else []
    lines += ["| hazard | where | status | level |", "|---|---|---|---|"]
    for finding, status in rows:
        where = code(f"{finding.path}:{finding.line}") + (f" ({code(finding.slug)})" if finding.slug else "")
        world = _world(finding)
        lines.append(f"| {cell(finding.title)} | {cell(where)} | {status}{cell(world)} | {finding.level} |")
    return "\n".join(lines)


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
        f"- {finding.title}, {code(f'{finding.path}:{finding.line}')}: {'; '.join(finding.missing)}"
        for finding in findings
    )


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{content}\n\n</details>" if content else ""
