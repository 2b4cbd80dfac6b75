"""What people can ask for in a comment: the commands, who may use them, and their answers."""

from bot.commands.answers import elsewhere_answer, mistake_answer, refusal_answer
from bot.commands.catalogue import COMMANDS, HELP, Command, Explain, Help, Recheck, Request, Verify, may
from bot.commands.explanation import explain
from bot.commands.finder import MAX_COMMANDS, Found, Mistake, find
from bot.commands.hazard import explain_hazard, hazard_ids
from bot.commands.texts import help_text, page
from bot.commands.verification import NO_ENGINE, Verification, verify

__all__ = [
    "COMMANDS",
    "HELP",
    "MAX_COMMANDS",
    "NO_ENGINE",
    "Command",
    "Explain",
    "Found",
    "Help",
    "Mistake",
    "Recheck",
    "Request",
    "Verification",
    "Verify",
    "elsewhere_answer",
    "explain",
    "explain_hazard",
    "find",
    "hazard_ids",
    "help_text",
    "may",
    "mistake_answer",
    "page",
    "refusal_answer",
    "verify",
]
