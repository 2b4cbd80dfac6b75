"""The command line: `python -m bot`, installed as `seamguard`."""

from __future__ import annotations

import sys

import click

from bot import __version__
from bot.cli.audit import audit_command
from bot.cli.demo import demo_command
from bot.cli.explain import explain_command
from bot.cli.failure import Failure
from bot.cli.flips import flips_command
from bot.cli.inspect import inspect_group
from bot.cli.learn import learn_command
from bot.cli.resolve import resolve_command
from bot.cli.review import review_command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="seamguard")
def cli() -> None:
    """Resolves what the vLLM engines of a repository really do, and names the hazards in it."""


for command in (
    resolve_command,
    audit_command,
    review_command,
    explain_command,
    flips_command,
    learn_command,
    inspect_group,
    demo_command,
):
    cli.add_command(command)


def main() -> None:
    """Runs the command line; unreadable input ends it with status 2 and one sentence."""
    try:
        cli.main(standalone_mode=True)
    except Failure as failure:
        click.echo(f"seamguard: {failure}", err=True)
        sys.exit(2)
