"""The files that a service is given by its `configs:` and `secrets:`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.compose.faults import Fault
from bot.compose.layers import Scope, Scopes
from bot.compose.model import Mount
from bot.compose.structure import Structure, section, section_line
from bot.compose.values import Value
from bot.compose.words import word
from bot.provenance import Position, Word
from bot.tree import OutsideTree, join

_FOLDERS = {"configs": "/", "secrets": "/run/secrets/"}
"""Where Compose puts what has no absolute target, by section."""


def given_files(
    structure: Structure, config: Mapping[str, Value], scopes: Scopes, place: str
) -> tuple[tuple[Mount, ...], dict[str, Word]]:
    """The files of the repository that Compose mounts, and the texts of those that it writes, by container path.

    Compose writes those whose `content:` stands in the file, and those that hold a variable of the host.
    """
    mounts: list[Mount] = []
    contents: dict[str, Word] = {}
    for kind, folder in _FOLDERS.items():
        for target, name, item in _given(kind, folder, structure, config, scopes):
            if isinstance(item.get("content"), str):
                contents[target] = word(item["content"])
            elif isinstance(item.get("environment"), str):
                value = scopes.of(Scope()).get(item["environment"])
                if value is not None:
                    contents[target] = Word(value)
            elif isinstance(item.get("file"), str):
                mounts += _mounted(kind, name, item["file"], target, structure, place)
    return tuple(mounts), contents


def _given(
    kind: str, folder: str, structure: Structure, config: Mapping[str, Value], scopes: Scopes
) -> Iterator[tuple[str, str, Mapping[str, Value]]]:
    """Each target with the name and the declaration of what lies there."""
    given = config.get(kind)
    if not given:
        return
    try:
        declared = section(structure.sections.get(kind, []), kind, scopes)
    except Fault:
        return  # told where the sections are checked
    for mount in given:
        item = declared.get(mount.get("source")) if isinstance(declared, dict) else None
        target = str(mount.get("target") or mount.get("source"))
        if isinstance(item, dict):
            yield target if target.startswith("/") else folder + target, str(mount.get("source")), item


def _mounted(kind: str, name: str, file: str, target: str, structure: Structure, place: str) -> Iterator[Mount]:
    parts = structure.sections.get(kind, [])
    line = section_line(parts, (name,))
    if line is None or file.startswith("~"):
        return  # declared in an included file, whose folder is another one
    try:
        source, inside = join(place, file), True
    except OutsideTree:
        source, inside = file, False
    yield Mount("bind", source, target, read_only=True, in_repository=inside, position=Position(*line))
