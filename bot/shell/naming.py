"""Names of the symbols that stand for what a command prints and for how it ends: never the same for both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.shell.values import Symbol

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter
    from bot.shell.syntax import Simple

MAX_NAME = 80


def shortened(text: str) -> str:
    """A command on one line, as people can read it."""
    text = " ".join(text.split())
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 1] + "…"


def output_of(text: str) -> Symbol:
    """What a command prints."""
    return Symbol(f"output of {shortened(text)}", True)


def status_of(on: Interpreter, node: Simple) -> Symbol:
    """How a command ends, or the pipeline or substitution that it stands in."""
    return Symbol(shortened(on.naming or node.text))
