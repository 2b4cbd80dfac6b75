"""`audit`: every finding in a repository."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.audit import Report, Unit, audit, undecided_json
from bot.cli.clock import clock_of
from bot.cli.failure import Failure
from bot.cli.hints import near
from bot.cli.learning import Learning, informed, offline_option
from bot.cli.opening import around, lies, links_to, no_compose, opened, readable
from bot.cli.options import fail_on_option, format_option, rev_option, url_option
from bot.cli.outputs import Also, Form, also_option, as_json, as_lines, write_also
from bot.cli.progress import announced, progress
from bot.hazards import Rules, at_least, finding_json, load_rules
from bot.repositories import work_tree

if TYPE_CHECKING:
    from bot.remedies import Fixes
    from bot.resolution import Repository
    from bot.review import Links

SCHEMA = 1
FORMATS = ("json", "markdown", "sarif", "github")


@click.command("audit")
@click.argument("path", default=".", type=click.Path(path_type=Path))
@rev_option
@click.option("--rule", "only", multiple=True, metavar="ID", help="Only this rule; may be given more than once.")
@click.option("--folded", is_flag=True, help="Show in text what is folded away: mitigated, or nothing to act on.")
@url_option
@offline_option
@fail_on_option
@format_option("text", *FORMATS)
@also_option(*FORMATS)
def audit_command(
    path: Path,
    rev: str | None,
    only: tuple[str, ...],
    folded: bool,
    url: str,
    offline: bool,
    fail_on: str,
    output: str,
    also: Also,
) -> None:
    """Resolve every compose at or below PATH and list the hazards in it.

    The repository around PATH is read with it: its profiles, `patches.yml` and configuration say what is meant there.
    """
    rules = _chosen(load_rules(), only)
    wanted = "sarif" in (output, *(name for name, _ in also))
    report, fixes = audited_with_edits(path, rev, rules, offline, wanted)
    if not report.units and not report.skipped:
        raise Failure(no_compose(path))
    forms = audit_forms(report, rules, lambda: links_to(around(path)[0], rev, url), fixes)
    if output == "text":
        from bot.cli import text

        text.print_report(report, folded=folded)
    else:
        click.echo(forms[output](), nl=False)
    write_also(forms, also)
    if any(at_least(finding.level, fail_on) for finding in report.findings):
        raise SystemExit(1)


def audit_forms(report: Report, rules: Rules, links: Callable[[], Links], fixes: Fixes) -> dict[str, Form]:
    """The forms of an audit, by their names. `fixes` are for the one form that programs take edits from."""

    def markdown() -> str:
        from bot.review import standing

        return standing(report, links())

    def sarif() -> str:
        from bot.cli.sarif import report_sarif

        return as_json(report_sarif(report, rules, fixes))

    def github() -> str:
        from bot.cli.workflow import annotated, undecided

        return as_lines((*annotated(report.findings), *undecided(report.undecided)))

    return {"json": lambda: as_json(report_json(report)), "markdown": markdown, "sarif": sarif, "github": github}


def _chosen(rules: Rules, only: tuple[str, ...]) -> Rules:
    for rule in only:
        if rule not in rules.ids:
            raise Failure(f"no rule {rule!r}: {near(rule, rules.ids, 'the rules are')}")
    return rules.only(only) if only else rules


def audited(path: Path, rev: str | None, rules: Rules, offline: bool) -> Report:
    """The report on the composes at or below a path. Raises `Failure`."""
    return audited_with_edits(path, rev, rules, offline, wanted=False)[0]


def audited_with_edits(
    path: Path, rev: str | None, rules: Rules, offline: bool, wanted: bool = True
) -> tuple[Report, Fixes]:
    """The same, with the edits that are proved to end what stands by default, if they are wanted. Raises `Failure`."""
    root, inside = around(path)
    with announced(lambda: _reading(root, rev)) as begun, opened(root, rev) as repository:
        readable(repository)

        def chosen(unit: Unit) -> bool:
            return any(lies(file, inside) for file in unit.files)

        def work() -> Report:
            with progress("composes") as advance:

                def next_one(unit: Unit, total: int) -> None:
                    begun()
                    advance(unit.path, total)

                clock = clock_of(repository, rules, offline)
                return audit(repository, rules, only=chosen, progress=next_one, contains=clock)

        report = informed(work, lambda report: report.pins, Learning(offline))
        fixes = _proved(repository, report, rules) if wanted else {}
    skipped = tuple(item for item in report.skipped if lies(item.path, inside))
    described = tuple(finding for finding in report.described if lies(finding.path, inside))
    return replace(report, skipped=skipped, described=described), fixes


def _proved(repository: Repository, report: Report, rules: Rules) -> Fixes:
    from bot.remedies import standing_fixes

    return standing_fixes(repository, report, rules)


def _reading(folder: Path, rev: str | None) -> str:
    """What takes its time before the first compose."""
    if rev is not None or work_tree(folder) is not None:
        return f"reading the YAML files of {folder}"
    return f"{folder} is no git repository: every YAML file below it is read"


def report_json(report: Report) -> dict[str, Any]:
    """The `audit` contract, schema 1."""
    return {
        "schema": SCHEMA,
        "findings": [finding_json(finding) for finding in report.findings],
        "errors": [
            {"message": problem.message, "path": problem.position.path, "line": problem.position.line}
            for problem in report.problems
        ],
        "skipped": [{"path": item.path, "reason": item.reason} for item in report.skipped],
        "undecided": [undecided_json(one) for one in report.undecided],
    }
