"""What a vLLM release makes of a command line."""

from bot.engine.entrypoint import image_entrypoint
from bot.engine.images import is_upstream, pin, same_image
from bot.engine.model import (
    PROPERTIES,
    Certainty,
    Engine,
    EngineError,
    Ineffective,
    Launch,
    Model,
    Pin,
    Property,
    Value,
    may_read,
    undoubted,
)
from bot.engine.models import model_from_argv
from bot.engine.resolve import resolve, source_link, source_links
from bot.engine.successors import successor

__all__ = [
    "PROPERTIES",
    "Certainty",
    "Engine",
    "EngineError",
    "Ineffective",
    "Launch",
    "Model",
    "Pin",
    "Property",
    "Value",
    "image_entrypoint",
    "is_upstream",
    "may_read",
    "model_from_argv",
    "pin",
    "resolve",
    "same_image",
    "source_link",
    "source_links",
    "successor",
    "undoubted",
]
