"""One service, ready to be resolved in many environments.

What reads no variable is worked out once. Each other field remembers its answers by the values of its own variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bot.compose.canonical import with_defaults
from bot.compose.documents import Documents
from bot.compose.faults import Fault
from bot.compose.fill import reads
from bot.compose.layers import Layer, Loaded, Names, Refused, Scope, Scopes, line_in
from bot.compose.model import VariableRead
from bot.compose.paths import PATH_FIELDS, absolute, map_paths, rebase
from bot.compose.present import present
from bot.compose.values import MISSING, Value
from bot.provenance import Position

MAX_ANSWERS = 256
"""Answers that a field remembers. Worlds differ in few variables; beyond this, memory costs more than the work."""

_UNPRINTED = frozenset({"environment", "env_file", "label_file", "extends"})
_ESSENTIAL = frozenset({"image", "entrypoint", "command", "environment", "env_file", "volumes", "extends", "profiles"})


@dataclass(slots=True)
class Answer:
    """A field: its canonical value, and what Compose prints for it (`MISSING` for nothing).

    `derived` keeps what else was made of the value, so that it is made once.
    """

    value: Value
    printed: Value
    derived: Any = None


@dataclass(slots=True)
class Resolved:
    """A service in one environment, before normalisation. `config` is what Compose prints, without the environment.

    `usable` is False when something is wrong with a field that decides what runs.
    """

    name: str
    plan: Plan
    answers: dict[str, Answer]
    config: dict[str, Any]
    faults: list[Fault] = field(default_factory=list)
    usable: bool = True

    def value(self, name: str) -> Value:
        """The canonical value of a field, None when it is not set."""
        answer = self.answers.get(name)
        return None if answer is None else answer.value


class Plan:
    """The fields of one service."""

    def __init__(
        self, documents: Documents, name: str, layers: list[Layer], directory: str, position: Position
    ) -> None:
        self._documents = documents
        self._directory = directory
        self.place = (position.path, position.line)
        self._name = name
        self.layer = layers[0] if len(layers) == 1 and isinstance(layers[0], Loaded) else Loaded(name, tuple(layers))
        self._fields = [name for name in dict.fromkeys(self.layer.fields()) if name != "extends"]
        self._names = {name: _names(name, self.layer) for name in self._fields}
        self._fixed: Resolved | None = None
        self._varying = [name for name in self._fields if self._names[name].by_scope or name == "environment"]
        self._answers: dict[str, dict[Any, Answer | Fault]] = {name: {} for name in self._varying}
        self._reads: tuple[VariableRead, ...] | None = None

    @property
    def reads(self) -> tuple[VariableRead, ...]:
        """The variables that interpolation of this service asks for, in the order of the fields."""
        if self._reads is None:
            self._reads = tuple(
                read for name in self._fields for node, _ in self.layer.nodes(name) for read in reads(node, (name,))
            )
        return self._reads

    def line(self, path: tuple[str, ...]) -> tuple[str, int] | None:
        """The place of a value of this service; `path` begins with the field."""
        return line_in(self.layer.nodes(path[0]), path[1:]) if path else None

    def resolve(self, scopes: Scopes) -> Resolved:
        """The service in this environment."""
        fixed = self._fixed or self._resolve_fixed(scopes)
        answer = Resolved(self._name, self, dict(fixed.answers), dict(fixed.config), list(fixed.faults), fixed.usable)
        for name in self._varying:
            self._add(answer, name, self._answer(name, scopes))
        if answer.faults:
            answer.faults.sort(key=lambda fault: -fault.depth if isinstance(fault, Refused) else 0)
        return answer

    def check(self, scopes: Scopes) -> Iterator[Fault]:
        """What Compose finds wrong with the fields as it reads them, without what it says of the whole in the end."""
        for name in self._fields:
            try:
                self.layer.value(name, scopes)
            except Fault as fault:
                yield self._located(fault, name)

    def _resolve_fixed(self, scopes: Scopes) -> Resolved:
        fixed = Resolved(self._name, self, {}, {"command": None, "entrypoint": None})
        for name in self._fields:
            if name not in self._answers:
                self._add(fixed, name, self._work_out(name, scopes))
        self._fixed = fixed
        return fixed

    def _add(self, answer: Resolved, name: str, found: Answer | Fault) -> None:
        if isinstance(found, Fault):
            answer.faults.append(found)
            answer.usable = answer.usable and name not in _ESSENTIAL
        elif found.value is not MISSING:
            answer.answers[name] = found
            if found.printed is not MISSING:
                answer.config[name] = found.printed

    def _answer(self, name: str, scopes: Scopes) -> Answer | Fault:
        known = self._answers[name]
        key = self._names[name].key(scopes)
        found = known.get(key)
        if found is None:
            found = self._work_out(name, scopes)
            if len(known) >= MAX_ANSWERS:
                known.clear()
            known[key] = found
        return found

    def _work_out(self, name: str, scopes: Scopes) -> Answer | Fault:
        try:
            value = self.layer.value(name, scopes)
            if value is MISSING:
                return Answer(MISSING, MISSING)
            value = with_defaults(name, value, f"services.{self._name}")
            return Answer(value, MISSING if name in _UNPRINTED else self._printed(name, value, scopes))
        except Fault as fault:
            return self._located(fault, name)

    def _printed(self, name: str, value: Value, scopes: Scopes) -> Value:
        home = scopes.of(Scope()).get("HOME")
        root, directory = self._documents.root, self._directory
        placed = map_paths(name, value, lambda path: absolute(root, rebase(directory, path), home))
        return present(name, placed, self._name)

    def _located(self, fault: Fault, name: str) -> Fault:
        """The fault with its file and line, and in Compose's words for the file."""
        if isinstance(fault, Refused) and not fault.path:
            fault.message = f"validating {self._documents.shown(fault.file)}: {fault.message}"
        if not fault.path:
            path = fault.field[2:] if fault.field[:1] == ("services",) else ()
            where = path or (name,)
            found = self._line_where_refused(fault, where) or self.line(where) or self.line((name,))
            if found:
                fault.path, fault.line = found
        return fault

    def _line_where_refused(self, fault: Fault, path: tuple[str, ...]) -> tuple[str, int] | None:
        """The place of a value in the file that the schema refuses: a later file may have it too."""
        if not isinstance(fault, Refused):
            return None
        return line_in((one for one in self.layer.nodes(path[0]) if one[0].source.path == fault.file), path[1:])


def _names(name: str, layer: Layer) -> Names:
    """The variables that a field depends on: those it reads, and where `~` is."""
    found = Names.of(layer.nodes(name))
    if name in PATH_FIELDS and any("~" in node.source.text for node, _ in layer.nodes(name)):
        found.by_scope[Scope()] = (*found.by_scope.get(Scope(), ()), "HOME")
    return found
