"""What the commands say of themselves: the answer to `/help`, and the page of the documentation."""

from __future__ import annotations

from bot.commands.catalogue import COMMANDS, Command
from bot.commands.finder import MAX_COMMANDS


def help_text() -> str:
    """The answer to `/help`."""
    lines = [f"- `{command.usage}` {command.summary}{_where(command)}." for command in COMMANDS.values()]
    return "\n".join(["A line of a comment that begins with one of these is a command:", "", *lines])


def page() -> str:
    """`docs/commands.md`, whole."""
    parts = [
        "# Commands",
        "<!-- Written by `python -m bot.commands`, from bot/commands/catalogue.py. -->",
        "A comment on a pull request or an issue can hold commands, each on a line of its own that begins with a "
        "slash. Lines in code, in quotations and in HTML comments are none, and editing a comment runs nothing. Up to "
        f"{MAX_COMMANDS} commands of a comment are answered.",
        "Seamguard reacts with 👀 when it has seen a command, with 👍 when it is done, and with 😕 and one reply that "
        "says why when it will not. Bots are never answered.",
        *(_entry(command) for command in COMMANDS.values()),
    ]
    return "\n\n".join(parts) + "\n"


def _entry(command: Command) -> str:
    parts = [
        f"## `/{command.name}`",
        f"`{command.usage}` {command.summary}{_where(command)}.",
        command.details,
        f"For {command.who}.",
    ]
    return "\n\n".join(part for part in parts if part)


def _where(command: Command) -> str:
    return "" if command.on_issues else " (on pull requests)"
