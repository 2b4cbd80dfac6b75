"""Output for people."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from bot.audit import Report, Undecided
from bot.cli.terminal import Span, Terminal
from bot.engine import Pin, Property, Value
from bot.engine.agreement import unknown_release
from bot.hazards import Finding, replay
from bot.provenance import Reason
from bot.resolution import EngineWorld, ResolvedService
from bot.resolution.contract import Way
from bot.resolution.program import server
from bot.review import Bump, PropertyChange, Review
from bot.review.bump_sections import ANCHOR_WORDS, FIX_WORDS, sentence_of, short, why
from bot.shell import Step
from bot.worlds.model import Seam

_STYLES = {"error": "bold red", "warning": "yellow", "notice": "cyan", "folded": "dim"}
_GUARDS = {
    True: "the boot stops if it fails",
    False: "the engine starts even if it fails",
    None: "whether the engine starts when it fails is not known",
}
_LEVELS = ("error", "warning", "notice", "folded")
_MAX_UNDECIDED = 20
"""Services that could not be resolved, a line each; the JSON names all of them."""


def print_resolution(
    path: str, ways: Sequence[Way], errors: Sequence[Mapping[str, Any]], env: Mapping[str, str]
) -> None:
    """What `resolve` found in a compose; `env` is what every world starts from."""
    out = Terminal()
    for error in errors:
        out.line((f"{error['path'] or path}:{error['line'] or 1}: {error['message']}", "bold red"))
    for files, services in ways:
        for service in services:
            _print_service(out, files, service, env)


def _print_service(out: Terminal, files: Sequence[str], service: ResolvedService, env: Mapping[str, str]) -> None:
    out.line((f"{' with '.join(files)}: {service.name}", "bold"))
    first = service.worlds[0]
    forks = Counter(_set_in(world) for world in service.worlds)
    told: set[frozenset[tuple[str, str]]] = set()
    for world in service.worlds:
        sets = {**env, **world.realisation.deviations}
        title = replay(files, service.name, sets) if sets else "by default"
        place = _set_in(world)
        where = fork(world)
        if where and forks[place] > 1:
            where = f", {'or' if place in told else 'either'}{where.removeprefix(',')}"
        told.add(place)
        out.line()
        out.line((title + where, "underline"))
        _print_world(out, world, None if world is first else first)
    if service.survey.seams:
        out.line()
        _print_seams(out, service)
    for cut in service.cuts:
        out.line(("not tried", "yellow"), f"  {cut.position}: {cut.reason}" if cut.position else f"  {cut.reason}")
    out.line()


def _set_in(world: EngineWorld) -> frozenset[tuple[str, str]]:
    return frozenset(world.realisation.deviations.items())


def _print_world(out: Terminal, world: EngineWorld, first: EngineWorld | None) -> None:
    """A world; where there is a `first` one, only what differs from it."""
    if first is None or world.pin != first.pin:
        why = f"  ({world.pin.why})" if world.pin.why else ""
        out.line(f"  image   {world.pin.image or '(built from source)'}{why}")
    outcome = world.outcome
    if outcome is not None and outcome.argv is not None and outcome.program is not None:
        kind, argv = server(outcome)
        out.line(f"  runs    {kind or outcome.program.text} {shlex.join(word.text for word in argv)}")
    elif outcome is not None and outcome.exit is not None:
        out.line(f"  runs    nothing: the entrypoint ends with status {outcome.exit}")
    steps = outcome.steps if outcome else ()
    if first is not None and first.outcome is not None and _told(steps) == _told(first.outcome.steps):
        steps = ()
    for step in steps:
        guard = _GUARDS[step.failure_stops_boot]
        when = "before" if step.before_engine else "beside"
        out.line(f"  {when}  {shlex.join(word.text for word in step.run)}  ({guard})")
    for item in world.unresolved:
        place = f"{item.position}: " if item.position else ""
        out.line((f"  unresolved  {place}{item.reason}", "yellow"))
    if world.engine is not None:
        for error in world.engine.errors:
            out.line((f"  refuses to start  {error.argument}: {error.message}", "bold red"))
        known = first.engine.properties if first is not None and first.engine is not None else {}
        differing = {
            name: value for name, value in world.engine.properties.items() if not _same(value, known.get(name))
        }
        if differing:
            out.columns(_properties(differing, world.pin))
        else:
            out.line("  every property is as by default")


def _told(steps: Sequence[Step]) -> list[tuple[object, ...]]:
    return [(*(word.text for word in step.run), step.before_engine, step.failure_stops_boot) for step in steps]


def _same(value: Property, other: Property | None) -> bool:
    return other is not None and (value.value, value.certainty) == (other.value, other.certainty)


def fork(world: EngineWorld) -> str:
    """What is assumed of the running container where a script forks; empty where it does not."""
    assumed = dict(world.outcome.assumed) if world.outcome else {}
    return ", where " + ", ".join(f"{name} is {value}" for name, value in assumed.items()) if assumed else ""


def _properties(properties: Mapping[str, Property], pin: Pin) -> Iterable[tuple[Span, ...]]:
    """A row for each property. Why the pin names no release stands once, at the image."""
    told = f"{unknown_release(pin)}: "
    for name, value in properties.items():
        why = value.because[-1] if value.because else None
        shown = (show(value), "" if value.certainty == "certain" else "dim")
        yield name, shown, value.certainty, _reason(why).removeprefix(told).removeprefix(f"{name}: ") if why else ""


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


def _print_seams(out: Terminal, service: ResolvedService) -> None:
    out.line(("seams", "underline"))
    out.columns(_seam(seam) for seam in service.survey.seams)


def _seam(seam: Seam) -> tuple[str, ...]:
    values = " ".join(seam.values) or ("any text" if seam.open else "")
    default = "" if seam.default is None else f"default {seam.default!r}"
    note = "" if seam.forwarded else "DEAD: Compose never forwards it"
    return seam.name, seam.scope, default, values, note, str(seam.position)


def print_report(report: Report, *, folded: bool = False) -> None:
    """What `audit` found in a repository, with the findings that are folded away if asked for."""
    out = Terminal()
    shown = [finding for finding in report.findings if folded or finding.level != "folded"]
    for problem in report.problems:
        out.line((f"{problem.position}: {problem.message}", "yellow"))
    _print_findings(out, shown)
    if not folded:
        _print_accepted(out, report.findings)
    services = sum(len(unit.services) for unit in report.units)
    where = f"{_number(services, 'service')} of {_number(len(report.units), 'compose')}"
    hint = " --folded shows the folded ones." if len(shown) < len(report.findings) else ""
    out.line(f"{_counts(report.findings)} in {where}.{hint}")
    _print_undecided(out, report.undecided)
    if report.skipped:
        out.line(f"{_number(len(report.skipped), 'file')} left out:")
        for item in report.skipped:
            out.line(f"  {item.path}: {item.reason}")


def _print_undecided(out: Terminal, found: Sequence[Undecided], lost: Collection[Undecided] = ()) -> None:
    """Services of which nobody can say that all is well; `lost` are those that were resolved before a change."""
    if not found:
        return
    out.line((f"{_number(len(found), 'service')} could not be decided:", "yellow"))
    for one in found[:_MAX_UNDECIDED]:
        before = " (it was resolved before this change)" if one in lost else ""
        out.line(f"  {one.place}: {one.path}: {one.told}{before}")
    if len(found) > _MAX_UNDECIDED:
        out.line(f"  and {len(found) - _MAX_UNDECIDED} more")


def _counts(findings: Iterable[Finding]) -> str:
    counts: Counter[str] = Counter(finding.level for finding in findings)
    parts = [f"{counts[level]} {_plural(level, counts[level])}" for level in _LEVELS[:3] if counts[level]]
    folded = f" ({counts['folded']} folded)" if counts["folded"] else ""
    return (", ".join(parts) or "No findings") + folded


def _number(count: int, word: str) -> str:
    return f"{count} {_plural(word, count)}"


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


def _print_findings(out: Terminal, findings: Iterable[Finding]) -> None:
    for finding in findings:
        _print_heading(out, finding)
        out.line(f"    {finding.message}")
        for line in _details(finding):
            out.line((f"    {line}", "dim"))
        out.line()


def _print_accepted(out: Terminal, findings: Iterable[Finding]) -> None:
    """Risks that the repository takes, in two lines each."""
    for finding in findings:
        accepted = finding.accepted
        if accepted is None or accepted.ended:
            continue
        until = f" until {', '.join(map(short, accepted.until))}" if accepted.until else ""
        _print_heading(out, finding, word="accepted")
        by = f", {accepted.by}" if accepted.by else ""
        out.line(
            (f"    accepted{until}: {accepted.reason} ({accepted.position.path}:{accepted.position.line}{by})", "dim")
        )
        out.line()


def _print_heading(out: Terminal, finding: Finding, before: str = "", word: str = "") -> None:
    """Level (or another `word`), status, rule, and where: the service and its slug behind the place."""
    service = f"  {finding.service}" if finding.service else ""
    slug = f" ({finding.slug})" if finding.slug else ""
    out.line(
        before,
        (word or finding.level, _STYLES[finding.level]),
        f" {finding.status}  ",
        (finding.rule, "bold"),
        f"  {finding.path}:{finding.line}{service}{slug}",
    )


def _details(finding: Finding) -> Iterable[str]:
    undecided = finding.status == "unknown"
    if finding.world.environment:
        yield f"when: {finding.replay}"
    if finding.world.symbols:
        yield "where: " + ", ".join(f"{name} is {value}" for name, value in finding.world.symbols.items())
    if finding.missing:
        harmless = "" if undecided else " (that would make it harmless)"
        yield f"not known: {'; '.join(finding.missing)}{harmless}"
    for reason in finding.chain:
        yield f"why: {_reason(reason)}"
        if reason in finding.links:
            yield f"     {finding.links[reason]}"
    yield f"how sure{', if it is so' if undecided else ''}: {finding.evidence_grade}. {finding.evidence}".rstrip()
    if finding.remedy:
        yield f"what to do: {finding.remedy}"


def print_review(review: Review) -> None:
    """What `review` found in a change."""
    out = Terminal()
    out.line((f"conclusion: {review.conclusion}", "bold"))
    _print_undecided(out, review.undecided, review.lost)
    if review.introduced:
        out.line()
        out.line(("introduced", "underline"))
        _print_findings(out, (finding for finding in review.introduced if finding.level != "folded"))
        _print_accepted(out, review.introduced)
    if review.fixed:
        out.line()
        out.line(("fixed", "underline"))
        for finding in review.fixed:
            _print_heading(out, finding, "was ")
    if review.changed:
        out.line()
        out.line(("changed", "underline"))
    for before, after in review.changed:
        out.line(f"was {before.level} {before.status}, is now:")
        _print_findings(out, (after,))
    if review.property_changes:
        out.line()
        out.line(("properties", "underline"))
        out.columns(_change(change) for change in review.property_changes)
    for bump in review.bumps:
        _print_bump(out, bump)
    out.line()
    unchanged = len(review.unchanged)
    verb = "is as it was" if unchanged == 1 else "are as they were"
    out.line(
        f"{_number(unchanged, 'finding')} {verb} in the composes that this change touches; others were not looked at."
    )


def _print_bump(out: Terminal, bump: Bump) -> None:
    """What a moved pin inherits, and the vendored patches of which the new source says something else."""
    out.line()
    out.line((f"{bump.before.image} → {bump.after.image}", "underline"), f"  {sentence_of(bump)}")
    out.columns(
        (FIX_WORDS[fix.kind].replace("*", ""), short(fix.reference), fix.title or "", why(fix))
        for kind in FIX_WORDS
        for fix in bump.fixes
        if fix.kind == kind != "keeps"
    )
    if bump.unrecorded and bump.after.source is not None:
        out.line((f"  nothing is recorded of {', '.join(map(short, bump.unrecorded))}", "dim"))
    if bump.unread:
        out.line((f"  vendored patches were not held against it: {bump.unread}", "yellow"))
    out.columns(
        (f"{check.script}:{check.line}", ANCHOR_WORDS[check.state].replace("*", ""), check.target, mounted)
        for overlay in bump.overlays
        for mounted in ("mounted here" if overlay.mounted else "",)
        for check in overlay.changed
    )


def _change(change: PropertyChange) -> tuple[str, ...]:
    moved = f"{plain(change.before)} → {plain(change.after)}"
    note = "no changed line says so" if change.unmentioned else ""
    return change.slug or change.service, change.property, moved, note, change.cause


def print_chain(title: str, value: Property, links: Mapping[Reason, str], where: str = "") -> None:
    """How a property came about, one link a line; `links` adds an address where there is one. `where` names the fork
    of the script.
    """
    out = Terminal()
    shown = f"{show(value)} ({value.certainty})" if value.known else "unknown"
    out.line((f"{title} = {shown}{where}", "bold"))
    for reason in value.because:
        out.line(f"  {reason.kind:<15} {_reason(reason)}")
        if reason in links:
            out.line((f"  {'':<15} {links[reason]}", "dim"))
