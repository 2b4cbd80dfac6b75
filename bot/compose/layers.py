"""Where the fields of a service come from: its files, what it extends, and what its files include.

A layer answers the value of one field at a time, so that only the fields which read a variable have to be worked out
again in another environment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from bot.compose.canonical import canonical, with_defaults
from bot.compose.casts import NO_CAST, SERVICE_CASTS
from bot.compose.checks import most_specific
from bot.compose.faults import Fault
from bot.compose.fill import fill, scalars
from bot.compose.merge import deduplicate, merge
from bot.compose.nodes import Mapping, Node, Path, find_line
from bot.compose.paths import map_paths, rebase
from bot.compose.schema import SERVICE_FIELDS
from bot.compose.values import MISSING, Environment, Value


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose variables a file sees: those of the project, and of the environment files of the includes around it.

    `files` are environment files, outermost include first: what is set outside wins.
    """

    files: tuple[tuple[str, ...], ...] = ()


class Scopes(Protocol):
    """The environments of one question."""

    def of(self, scope: Scope) -> Environment:
        """The variables that a scope sees. Raises `Fault` when an environment file cannot be read."""


class Layer(Protocol):
    """Something that gives a service (some of) its fields."""

    def value(self, name: str, scopes: Scopes) -> Value:
        """The value of the field, or `MISSING`. Raises `Fault`."""

    @property
    def file(self) -> str:
        """The file that has the last word."""

    @property
    def links(self) -> int:
        """How many services extend one another below it."""

    def fields(self) -> Iterator[str]:
        """The fields that it may have, some perhaps twice."""

    def nodes(self, name: str) -> Iterator[tuple[Node, Scope]]:
        """The nodes that the field is made of: all that its value can depend on."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A service as one document declares it, upon what it extends.

    `cleared` are the paths within the service that a `!reset` or `!override` takes out of what lies below.
    """

    owner: str
    node: Mapping
    scope: Scope
    base: Layer | None = None
    cleared: tuple[Path, ...] = ()
    links: int = 0

    @property
    def file(self) -> str:
        """The file that has the last word."""
        return self.node.source.path

    def fields(self) -> Iterator[str]:
        """The fields that it may have, some perhaps twice."""
        if self.base:
            yield from self.base.fields()
        yield from self.node.entries

    def nodes(self, name: str) -> Iterator[tuple[Node, Scope]]:
        """The nodes that the field is made of."""
        if self.base:
            yield from self.base.nodes(name)
        node = self.node.entries.get(name)
        if node is not None:
            yield node, self.scope

    def value(self, name: str, scopes: Scopes) -> Value:
        """The value of the field, or `MISSING`. Raises `Fault`."""
        node = self.node.entries.get(name)
        own = MISSING
        if node is not None:
            own = fill(node, SERVICE_CASTS.get(name, NO_CAST), scopes.of(self.scope), ("services", self.owner, name))
        if self.base is None or name == "extends":
            return MISSING if name == "extends" and self.base is not None else own
        below = clear(self.base.value(name, scopes), name, self.cleared)
        return merge(below, own, name, f"services.{self.owner}")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A service as a list of documents declares it, in its long form.

    `directory` is where the paths of the documents start, seen from the place that uses the service; `base` is
    what it extends, when it is itself extended; `checked` says that the schema applies.
    """

    owner: str
    documents: tuple[Layer, ...]
    directory: str = "."
    base: Layer | None = None
    checked: bool = True
    included: Scope | None = None

    @property
    def file(self) -> str:
        """The file that has the last word."""
        return self.documents[-1].file

    @property
    def links(self) -> int:
        """How many services extend one another below it."""
        below: tuple[Layer, ...] = (*self.documents, self.base) if self.base else self.documents
        return max([one.links for one in below])

    def fields(self) -> Iterator[str]:
        """The fields that it may have, some perhaps twice."""
        if self.base:
            yield from self.base.fields()
        for document in self.documents:
            yield from document.fields()

    def nodes(self, name: str) -> Iterator[tuple[Node, Scope]]:
        """The nodes that the field is made of."""
        if self.base:
            yield from self.base.nodes(name)
        for document in self.documents:
            yield from document.nodes(name)

    def value(self, name: str, scopes: Scopes) -> Value:
        """The value of the field, or `MISSING`. Raises `Fault`."""
        owner = f"services.{self.owner}"
        state = MISSING
        for document in self.documents:
            state = self._with_document(state, document, name, owner, scopes)
        if state is not MISSING:
            if self.included is not None:
                state = self._as_included(state, name, owner, scopes)
            if self.directory != ".":
                state = map_paths(name, state, lambda path: rebase(self.directory, path))
        if self.base is None or name == "extends":
            return state if self.base is None else MISSING
        return merge(self.base.value(name, scopes), state, name, owner)

    def _with_document(self, state: Value, document: Layer, name: str, owner: str, scopes: Scopes) -> Value:
        value = document.value(name, scopes)
        if isinstance(document, Declared) and document.cleared:
            state = clear(state, name, document.cleared)
        state = merge(state, value, name, owner)
        if state is MISSING:
            return state
        state = deduplicate(state, name, owner)
        if self.checked:
            self._validate(state, name, document.file)
        state = canonical(name, state, owner)
        return deduplicate(state, name, owner)

    def _validate(self, value: Value, name: str, file: str) -> None:
        """Raises `Refused` when the schema refuses the field."""
        path = ("services", self.owner)
        check = SERVICE_FIELDS.get(name)
        if check is None:
            if not name.startswith("x-"):
                unknown = [one for one in dict.fromkeys(self.fields()) if is_unknown(one)]
                listed = ", ".join(f"'{one}'" for one in unknown)
                message = f"{'.'.join(path)} additional properties {listed} not allowed"
                raise Refused(message, (*path, unknown[0]), len(path) + 1, file)
            return
        failures = check.failures(value, (*path, name))
        if failures:
            worst = most_specific(failures)
            raise Refused(str(worst), worst.path, worst.depth, file)

    def _as_included(self, state: Value, name: str, owner: str, scopes: Scopes) -> Value:
        """Included files get their defaults, and the values of bare names, where they are included."""
        assert self.included is not None
        state = with_defaults(name, state, owner)
        if name == "environment" and isinstance(state, list):
            environment = scopes.of(self.included)
            return [f"{item}={environment[item]}" if item in environment else item for item in state]
        return state


def clear(value: Value, name: str, cleared: tuple[Path, ...]) -> Value:
    """The field's value without the paths that are cleared."""
    for path in cleared:
        if path and path[0] == name:
            value = _without(value, path[1:])
    return value


def _without(value: Value, path: Path) -> Value:
    if not path:
        return MISSING
    if not isinstance(value, dict) or path[0] not in value:
        return value
    below = _without(value[path[0]], path[1:])
    kept = {key: item for key, item in value.items() if key != path[0]}
    return kept if below is MISSING else {**kept, path[0]: below}


def is_unknown(name: str) -> bool:
    """Whether a service has no such field."""
    return name not in SERVICE_FIELDS and not name.startswith("x-")


class Refused(Fault):
    """The schema refuses a value, after `file` was read. `depth` ranks it: Docker Compose shows the deepest."""

    def __init__(self, message: str, where: tuple[str, ...], depth: int, file: str) -> None:
        super().__init__("schema", message, field=where)
        self.depth = depth
        self.file = file


@dataclass(slots=True)
class Names:
    """The variables that a field depends on, by scope."""

    by_scope: dict[Scope, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, nodes: Iterator[tuple[Node, Scope]]) -> Names:
        """All that any of the nodes may read."""
        found: dict[Scope, dict[str, None]] = {}
        for node, scope in nodes:
            for scalar, _ in scalars(node):
                if scalar.template:
                    names = found.setdefault(scope, {})
                    names.update((variable.name, None) for variable in scalar.template.variables)
        return cls({scope: tuple(names) for scope, names in found.items()})

    def key(self, scopes: Scopes) -> tuple[str | None, ...]:
        """Their values: two environments with the same key give the field the same value."""
        return tuple(
            environment.get(name)
            for scope, names in self.by_scope.items()
            for environment in (scopes.of(scope),)
            for name in names
        )


def line_in(nodes: Iterator[tuple[Node, Scope]], path: Path) -> tuple[str, int] | None:
    """The place of a path below a field, in the latest of the nodes that has it."""
    found: tuple[int, str, int] | None = None
    for node, _ in nodes:
        line = find_line(node, path)
        depth = len(path) if line is not None else 0
        if found is None or depth >= found[0]:
            found = (depth, node.source.path, line or node.line)
    return (found[1], found[2]) if found else None
