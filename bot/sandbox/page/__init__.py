"""The local page that shows the sandbox's pull request."""

from bot.sandbox.page.server import application

__all__ = ["application"]
