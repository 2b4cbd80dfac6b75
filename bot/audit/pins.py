"""The image that a service starts by default, held against what the repository pins."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.catalog import Catalog, EngineProfile, Header
from bot.engine import is_upstream, same_image
from bot.hazards import Observation
from bot.provenance import Position, Reason
from bot.resolution import EngineWorld, ResolvedService

_PROFILE_KEYS = ("engine-profile", "engine profile", "engine_profile")
_NAME = re.compile(r"[`'\"]?([A-Za-z0-9][\w.-]*)")


def of_pin(catalog: Catalog, service: ResolvedService, world: EngineWorld) -> Iterator[Observation]:
    """What is to be said of the image: that it is not its profile's, that it moves, that its release is not known.

    An image that is built from the repository, and one that `images:` describes, is what the repository says it is.
    """
    described = world.realisation.service
    image = world.pin.image
    if service.kind != "vllm" or described is None or not image or "$" in image or "build" in described.config:
        return
    place = _place(service, world)
    here = Reason("compose", place.path, place.line, f"image: {image}")
    drifted = _drifted(catalog, service.header, image)
    if drifted is not None:
        profile, stated = drifted
        at = profile.position
        because = (
            here,
            Reason("compose", stated.path, stated.line, f"the header names the engine profile {profile.id}"),
            Reason("catalog", at.path, at.line, f"the profile {profile.id} pins {profile.image}"),
        )
        fields = {"problem": "drift", "image": image, "profile": profile.id, "pinned": profile.image, "why": ""}
        yield Observation("pin", "profile", place, because, fields)
    if world.pin.floating or (drifted is None and _release_unknown(world)):
        problem = "floating" if world.pin.floating else "no-release"
        fields = {"problem": problem, "image": image, "profile": "", "pinned": "", "why": world.pin.why}
        yield Observation("pin", "release", place, (here,), fields)


def _release_unknown(world: EngineWorld) -> bool:
    """A tag of the vLLM project without a release. A digest is no tag: it pins, whatever it is. What `images:` declares
    is what the repository says.
    """
    pin = world.pin
    return pin.release is None and not pin.because and "@" not in pin.image and is_upstream(pin.image)


def _drifted(catalog: Catalog, header: Header, image: str) -> tuple[EngineProfile, Position] | None:
    """The engine profile that the header names, when it pins another image, and where it is named."""
    for key in _PROFILE_KEYS:
        value, position = header.values.get(key, ("", None))
        name = _NAME.match(value)
        profile = catalog.engines.get(name[1]) if name else None
        if profile and position:
            differs = profile.image is not None and not same_image(image, profile.image)
            return (profile, position) if differs else None
    return None


def _place(service: ResolvedService, world: EngineWorld) -> Position:
    """The line of the image, where it stands in the compose itself."""
    described = world.realisation.service
    for reason in described.image.because if described and described.image else ():
        if reason.path == service.path and reason.line is not None:
            return Position(reason.path, reason.line)
    return service.position
