"""`watch`: what became of upstream fixes, told to the repositories that wait for them; for a cron job."""

from __future__ import annotations

import asyncio
import re
import time
from typing import TYPE_CHECKING, Any

import click

from bot.cli.failure import Failure
from bot.cli.machine import print_json
from bot.cli.options import format_option
from bot.cli.progress import lines_of
from bot.cli.terminal import Terminal

if TYPE_CHECKING:
    from bot.web.watching import Outcome

SCHEMA = 1
_NAME = re.compile(r"[\w.-]+/[\w.-]+")


@click.command("watch")
@click.option("--once", is_flag=True, help="End after one poll, as a cron job wants it.")
@click.option(
    "--repo", "repositories", multiple=True, metavar="OWNER/NAME", help="Only this repository; may be given again."
)
@click.option("--dry-run", is_flag=True, help="Write no issues; print how far each fix is.")
@format_option("text", "json")
def watch_command(once: bool, repositories: tuple[str, ...], dry_run: bool, output: str) -> None:
    """Poll upstream, and keep the issues about fixes up to date in all repositories where the App is installed.

    With GITHUB_TOKEN alone, in the repositories that are named (in GitHub Actions: in its own). A server does the same
    by itself. Status 0: all was asked and told; 1: something could not be, and the next run tries again; 2: the
    settings can't be used.
    """
    for name in repositories:
        if not _NAME.fullmatch(name):
            raise Failure(f"--repo {name}: not OWNER/NAME")
    while True:
        outcome, pause = _run(repositories, dry_run)
        if output == "json":
            print_json(_json(outcome))
        else:
            _print(outcome, dry_run)
        if once:
            raise SystemExit(1 if outcome.problems else 0)
        time.sleep(pause)


def _run(repositories: tuple[str, ...], dry_run: bool) -> tuple[Outcome, float]:
    from bot.github.errors import GitHubError
    from bot.jobs.polling import EVERY_SECONDS
    from bot.store import DatabaseError
    from bot.web.settings import SettingsError, load
    from bot.web.watching import CannotWatch, watch_once

    try:
        settings = load()
        with lines_of() as say:
            outcome = asyncio.run(watch_once(settings, repositories, tell=not dry_run, say=say))
    except SettingsError as error:
        raise Failure("the settings can't be used:\n  " + "\n  ".join(error.problems)) from error
    except (CannotWatch, DatabaseError, GitHubError) as error:
        raise Failure(str(error)) from error
    return outcome, settings.poll_seconds or EVERY_SECONDS


def _print(outcome: Outcome, dry_run: bool) -> None:
    from bot.cli.clocks import print_clocks

    out = Terminal()
    if dry_run:
        for repository, watched in outcome.clocks:
            out.line((repository, "bold"))
            print_clocks(out, watched)
    for line in outcome.told:
        out.line(line)
    if not outcome.clocks:
        out.line("no repository waits for anything")
    for problem in outcome.problems:
        out.line((problem, "yellow"))


def _json(outcome: Outcome) -> dict[str, Any]:
    """The `watch` contract, schema 1."""
    from bot.cli.clocks import clock_json

    return {
        "schema": SCHEMA,
        "repositories": [
            {"repository": name, "clocks": [clock_json(item) for item in watched]} for name, watched in outcome.clocks
        ],
        "told": list(outcome.told),
        "problems": list(outcome.problems),
    }
