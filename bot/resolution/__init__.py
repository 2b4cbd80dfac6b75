"""One service, in every world that matters: where worlds, engine and catalog meet."""

from bot.resolution.model import EngineWorld, ResolvedService
from bot.resolution.service import Repository, resolve_service

__all__ = ["EngineWorld", "Repository", "ResolvedService", "resolve_service"]
