"""Prints the page about the commands: `python -m bot.commands > docs/commands.md`."""

from bot.commands.texts import page

print(page(), end="")
