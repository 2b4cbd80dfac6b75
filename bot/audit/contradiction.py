"""Whether what is claimed of a service is what it runs."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace

from bot.audit.claimed_files import of_folder, of_overlay
from bot.audit.verdict import UNKNOWN, Verdict
from bot.claims import (
    ANY,
    BATCHED,
    CACHE,
    CONTEXT,
    DEPTH,
    DRAFTER,
    GRAPHS,
    MEMORY,
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
    MEMORY: "share of the GPU's memory",
    BATCHED: "number of batched tokens",
}
_RELEASED = re.compile(r":v?\d+\.\d+\.\d+(?:\.post\d+)?(?:@|$)")
_EFFECTIVE_GRAPHS = "cudagraph_mode_effective"


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
    if claim.kind == "nightly":
        return _nightly(service, world)
    if claim.kind == "overlay":
        return of_overlay(claim, world)
    if claim.kind == "folder":
        return of_folder(claim, service)
    if claim.subject in (MEMORY, BATCHED):
        return _argument(claim, world)
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


def _nightly(service: ResolvedService, world: EngineWorld) -> Verdict:
    """A claim that the image is a nightly build; false where the tag is a release's."""
    images = [world.pin.image, service.launched.image if service.launched else None]
    if not all(_RELEASED.search(image) for image in images if image) or not world.pin.image:
        return UNKNOWN
    return Verdict(False, "image", "a nightly build", world.pin.image, _of_image(world))


def _argument(claim: Claim, world: EngineWorld) -> Verdict:
    """A claim about a number that an argument gives; where none does, nothing is said."""
    flag = f"--{claim.subject}"
    words = world.outcome.argv or () if world.outcome is not None else ()
    given = [
        (value, word) if equals else (words[at + 1].text, words[at + 1])
        for at, word in enumerate(words)
        for name, equals, value in (word.text.replace("-", "_", 8).partition("="),)
        if name.replace("__", "--", 1) == flag and (equals or at + 1 < len(words))
    ]
    if not given or not given[-1][1].known or claim.value is None:
        return UNKNOWN
    text, word = given[-1]
    try:
        actual = float(text)
    except ValueError:
        return UNKNOWN
    if claim.subject == BATCHED:
        agrees = same_count(int(claim.value), int(actual), claim.words, claim.approximate)
    else:
        agrees = abs(float(claim.value) - actual) < 0.0005
    return Verdict(agrees, _TOPICS[claim.subject], claim.value, text, word.because)


def _absent(claim: Claim, world: EngineWorld) -> Verdict:
    """A claim that an option is not given."""
    flag = f"--{claim.subject.replace('_', '-')}"
    words = world.outcome.argv or () if world.outcome is not None else ()
    given = next((word for word in words if word.text.partition("=")[0].replace("_", "-") == flag), None)
    because = given.because if given is not None else ()
    return Verdict(given is None, f"option {flag}", "not given", "given", because)
