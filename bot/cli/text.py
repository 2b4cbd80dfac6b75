"""Output for people. Colours and wrapping only on a terminal."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from bot.audit import Report
from bot.engine import Property, Value
from bot.hazards import Finding
from bot.provenance import Reason
from bot.resolution import EngineWorld, ResolvedService
from bot.resolution.program import server
from bot.review import PropertyChange, Review
from bot.worlds.model import Seam

_STYLES = {"error": "bold red", "warning": "yellow", "notice": "cyan", "folded": "dim"}
_LEVELS = ("error", "warning", "notice", "folded")


def console() -> Console:
    """Standard output. A pipe gets whole lines, however long."""
    found = Console(highlight=False, emoji=False, markup=False)
    return found if found.is_terminal else Console(highlight=False, emoji=False, markup=False, width=10_000)


def print_resolution(path: str, services: Sequence[ResolvedService], errors: Sequence[Mapping[str, Any]]) -> None:
    """What `resolve` found in a compose."""
    out = console()
    for error in errors:
        out.print(Text(f"{error['path']}:{error['line'] or 1}: {error['message']}", style="bold red"))
    for service in services:
        _print_service(out, path, service)


def _print_service(out: Console, path: str, service: ResolvedService) -> None:
    out.print(Text(f"{path}: {service.name}", style="bold"))
    for world in service.worlds:
        out.print()
        _print_world(out, world)
    if service.survey.seams:
        out.print()
        _print_seams(out, service)
    out.print()


def _print_world(out: Console, world: EngineWorld) -> None:
    out.print(Text(_world_title(world), style="underline"))
    out.print(
        f"  image   {world.pin.image or '(built from source)'}" + (f"  ({world.pin.why})" if world.pin.why else "")
    )
    outcome = world.outcome
    if outcome is not None and outcome.argv is not None and outcome.program is not None:
        kind, argv = server(outcome)
        out.print(f"  runs    {kind or outcome.program.text} {shlex.join(word.text for word in argv)}")
    elif outcome is not None and outcome.exit is not None:
        out.print(f"  runs    nothing: the entrypoint ends with status {outcome.exit}")
    for step in outcome.steps if outcome else ():
        guard = "the boot stops if it fails" if step.failure_stops_boot else "the engine starts even if it fails"
        when = "before" if step.before_engine else "beside"
        out.print(f"  {when}  {shlex.join(word.text for word in step.run)}  ({guard})")
    for item in world.unresolved:
        place = f"{item.position}: " if item.position else ""
        out.print(Text(f"  unresolved  {place}{item.reason}", style="yellow"))
    if world.engine is not None:
        for error in world.engine.errors:
            out.print(Text(f"  refuses to start  {error.argument}: {error.message}", style="bold red"))
        _print_columns(out, _properties(world.engine.properties))


def _world_title(world: EngineWorld) -> str:
    sets = " ".join(f"{name}={shlex.quote(value)}" for name, value in world.realisation.deviations.items())
    title = f"{sets} docker compose up" if sets else "by default"
    assumed = dict(world.outcome.assumed) if world.outcome else {}
    return title + (", where " + ", ".join(f"{n} is {v}" for n, v in assumed.items()) if assumed else "")


def _properties(properties: Mapping[str, Property]) -> Iterable[tuple[str | Text, ...]]:
    for name, value in properties.items():
        why = value.because[-1] if value.because else None
        shown = Text(show(value), style="" if value.certainty == "certain" else "dim")
        yield name, shown, value.certainty, _reason(why) if why else ""


def _print_columns(out: Console, rows: Iterable[tuple[str | Text, ...]]) -> None:
    """Rows in columns as wide as their content; what does not fit on a terminal wraps."""
    cells = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    for row in cells:
        line = Text("  ")
        for cell, width in zip(row, widths, strict=True):
            line.append_text(cell).append(" " * (width - len(cell) + 2))
        line.rstrip()
        out.print(line)


def show(value: Property) -> str:
    """A property's value as a person writes it."""
    return plain(value.value) if value.known else "unknown"


def plain(value: Value) -> str:
    """A value as a person writes it: on, off, none."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)


def _reason(reason: Reason) -> str:
    place = f"{reason.path}:{reason.line}  " if reason.path and reason.line else ""
    return f"{place}{reason.text}"


def _print_seams(out: Console, service: ResolvedService) -> None:
    out.print(Text("seams", style="underline"))
    _print_columns(out, (_seam(seam) for seam in service.survey.seams))


def _seam(seam: Seam) -> tuple[str, ...]:
    values = " ".join(seam.values) or ("any text" if seam.open else "")
    default = "" if seam.default is None else f"default {seam.default!r}"
    note = "" if seam.forwarded else "DEAD: Compose never forwards it"
    return seam.name, seam.scope, default, values, note, str(seam.position)


def print_report(report: Report) -> None:
    """What `audit` found in a repository."""
    out = console()
    shown = [finding for finding in report.findings if finding.level != "folded"]
    _print_findings(out, shown)
    for problem in report.problems:
        out.print(Text(f"{problem.position}: {problem.message}", style="yellow"))
    services = sum(len(unit.services) for unit in report.units)
    out.print(f"{_counts(report.findings)} in {services} services of {len(report.units)} composes.")
    if report.skipped:
        out.print(f"{len(report.skipped)} files were left out:")
        for item in report.skipped:
            out.print(f"  {item.path}: {item.reason}")


def _counts(findings: Iterable[Finding]) -> str:
    counts: Counter[str] = Counter(finding.level for finding in findings)
    parts = [f"{counts[level]} {_plural(level, counts[level])}" for level in _LEVELS[:3] if counts[level]]
    folded = f" ({counts['folded']} folded)" if counts["folded"] else ""
    return (", ".join(parts) or "No findings") + folded


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


def _print_findings(out: Console, findings: Iterable[Finding]) -> None:
    for finding in findings:
        slug = f" ({finding.slug})" if finding.slug else ""
        out.print(
            Text.assemble(
                (finding.level, _STYLES[finding.level]),
                f" {finding.status}  ",
                (finding.rule, "bold"),
                f"  {finding.path}:{finding.line}{slug}",
            )
        )
        out.print(f"    {finding.message}")
        for line in _details(finding):
            out.print(Text(f"    {line}", style="dim"))
        out.print()


def _details(finding: Finding) -> Iterable[str]:
    if finding.world.environment:
        sets = " ".join(f"{name}={shlex.quote(value)}" for name, value in finding.world.environment.items())
        yield f"when: {sets} docker compose up"
    if finding.world.symbols:
        yield "where: " + ", ".join(f"{name} is {value}" for name, value in finding.world.symbols.items())
    if finding.missing:
        yield "undecided: " + "; ".join(finding.missing)
    for reason in finding.chain:
        yield f"why: {_reason(reason)}"
    yield f"how sure: {finding.evidence_grade}. {finding.evidence}".rstrip()
    if finding.remedy:
        yield f"what to do: {finding.remedy}"


def print_review(review: Review) -> None:
    """What `review` found in a change."""
    out = console()
    out.print(Text(f"conclusion: {review.conclusion}", style="bold"))
    for title, findings in (("introduced", review.introduced), ("fixed", review.fixed)):
        if findings:
            out.print(Text(f"\n{title}", style="underline"))
            _print_findings(out, (finding for finding in findings if finding.level != "folded"))
    if review.changed:
        out.print(Text("\nchanged", style="underline"))
    for before, after in review.changed:
        out.print(f"was {before.level} {before.status}, is now:")
        _print_findings(out, (after,))
    if review.property_changes:
        out.print(Text("\nproperties", style="underline"))
        _print_columns(out, (_change(change) for change in review.property_changes))
    out.print(f"\n{len(review.unchanged)} findings are as they were.")


def _change(change: PropertyChange) -> tuple[str, ...]:
    moved = f"{plain(change.before)} → {plain(change.after)}"
    note = "no changed line says so" if change.unmentioned else ""
    return change.slug or change.service, change.property, moved, note, change.cause


def print_chain(title: str, value: Property, links: Mapping[Reason, str]) -> None:
    """How a property came about, one link a line; `links` adds an address where there is one."""
    out = console()
    out.print(Text(f"{title} = {show(value)} ({value.certainty})", style="bold"))
    for reason in value.because:
        out.print(f"  {reason.kind:<15} {_reason(reason)}")
        if reason in links:
            out.print(Text(f"  {'':<15} {links[reason]}", style="dim"))
