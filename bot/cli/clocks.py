"""`clocks`: how far the upstream fixes have come that a repository waits for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from bot.audit.images import images_of
from bot.cli.failure import Failure
from bot.cli.learning import offline_option, sources_of
from bot.cli.machine import print_json
from bot.cli.opening import opened
from bot.cli.options import format_option, rev_option
from bot.cli.progress import lines_of
from bot.cli.terminal import Terminal
from bot.engine.cache import OFFLINE_VARIABLE, folder
from bot.engine.facts import releases
from bot.hazards import load_rules
from bot.printable import printable
from bot.references import normalise
from bot.upstream.facts import BadFact, Facts, read_facts
from bot.upstream.known import known_from
from bot.upstream.repository_pins import RepositoryPin, Use, pins_of
from bot.upstream.sites import Site, sites_in
from bot.upstream.watch import Watched, watch, watched_references

SCHEMA = 1
MAX_SHOWN = 8
"""Sites of a reference that a terminal shows; the JSON has all."""


@click.command("clocks")
@click.option("--repo", type=click.Path(file_okay=False, path_type=Path), default=".", help="The repository.")
@rev_option
@click.option(
    "--facts",
    type=click.File("r", encoding="utf-8"),
    help="Recorded facts of upstream, one JSON object a line: of all references, or {reference, facts}.",
)
@click.option(
    "--all", "every", is_flag=True, help="Every reference that is named anywhere, not only what is waited for."
)
@click.option(
    "--live",
    is_flag=True,
    help="Ask GitHub now, with GITHUB_TOKEN or the App's credentials; without any there are 60 requests an hour.",
)
@offline_option
@format_option("text", "json")
def clocks_command(
    repo: Path, rev: str | None, facts: Any, every: bool, live: bool, offline: bool, output: str
) -> None:
    """List the upstream fixes that a repository waits for: how far each is, which pins have it, what waits for it."""
    if live and facts is not None:
        raise Failure("--live and --facts: either ask GitHub, or read what was recorded")
    if live and offline:
        raise Failure(f"--live asks GitHub, which --offline (or {OFFLINE_VARIABLE}) forbids")
    upstream = load_rules().upstream
    recorded = _recorded(facts) if facts is not None else None
    sources = sources_of(offline)
    with opened(repo, rev) as repository:
        catalog = repository.catalog
        sites = sites_in(repository.tree, catalog)
        pins = pins_of(catalog, (Use(*found) for found in images_of(repository)))
        references = watched_references(catalog, sites, upstream.fixes)
        if every:
            named = {site.reference for site in sites}
            references = tuple(dict.fromkeys((*references, *sorted(named))))
        if live:
            recorded = _asked(references, [pin.asked for pin in pins])
        found = watch(
            references,
            pins,
            sites,
            known=known_from(upstream.known, sources),
            releases=releases(),
            titles={reference: fix.title for reference, fix in upstream.fixes.items()},
            facts=recorded or (lambda _: Facts()),
        )
    if output == "json":
        print_json(clocks_json(found, pins))
    else:
        _print(Terminal(), found, pins)


def _asked(references: Sequence[str], pins: Sequence[str]) -> Callable[[str], Facts]:
    """The facts that upstream tells now. What could not be had is said on standard error."""
    from bot.github.errors import GitHubError
    from bot.store import Database, DatabaseError
    from bot.web.settings import SettingsError, load
    from bot.web.watching import facts_now

    database = Database.file(folder().parents[1] / "upstream.sqlite")
    try:
        with lines_of() as say:
            facts, problems = asyncio.run(facts_now(load(), references, pins, database, say=say))
    except SettingsError as error:
        raise Failure("the settings can't be used:\n  " + "\n  ".join(error.problems)) from error
    except (DatabaseError, GitHubError) as error:
        raise Failure(str(error)) from error
    finally:
        database.close()
    for problem in problems:
        click.echo(printable(f"seamguard: {problem}"), err=True)
    return facts


def _recorded(lines: Iterable[str]) -> Callable[[str], Facts]:
    """Facts by reference, from the lines of a file; those without a reference are of all."""
    common: list[Mapping[str, Any]] = []
    own: dict[str, list[Mapping[str, Any]]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise Failure(f"--facts, line {number}: not JSON: {error}") from None
        if not isinstance(record, dict):
            raise Failure(f"--facts, line {number}: not a JSON object")
        if "facts" not in record:
            common.append(record)
            continue
        reference = normalise(str(record.get("reference", ""))[:200])
        if reference is None or not isinstance(record["facts"], list):
            raise Failure(f"--facts, line {number}: a reference and a list of facts are wanted")
        own.setdefault(reference, []).extend(record["facts"])

    def facts(reference: str) -> Facts:
        repository = reference.rpartition("#")[0]
        try:
            return read_facts([*common, *own.get(reference, ())], repository)
        except BadFact as error:
            raise Failure(f"--facts: {reference}: {error}") from None

    return facts


def clocks_json(found: tuple[Watched, ...], pins: tuple[RepositoryPin, ...]) -> dict[str, Any]:
    """The `clocks` contract, schema 1."""
    return {
        "schema": SCHEMA,
        "pins": [
            {
                "image": pin.image,
                "release": pin.release,
                "commit": pin.commit,
                "why": pin.why,
                "uses": [{"name": use.name, "path": use.position.path, "line": use.position.line} for use in pin.uses],
            }
            for pin in pins
        ],
        "clocks": [clock_json(item) for item in found],
    }


def clock_json(item: Watched) -> dict[str, Any]:
    """One clock of the `clocks` contract."""
    clock = item.clock
    return {
        "reference": item.reference,
        "title": item.title,
        "state": clock.state,
        "why": clock.why,
        "first_release": clock.first_release,
        "reverted_by": clock.reverted_by,
        "superseded_by": clock.superseded_by,
        "believed": list(item.believed),
        "by_rules": item.by_rules,
        "pins": {
            pin.image: {"state": answer.state, "evidence": list(answer.evidence), "conflict": answer.conflict}
            for pin, answer in item.pins
        },
        "sites": [_site_json(site) for site in item.sites],
    }


def _site_json(site: Site) -> dict[str, Any]:
    return {
        "path": site.position.path,
        "line": site.position.line,
        "column": site.position.column,
        "text": site.text,
        "role": site.role,
        "predicate": site.predicate,
        "state": site.state,
        "date": site.date,
        "patch": site.patch,
        "struck": site.struck,
    }


def print_clocks(out: Terminal, found: tuple[Watched, ...]) -> None:
    """A table of clocks; what nothing in the repository names stands apart."""
    named = [item for item in found if not _by_rules_alone(item)]
    others = [item for item in found if _by_rules_alone(item)]
    _table(out, named)
    if others:
        out.line()
        out.line("Seamguard's rules wait for these, and nothing in the repository names them:")
        _table(out, others)


def _by_rules_alone(item: Watched) -> bool:
    return item.by_rules and not item.sites


def _table(out: Terminal, found: Sequence[Watched]) -> None:
    rows: list[tuple[str | tuple[str, str], ...]] = [
        tuple((head, "bold") for head in ("reference", "state", "first release", "pinned here", "sites"))
    ]
    for item in found:
        clock = item.clock
        rows.append((item.reference, clock.state, clock.first_release or "-", _pinned(item), str(len(item.sites))))
    out.columns(rows)


def _print(out: Terminal, found: tuple[Watched, ...], pins: tuple[RepositoryPin, ...]) -> None:
    print_clocks(out, found)
    for item in found:
        _print_one(out, item)
    out.line()
    apart = sum(_by_rules_alone(item) for item in found)
    ruled = f" and {apart} of rules" if apart else ""
    out.line((f"{len(found) - apart} references{ruled}, {len(pins)} pins", "bold"))
    for pin in pins:
        out.line(f"  {pin.image}: {_meaning(pin)}, {_uses(len(pin.uses))}, first {pin.uses[0].position}")


def _print_one(out: Terminal, item: Watched) -> None:
    if not item.sites:
        return
    out.line()
    out.line((item.reference, "bold"), f"  {item.title or ''}".rstrip())
    if item.clock.why:
        out.line(f"  {item.clock.state}: {item.clock.why}")
    if item.believed:
        out.line(f"  the repository believes: {', '.join(item.believed[:4])}")
    told: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for pin, answer in item.pins:
        told.setdefault((answer.state, answer.evidence), []).append(pin.image)
        if answer.conflict:
            out.line((f"  {pin.image}: {answer.conflict}", "yellow"))
    for (state, evidence), images in told.items():
        out.line(f"  {state}: {', '.join(images)}")
        for line in evidence:
            out.line((f"    {line}", "dim"))
    for site in item.sites[:MAX_SHOWN]:
        struck = " (struck)" if site.struck else ""
        out.line(f"  {site.position}  {site.role}{struck}  {site.text[:120]}")
        if site.predicate:
            out.line((f"    until: {site.predicate[:160]}", "dim"))
    if len(item.sites) > MAX_SHOWN:
        out.line((f"  and {len(item.sites) - MAX_SHOWN} more sites: --format json has all", "dim"))


def _pinned(item: Watched) -> str:
    count = {
        state: sum(answer.state == state for _, answer in item.pins) for state in ("pinned", "not-pinned", "unknown")
    }
    words = {"pinned": "yes", "not-pinned": "no", "unknown": "unknown"}
    told = [f"{number} {words[state]}" for state, number in count.items() if number]
    return ", ".join(told) or "no pins"


def _meaning(pin: RepositoryPin) -> str:
    if pin.release:
        return f"release {pin.release}"
    return f"commit {pin.commit[:12]}" if pin.commit else f"unknown ({pin.why})"


def _uses(number: int) -> str:
    return f"{number} use" if number == 1 else f"{number} uses"
