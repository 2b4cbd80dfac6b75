"""Services of which it could not be decided what they run: neither a hazard nor a clean bill, and never silent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.audit.discovery import mentions_vllm
from bot.printable import printable
from bot.provenance import Position
from bot.resolution import ResolvedService
from bot.tree import Tree, text_of

MAX_REASON = 300
"""Characters of a reason: it is one line."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """A service that may run vLLM, where it stands, and what could not be followed at `place`.

    `partly` says that other ways through its script were followed, so that some of its findings are known.
    """

    path: str
    service: str
    place: Position
    reason: str
    partly: bool

    @property
    def told(self) -> str:
        """The service and why, in one line, without the place."""
        return f"{self.service} could not be {'wholly ' if self.partly else ''}resolved: {self.reason}"


def undecided(service: ResolvedService, tree: Tree) -> Undecided | None:
    """What could not be decided of a service by default; None when all is known, or nothing speaks of vLLM."""
    lost = [world for world in service.defaults if not world.resolved]
    if not lost or not _may_run_vllm(service, tree):
        return None
    noted = [item for world in lost for item in world.unresolved]
    first = next((item for item in noted if item.position is not None), noted[0] if noted else None)
    place = first.position if first is not None and first.position is not None else service.position
    reason = " ".join((first.reason if first is not None else "how it starts is not known").split())
    return Undecided(service.path, service.name, place, reason[:MAX_REASON], len(lost) < len(service.defaults))


def _may_run_vllm(service: ResolvedService, tree: Tree) -> bool:
    """Whether vLLM was found on some way, or the image, the words or the scripts speak of it."""
    if service.kind == "vllm":
        return True
    described = service.worlds[0].realisation.service
    if described is None:
        return False
    words = (*(described.entrypoint or ()), *(described.command or ()))
    image = described.image.text if described.image is not None else ""
    if any(mentions_vllm(text) for text in (image, *(word.text for word in words))):
        return True
    noted = (item.position for world in service.defaults for item in world.unresolved)
    scripts = {position.path for position in noted if position is not None} - {service.path}
    return any(mentions_vllm(text_of(tree, path)) for path in sorted(scripts))


def undecided_json(one: Undecided) -> dict[str, Any]:
    """An entry of `undecided` in the contracts of `audit` and `review`."""
    return {
        "path": one.path,
        "service": one.service,
        "place": {"path": one.place.path, "line": one.place.line},
        "reason": printable(one.reason),
        "partly": one.partly,
    }
