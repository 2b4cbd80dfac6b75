"""`audit`: every finding in a repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bot.audit import Report, audit
from bot.cli.failure import Failure
from bot.cli.machine import print_json
from bot.cli.opening import opened
from bot.cli.options import fail_on_option, format_option, rev_option
from bot.cli.progress import progress
from bot.hazards import Finding, Rules, at_least, finding_json, load_rules
from bot.printable import printable

SCHEMA = 1


@click.command("audit")
@click.argument("folder", default=".", type=click.Path(path_type=Path))
@rev_option
@click.option("--rule", "only", multiple=True, metavar="ID", help="Only this rule; may be given more than once.")
@fail_on_option
@format_option("text", "json", "sarif", "github")
def audit_command(folder: Path, rev: str | None, only: tuple[str, ...], fail_on: str, output: str) -> None:
    """Resolve every compose below FOLDER and list the hazards in it."""
    rules = _chosen(load_rules(), only)
    with opened(folder, rev) as repository, progress("composes") as advance:
        report = audit(repository, rules, progress=lambda unit, total: advance(unit.path, total))
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

        text.print_report(report)
    if any(at_least(finding.level, fail_on) for finding in report.findings):
        raise SystemExit(1)


def _chosen(rules: Rules, only: tuple[str, ...]) -> Rules:
    unknown = [rule for rule in only if rule not in rules.ids]
    if unknown:
        raise Failure(f"no rule {unknown[0]!r}; the rules are {', '.join(sorted(rules.ids))}")
    return rules.only(only) if only else rules


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
    return f"::{_COMMANDS[finding.level]} {place}::{_data(f'{finding.message} {finding.remedy}'.strip())}"


def _data(text: str) -> str:
    """Line ends as the runner reads them back; an escape sequence would reach the log that it prints."""
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
