"""What a change inherits by moving a pin: upstream fixes, and vendored patches that fit the new source no longer.

Asked is what the repository waits for, as its catalog, its composes and its patches say; its documents are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from bot.audit import Report
from bot.hazards.releases import Upstream
from bot.provenance import Position
from bot.resolution import Repository, ResolvedService
from bot.tree import Tree
from bot.upstream.facts import Facts
from bot.upstream.inheritance import Inherited, inherited
from bot.upstream.known import Sources, known_from, no_source
from bot.upstream.overlays import AnchorCheck, check_scripts, lies_in, modules_of, outdated, read_scripts, scripts_of
from bot.upstream.repository_pins import RepositoryPin, Use, pin_of, runs_vllm
from bot.upstream.sites import sites_in
from bot.upstream.watch import watched_references, with_known

MAX_BUMPS = 8
"""Different moves of one change that are looked into; most changes make one."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of upstream besides the rules: recorded facts of a reference, and sources of releases."""

    facts: Callable[[str], Facts] = lambda _: Facts()
    sources: Sources = no_source


@dataclass(frozen=True, slots=True)
class Overlay:
    """A vendored script against the new source. `mounted` says that a compose on the moved pin mounts it.

    `checks` are its edits there, `before` what is known of the same edits in the old source, None where nothing is.
    """

    script: str
    mounted: bool
    checks: tuple[AnchorCheck, ...]
    before: tuple[AnchorCheck | None, ...]

    @property
    def changed(self) -> tuple[AnchorCheck, ...]:
        """The edits that fit no longer, or about which the new source says something else than the old one."""
        return tuple(
            check
            for check, old in zip(self.checks, self.before, strict=True)
            if check.state not in ("present", "unknown") and (old is None or old.state != check.state)
        )


@dataclass(frozen=True, slots=True)
class Bump:
    """One move of a pin, and who makes it (`uses`).

    `fixes` are those of which something is known; of `unrecorded` references nothing is. `unread` says why the
    overlays were not held against the new source.
    """

    before: RepositoryPin
    after: RepositoryPin
    uses: tuple[Use, ...]
    fixes: tuple[Inherited, ...]
    unrecorded: tuple[str, ...] = ()
    overlays: tuple[Overlay, ...] = ()
    unread: str = ""


@dataclass(frozen=True, slots=True)
class _Move:
    """Images, and who moves from the one to the other. `mounts` are the files and folders of the repository that they
    mount, with the places in the container.
    """

    before: RepositoryPin
    after: RepositoryPin
    uses: dict[Use, None]
    mounts: dict[str, str]


def bumps(
    before: Repository,
    after: Repository,
    reports: tuple[Report, Report],
    renamed: Mapping[str, str],
    upstream: Upstream,
    knowledge: Knowledge | None = None,
) -> tuple[Bump, ...]:
    """Every move of a pin of vLLM, that with the most uses first.

    `after` is the repository with its own configuration: what the change declares an image to be is a part of it.
    """
    moves = sorted(_moves(before, after, reports, renamed), key=lambda move: -len(move.uses))[:MAX_BUMPS]
    if not moves:
        return ()
    known = knowledge or Knowledge()
    references = _references(after, upstream)
    titles = {reference: fix.title for reference, fix in upstream.fixes.items()}
    return tuple(_bump(move, after, references, titles, upstream, known) for move in moves)


def _references(repository: Repository, upstream: Upstream) -> tuple[str, ...]:
    """What the repository and the rules wait for; that of the repository first."""
    catalog = repository.catalog
    scripts = frozenset(scripts_of(repository.tree, catalog))
    near = _Listing(repository.tree, lambda path: path.endswith((".yml", ".yaml")) or path in scripts)
    own = watched_references(catalog, sites_in(near, catalog), ())
    return tuple(dict.fromkeys((*own, *upstream.fixes)))


@dataclass(frozen=True, slots=True)
class _Listing:
    """A tree that lists some of its files."""

    below: Tree
    listed: Callable[[str], bool]

    def read(self, path: str) -> str | None:
        return self.below.read(path)

    def paths(self) -> Iterable[str]:
        return [path for path in self.below.paths() if self.listed(path)]

    def is_directory(self, path: str) -> bool:
        return self.below.is_directory(path)


def _moves(
    before: Repository, after: Repository, reports: tuple[Report, Report], renamed: Mapping[str, str]
) -> Iterable[_Move]:
    found: dict[tuple[object, ...], _Move] = {}
    for old, new, use, mounts in (*_of_services(before, after, reports, renamed), *_of_profiles(before, after)):
        one, other = pin_of(before.catalog, old), pin_of(after.catalog, new)
        if _meaning(one) == _meaning(other):
            continue
        move = found.setdefault((_meaning(one), _meaning(other)), _Move(one, other, {}, {}))
        move.uses.setdefault(use)
        move.mounts.update(mounts)
    return found.values()


def _meaning(pin: RepositoryPin) -> tuple[object, ...]:
    """What a pin stands for: another flavour of the same release moves nothing."""
    return (pin.asked, pin.contains)


_Step = tuple[str, str, Use, Mapping[str, str]]
"""The image before, the image after, who runs it, and what that mounts."""


def _of_services(
    before: Repository, after: Repository, reports: tuple[Report, Report], renamed: Mapping[str, str]
) -> Iterator[_Step]:
    base, head = reports
    old = {(renamed.get(s.path, s.path), s.name): s for unit in base.units for s in unit.services}
    for unit in head.units:
        for service in unit.services:
            earlier = old.get((service.path, service.name))
            if earlier is None:
                continue
            was, now = _image(before, earlier), _image(after, service)
            name = " ".join(service.slugs) or service.name
            if was and now:
                yield was, now, Use(now, name, _place(service)), _mounts(service)
            if earlier.launched is not None and service.launched is not None:
                image = service.launched.image
                yield earlier.launched.image, image, Use(image, name, _launch(service)), _mounts(service)


def _image(repository: Repository, service: ResolvedService) -> str | None:
    """The image that a service runs by default, where that is vLLM."""
    for world in service.defaults[:1]:
        image = world.pin.image
        if image and (world.kind == "vllm" or (world.kind is None and runs_vllm(repository.catalog, image))):
            return image
    return None


def _place(service: ResolvedService) -> Position:
    described = service.defaults[0].realisation.service if service.defaults else None
    image = described.image if described is not None else None
    lines = [one for one in image.because if one.path == service.path and one.line] if image is not None else []
    return Position(service.path, lines[-1].line or 1) if lines else service.position


def _launch(service: ResolvedService) -> Position:
    """Where the pin of the engine profile stands."""
    because = service.launched.because if service.launched is not None else ()
    return next((Position(one.path, one.line) for one in because if one.path and one.line), service.position)


def _mounts(service: ResolvedService) -> Mapping[str, str]:
    """The files and folders of the repository that a service mounts by default, and those of its patches."""
    world = next(iter(service.defaults), None)
    described = world.realisation.service if world is not None else None
    if world is None or described is None:
        return {}
    patches = {file: "" for wired in world.patches if wired.patch and wired.mounted for file in wired.patch.files}
    own = (mount for mount in described.mounts if mount.in_repository and mount.source not in ("", "."))
    return {**patches, **{mount.source: mount.target for mount in own}}


def _of_profiles(before: Repository, after: Repository) -> Iterator[_Step]:
    for name, profile in after.catalog.engines.items():
        old = before.catalog.engines.get(name)
        if old is not None and old.image and profile.image and runs_vllm(after.catalog, profile.image):
            yield old.image, profile.image, Use(profile.image, profile.id, profile.position), {}


def _bump(
    move: _Move,
    repository: Repository,
    references: Iterable[str],
    titles: Mapping[str, str],
    upstream: Upstream,
    knowledge: Knowledge,
) -> Bump:
    known = known_from(upstream.known, knowledge.sources)
    asked = [pin.source for pin in (move.before, move.after) if pin.source]

    def facts(reference: str) -> Facts:
        return with_known(knowledge.facts(reference), known, reference, asked)

    fixes = inherited(references, move.before, move.after, facts, titles)
    unrecorded = tuple(one.reference for one in fixes if _is_unheard_of(one, move.after, facts(one.reference)))
    told = tuple(one for one in fixes if one.reference not in unrecorded)
    overlays, unread = _overlays(move, repository, knowledge.sources)
    return Bump(move.before, move.after, tuple(move.uses), told, unrecorded, overlays, unread)


def _is_unheard_of(fix: Inherited, after: RepositoryPin, facts: Facts) -> bool:
    """Whether nothing is known that could tell of a fix in the new pin. That the old one had it is something."""
    if fix.kind != "unknown" or fix.before.state == "pinned":
        return False
    probed = any(probe.release.removeprefix("v") == after.source for probe in facts.probes)
    return after.source is None or not (probed or facts.pulls or facts.issues or facts.contains)


def _overlays(move: _Move, repository: Repository, sources: Sources) -> tuple[tuple[Overlay, ...], str]:
    """Every vendored script against the new source; those that composes on the moved pin mount come first."""
    paths = scripts_of(repository.tree, repository.catalog, move.mounts)
    scripts = [(script, modules_of((script,))) for script in read_scripts(repository.tree, paths, move.mounts)]
    found: list[Overlay] = []
    unread = ""
    for script, modules in scripts:
        if not modules:
            continue
        source = sources(move.after.source, modules) if move.after.source else move.after.why or "no release is known"
        old = sources(move.before.source, modules) if move.before.source and move.after.source else ""
        if isinstance(source, str):
            unread = unread or source
            continue
        checks = check_scripts((script,), source)
        before: tuple[AnchorCheck | None, ...] = (None,) * len(checks)
        if not isinstance(old, str):
            before = check_scripts((script,), old)
            checks = tuple(outdated(check, old, source) for check in checks)
        found.append(Overlay(script.path, lies_in(script.path, move.mounts), checks, before))
    return tuple(sorted(found, key=lambda overlay: not overlay.mounted)), unread
