"""`watch`: what became of upstream fixes, told to the repositories that wait for them; for a cron job."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from bot.cli.failure import Failure
from bot.cli.machine import print_json
from bot.cli.options import format_option
from bot.cli.progress import lines_of
from bot.cli.terminal import Terminal

if TYPE_CHECKING:
    from bot.jobs.rehearsing import Written
    from bot.web.watching import Outcome

SCHEMA = 1
MAX_LINES = 60
"""Lines of an issue that a terminal shows."""

_MARK = re.compile(r"<!--.*?-->", re.DOTALL)
_SMALL = re.compile(r"</?sub>")
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{1,300})\]\((?:https?://)[^()\s]{1,3000}\)")
_NAME = re.compile(r"[\w.-]+/[\w.-]+")


@click.command("watch")
@click.option("--once", is_flag=True, help="End after one poll, as a cron job wants it.")
@click.option(
    "--repo", "repositories", multiple=True, metavar="OWNER/NAME", help="Only this repository; may be given again."
)
@click.option("--dry-run", is_flag=True, help="Write no issues; print how far each fix is, and what would be written.")
@format_option("text", "json")
def watch_command(once: bool, repositories: tuple[str, ...], dry_run: bool, output: str) -> None:
    """Poll upstream, and keep the issues about fixes up to date in all repositories where the App is installed.

    It needs the App's credentials, as `serve` does. With GITHUB_TOKEN alone, in the repositories that are named (in
    GitHub Actions: in its own). A server does the same by itself. Status 0: all was asked and told; 1: something could
    not be, and the next run tries again; 2: the settings can't be used.
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
        would = dict(outcome.would)
        for repository, watched in outcome.clocks:
            out.line((repository, "bold"))
            print_clocks(out, watched)
            for written in would.get(repository, ()):
                _print_written(out, written)
            if not would.get(repository):
                out.line()
                out.line("nothing would be written")
    for line in outcome.told:
        out.line(line)
    if not outcome.clocks and not outcome.problems:
        out.line("no repository waits for anything")
    for problem in outcome.problems:
        out.line((problem, "yellow"))


def _print_written(out: Terminal, written: Written) -> None:
    """What would be written, as it reads at GitHub: without marks, and with links as their words."""
    labels = f" [{', '.join(written.labels)}]" if written.labels else ""
    where = f"issue {written.number}" if written.number else "a new issue"
    what = {"open": f"would open {where}{labels}", "edit": f"would edit {where}", "comment": f"would say in {where}"}
    out.line()
    out.line((what[written.what] + (", and open it again" if written.reopens else ""), "bold"))
    if written.title is not None:
        out.line(f"  {written.title}")
    lines = _read(written.body or "").split("\n") if written.body else []
    for line in lines[:MAX_LINES]:
        out.line((f"  {line}".rstrip(), "dim"))
    if len(lines) > MAX_LINES:
        out.line((f"  and {len(lines) - MAX_LINES} more lines: --format json has all", "dim"))


def _read(body: str) -> str:
    """The text of an issue without what nobody sees."""
    text = _SMALL.sub("", _MARK.sub("", body))
    return re.sub(r"\n{3,}", "\n\n", _LINK.sub(r"\1", text)).strip()


def _json(outcome: Outcome) -> dict[str, Any]:
    """The `watch` contract, schema 1."""
    from bot.cli.clocks import clock_json

    return {
        "schema": SCHEMA,
        "repositories": [
            {"repository": name, "clocks": [clock_json(item) for item in watched]} for name, watched in outcome.clocks
        ],
        "told": list(outcome.told),
        "would": [{"repository": name, **asdict(written)} for name, several in outcome.would for written in several],
        "problems": list(outcome.problems),
    }
