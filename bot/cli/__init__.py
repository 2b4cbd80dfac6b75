"""The command line: `python -m bot`, installed as `seamguard`."""

from __future__ import annotations

import atexit
import gc
import sys
from importlib import import_module
from io import TextIOWrapper

import click

from bot import __version__
from bot.cli.failure import Failure
from bot.cli.group import HelpfulGroup
from bot.printable import printable

_COMMANDS = {
    "audit": "bot.cli.audit:audit_command",
    "clocks": "bot.cli.clocks:clocks_command",
    "demo": "bot.cli.demo:demo_command",
    "doctor": "bot.cli.doctor:doctor_command",
    "explain": "bot.cli.explain:explain_command",
    "fix": "bot.cli.fix:fix_command",
    "flips": "bot.cli.flips:flips_command",
    "inspect": "bot.cli.inspect:inspect_group",
    "learn": "bot.cli.learn:learn_command",
    "register": "bot.cli.register:register_command",
    "resolve": "bot.cli.resolve:resolve_command",
    "review": "bot.cli.review:review_command",
    "rules": "bot.cli.rules:rules_command",
    "serve": "bot.cli.serve:serve_command",
    "verify": "bot.cli.verify:verify_command",
    "watch": "bot.cli.watch:watch_command",
    "worker": "bot.cli.serve:worker_command",
}
_UNLISTED = {"action": "bot.cli.action:action_command"}
"""For programs, not for people."""


class _Commands(HelpfulGroup):
    """Imports a command when it is asked for: an audit should not wait for what only a review needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        where = _COMMANDS.get(cmd_name) or _UNLISTED.get(cmd_name)
        if where is None:
            return None
        module, _, name = where.partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="seamguard")
def cli() -> None:
    """Resolves what the vLLM engines of a repository really do, and names the hazards in it."""


def main() -> None:
    """Runs the command line; unreadable input ends it with status 2 and one sentence."""
    # The process lives for one question and makes few cycles: collecting them costs more than it frees.
    gc.set_threshold(1_000_000, 50, 50)
    atexit.register(gc.freeze)  # else the interpreter looks through all that was made once more before it ends
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character still gets the rest
    try:
        cli.main(standalone_mode=True)
    except Failure as failure:
        click.echo(f"seamguard: {printable(str(failure))}", err=True)
        sys.exit(2)
