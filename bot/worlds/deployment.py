"""One service of one compose, ready to be asked what runs in a given world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from bot.compose import Documents, Project, load_project
from bot.provenance import Word
from bot.shell import Process, Run, run
from bot.tree import Tree, UnreadableFile, text_of
from bot.worlds.container import ImageEntrypoint, MountedFiles, start
from bot.worlds.model import Realisation


@dataclass(frozen=True)
class Deployment:
    """The question that stays the same over all worlds.

    `files` are the compose files in `-f` order, `environment` is the shell environment that every world starts from,
    `symbols` fixes values that only the running container would know, and `unset` are variables that a sourced script
    outside the repository is assumed not to set. `launched` are values that a launcher of the repository is declared to
    set. `project` is what the files are in that environment, when it is known already.
    """

    tree: Tree
    documents: Documents
    files: tuple[str, ...]
    service: str
    image_entrypoint: ImageEntrypoint
    environment: Mapping[str, str] = field(default_factory=dict)
    symbols: Mapping[str, str] = field(default_factory=dict)
    unset: frozenset[str] = frozenset()
    launched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    project: Project | None = None

    def realise(
        self, deviations: Mapping[str, str] | None = None, inside: Mapping[str, str] | None = None
    ) -> Realisation:
        """What runs when the host sets `deviations` besides the base environment.

        `inside` are variables put into the container although the compose does not forward them: what would happen if
        it did.
        """
        deviations = deviations or {}
        environment = {**self.environment, **deviations}
        project = None if deviations else self.project
        if project is None:
            # What the files are without deviations is asked for once; of what they are with them, only the service.
            project = load_project(self.documents, self.files, environment, only=self.service if deviations else None)
        service = project.services.get(self.service)
        if service is not None and not service.active:
            # Compose reads the environment files of active services only.
            project = load_project(
                self.documents, self.files, environment, profiles=service.profiles, only=self.service
            )
            service = project.services.get(self.service)
        if service is None:
            return Realisation(environment, project, None, None, None, deviations)
        started = start(service, self.image_entrypoint)
        process = started.process
        if process is not None and self.unset:
            process = replace(process, unset=self.unset)
        if process is not None and inside:
            forwarded = {name: Word(value) for name, value in inside.items()}
            process = replace(process, environment={**process.environment, **forwarded})
        files = MountedFiles.of(self.tree, service)
        followed = None if process is None else run(process, files, symbols=self.symbols)
        return Realisation(environment, project, service, started, followed, deviations, frozenset(files.absent))

    def without_assumptions(self, realisation: Realisation) -> Run | None:
        """What is followed when files that nobody has seen may set what they are assumed not to set."""
        return self._followed(realisation, lambda process: replace(process, doubting=True))

    def interpret(self, realisation: Realisation, argv: tuple[Word, ...]) -> Run | None:
        """What another command line would start in the container of a realisation."""
        return self._followed(realisation, lambda process: replace(process, argv=argv))

    def _followed(self, realisation: Realisation, changed: Callable[[Process], Process]) -> Run | None:
        """What a realisation would start if its process were another; None when it starts none."""
        service, started = realisation.service, realisation.start
        if service is None or started is None or started.process is None:
            return None
        return run(changed(started.process), MountedFiles.of(self.tree, service), symbols=self.symbols)

    def knows(self, realisation: Realisation, path: str) -> bool:
        """Whether a file of the container is the repository's."""
        service = realisation.service
        return service is not None and MountedFiles.of(self.tree, service).read(path) is not None

    def has(self, path: str) -> bool:
        """Whether the repository has a file that can be read."""
        try:
            return self.tree.read(path) is not None
        except UnreadableFile:
            return False

    def text(self, path: str) -> str:
        """A compose file as written; empty when it cannot be read."""
        return text_of(self.tree, path)
