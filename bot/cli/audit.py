"""`audit`: every finding in a repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bot.audit import Report, Unit, audit
from bot.cli.clock import clock_of
from bot.cli.failure import Failure
from bot.cli.hints import near
from bot.cli.learning import Learning, informed, offline_option
from bot.cli.machine import print_json
from bot.cli.opening import opened, readable
from bot.cli.options import fail_on_option, format_option, rev_option
from bot.cli.progress import announced, progress
from bot.hazards import Finding, Rules, at_least, finding_json, load_rules
from bot.printable import printable
from bot.repositories import work_tree

SCHEMA = 1


@click.command("audit")
@click.argument("folder", default=".", type=click.Path(path_type=Path))
@rev_option
@click.option("--rule", "only", multiple=True, metavar="ID", help="Only this rule; may be given more than once.")
@click.option("--folded", is_flag=True, help="Show in text what is folded away: mitigated, or nothing to act on.")
@offline_option
@fail_on_option
@format_option("text", "json", "sarif", "github")
def audit_command(
    folder: Path, rev: str | None, only: tuple[str, ...], folded: bool, offline: bool, fail_on: str, output: str
) -> None:
    """Resolve every compose below FOLDER and list the hazards in it."""
    rules = _chosen(load_rules(), only)
    report = _audited(folder, rev, rules, offline)
    if output == "json":
        print_json(report_json(report))
    elif output == "sarif":
        from bot.cli.sarif import report_sarif

        print_json(report_sarif(report, rules))
    elif output == "github":
        for finding in report.findings:
            click.echo(annotation(finding))
    else:
        from bot.cli import text

        text.print_report(report, folded=folded)
    if any(at_least(finding.level, fail_on) for finding in report.findings):
        raise SystemExit(1)


def _chosen(rules: Rules, only: tuple[str, ...]) -> Rules:
    for rule in only:
        if rule not in rules.ids:
            raise Failure(f"no rule {rule!r}: {near(rule, rules.ids, 'the rules are')}")
    return rules.only(only) if only else rules


def _audited(folder: Path, rev: str | None, rules: Rules, offline: bool) -> Report:
    with announced(lambda: _reading(folder, rev)) as begun, opened(folder, rev) as repository:
        readable(repository)

        def work() -> Report:
            with progress("composes") as advance:

                def next_one(unit: Unit, total: int) -> None:
                    begun()
                    advance(unit.path, total)

                return audit(repository, rules, progress=next_one, contains=clock_of(repository, rules, offline))

        return informed(work, lambda report: report.pins, Learning(offline))


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
    }


_COMMANDS = {"error": "error", "warning": "warning", "notice": "notice", "folded": "debug"}


def annotation(finding: Finding) -> str:
    """A finding as a workflow command of GitHub Actions."""
    title = _property(f"{finding.rule} ({finding.status})")
    place = f"file={_property(finding.path)},line={finding.line},title={title}"
    service = f"{finding.service}: " if finding.service else ""
    return f"::{_COMMANDS[finding.level]} {place}::{_data(f'{service}{finding.message} {finding.remedy}'.strip())}"


def _data(text: str) -> str:
    """Line ends as the runner reads them back; an escape sequence would reach the log that it prints."""
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
