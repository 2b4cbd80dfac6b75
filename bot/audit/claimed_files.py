"""Whether the vendored patches, and the folders of weights, that a claim is about are those of a service."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator

from bot.audit.verdict import UNKNOWN, Verdict
from bot.catalog import WiredPatch
from bot.claims import Claim
from bot.compose.model import Service
from bot.provenance import Reason, Word
from bot.resolution import EngineWorld, ResolvedService

_TEMPLATES = (".jinja", ".jinja2", ".j2")


def of_overlay(claim: Claim, world: EngineWorld) -> Verdict:
    """A claim that a vendored patch is there, or that none is. A chat template is no patch of the engine."""
    described = world.realisation.service
    if described is None or world.outcome is None:
        return UNKNOWN
    if claim.value is True:
        return _missing(claim, world, described)
    number = claim.subject.removeprefix("#")
    meant = [patch for patch in world.patches if not _is_template(patch)]
    meant = [patch for patch in meant if claim.subject == "any" or _is_of(patch, number)]
    there = [patch for patch in meant if _runs(patch)]
    if not there:
        return UNKNOWN if any(_runs(patch) is None for patch in meant) else Verdict(True)
    names = ", ".join(patch.id for patch in there[:3])
    because = tuple(reason for patch in there for reason in patch.because)
    return Verdict(False, "patches", "none", names, because, "overlay-there")


def _missing(claim: Claim, world: EngineWorld, service: Service) -> Verdict:
    """A claim that a patch is there: false where neither a mount nor a command nor the image can bring it."""
    number = claim.subject.removeprefix("#")
    if world.pin.stock is not True or "build" in service.config or any(number in ref for ref in world.pin.contains):
        return UNKNOWN
    if any(_is_of(patch, number) or _may_be_anything(patch) for patch in world.patches):
        return UNKNOWN
    if _names(number, _texts(world, service)):
        return UNKNOWN
    at = service.position
    reason = Reason("compose", at.path, at.line, f"nothing that is mounted or run here is {claim.subject}")
    return Verdict(False, claim.subject, "vendored", "neither mounted nor run", (reason,), "overlay-missing")


def _runs(patch: WiredPatch) -> bool | None:
    """Whether a patch is mounted and run before the engine, whatever happens when it fails."""
    conditions = (patch.mounted, patch.invoked, patch.before_engine)
    return False if False in conditions else None if None in conditions else True


def _is_template(patch: WiredPatch) -> bool:
    if patch.patch is not None and patch.patch.mechanism == "chat_template":
        return True
    return patch.id.lower().endswith(_TEMPLATES)


def _is_of(patch: WiredPatch, number: str) -> bool:
    """Whether a patch stands for a change of upstream, by its entry or by its name."""
    files = patch.patch.files if patch.patch is not None else ()
    return _names(number, (patch.id, *patch.upstream, *files))


def _may_be_anything(patch: WiredPatch) -> bool:
    """Whether nothing says which change a patch is."""
    return not patch.upstream and not patch.listed and not _is_template(patch)


def _names(number: str, texts: tuple[str, ...]) -> bool:
    pattern = re.compile(rf"(?<!\d){number}(?!\d)")
    return any(pattern.search(text) for text in texts)


def _texts(world: EngineWorld, service: Service) -> tuple[str, ...]:
    """What of a service may bring a patch: its mounts, variables, image and script, without their comments."""
    words = (*(service.entrypoint or ()), *(service.command or ()))
    script = tuple(line.partition(" #")[0] for word in words for line in word.text.split("\n") if not _is_comment(line))
    mounts = tuple(text for mount in service.mounts for text in (mount.source, mount.target))
    environment = tuple(word.text for word in service.environment.values() if word is not None)
    return (*mounts, *environment, *script, world.pin.image or "")


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def of_folder(claim: Claim, service: ResolvedService) -> Verdict:
    """A claim about the folder of the weights: false where every world's engine loads another one by its path, and
    nothing of the service, in any world, names the folder.
    """
    folder = str(claim.value)
    models = {model.text for world in service.worlds if (model := _model(world)) is not None}
    known = all(_model(world) is not None for world in service.worlds)
    if not known or not models or not all(model.startswith("/") for model in models):
        return UNKNOWN
    if any(folder in text for text in _said(service)):
        return Verdict(True)
    first = _model(service.defaults[0])
    if first is None or not first.known or len(posixpath.basename(first.text.rstrip("/"))) < 3:
        return UNKNOWN
    return Verdict(False, "folder", folder, first.text, first.because, "folder")


def _said(service: ResolvedService) -> Iterator[str]:
    for seam in service.survey.seams:
        yield seam.default or ""
    for world in service.worlds:
        if world.realisation.service is not None:
            yield json.dumps(world.realisation.service.config)
        if world.outcome is not None:
            yield from (word.text for word in world.outcome.argv or ())
            yield from (word.text for word in world.outcome.environment.values())


def _model(world: EngineWorld) -> Word | None:
    """The argument that names the model; None where there is none, or it is not known."""
    words = world.outcome.argv or () if world.outcome is not None else ()
    for index, word in enumerate(words):
        if word.text == "--model" and index + 1 < len(words):
            return words[index + 1] if words[index + 1].known else None
        if word.text.startswith("--model="):
            return Word(word.text.removeprefix("--model="), word.because) if word.known else None
    if len(words) > 1 and words[0].text == "serve" and not words[1].text.startswith("-"):
        return words[1] if words[1].known else None
    return None
