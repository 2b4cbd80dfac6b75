"""Patches that their entry says are wanted no more, on services that still have them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.catalog import WiredPatch
from bot.hazards import Observation
from bot.provenance import Position
from bot.resolution import EngineWorld, ResolvedService

_ARCHIVE = re.compile(r"(?:^|/)_?(?:archived?|attic|deprecated|legacy|old|obsolete|graveyard)/", re.IGNORECASE)
"""Folders of composes that are kept and not used."""


def of_retired(service: ResolvedService, world: EngineWorld) -> Iterator[Observation]:
    """One observation for each patch that is mounted or run although it is to be gone."""
    if world.kind is None:
        return
    for wired in world.patches:
        if wired.patch is not None and wired.patch.deprecated and not (wired.mounted is False and not wired.invoked):
            at = wired.patch.position
            fields = {
                "patch": wired.id,
                "where": str(at),
                "runs": wired.invoked is True,
                "archived": _ARCHIVE.search(service.path) is not None,
            }
            yield Observation("retired-patch", wired.id, _place(service, wired), wired.because, fields)


def _place(service: ResolvedService, wired: WiredPatch) -> Position:
    """The mount, else the command that runs the patch; the service where they stand in another file."""
    for kind in ("compose", "shell"):
        for reason in wired.because:
            if reason.kind == kind and reason.path == service.path and reason.line is not None:
                return Position(reason.path, reason.line)
    return service.position
