"""`review`: what a change does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from bot.audit import Report, Unit, audit
from bot.catalog import Configuration
from bot.cli.failure import Failure
from bot.cli.machine import print_json
from bot.cli.opening import opened, readable
from bot.cli.options import fail_on_option, format_option
from bot.cli.progress import progress
from bot.hazards import Rules, at_least, finding_json, load_rules
from bot.printable import printable
from bot.repositories import BlobCache, Change, RepositoryError, changed_paths, diff
from bot.resolution import Repository
from bot.review import Review, affected, file_diffs, review, summary

SCHEMA = 1


@click.command("review")
@click.option("--base", required=True, help="The revision to compare with.")
@click.option("--head", required=True, help="The revision to review.")
@click.option("--repo", type=click.Path(file_okay=False, path_type=Path), default=".", help="The repository.")
@fail_on_option
@format_option("text", "json", "markdown")
def review_command(base: str, head: str, repo: Path, fail_on: str, output: str) -> None:
    """Compare two revisions: the hazards that a change introduces, alters and fixes."""
    outcome = review_revisions(repo, base, head, load_rules())
    if output == "json":
        print_json(review_json(outcome))
    elif output == "markdown":
        click.echo(summary(outcome))
    else:
        from bot.cli import text

        text.print_review(outcome)
    if any(at_least(finding.level, fail_on) for finding in outcome.introduced_or_worsened):
        raise SystemExit(1)


def review_revisions(repo: Path, base: str, head: str, rules: Rules) -> Review:
    """Reviews the change between two revisions of a repository on disk. Raises `Failure`."""
    cache = BlobCache()
    try:
        changes = changed_paths(repo, base, head)
        paths = [path for change in changes for path in (change.path, change.old_path) if path]
        shown = file_diffs(diff(repo, base, head, _reviewable(paths)))
    except RepositoryError as error:
        raise Failure(str(error)) from error
    with opened(repo, base, cache) as before, opened(repo, head, cache) as proposed:
        readable(proposed)
        if before.catalog.configuration.unreadable:
            problem = before.catalog.configuration.problems[0]
            note = f"seamguard: {base}: {problem.position}: {problem.message}; judged as without a configuration"
            click.echo(printable(note), err=True)
        after = _judged_by(before.catalog.configuration, proposed)
        touched = affected(before, after, paths)
        old = _audit(before, rules, touched.base, "before")
        new = _audit(after, rules, touched.head, "after")
    return review(old, new, shown, _renamed(changes))


def _judged_by(configuration: Configuration, repository: Repository) -> Repository:
    """The repository under the base's configuration: a change must not choose what it is judged by."""
    return replace(repository, catalog=replace(repository.catalog, configuration=configuration))


def _reviewable(paths: Iterable[str]) -> list[str]:
    """Lines are only needed of files that a comment could sit on."""
    return [path for path in paths if path.endswith((".yml", ".yaml", ".sh", ".env", ".env.example"))]


def _renamed(changes: Iterable[Change]) -> dict[str, str]:
    return {change.old_path: change.path for change in changes if change.old_path}


def _audit(repository: Repository, rules: Rules, units: frozenset[Unit], what: str) -> Report:
    with progress(what) as advance:
        return audit(
            repository,
            rules,
            only=lambda unit: unit in units,
            progress=lambda unit, total: advance(unit.path, total),
        )


def review_json(outcome: Review) -> dict[str, Any]:
    """The `review` contract, schema 1."""
    return {
        "schema": SCHEMA,
        "conclusion": outcome.conclusion,
        "introduced": [finding_json(finding) for finding in outcome.introduced],
        "changed": [
            {"before": finding_json(before), "after": finding_json(after)} for before, after in outcome.changed
        ],
        "fixed": [finding_json(finding) for finding in outcome.fixed],
        "unchanged_count": len(outcome.unchanged),
        "property_changes": [
            {
                "path": change.path,
                "service": change.service,
                "slug": change.slug,
                "property": change.property,
                "before": change.before,
                "after": change.after,
                "cause": change.cause,
            }
            for change in outcome.property_changes
        ],
        "comments": [
            {
                "path": comment.path,
                "line": comment.line,
                "side": comment.side,
                "body": comment.body,
                "finding": finding_json(comment.finding),
            }
            for comment in outcome.comments
        ],
        "summary": summary(outcome),
    }
