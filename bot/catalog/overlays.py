"""The vendored patches on a service: what is mounted, what runs before the engine, and what happens if it fails."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from weakref import WeakKeyDictionary

from bot.catalog.configuration import holds
from bot.catalog.idle import is_idle
from bot.catalog.model import Catalog, Patch
from bot.catalog.patches import references_in_path
from bot.catalog.runners import may_run
from bot.catalog.running import files_run
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
    be decided". `missing` says what of it is not mounted.
    """

    id: str
    upstream: tuple[str, ...]
    listed: bool
    mounted: bool | None
    missing: str
    invocation: Invocation
    because: tuple[Reason, ...]
    patch: Patch | None = None
    about: str = ""

    @property
    def invoked(self) -> bool | None:
        """Whether a step runs it, or nothing has to."""
        return self.invocation.invoked

    @property
    def before_engine(self) -> bool | None:
        """Whether that is before the engine starts."""
        return self.invocation.before_engine

    @property
    def failure_stops_boot(self) -> bool | None:
        """Whether the engine does not start when the step fails."""
        return self.invocation.failure_stops_boot

    @property
    def why(self) -> str:
        """What is missing; empty for a patch that is wired."""
        return self.missing or self.invocation.why

    @property
    def wired(self) -> bool | None:
        """Whether the engine runs with the patch or not at all. None when that can't be decided."""
        if False in (self.mounted, self.invoked, self.before_engine):
            return False
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
class Invocation:
    """How a patch comes to work: by the `step` that runs it, or by itself. `reason` says why it does not, or may not.

    What a failure does is found when it is asked for: it is an interpretation of the script of its own. `by_itself` is
    that of a patch that no step runs.
    """

    invoked: bool | None
    before_engine: bool | None
    by_itself: bool | None
    reason: str
    because: tuple[Reason, ...] = ()
    about: str = ""
    step: Step | None = None

    @property
    def failure_stops_boot(self) -> bool | None:
        """Whether the engine does not start when the patch fails."""
        return self.by_itself if self.step is None else self.step.failure_stops_boot

    @property
    def why(self) -> str:
        """What is missing; empty for one that works."""
        stops = self.failure_stops_boot
        if self.reason or self.step is None or stops:
            return self.reason
        if stops is None:
            return f"whether the engine starts when `{self.about}` fails is not known"
        return f"the engine starts although `{self.about}` failed"


def overlays_for(
    catalog: Catalog,
    service: Service,
    steps: Iterable[Step],
    argv: Iterable[Word] | None = None,
    script: Iterable[str] = (),
    text: Callable[[str], str | None] = lambda _: None,
) -> tuple[WiredPatch, ...]:
    """The patches that a service mounts or runs, listed in `patches.yml` or not.

    `argv` are the engine's arguments: a chat template is applied by them. Without them that stays undecided.
    `script` are the lines of the entrypoint's scripts: a command there that may run a patch leaves it open. `text`
    gives a file of the repository, None where it has none: a patch whose files do nothing is none.
    """
    steps = tuple(steps)
    words = None if argv is None else tuple(argv)
    layout = _layout(catalog, service.mounts)
    listed = [
        wired
        for patch, placed in layout.listed
        if (wired := _listed(patch, placed, service, steps, words)).invoked or patch not in layout.incidental
    ]
    run = frozenset().union(*map(_run_places, steps))
    unmounted = [
        _run_without_mount(patch, places, steps)
        for patch, places in layout.unmounted
        if any(place.rstrip("/") in run for place in places)
    ]
    unlisted = [_unlisted(places, service, steps) for places in layout.unlisted]
    lines = tuple(script)
    found = (*listed, *(patch for patch in unmounted if patch is not None), *unlisted)
    return tuple(_at_work(_in_doubt(wired, lines), text) for wired in found)


def _at_work(wired: WiredPatch, text: Callable[[str], str | None]) -> WiredPatch:
    """A patch whose files all do nothing brings no fix, however it is wired. Of absent files nobody can tell."""
    if wired.patch is None or not wired.upstream:
        return wired
    files = wired.patch.files or ("",)
    if any((found := text(file)) is None or not is_idle(file, found) for file in files):
        return wired
    return replace(wired, upstream=())


def _in_doubt(wired: WiredPatch, lines: tuple[str, ...]) -> WiredPatch:
    """A patch that nothing is seen to run, where something may run it all the same."""
    chat = wired.patch is not None and wired.patch.mechanism == "chat_template"
    if wired.invocation.invoked is not False or not wired.about or chat or not lines:
        return wired
    line = may_run(wired.about, lines)
    if not line:
        return wired
    return replace(wired, invocation=Invocation(None, None, None, f"whether `{line}` runs {wired.about} is not known"))


@dataclass(frozen=True, slots=True)
class _Layout:
    """What the mounts of a service alone say about patches; worlds seldom differ in it.

    `incidental` are patches that are there because a folder with several of them is mounted: of those only what is run
    counts. `unmounted` are patches with the declared places where nothing is mounted, `unlisted` the mounts that look
    like patches and belong to no entry, those of one patch together.
    """

    listed: tuple[tuple[Patch, tuple[_Placed, ...]], ...]
    incidental: frozenset[Patch]
    unmounted: tuple[tuple[Patch, tuple[str, ...]], ...]
    unlisted: tuple[tuple[_Placed, ...], ...]


_LAYOUTS: WeakKeyDictionary[Catalog, dict[tuple[Mount, ...], _Layout]] = WeakKeyDictionary()


def _layout(catalog: Catalog, mounts: tuple[Mount, ...]) -> _Layout:
    known = _LAYOUTS.setdefault(catalog, {})
    if mounts not in known:
        known[mounts] = _laid_out(catalog, mounts)
    return known[mounts]


def _laid_out(catalog: Catalog, mounts: tuple[Mount, ...]) -> _Layout:
    files = tuple(mount for mount in mounts if mount.in_repository and mount.source and mount.type == "bind")
    listed: list[tuple[Patch, tuple[_Placed, ...]]] = []
    unmounted: list[tuple[Patch, tuple[str, ...]]] = []
    for patch in catalog.patches:
        placed = tuple(place for file in patch.files for place in _places(file, files))
        declared = [place for place in (patch.mounted_at, _path_in(patch.invoke)) if place]
        empty = tuple(place for place in declared if not any(_overlaps(mount.target, place) for mount in mounts))
        if placed:
            listed.append((patch, placed))
        elif empty:
            unmounted.append((patch, empty))
    holders = Counter(mount for _, placed in listed for mount in {place.mount for place in placed})
    incidental = frozenset(
        patch
        for patch, placed in listed
        if all(holders[place.mount] > 1 and place.mount.source != place.file for place in placed)
    )
    covered = {place.mount for _, placed in listed for place in placed}
    together: dict[object, list[_Placed]] = {}
    for mount in files:
        if mount not in covered and _looks_like_a_patch(mount, catalog):
            references = references_in_path(mount.source) or references_in_path(mount.target)
            together.setdefault(references or mount, []).append(_Placed(mount.source, mount.target, mount))
    return _Layout(tuple(listed), incidental, tuple(unmounted), tuple(map(tuple, together.values())))


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
    patch: Patch, placed: tuple[_Placed, ...], service: Service, steps: tuple[Step, ...], argv: tuple[Word, ...] | None
) -> WiredPatch:
    mounted, absent = _mounted(patch, placed)
    missing = "" if mounted else f"{absent} is not mounted" + (", and the patch may need it" if mounted is None else "")
    invocation = _invocation(patch, _runnable(patch, placed), service, steps, argv)
    return WiredPatch(
        id=patch.id,
        upstream=patch.upstream,
        listed=True,
        mounted=mounted,
        missing=missing,
        invocation=invocation,
        because=(_entry(patch), *_mount_reasons(place.mount for place in placed), *invocation.because),
        patch=patch,
        about=absent if missing else invocation.about,
    )


def _mounted(patch: Patch, placed: tuple[_Placed, ...]) -> tuple[bool | None, str]:
    """Whether all files are there, and one that is not. A script may do without a file of its entry: None."""
    present = {place.file for place in placed}
    absent = [file for file in patch.files if not any(name == file or name.startswith(f"{file}/") for name in present)]
    if patch.script in absent:
        return False, patch.script or ""
    if not absent:
        return True, ""
    if patch.mechanism == "site_package_overlay":
        return False, absent[0]
    return None, absent[0]


def _runnable(patch: Patch, placed: tuple[_Placed, ...]) -> tuple[_Placed, ...]:
    """The places that a step must run: the script that the entry names, else any of its files."""
    named = tuple(
        _Placed(patch.script, place.target + patch.script[len(place.file) :], place.mount)
        for place in placed
        if patch.script and (patch.script == place.file or patch.script.startswith(f"{place.file}/"))
    )
    return named or placed


def _invocation(
    patch: Patch | None,
    places: tuple[_Placed, ...],
    service: Service,
    steps: tuple[Step, ...],
    argv: tuple[Word, ...] | None,
) -> Invocation:
    runs = [step for step in steps if any(_runs(step, place.target) for place in places)]
    if runs:
        return _of_step(runs[0] if len(runs) == 1 else max(runs, key=_safety))
    if all(_is_laid_over(place, patch) for place in places):
        return Invocation(True, True, True, "")
    if patch and patch.mechanism == "chat_template":
        return _of_template(places, argv)
    if any(_is_imported(place, service) for place in places):
        return Invocation(True, True, None, "Python imports it by itself: what a failure does is decided in the file")
    return _not_run(f"nothing runs {places[0].target} before the engine", places[0])


def _safety(step: Step) -> tuple[bool, int]:
    """How far a step makes sure that the engine runs with what it does; of several the safest counts."""
    return step.before_engine, (False, None, True).index(step.failure_stops_boot)


def _of_step(step: Step) -> Invocation:
    command = " ".join(word.text for word in step.run)[:160]
    why = "" if step.before_engine else f"`{command}` does not run before the engine"
    reason = Reason("shell", step.position.path, step.position.line, command)
    return Invocation(True, step.before_engine, None, why, (reason,), command, step)


def _of_template(places: tuple[_Placed, ...], argv: tuple[Word, ...] | None) -> Invocation:
    """A template replaces the model's own by its place, or is named in the engine's arguments."""
    targets = {place.target for place in places}
    if any(posixpath.basename(target) == "chat_template.jinja" for target in targets):
        return Invocation(True, True, True, "")
    if argv is None:
        return Invocation(None, None, None, "whether the engine is told to use the template is not known")
    for word in argv:
        if word.text in targets or any(word.text.endswith(f"={target}") for target in targets):
            return Invocation(True, True, True, "", word.because[-1:])
    return _not_run(f"no argument of the engine names {places[0].target}", places[0])


def _not_run(why: str, place: _Placed) -> Invocation:
    return Invocation(False, False, False, why, about=place.target)


def _run_without_mount(patch: Patch, places: tuple[str, ...], steps: tuple[Step, ...]) -> WiredPatch | None:
    """A patch whose declared place is run although nothing is mounted there."""
    step = next((step for step in steps if any(_runs(step, place) for place in places)), None)
    if step is None:
        return None
    invocation = _of_step(step)
    return WiredPatch(
        id=patch.id,
        upstream=patch.upstream,
        listed=True,
        mounted=False,
        missing=f"{places[0]} is run and not mounted",
        invocation=invocation,
        because=(_entry(patch), *invocation.because),
        patch=patch,
        about=places[0],
    )


def _looks_like_a_patch(mount: Mount, catalog: Catalog) -> bool:
    if mount.source.lower().endswith(_NO_CODE):
        return False
    if mount.in_repository and any(holds(glob, mount.source) for glob in catalog.configuration.patches):
        return True
    return is_patch(mount.source) or bool(references_in_path(mount.target) or _PACKAGES.search(mount.target))


def is_patch(path: str) -> bool:
    """Whether a path is that of a patch, by its own name or by that of a folder."""
    return bool(references_in_path(path) or _PATCH_FOLDER.search(path))


def _unlisted(places: tuple[_Placed, ...], service: Service, steps: tuple[Step, ...]) -> WiredPatch:
    invocation = _invocation(None, places, service, steps, None)
    return WiredPatch(
        id=places[0].file,
        upstream=references_in_path(places[0].file) or references_in_path(places[0].target),
        listed=False,
        mounted=True,
        missing="",
        invocation=invocation,
        because=(*_mount_reasons(place.mount for place in places), *invocation.because),
        about=invocation.about,
    )


def _overlaps(one: str, other: str) -> bool:
    return f"{one.rstrip('/')}/".startswith(f"{other.rstrip('/')}/") or f"{other}/".startswith(f"{one.rstrip('/')}/")


def _runs(step: Step, target: str) -> bool:
    """Whether a step runs the file at `target`, or one below it."""
    return target.rstrip("/") in _run_places(step)


def _run_places(step: Step) -> frozenset[str]:
    """The files that a step runs, and every folder above each."""
    return _places_of(tuple(word.text for word in step.run), step.standard_input)


@lru_cache(maxsize=1024)
def _places_of(command: tuple[str, ...], standard_input: str | None) -> frozenset[str]:
    found = set()
    for file in files_run(command, standard_input):
        place = file.rstrip("/")
        found.add(place)
        while "/" in place:
            place = place.rpartition("/")[0]
            found.add(place)
    return frozenset(found)


def _is_laid_over(place: _Placed, patch: Patch | None) -> bool:
    """Whether the file takes the place of one of the installed package, by where it is or in the entry's own word."""
    declared = patch is not None and patch.mechanism == "site_package_overlay" and patch.mounted_at == place.target
    return declared or bool(_PACKAGES.search(f"{place.target}/"))


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
