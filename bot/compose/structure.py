"""What the files of a project amount to: the layers of every service, and the other top-level sections."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.compose.casts import NO_CAST, TOP_LEVEL_CASTS
from bot.compose.faults import Fault
from bot.compose.fill import fill
from bot.compose.layers import Layer, Loaded, Scope, Scopes
from bot.compose.merge import merge
from bot.compose.nodes import Node, Path, find_line
from bot.compose.values import MISSING, Value
from bot.provenance import Position

SECTIONS = ("networks", "volumes", "secrets", "configs", "models")


@dataclass(frozen=True, slots=True)
class Part:
    """A section (`volumes:`) as one document has it. `imported` are the sections of the files that it includes."""

    node: Node | None
    scope: Scope
    imported: tuple[tuple[Part, ...], ...] = ()
    cleared: tuple[Path, ...] = ()


@dataclass(slots=True)
class Structure:
    """The layers of every service, the other sections, and what is wrong with the way the files hang together.

    `beside` are the services of extended files that nobody extends: Compose reads them, and stops at their faults.
    `removed` are services that a later document takes out: Compose has checked them before it comes to that.
    `names` are the variables that decide the structure itself.
    """

    services: dict[str, list[Layer]] = field(default_factory=dict)
    positions: dict[str, Position] = field(default_factory=dict)
    sections: dict[str, list[Part]] = field(default_factory=dict)
    extensions: list[tuple[str, Node, Scope]] = field(default_factory=list)
    beside: dict[tuple[str, str], Loaded] = field(default_factory=dict)
    removed: list[tuple[str, list[Layer], Position]] = field(default_factory=list)
    faults: list[tuple[Fault, str | None]] = field(default_factory=list)
    files: dict[str, None] = field(default_factory=dict)
    names: dict[Scope, dict[str, None]] = field(default_factory=dict)
    name: tuple[Node, Scope] | None = None


def section(parts: list[Part], name: str, scopes: Scopes) -> Value:
    """The value of a section over all documents. Raises `Fault`."""
    state: Value = MISSING
    for part in parts:
        own: Value = {}
        if part.node is not None:
            own = fill(part.node, TOP_LEVEL_CASTS.get(name, NO_CAST), scopes.of(part.scope), (name,))
        for imported in part.imported:
            own = _with_imported(own, section(list(imported), name, scopes), name)
        for path in part.cleared:
            if isinstance(state, dict) and path:
                state = {key: item for key, item in state.items() if key != path[0]}
        state = merge(state, own, name, "")
    return {} if state is MISSING else state


def _with_imported(own: Value, imported: Value, name: str) -> Value:
    if not isinstance(own, dict) or not isinstance(imported, dict):
        return own
    for key, value in imported.items():
        if key in own and own[key] != value and not (own[key] in (None, {}) and value in (None, {})):
            raise Fault("invalid", f"{name}.{key} conflicts with imported resource", field=(name, key))
    return {**imported, **own}


def section_line(parts: list[Part], path: Path) -> tuple[str, int] | None:
    """Where a path of a section is written."""
    for part in reversed(parts):
        if part.node is not None:
            line = find_line(part.node, path)
            if line is not None:
                return part.node.source.path, line
    return None
