"""The vendored patches on a service: what is mounted, what runs before the engine, and what happens if it fails."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.catalog.model import Catalog, Patch
from bot.catalog.patches import references_in_path
from bot.compose.model import Mount, Service
from bot.provenance import Position, Reason, Word
from bot.shell.model import Step

_PACKAGES = re.compile(r"/(?:site|dist)-packages/")
_PATCH_FOLDER = re.compile(r"(?:^|/)(?:patch(?:es|sets?)?|overlays?|vendored)(?:/|$)", re.IGNORECASE)
_IMPORT_HOOKS = ("sitecustomize.py", "usercustomize.py")
_NO_CODE = (".jinja", ".jinja2", ".j2", ".json", ".md", ".txt")


@dataclass(frozen=True, slots=True)
class WiredPatch:
    """A vendored patch that a service mounts or runs.

    `listed` says that `patches.yml` has it; `upstream` then is what the entry stands for, else what the path's
    name gives. `mounted`: all of its files are in the container. `invoked`: a step runs it, or nothing has to (a file
    laid over the installed package); `before_engine` and `failure_stops_boot` speak of that step. None is "can't
    be decided". `why` says what is missing; it is empty for a patch that is wired.
    """

    id: str
    upstream: tuple[str, ...]
    listed: bool
    mounted: bool | None
    invoked: bool | None
    before_engine: bool | None
    failure_stops_boot: bool | None
    why: str
    because: tuple[Reason, ...]
    patch: Patch | None = None

    @property
    def wired(self) -> bool | None:
        """Whether the engine runs with the patch or not at all. None when that can't be decided."""
        conditions = (self.mounted, self.invoked, self.before_engine, self.failure_stops_boot)
        if False in conditions:
            return False
        return None if None in conditions else True


@dataclass(frozen=True, slots=True)
class _Placed:
    """A file or folder of a patch, in the container. `mount` shows it."""

    file: str
    target: str
    mount: Mount


@dataclass(frozen=True, slots=True)
class _Invocation:
    invoked: bool | None
    before_engine: bool | None
    failure_stops_boot: bool | None
    why: str
    because: tuple[Reason, ...] = ()


def overlays_for(
    catalog: Catalog, service: Service, steps: Iterable[Step], argv: Iterable[Word] | None = None
) -> tuple[WiredPatch, ...]:
    """The patches that a service mounts or runs, listed in `patches.yml` or not.

    `argv` are the engine's arguments: a chat template is applied by them. Without them that stays undecided.
    """
    steps = tuple(steps)
    words = None if argv is None else tuple(argv)
    mounts = tuple(mount for mount in service.mounts if mount.in_repository and mount.source and mount.type == "bind")
    found: list[WiredPatch] = []
    covered: set[Mount] = set()
    for patch in catalog.patches:
        placed = [place for file in patch.files for place in _places(file, mounts)]
        covered.update(place.mount for place in placed)
        wired = _listed(patch, placed, service, steps, words)
        if wired is not None:
            found.append(wired)
    unlisted = [mount for mount in mounts if mount not in covered]
    found.extend(_unlisted(mount, service, steps) for mount in unlisted if _looks_like_a_patch(mount, steps))
    return tuple(found)


def _places(file: str, mounts: Iterable[Mount]) -> Iterable[_Placed]:
    """Where a file (or folder) of the repository is in the container; of a folder, also its mounted parts."""
    for mount in mounts:
        if file == mount.source:
            yield _Placed(file, mount.target, mount)
        elif file.startswith(f"{mount.source}/"):
            yield _Placed(file, posixpath.join(mount.target, file[len(mount.source) + 1 :]), mount)
        elif mount.source.startswith(f"{file}/"):
            yield _Placed(mount.source, mount.target, mount)


def _listed(
    patch: Patch, placed: list[_Placed], service: Service, steps: tuple[Step, ...], argv: tuple[Word, ...] | None
) -> WiredPatch | None:
    if not placed:
        return _run_without_mount(patch, steps)
    mounted, missing = _mounted(patch, placed)
    invocation = _invocation(patch.mechanism, _runnable(patch, placed), service, steps, argv)
    return WiredPatch(
        id=patch.id,
        upstream=patch.upstream,
        listed=True,
        mounted=mounted,
        invoked=invocation.invoked,
        before_engine=invocation.before_engine,
        failure_stops_boot=invocation.failure_stops_boot,
        why=missing or invocation.why,
        because=(_entry(patch), *_mount_reasons(place.mount for place in placed), *invocation.because),
        patch=patch,
    )


def _mounted(patch: Patch, placed: list[_Placed]) -> tuple[bool | None, str]:
    """Whether all files are there. A script may do without some file of its entry: then that can't be decided."""
    present = {place.file for place in placed}
    absent = [file for file in patch.files if not any(name == file or name.startswith(f"{file}/") for name in present)]
    if patch.script in absent:
        return False, f"{patch.script} is not mounted"
    if not absent:
        return True, ""
    if patch.mechanism == "site_package_overlay":
        return False, f"{absent[0]} is not mounted"
    return None, f"{absent[0]} is not mounted, and the patch may need it"


def _runnable(patch: Patch, placed: list[_Placed]) -> list[_Placed]:
    """The places that a step must run: the script that the entry names, else any of its files."""
    named = [
        _Placed(patch.script, posixpath.join(place.target, patch.script[len(place.file) :].lstrip("/")), place.mount)
        for place in placed
        if patch.script and (patch.script == place.file or patch.script.startswith(f"{place.file}/"))
    ]
    return named or placed


def _invocation(
    mechanism: str | None,
    places: list[_Placed],
    service: Service,
    steps: tuple[Step, ...],
    argv: tuple[Word, ...] | None,
) -> _Invocation:
    runs = [step for step in steps if any(_runs(step, place.target) for place in places)]
    if runs:
        return _of_step(min(runs, key=lambda step: (not step.before_engine, not step.failure_stops_boot)))
    if all(_PACKAGES.search(f"{place.target}/") for place in places):
        return _Invocation(True, True, True, "")
    if mechanism == "chat_template":
        return _of_template(places, argv)
    if any(_is_imported(place, service) for place in places):
        return _Invocation(True, True, None, "Python imports it by itself: what a failure does is decided in the file")
    return _Invocation(False, False, False, f"nothing runs {places[0].target} before the engine")


def _of_step(step: Step) -> _Invocation:
    command = " ".join(word.text for word in step.run)[:160]
    if not step.before_engine:
        why = f"`{command}` does not run before the engine"
    elif not step.failure_stops_boot:
        why = f"the engine starts although `{command}` failed"
    else:
        why = ""
    reason = Reason("shell", step.position.path, step.position.line, command)
    return _Invocation(True, step.before_engine, step.failure_stops_boot, why, (reason,))


def _of_template(places: list[_Placed], argv: tuple[Word, ...] | None) -> _Invocation:
    """A template replaces the model's own by its place, or is named in the engine's arguments."""
    targets = {place.target for place in places}
    if any(posixpath.basename(target) == "chat_template.jinja" for target in targets):
        return _Invocation(True, True, True, "")
    if argv is None:
        return _Invocation(None, None, None, "whether the engine is told to use the template is not known")
    for word in argv:
        if word.text in targets or any(word.text.endswith(f"={target}") for target in targets):
            return _Invocation(True, True, True, "", word.because[-1:])
    return _Invocation(False, False, False, f"no argument of the engine names {places[0].target}")


def _run_without_mount(patch: Patch, steps: tuple[Step, ...]) -> WiredPatch | None:
    """A patch whose declared place is run although nothing is mounted there."""
    places = [place for place in (patch.mounted_at, _path_in(patch.invoke)) if place]
    step = next((step for step in steps if any(_runs(step, place) for place in places)), None)
    if step is None:
        return None
    invocation = _of_step(step)
    return WiredPatch(
        id=patch.id,
        upstream=patch.upstream,
        listed=True,
        mounted=False,
        invoked=True,
        before_engine=invocation.before_engine,
        failure_stops_boot=invocation.failure_stops_boot,
        why=f"{places[0]} is run and not mounted",
        because=(_entry(patch), *invocation.because),
        patch=patch,
    )


def _looks_like_a_patch(mount: Mount, steps: tuple[Step, ...]) -> bool:
    if mount.source.lower().endswith(_NO_CODE):
        return False
    named = bool(references_in_path(mount.source) or _PATCH_FOLDER.search(mount.source))
    return (
        named
        or bool(_PACKAGES.search(mount.target))
        or (bool(references_in_path(mount.target)) and any(_runs(step, mount.target) for step in steps))
    )


def _unlisted(mount: Mount, service: Service, steps: tuple[Step, ...]) -> WiredPatch:
    place = _Placed(mount.source, mount.target, mount)
    invocation = _invocation(None, [place], service, steps, None)
    return WiredPatch(
        id=mount.source,
        upstream=references_in_path(mount.source) or references_in_path(mount.target),
        listed=False,
        mounted=True,
        invoked=invocation.invoked,
        before_engine=invocation.before_engine,
        failure_stops_boot=invocation.failure_stops_boot,
        why=invocation.why,
        because=(*_mount_reasons([mount]), *invocation.because),
    )


def _runs(step: Step, target: str) -> bool:
    """Whether a step runs the file at `target`, or one below it."""
    place = target.rstrip("/")
    return any(word.text == place or word.text.startswith(f"{place}/") for word in step.run)


def _is_imported(place: _Placed, service: Service) -> bool:
    """Whether Python imports the file at start-up, in every process, because of its name and PYTHONPATH."""
    search = service.environment.get("PYTHONPATH")
    folders = [folder.rstrip("/") for folder in search.text.split(":")] if search and search.known else []
    if posixpath.basename(place.target) in _IMPORT_HOOKS:
        return posixpath.dirname(place.target) in folders
    return posixpath.basename(place.file) in _IMPORT_HOOKS and place.target.rstrip("/") in folders


def _path_in(command: str | None) -> str | None:
    return next((word for word in (command or "").split() if word.startswith("/")), None)


def _entry(patch: Patch) -> Reason:
    return _reason("catalog", patch.position, f"patches: {patch.id}")


def _mount_reasons(mounts: Iterable[Mount]) -> tuple[Reason, ...]:
    return tuple(
        _reason("compose", mount.position, f"{mount.source} is mounted at {mount.target}")
        for mount in dict.fromkeys(mounts)
    )


def _reason(kind: str, position: Position, text: str) -> Reason:
    return Reason("catalog" if kind == "catalog" else "compose", position.path, position.line, text)
