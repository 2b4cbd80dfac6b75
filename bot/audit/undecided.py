"""Services of which it could not be decided what they run: neither a hazard nor a clean bill, and never silent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.audit.discovery import mentions_an_engine
from bot.printable import printable
from bot.provenance import Position
from bot.resolution import ResolvedService
from bot.shell import is_inference_server
from bot.tree import Tree, text_of

MAX_REASON = 300
"""Characters of a reason: it is one line."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """A service that seems to run an inference server, where it stands, and what could not be followed at `place`.

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
    """What could not be decided of a service by default; None when all is known, or it seems to run no server."""
    lost = [world for world in service.defaults if not world.resolved]
    if not lost or not _seems_to_serve(service, tree):
        return None
    noted = [item for world in lost for item in world.unresolved]
    first = next((item for item in noted if item.position is not None), noted[0] if noted else None)
    place = first.position if first is not None and first.position is not None else service.position
    reason = " ".join((first.reason if first is not None else "how it starts is not known").split())
    return Undecided(service.path, service.name, place, reason[:MAX_REASON], len(lost) < len(service.defaults))


def _seems_to_serve(service: ResolvedService, tree: Tree) -> bool:
    """Whether a server was found on some way, or the image, the words or the scripts speak of one."""
    if is_inference_server(service.kind):
        return True
    described = service.worlds[0].realisation.service
    if described is None:
        return False
    words = (*(described.entrypoint or ()), *(described.command or ()))
    image = described.image.text if described.image is not None else ""
    if any(mentions_an_engine(text) for text in (image, *(word.text for word in words))):
        return True
    noted = (item.position for world in service.defaults for item in world.unresolved)
    scripts = {position.path for position in noted if position is not None} - {service.path}
    return any(mentions_an_engine(text_of(tree, path)) for path in sorted(scripts))


def undecided_json(one: Undecided) -> dict[str, Any]:
    """An entry of `undecided` in the contracts of `audit` and `review`."""
    return {
        "path": one.path,
        "service": one.service,
        "place": {"path": one.place.path, "line": one.place.line},
        "reason": printable(one.reason),
        "partly": one.partly,
    }
