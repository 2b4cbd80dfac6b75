"""One service of one compose, ready to be asked what runs in a given world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.compose import Documents, Service, load_project
from bot.shell import run
from bot.tree import Tree, UnreadableFile
from bot.worlds.container import ImageEntrypoint, MountedFiles, start
from bot.worlds.model import Realisation


@dataclass(frozen=True)
class Deployment:
    """The question that stays the same over all worlds.

    `files` are the compose files in `-f` order, `environment` is the shell environment that every world starts from,
    and `symbols` fixes values that only the running container would know.
    """

    tree: Tree
    documents: Documents
    files: tuple[str, ...]
    service: str
    image_entrypoint: ImageEntrypoint
    environment: Mapping[str, str] = field(default_factory=dict)
    symbols: Mapping[str, str] = field(default_factory=dict)

    def realise(self, deviations: Mapping[str, str] | None = None) -> Realisation:
        """What runs when the host sets `deviations` besides the base environment."""
        deviations = deviations or {}
        environment = {**self.environment, **deviations}
        project = load_project(self.documents, self.files, environment)
        service = project.services.get(self.service)
        if service is None:
            return Realisation(environment, project, None, None, None, deviations)
        return self._follow(Realisation(environment, project, service, None, None, deviations), service)

    def text(self, path: str) -> str:
        """A compose file as written; empty when it cannot be read."""
        try:
            return self.tree.read(path) or ""
        except UnreadableFile:
            return ""

    def _follow(self, asked: Realisation, service: Service) -> Realisation:
        started = start(service, self.image_entrypoint)
        process = started.process
        followed = process and run(process, MountedFiles(self.tree, service.mounts), symbols=self.symbols)
        return Realisation(asked.environment, asked.project, service, started, followed, asked.deviations)
