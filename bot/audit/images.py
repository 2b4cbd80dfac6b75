"""The images of the services that run vLLM by default."""

from __future__ import annotations

from collections.abc import Iterator

from bot.audit.discovery import discover
from bot.compose import load_project
from bot.provenance import Position
from bot.resolution import Repository, resolve_service


def images_of(repository: Repository) -> Iterator[tuple[str, str, Position]]:
    """The image, the name and the place of every service that runs vLLM by default."""
    configuration = repository.catalog.configuration
    for unit in discover(repository.tree, repository.documents, configuration).units:
        project = load_project(repository.documents, unit.files, {})
        for name in project.services:
            resolved = resolve_service(repository, unit.files, name, project=project)
            for world in resolved.defaults[:1]:
                if world.kind == "vllm" or (world.kind is None and "vllm" in world.pin.image.lower()):
                    yield world.pin.image, " ".join(resolved.slugs) or name, resolved.position
