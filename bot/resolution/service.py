"""Resolves one service: which worlds it has, and what the engine becomes in each."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from bot.catalog import (
    Catalog,
    Header,
    engine_of,
    hardware_for,
    in_other_words,
    model_for,
    overlays_for,
    read_header,
    slugs_of,
)
from bot.compose import Documents, Project, Service
from bot.deferred import Deferred
from bot.engine import Engine, Launch, Model, Pin, image_entrypoint, may_read, pin, resolve
from bot.provenance import Position, Reason, Word
from bot.resolution.assumptions import Possible, UnseenFiles, agree, contradicted, honest, shaken
from bot.resolution.model import EngineWorld, ResolvedService
from bot.resolution.program import server
from bot.resolution.search import explore
from bot.shell import Outcome, Run, Unresolved, is_inference_server
from bot.tree import Tree
from bot.worlds.deployment import Deployment
from bot.worlds.model import Realisation
from bot.worlds.seams import Survey, survey, toggles

_NAMES = 8
"""Seams that a note names when more of them have values that were not tried."""

_INSTALLERS = frozenset({"apk", "apt", "apt-get", "conda", "dnf", "microdnf", "npm", "pip", "pip3", "uv", "yum"})
"""Programs that only put files in place: one that ends the script started no server."""


@dataclass(frozen=True)
class Repository:
    """One state of a repository, with what was read of it so far: the same for all of its services."""

    tree: Tree
    catalog: Catalog
    documents: Documents
    headers: dict[str, Header] = field(default_factory=dict)

    def over(self, tree: Tree) -> Repository:
        """The same repository, to be read through another tree."""
        return Repository(tree, self.catalog, self.documents.over(tree))

    def header(self, path: str, text: str) -> Header:
        """What the leading comments of a compose declare."""
        if path not in self.headers:
            self.headers[path] = in_other_words(read_header(text, path), self.catalog.configuration.headers)
        return self.headers[path]


def resolve_service(
    repository: Repository,
    files: tuple[str, ...],
    service: str,
    *,
    environment: Mapping[str, str] | None = None,
    symbols: Mapping[str, str] | None = None,
    interplay: Iterable[frozenset[str]] | None = None,
    project: Project | None = None,
) -> ResolvedService:
    """A service in its default world and, when `interplay` is given, in the others that its text makes possible.

    `files` are compose files in `-f` order. `interplay` holds the sets of properties that rules read
    together (empty: single deviations only); None asks for the default world alone, and so does a service that runs
    no inference server. `project` is what the files are in `environment`, when the caller has loaded it.
    """
    deployment = Deployment(
        repository.tree,
        repository.documents,
        files,
        service,
        image_entrypoint,
        environment or {},
        symbols or {},
        launched={name: seam.values for name, seam in repository.catalog.configuration.seams.items()},
        project=project,
    )
    default = deployment.realise()
    path = _home(files, default)
    header = repository.header(path, deployment.text(path))
    if ours := toggles(deployment, default):
        deployment = replace(deployment, unset=ours)
        default = deployment.realise()
    reader = _Reader(repository, path, header, deployment)
    worlds = reader.worlds(default)
    pairs = 0
    seen = survey(deployment, default)
    if interplay is not None and any(is_inference_server(world.kind) for world in worlds):
        services = len(project.services) if project is not None else 1
        found = explore(worlds, seen.deviations, interplay, reader.on_host, services)
        worlds += found.worlds
        seen = seen.without(found.untried)
        pairs = found.untried_pairs
    position = default.service.position if default.service else Position(path, 1)
    slugs = slugs_of(repository.catalog, path, header)
    return ResolvedService(
        path,
        service,
        position,
        slugs,
        header,
        reader.sm,
        seen,
        worlds,
        tuple(_cuts(seen, pairs, position)),
        _launched(repository.catalog, header, slugs, default),
        reader.on_host,
        reader.inside,
    )


def _launched(catalog: Catalog, header: Header, slugs: tuple[str, ...], default: Realisation) -> Pin | None:
    """The pin of the engine profile, where the image is read from a variable that a launcher can set to it."""
    service, profile = default.service, engine_of(catalog, header, slugs)
    if service is None or profile is None or profile.image is None:
        return None
    if all(read.field != "image" for read in service.reads):
        return None
    found = pin(profile.image, catalog.configuration.images)
    text = f"the engine profile {profile.id} pins {profile.image}"
    return replace(
        found, because=(Reason("catalog", profile.position.path, profile.position.line, text), *found.because)
    )


def _home(files: tuple[str, ...], default: Realisation) -> str:
    """The file that a service is known by: the first one, or the included one that declares it."""
    declared = default.service.position.path if default.service else files[0]
    return files[0] if declared in files else declared


def _cuts(seen: Survey, pairs: int, position: Position) -> Iterator[Unresolved]:
    """What was not tried, because there was too much of it."""
    if seen.untried:
        names = ", ".join(list(dict.fromkeys(deviation.name for deviation in seen.untried))[:_NAMES])
        reason = f"{len(seen.untried)} values of seams were not tried: they are too many ({names})"
        yield Unresolved(reason, seen.untried[0].position)
    if pairs:
        yield Unresolved(f"{pairs} pairs of values of seams were not tried: they are too many", position)


Doubted = Callable[[], Run | None]
"""Follows the ways of a world in which assumptions do not hold."""


class _Reader:
    """Turns realisations of one service into engine worlds; equal launches are resolved once."""

    def __init__(self, repository: Repository, path: str, header: Header, deployment: Deployment) -> None:
        self.sm = hardware_for(repository.catalog, header, path)
        self._deployment = deployment
        self._catalog = repository.catalog
        self._path = path
        self._engines: dict[tuple[object, ...], tuple[dict[tuple[int, ...], Engine], dict[str, object]]] = {}
        self._pins: dict[str, Pin] = {}

    def on_host(self, chosen: Mapping[str, str]) -> tuple[EngineWorld, ...]:
        """The worlds in which the host sets some variables."""
        return self.worlds(self._deployment.realise(chosen))

    def inside(self, put: Mapping[str, str]) -> tuple[EngineWorld, ...]:
        """The default worlds with variables put into the container although nothing forwards them."""
        return self.worlds(self._deployment.realise(inside=put))

    def worlds(self, realisation: Realisation) -> tuple[EngineWorld, ...]:
        """One for each way through the script, and one that says why, if some way could not be followed."""
        image = self._pin(realisation)
        outcomes = realisation.run.outcomes if realisation.run is not None else ()
        doubted = self._doubted(realisation, outcomes)
        worlds = [self._world(realisation, outcome, image, doubted) for outcome in outcomes]
        if lost := _reasons(realisation):
            worlds.append(EngineWorld(realisation, None, None, image, None, (), lost))
        return tuple(worlds)

    def _doubted(self, realisation: Realisation, outcomes: Sequence[Outcome]) -> Doubted:
        """The ways when assumptions do not hold. Few ask for those of a world that somebody has to choose; those of the
        default world are looked up later too, when nothing may be read any more.
        """
        doubted = cache(lambda: self._deployment.without_assumptions(realisation))
        if not realisation.deviations and any(outcome.rests_on for outcome in outcomes):
            doubted()
        return doubted

    def _world(self, realisation: Realisation, outcome: Outcome, image: Pin, doubted: Doubted) -> EngineWorld:
        kind, argv = server(outcome)
        unseen = _unseen(outcome, kind)
        if unseen is not None:
            outcome = replace(outcome, exit=None)
        service = realisation.service
        engine = self._assumed(outcome, doubted, image, self.sm, service)
        cards = self.sm if engine is not None and len(self.sm) > 1 else ()
        on_card = {card: found for card in cards if (found := self._assumed(outcome, doubted, image, (card,), service))}
        script = self._script(realisation)
        steps = outcome.steps
        patches = Deferred(
            lambda: overlays_for(self._catalog, service, steps, argv, script, self._text) if service else ()
        )
        notes = (*([unseen] if unseen else ()), *outcome.notes, *_assumed_empty(realisation))
        return EngineWorld(realisation, outcome, kind, image, engine, patches, notes, on_card)

    def _text(self, path: str) -> str | None:
        """A file of the repository; None for a folder, and where it has none."""
        return self._deployment.text(path) if self._deployment.has(path) else None

    def _script(self, realisation: Realisation) -> tuple[str, ...]:
        """The lines of the entrypoint, and of the scripts of the repository that it reads variables in."""
        service, run = realisation.service, realisation.run
        if service is None:
            return ()
        texts = [word.text for word in (*(service.entrypoint or ()), *(service.command or ())) if "\n" in word.text]
        named = {word.text for word in (*(service.entrypoint or ()), *(service.command or ()))}
        own = {
            posixpath.normpath(mount.source + word[len(mount.target.rstrip("/")) :])
            for mount in service.mounts
            if mount.in_repository
            for word in named
            if word == mount.target or word.startswith(f"{mount.target.rstrip('/')}/")
        }
        own |= {read.position.path for read in run.reads if read.position.path.endswith(".sh")} if run else set()
        texts += [self._deployment.text(path) for path in sorted(own) if self._deployment.has(path)]
        return tuple(line for text in texts for line in text.splitlines())

    def _assumed(
        self, outcome: Outcome, doubted: Doubted, image: Pin, sm: tuple[int, ...], service: Service | None
    ) -> Engine | None:
        """The engine of a way. What is another one when an unseen file sets more than is assumed is no certainty."""
        engine = self._of(outcome, image, sm, service)
        if engine is None or not outcome.rests_on:
            return engine

        def others() -> Iterator[Possible]:
            run = doubted()
            if run is None:
                return
            ways = [(other, contradicted(outcome, other)) for other in run.outcomes if agree(outcome, other)]
            for other, texts in sorted(ways, key=lambda way: len(way[1])):
                yield self._of(other, image, sm, service), texts
            if run.unresolved:
                yield None, outcome.rests_on

        return shaken(engine, others)

    def _of(self, outcome: Outcome, image: Pin, sm: tuple[int, ...], service: Service | None) -> Engine | None:
        kind, argv = server(outcome)
        if kind != "vllm":
            return None
        return self._engine(argv, outcome.environment, image, sm, UnseenFiles.of(service, outcome))

    def _engine(
        self,
        argv: tuple[Word, ...],
        environment: Mapping[str, Word],
        image: Pin,
        sm: tuple[int, ...],
        files: UnseenFiles,
    ) -> Engine:
        asked = (
            image,
            files,
            tuple((word.text, word.splits) for word in argv),
            tuple((name, word.text) for name, word in sorted(environment.items()) if may_read(name)),
        )
        on_cards, common = self._engines.setdefault(asked, ({}, {}))
        if sm not in on_cards:
            launch = Launch(argv, environment, image, self._model(argv), sm)
            on_cards[sm] = files.in_doubt(honest(resolve(launch, common=common)), launch)
        return on_cards[sm]

    def _model(self, argv: tuple[Word, ...]) -> Model:
        """What the repository's profiles say of the model; the engine falls back on its name."""
        return model_for(self._catalog, self._path, _model_argument(argv))

    def _pin(self, realisation: Realisation) -> Pin:
        service = realisation.service
        image = service.image.text if service and service.image else ""
        if image not in self._pins:
            self._pins[image] = pin(image, self._catalog.configuration.images)
        return self._pins[image]


def _model_argument(argv: tuple[Word, ...]) -> str | None:
    """The model that the arguments name.

    `vllm serve` puts the first `--model` into the place of its positional; the server's module takes the last, and has
    no positional.
    """
    named = [argv[i + 1].text for i, word in enumerate(argv[:-1]) if word.text == "--model"]
    named += [word.text.split("=", 1)[1] for word in argv if word.text.startswith("--model=")]
    serves = bool(argv) and argv[0].text == "serve"
    if named:
        return named[0] if serves else named[-1]
    return argv[1].text if serves and len(argv) > 1 and not argv[1].text.startswith("-") else None


def _unseen(outcome: Outcome, kind: str | None) -> Unresolved | None:
    """Why a way that seems to have no server may have one: it ran something whose content is not known."""
    if outcome.program is not None:
        return _unknown_script(outcome.program) if kind is None else None
    if outcome.exit not in (0, None):
        return None
    for step in reversed(outcome.steps):
        if posixpath.basename(step.run[0].text) not in _INSTALLERS:
            return _not_known(" ".join(word.text for word in step.run[:2]), step.position)
    return None if outcome.exit == 0 else Unresolved("how the script ends is not known", None)


def _unknown_script(program: Word) -> Unresolved | None:
    """A script of the repository would have been followed, so one that is left over is not there."""
    if "/" not in program.text and not program.text.endswith(".sh"):
        return None
    place = next((Position(reason.path, reason.line) for reason in program.because if reason.line is not None), None)
    return _not_known(program.text, place)


def _not_known(what: str, position: Position | None) -> Unresolved:
    return Unresolved(f"what {what} starts is not known: it is not in the repository", position)


def _assumed_empty(realisation: Realisation) -> Iterator[Unresolved]:
    if realisation.service is not None:
        for file, position in realisation.service.absent_env_files.items():
            yield Unresolved(f"{file} is not in the repository: what it would set is not known", position)
    for folder in sorted(realisation.absent):
        yield Unresolved(f"{folder} is not in the repository: it is assumed to be mounted as an empty folder", None)


def _reasons(realisation: Realisation) -> tuple[Unresolved, ...]:
    """Why what runs is not known, or not all of it; empty when every way through the script was followed."""
    if realisation.run is not None:
        nothing = () if realisation.run.outcomes else (Unresolved("no way through the script could be followed", None),)
        return realisation.run.unresolved or nothing
    if realisation.start is not None and realisation.start.reason:
        return (Unresolved(realisation.start.reason, realisation.service.position if realisation.service else None),)
    errors = tuple(Unresolved(error.message, None) for error in realisation.project.errors)
    return errors or (Unresolved("the service is not in the files", None),)
