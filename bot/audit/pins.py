"""The image that a service starts by default, held against what the repository pins."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.catalog import Catalog, EngineProfile, Header, engine_of
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
    drifted = _drifted(catalog, service, image)
    if drifted is not None:
        profile, stated = drifted
        at = profile.position
        names = "the header" if stated.path == service.path else "the registry"
        because = (
            here,
            Reason(
                "compose" if stated.path == service.path else "catalog",
                stated.path,
                stated.line,
                f"{names} names the engine profile {profile.id}",
            ),
            Reason("catalog", at.path, at.line, f"the profile {profile.id} pins {profile.image}"),
        )
        fields = {
            "problem": "drift",
            "image": image,
            "profile": profile.id,
            "pinned": profile.image,
            "why": "",
            "by": names,
        }
        yield Observation("pin", "profile", place, because, fields)
    if world.pin.floating or (drifted is None and _release_unknown(world)):
        problem = "floating" if world.pin.floating else "no-release"
        fields = {"problem": problem, "image": image, "profile": "", "pinned": "", "why": world.pin.why, "by": ""}
        yield Observation("pin", "release", place, (here,), fields)


def _release_unknown(world: EngineWorld) -> bool:
    """A tag of the vLLM project without a release. A digest is no tag: it pins, whatever it is. What `images:` declares
    is what the repository says.
    """
    pin = world.pin
    return pin.release is None and not pin.because and "@" not in pin.image and is_upstream(pin.image)


def _drifted(catalog: Catalog, service: ResolvedService, image: str) -> tuple[EngineProfile, Position] | None:
    """The engine profile that the header names, else that of the registry's entries, when it pins another image; and
    where it is named.
    """
    named = _named(catalog, service.header) or _registered(catalog, service)
    if named is None or named[0].image is None or same_image(image, named[0].image):
        return None
    return named


def _named(catalog: Catalog, header: Header) -> tuple[EngineProfile, Position] | None:
    for key in _PROFILE_KEYS:
        value, position = header.values.get(key, ("", None))
        name = _NAME.match(value)
        profile = catalog.engines.get(name[1]) if name else None
        if profile and position:
            return profile, position
    return None


def _registered(catalog: Catalog, service: ResolvedService) -> tuple[EngineProfile, Position] | None:
    """The profile on which all entries of a registry for this compose agree."""
    if any(key in service.header.values for key in _PROFILE_KEYS):
        return None
    stated = [one for one in catalog.stated.get(service.path, ()) if one.property == "engine"]
    profile = engine_of(catalog, service.header, service.slugs)
    place = next((one.position for one in stated if profile is not None and one.value == profile.id), None)
    return (profile, place) if profile is not None and place is not None else None


def _place(service: ResolvedService, world: EngineWorld) -> Position:
    """The line of the image, where it stands in the compose itself."""
    described = world.realisation.service
    for reason in described.image.because if described and described.image else ():
        if reason.path == service.path and reason.line is not None:
            return Position(reason.path, reason.line)
    return service.position
