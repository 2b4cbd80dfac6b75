"""The patches of a repository on one service: as `patches.yml` says they are, and as they are."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.catalog import (
    Attribution,
    Catalog,
    Patch,
    WiredPatch,
    files_run,
    is_named,
    is_patch,
    load_bearing_for,
    runs_at,
)
from bot.compose.model import Mount, Service
from bot.hazards import Finding, Observation, Rules
from bot.provenance import Position, Reason, Word
from bot.resolution import EngineWorld, ResolvedService
from bot.shell import Step

Problem = Literal[
    "absent",
    "other-source",
    "incomplete",
    "not-invoked",
    "not-named",
    "after-engine",
    "fail-open",
    "not-mounted",
    "elsewhere",
]

_FETCHED = re.compile(r"\b(?:aws|cp|curl|git|gsutil|hf|huggingface-cli|ln|mv|rsync|tar|tee|unzip|wget)\s|\bcat\s*>|<<")
"""Commands that may put files where no mount is."""


@dataclass(frozen=True)
class Surroundings:
    """What is known beyond the service: `hazards` are the findings about its properties, by rule
    (None when no engine is known), `elsewhere` the patches that another service of the same compose has.
    """

    catalog: Catalog
    rules: Rules
    hazards: Mapping[str, Finding] | None
    elsewhere: frozenset[str]


def of_patches(service: ResolvedService, world: EngineWorld, around: Surroundings) -> Iterator[Observation]:
    """How the patches that the service should have, and those that it has, are wired in one world."""
    described = world.realisation.service
    if described is None:
        return
    declared = {patch.id: (patch, row) for patch, row in load_bearing_for(around.catalog, service.path, service.slugs)}
    present = {wired.id: wired for wired in world.patches}
    nowhere = dict(_run_from_nowhere(world, described))
    lacking = [patch for identity, (patch, _) in declared.items() if identity not in present]
    for identity, (patch, row) in declared.items():
        if patch.mechanism != "none":
            run = _run_of(patch, nowhere, lacking)
            step = nowhere.pop(run) if run is not None else None
            case = _Case(patch, row, present.get(identity), described, run or "", step)
            yield from _declared(service, world, around, case)
    if world.kind is None:
        return  # what is mounted for an engine that does not start does no harm
    for wired in world.patches:
        if wired.id not in declared:
            yield from _undeclared(service, world, wired)
    for file, step in nowhere.items():
        place, reason = _of_step(service, step)
        yield _in_vain(file, "not-mounted", file, place, (reason,))


@dataclass(frozen=True, slots=True)
class _Case:
    """A patch that `row` says a service needs, and what is there of it. `run` is a file of it that `step` runs although
    nothing is mounted there.
    """

    patch: Patch
    row: Attribution
    wired: WiredPatch | None
    service: Service
    run: str = ""
    step: Step | None = None


@dataclass(frozen=True, slots=True)
class _Seen:
    """How a declared patch is there: `sure` whether it does not work, None when `why` keeps that from being known."""

    sure: bool | None
    problem: Problem | None
    about: str
    why: str
    because: tuple[Reason, ...]
    place: Position


def _declared(service: ResolvedService, world: EngineWorld, around: Surroundings, case: _Case) -> Iterator[Observation]:
    patch, row = case.patch, case.row
    if case.wired is None and patch.id in around.elsewhere:
        return
    seen = _absent(service, world, case) if case.wired is None else _present(service, case, case.wired)
    if seen.sure is False:
        return
    reason = Reason("catalog", row.position.path, row.position.line, f"load_bearing_when of {patch.id} names it")
    fields: dict[str, object] = {
        "patch": patch.id,
        "declared": True,
        "problem": seen.problem or "undecided",
        "about": seen.about,
        "why": seen.why if world.kind is not None else "whether an engine starts is not known",
        "gap": is_named(patch.gaps, service.path, service.slugs),
        "carried": carried(patch, world, around.rules),
        "needless": seen.problem == "absent" and is_needless(patch, around),
        "invoke": patch.invoke or "",
        "mounted_at": patch.mounted_at or "",
        "where": str(row.position),
    }
    if seen.sure and world.kind is not None:
        fields["wired"] = False
    yield Observation("overlay", patch.id, seen.place, (*seen.because, reason), fields)


def _present(service: ResolvedService, case: _Case, wired: WiredPatch) -> _Seen:
    place = _place(service, wired)
    if wired.wired is None:
        return _Seen(None, None, wired.about, wired.why, wired.because, place)
    if not wired.wired:
        return _Seen(True, _problem(wired), wired.about, "", wired.because, place)
    displaced = _displaced(case.patch, case.service)
    return _Seen(bool(displaced), "elsewhere", displaced, "", wired.because, place)


def _absent(service: ResolvedService, world: EngineWorld, case: _Case) -> _Seen:
    """A patch of which nothing is there; or another file is in its place; or only the image could tell."""
    patch = case.patch
    mount = next((mount for mount in case.service.mounts if _stands_for(mount, patch)), None)
    entry = Reason("catalog", patch.position.path, patch.position.line, f"patches: {patch.id}")
    if mount is not None:
        place = mount.position if mount.position.path == service.path else service.position
        text = f"{mount.source} is mounted at {mount.target}"
        because = (entry, Reason("compose", mount.position.path, mount.position.line, text))
        why = "" if mount.in_repository else f"what {mount.source} holds is not in the repository"
        return _Seen(None if why else True, "other-source", mount.source, why, because, place)
    if case.step is not None:
        place, reason = _of_step(service, case.step)
        return _Seen(True, "not-mounted", case.run, "", (entry, reason), place)
    built = "build" in case.service.config or patch.baked or patch.mechanism is None
    unseen = world.pin.stock is not True and built
    why = f"whether {world.pin.image or 'the image that is built here'} has it is not known" if unseen else ""
    return _Seen(None if unseen else True, "absent", "", why, (entry,), service.position)


def _undeclared(service: ResolvedService, world: EngineWorld, wired: WiredPatch) -> Iterator[Observation]:
    """A patch that nobody says is needed, and that is there in vain."""
    if wired.wired is not False or (wired.patch and wired.patch.mechanism == "none"):
        return
    problem = _problem(wired)
    if problem == "not-invoked" and (_is_used(wired, world) or (wired.patch and wired.patch.deprecated)):
        return
    if problem == "incomplete" and not wired.invoked:
        return  # a part of a patch that nothing runs
    yield _in_vain(wired.id, problem, wired.about, _place(service, wired), wired.because)


def _run_from_nowhere(world: EngineWorld, described: Service) -> Iterator[tuple[str, Step]]:
    """Files that look like a patch and are run where nothing is mounted: an image of upstream's has none."""
    steps = world.outcome.steps if world.outcome is not None else ()
    script = " ".join(word.text for word in (*(described.entrypoint or ()), *(described.command or ())))
    if not steps or world.pin.stock is not True or _FETCHED.search(script):
        return
    targets = [mount.target.rstrip("/") for mount in described.mounts]
    declared = {place for patch in world.patches if patch.patch for place in runs_at(patch.patch)}
    for step in steps:
        for file in files_run([word.text for word in step.run], step.standard_input):
            if not file.startswith("/") or not is_patch(file) or "$" in file:
                continue
            if any(file == at or file.startswith(f"{at}/") for at in (*targets, *declared)):
                continue
            yield file, step


def _run_of(patch: Patch, nowhere: Mapping[str, Step], lacking: Sequence[Patch]) -> str | None:
    """The file that is run from nowhere and is one of a patch by its name, and of no other that is lacking."""
    if patch not in lacking:
        return None
    names = _names(patch).difference(*(_names(other) for other in lacking if other is not patch))
    return next((file for file in nowhere if posixpath.basename(file) in names), None)


def _names(patch: Patch) -> frozenset[str]:
    return frozenset(posixpath.basename(file) for file in (*patch.files, patch.script or "") if file)


def _of_step(service: ResolvedService, step: Step) -> tuple[Position, Reason]:
    """Where a step is told, and the reason that it is."""
    at = step.position
    place = at if at.path == service.path else service.position
    return place, Reason("shell", at.path, at.line, " ".join(word.text for word in step.run)[:160])


def _in_vain(identity: str, problem: Problem, about: str, place: Position, because: tuple[Reason, ...]) -> Observation:
    fields = {
        "patch": identity,
        "declared": False,
        "wired": False,
        "problem": problem,
        "about": about,
        "why": "",
        "gap": False,
        "carried": False,
        "needless": False,
        "invoke": "",
        "mounted_at": "",
        "where": "",
    }
    return Observation("overlay", identity, place, because, fields)


def _problem(wired: WiredPatch) -> Problem:
    """The first thing that is missing of a patch that is not wired."""
    if wired.mounted is False:
        run = wired.patch is not None and wired.about.rstrip("/") in runs_at(wired.patch)
        return "not-mounted" if run else "incomplete"
    if wired.invoked is False:
        return "not-named" if wired.patch and wired.patch.mechanism == "chat_template" else "not-invoked"
    return "after-engine" if wired.before_engine is False else "fail-open"


def _stands_for(mount: Mount, patch: Patch) -> bool:
    """Whether a mount puts something where the entry says that the patch is."""
    target = mount.target.rstrip("/")
    return any(place == target or place.startswith(f"{target}/") for place in runs_at(patch)) and target.count("/") > 1


def _displaced(patch: Patch, service: Service) -> str:
    """Where a patch is that is not where its entry says; empty when it is, or the entry does not say."""
    if not patch.mounted_at:
        return ""
    declared = patch.mounted_at.rstrip("/")
    targets = [mount.target.rstrip("/") for mount in service.mounts if _shows(mount, patch)]
    if not targets or any(f"{declared}/".startswith(f"{at}/") or f"{at}/".startswith(f"{declared}/") for at in targets):
        return ""
    return targets[0]


def _shows(mount: Mount, patch: Patch) -> bool:
    source = mount.source.rstrip("/")
    return any(file == source or file.startswith(f"{source}/") or source.startswith(f"{file}/") for file in patch.files)


def _is_used(wired: WiredPatch, world: EngineWorld) -> bool:
    """Whether a file that no command runs is named where something could still make use of it."""
    service = world.realisation.service
    outcome = world.outcome
    if service is None or outcome is None:
        return True
    targets = {text.partition(" is mounted at ")[2] for text in (reason.text for reason in wired.because)} - {""}
    words: list[Word] = [*(outcome.argv or ()), *outcome.environment.values()]
    words += [word for step in outcome.steps for word in step.run]
    said = [word.text for word in words]
    folders = {posixpath.dirname(target) for target in targets if target.count("/") > 2}
    if any(target in text for target in targets for text in said):
        return True
    return any(folder == part for folder in folders for text in said for part in text.split(":"))


def carried(patch: Patch, world: EngineWorld, rules: Rules) -> bool:
    """Whether the engine has the fix without the patch, by its release or by what `images:` declares."""
    release = world.pin.release
    if not set(patch.upstream).isdisjoint(world.pin.contains):
        return True
    return release is not None and any(rules.upstream.contains(ref, (release,)) is True for ref in patch.upstream)


def is_needless(patch: Patch, around: Surroundings) -> bool:
    """Whether hazards are known against which the patch helps, and none of them is possible on this service."""
    helped = around.rules.helped_by(patch.upstream)
    return bool(helped) and around.hazards is not None and helped.isdisjoint(around.hazards)


def _place(service: ResolvedService, wired: WiredPatch) -> Position:
    """The command that runs the patch, else its mount; the service where they stand in another file."""
    kinds: Iterable[str] = ("shell", "compose")
    for kind in kinds:
        for reason in wired.because:
            if reason.kind == kind and reason.path == service.path and reason.line is not None:
                return Position(reason.path, reason.line)
    return service.position
