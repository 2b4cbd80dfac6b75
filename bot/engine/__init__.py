"""What a vLLM release makes of a command line."""

from bot.engine.images import pin
from bot.engine.models import model_from_argv
from bot.engine.resolve import resolve

__all__ = ["model_from_argv", "pin", "resolve"]
