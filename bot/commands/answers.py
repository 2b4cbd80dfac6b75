"""Short answers: why a command is not carried out."""

from __future__ import annotations

from bot.commands.catalogue import Command
from bot.commands.finder import Mistake
from bot.markdown import code


def mistake_answer(mistake: Mistake) -> str:
    """The answer to what was no command, or to a command with wrong words behind it."""
    return f"{mistake.message}\n\nUsage: {code(mistake.command.usage)}. `/help` lists the commands."


def refusal_answer(command: Command) -> str:
    """The answer to somebody who may not use a command."""
    return f"{code(f'/{command.name}')} is for {command.who}."


def elsewhere_answer(command: Command) -> str:
    """The answer to a command on an issue, where it has nothing to do."""
    return f"{code(f'/{command.name}')} is for pull requests, and this is an issue. `/help` lists the commands."
