"""Whether what is claimed of a service is what it runs."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace

from bot.claims import (
    ANY,
    CACHE,
    CONTEXT,
    DEPTH,
    DRAFTER,
    GRAPHS,
    SEQUENCES,
    Claim,
    count,
    same_cache,
    same_count,
    same_release,
)
from bot.engine import Property, same_image
from bot.provenance import Reason
from bot.resolution import EngineWorld, ResolvedService

_TOPICS = {
    DRAFTER: "drafter",
    DEPTH: "number of drafted tokens",
    CONTEXT: "context length",
    CACHE: "KV cache format",
    SEQUENCES: "number of concurrent sequences",
    GRAPHS: "CUDA graph mode",
    "tensor_parallel_size": "tensor parallel size",
    "prefix_caching": "prefix caching",
    "enforce_eager": "eager mode",
}
_EFFECTIVE_GRAPHS = "cudagraph_mode_effective"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a claim: `agrees` None when that is not known. `actual` is what runs, and `because` why."""

    agrees: bool | None
    about: str = ""
    claimed: object = None
    actual: object = None
    because: tuple[Reason, ...] = ()

    @property
    def false(self) -> bool:
        """Whether resolution contradicts the claim."""
        return self.agrees is False


UNKNOWN = Verdict(None)


def verdict(claim: Claim, service: ResolvedService, world: EngineWorld) -> Verdict:
    """A claim, held against one way through the default world."""
    if claim.kind == "default":
        return _default(claim, service)
    if claim.setting is not None:
        there = [one for one in service.worlds if dict(one.realisation.deviations) == dict([claim.setting])]
        if not there:
            return UNKNOWN
        verdicts = [verdict(replace(claim, setting=None), service, one) for one in there]
        return verdicts[0] if all(one.false for one in verdicts) else UNKNOWN
    engine = world.engine
    if engine is None or engine.refused:
        return UNKNOWN
    if claim.kind == "release":
        return _release(claim, service, world)
    if claim.kind == "image":
        return _image(claim, service, world)
    if claim.kind == "absent":
        return _absent(claim, world)
    found = engine.properties.get(claim.subject)
    if found is None or not found.known:
        return UNKNOWN
    agrees = _agrees(claim, found)
    if agrees is False and claim.subject == GRAPHS:
        effective = engine.properties[_EFFECTIVE_GRAPHS]
        agrees = None if not effective.known else effective.value == claim.value
    if agrees is False and claim.subject == DEPTH and engine.properties[DRAFTER].value is None:
        agrees = None if not engine.properties[DRAFTER].known else False
    claimed = "some drafter" if claim.value == ANY else claim.words if claim.subject == CACHE else claim.value
    return Verdict(agrees, _TOPICS[claim.subject], claimed, found.value, found.because)


def _agrees(claim: Claim, found: Property) -> bool | None:
    value = found.value
    if claim.subject == DRAFTER:
        return (value is not None) if claim.value == ANY else value == claim.value
    if claim.subject == CACHE:
        return same_cache(str(claim.value), value)
    if isinstance(claim.value, int) and not isinstance(claim.value, bool):
        return same_count(claim.value, value, claim.words, claim.approximate)
    return value == claim.value


def _release(claim: Claim, service: ResolvedService, world: EngineWorld) -> Verdict:
    """A claim about the release; true also of what the repository's launcher runs."""
    release = world.pin.release
    if release is None:
        return UNKNOWN
    launched = service.launched.release if service.launched else None
    agrees = any(same_release(str(claim.value), known) for known in (release, launched) if known)
    return Verdict(agrees, "vLLM release", claim.value, release, _of_image(world))


def _image(claim: Claim, service: ResolvedService, world: EngineWorld) -> Verdict:
    image = world.pin.image
    if not image or "$" in image:
        return UNKNOWN
    launched = service.launched.image if service.launched else None
    agrees = any(same_image(str(claim.value).lower(), known.lower()) for known in (image, launched) if known)
    return Verdict(agrees, "image", claim.value, image, _of_image(world))


def _default(claim: Claim, service: ResolvedService) -> Verdict:
    """A claim about what stands in for a variable that nobody sets."""
    seams = [seam for seam in service.survey.seams if claim.subject in (seam.name, seam.host) and seam.scope == "host"]
    if not seams or any(not seam.default or "$" in seam.default for seam in seams):
        return UNKNOWN
    agrees = any(_same_text(str(claim.value), seam.default or "") for seam in seams)
    place = seams[0].position
    reason = Reason("compose", place.path, place.line, f"{claim.subject} is not set: {seams[0].default}")
    return Verdict(agrees, f"default of {claim.subject}", claim.value, seams[0].default, (reason,))


def _same_text(one: str, other: str) -> bool:
    """Whether two values are spelt alike, or are the same number."""
    if one.strip("\"'").lower() == other.strip("\"'").lower():
        return True
    left, right = count(one), count(other)
    if left is not None and right is not None:
        return same_count(left, right, one, approximate=False) is True
    try:
        return float(one) == float(other)
    except ValueError:
        return posixpath.normpath(one) == posixpath.normpath(other) or other.startswith(one)


def _of_image(world: EngineWorld) -> tuple[Reason, ...]:
    described = world.realisation.service
    stated = described.image.because if described is not None and described.image is not None else ()
    return (*stated, *world.pin.because)


def _absent(claim: Claim, world: EngineWorld) -> Verdict:
    """A claim that an option is not given."""
    flag = f"--{claim.subject.replace('_', '-')}"
    words = world.outcome.argv or () if world.outcome is not None else ()
    given = next((word for word in words if word.text.partition("=")[0].replace("_", "-") == flag), None)
    because = given.because if given is not None else ()
    return Verdict(given is None, f"option {flag}", "not given", "given", because)
