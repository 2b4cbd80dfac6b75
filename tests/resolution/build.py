"""Repositories of a few files, resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.catalog import read_catalog
from bot.compose import Documents
from bot.resolution import Repository, ResolvedService, resolve_service
from bot.tree import MemoryTree

FILE = "compose.yml"
IMAGE = "vllm/vllm-openai:v0.25.1"


def repository(files: Mapping[str, str]) -> Repository:
    """A repository with these files and what its catalog says."""
    tree = MemoryTree(files)
    return Repository(tree, read_catalog(tree), Documents(tree))


def resolved(
    files: Mapping[str, str] | str,
    *,
    environment: Mapping[str, str] | None = None,
    symbols: Mapping[str, str] | None = None,
    interplay: Iterable[frozenset[str]] | None = None,
    service: str = "engine",
) -> ResolvedService:
    """The service `engine` of `compose.yml`, or of the text of it."""
    given = {FILE: files} if isinstance(files, str) else files
    return resolve_service(
        repository(given), (FILE,), service, environment=environment, symbols=symbols, interplay=interplay
    )


def engine(*lines: str, image: str = IMAGE) -> str:
    """A compose with one service `engine`, its further fields given as lines."""
    return "\n".join(["services:", "  engine:", f"    image: {image}", *(f"    {line}" for line in lines), ""])
