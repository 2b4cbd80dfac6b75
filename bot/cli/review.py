"""`review`: what a change does."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import click

from bot.audit import Contains, Report, Unit, audit, undecided_json, unknown_rules
from bot.catalog import Configuration
from bot.cli.clock import clock_of
from bot.cli.failure import Failure
from bot.cli.learning import Learning, informed, offline_option, sources_of
from bot.cli.opening import Known, links_to, opened, opened_index, opened_nothing, readable
from bot.cli.options import fail_on_option, format_option, url_option
from bot.cli.outputs import Also, Form, also_option, as_json, as_lines, write_also
from bot.cli.progress import progress
from bot.hazards import Rules, at_least, finding_json, load_rules
from bot.printable import printable
from bot.remedies import fixes
from bot.repositories import (
    Change,
    RepositoryError,
    changed_paths,
    diff,
    last_commit,
    merge_base,
    staged_diff,
    staged_paths,
)
from bot.resolution import Repository
from bot.review import (
    Bump,
    Knowledge,
    Links,
    Review,
    affected,
    bumps,
    configuration_edit,
    file_diffs,
    report,
    review,
    summary,
    vendored,
    with_fixes,
)
from bot.upstream.repository_pins import RepositoryPin

SCHEMA = 1
FORMATS = ("json", "markdown", "summary", "sarif", "github")


@click.command("review")
@click.option("--base", help="The revision to compare with.")
@click.option("--head", help="The revision to review.")
@click.option(
    "--staged", is_flag=True, help="Review what is about to be committed, or what pre-commit was asked about."
)
@click.option("--repo", type=click.Path(file_okay=False, path_type=Path), default=".", help="The repository.")
@url_option
@offline_option
@fail_on_option
@format_option("text", *FORMATS)
@also_option(*FORMATS)
def review_command(
    base: str | None,
    head: str | None,
    staged: bool,
    repo: Path,
    url: str,
    offline: bool,
    fail_on: str,
    output: str,
    also: Also,
) -> None:
    """Compare two revisions: the hazards that a change introduces, alters and fixes."""
    if staged == bool(base or head):
        raise click.UsageError("give --base REV and --head REV, or --staged")
    if staged:
        base, head = _asked_by_pre_commit(repo)
    elif not (base and head):
        raise click.UsageError(f"--{'head' if base else 'base'} REV is missing")
    rules = load_rules()
    if base and head:
        outcome = review_revisions(repo, base, head, rules, offline=offline)
    else:
        outcome = review_staged(repo, rules, offline=offline)
    forms = review_forms(outcome, rules, lambda: links_to(repo, head, url if head else ""))
    if output == "text":
        from bot.cli import text

        text.print_review(outcome)
    else:
        click.echo(forms[output](), nl=False)
    write_also(forms, also)
    if fails(outcome, fail_on):
        raise SystemExit(1)


def review_forms(outcome: Review, rules: Rules, links: Callable[[], Links]) -> dict[str, Form]:
    """The forms of a review, by their names. `markdown` has the comments too, `summary` is what the App says."""

    def sarif() -> str:
        from bot.cli.sarif import review_sarif

        return as_json(review_sarif(outcome, rules))

    def github() -> str:
        from bot.cli.workflow import annotated, undecided

        told = annotated(f for f in outcome.introduced_or_worsened if f.level != "folded")
        return as_lines((*told, *undecided(outcome.undecided)))

    return {
        "json": lambda: as_json(review_json(outcome)),
        "markdown": lambda: report(outcome, links()),
        "summary": lambda: summary(outcome, links()),
        "sarif": sarif,
        "github": github,
    }


def fails(outcome: Review, fail_on: str) -> bool:
    """Whether the change is to blame for a finding at or over a level."""
    return any(at_least(finding.level, fail_on) for finding in outcome.introduced_or_worsened)


def review_revisions(
    repo: Path, base: str, head: str, rules: Rules, known: Known | None = None, *, offline: bool = True
) -> Review:
    """Reviews the change between two revisions of a repository on disk. Raises `Failure`.

    `known` is what earlier reviews of the same repository have found out. Unless `offline`, releases that pins name and
    nobody has facts of are learnt.
    """
    known = known or Known()
    with _failing():
        changes = changed_paths(repo, base, head)
        patch = diff(repo, base, head, _reviewable(_paths(changes)))
    sides = opened(repo, base, known), opened(repo, head, known)
    return _compared(*sides, changes, patch, rules, base, offline=offline)


def review_staged(repo: Path, rules: Rules, *, offline: bool = True) -> Review:
    """Reviews what the next commit of a checkout changes, whatever else lies in it. Raises `Failure`."""
    known = Known()
    with _failing():
        changes = staged_paths(repo)
        patch = staged_diff(repo, _reviewable(_paths(changes)))
        last = last_commit(repo)
    old = opened(repo, last, known) if last else opened_nothing()
    return _compared(old, opened_index(repo, known), changes, patch, rules, "HEAD", offline=offline)


def _asked_by_pre_commit(repo: Path) -> tuple[str, str] | tuple[None, None]:
    """What pre-commit compares in a run between two revisions; nothing in a run on what is staged."""
    old, new = (os.environ.get(f"PRE_COMMIT_{side}_REF") for side in ("FROM", "TO"))
    if not (old and new):
        return None, None
    with _failing():
        return merge_base(repo, old, new) or old, new


@contextmanager
def _failing() -> Iterator[None]:
    try:
        yield
    except RepositoryError as error:
        raise Failure(str(error)) from error


def _paths(changes: Iterable[Change]) -> list[str]:
    return [path for change in changes for path in (change.path, change.old_path) if path]


def _compared(
    old: AbstractContextManager[Repository],
    new: AbstractContextManager[Repository],
    changes: Sequence[Change],
    patch: str,
    rules: Rules,
    base: str,
    *,
    offline: bool,
) -> Review:
    """The review of `changes`, whose diff is `patch`. `base` is what the old state is called."""
    paths, shown = _paths(changes), file_diffs(patch)
    with old as before, new as proposed:
        readable(proposed)
        if before.catalog.configuration.unreadable:
            problem = before.catalog.configuration.problems[0]
            note = f"seamguard: {base}: {problem.position}: {problem.message}; judged as without a configuration"
            click.echo(printable(note), err=True)
        own = proposed.catalog.configuration
        edit = configuration_edit(paths, (*own.problems, *unknown_rules(own, rules)))
        after = _judged_by(before.catalog.configuration, proposed)
        touched = affected(before, after, paths)
        sides = touched.narrow(before), touched.narrow(after)

        clock = clock_of(before, rules, offline)

        def work() -> tuple[Report, Report]:
            base = _audit(sides[0], rules, touched.base, "before", clock)
            return base, _audit(sides[1], rules, touched.head, "after", clock)

        reports = informed(work, lambda both: chain(both[0].pins, both[1].pins), Learning(offline))
        renamed = _renamed(changes)
        moved = bumps(before, proposed, reports, renamed, rules.upstream, Knowledge(sources=sources_of(offline)))
        patches = vendored(before, after, reports[1])
        found = review(*reports, shown, renamed, edit, moved, patches)
        return with_fixes(found, shown, fixes(after, reports[1], found, rules))


def _judged_by(configuration: Configuration, repository: Repository) -> Repository:
    """The repository under the base's configuration: a change must not choose what it is judged by."""
    if repository.catalog.configuration is configuration:
        return repository
    return replace(repository, catalog=replace(repository.catalog, configuration=configuration))


def _reviewable(paths: Iterable[str]) -> list[str]:
    """Lines are only needed of files that a comment could sit on."""
    return [path for path in paths if path.endswith((".yml", ".yaml", ".sh", ".env", ".env.example"))]


def _renamed(changes: Iterable[Change]) -> dict[str, str]:
    return {change.old_path: change.path for change in changes if change.old_path}


def _audit(repository: Repository, rules: Rules, units: frozenset[Unit], what: str, clock: Contains) -> Report:
    with progress(what) as advance:
        return audit(
            repository,
            rules,
            only=lambda unit: unit in units,
            progress=lambda unit, total: advance(unit.path, total),
            contains=clock,
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
        "bumps": [_bump_json(bump) for bump in outcome.bumps],
        "undecided": [{**undecided_json(one), "lost": one in outcome.lost} for one in outcome.undecided],
        "summary": summary(outcome),
    }


def _bump_json(bump: Bump) -> dict[str, Any]:
    return {
        "before": _pin_json(bump.before),
        "after": _pin_json(bump.after),
        "uses": [{"name": use.name, "path": use.position.path, "line": use.position.line} for use in bump.uses],
        "fixes": [
            {
                "reference": fix.reference,
                "title": fix.title,
                "kind": fix.kind,
                "before": fix.before.state,
                "after": fix.after.state,
                "evidence": list(fix.after.evidence),
                "conflict": fix.after.conflict,
            }
            for fix in bump.fixes
        ],
        "unrecorded": list(bump.unrecorded),
        "overlays": [
            {
                "script": overlay.script,
                "mounted": overlay.mounted,
                "edits": [
                    {
                        "line": check.line,
                        "target": check.target,
                        "before": old.state if old is not None else None,
                        "after": check.state,
                        "why": check.why,
                    }
                    for check, old in zip(overlay.checks, overlay.before, strict=True)
                ],
            }
            for overlay in bump.overlays
        ],
        "unread": bump.unread,
    }


def _pin_json(pin: RepositoryPin) -> dict[str, Any]:
    return {"image": pin.image, "release": pin.release, "commit": pin.commit, "why": pin.why}
