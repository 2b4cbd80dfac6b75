"""Derives each property once for all releases that answer alike what its derivation asks of them.

A derivation sees a release through `Release` alone. `Asking` stands in for one and notes every question; what it found
then holds for each release that answers them as this one does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.engine.derivations.basis import Basis
from bot.engine.derivations.context import Context, Found
from bot.engine.facts import Fact, Field
from bot.engine.likeness import Note, Noted, Panel, Question
from bot.engine.model import Property


def _verified(basis: Basis, subject: str) -> Hashable:
    behaviour = basis.behaviour(subject)
    return None if behaviour is None else bool(behaviour)


def _behaviour(basis: Basis, subject: str, key: str) -> Hashable:
    behaviour = basis.behaviour(subject)
    return None if behaviour is None else repr(behaviour.get(key))


def _fact(fact: Fact | None) -> Hashable:
    return None if fact is None else (repr(fact.value), fact.known)


def _field(basis: Basis, qualified: str) -> Hashable:
    found = basis.facts.field(qualified)
    return None if found is None else _fact(found.default)


ANSWERS: Mapping[str, Callable[..., Hashable]] = {
    "verified": _verified,
    "behaviour": _behaviour,
    "graph mode": lambda basis, level: _fact(basis.graph_mode(level)),
    "default": lambda basis, dest: _fact(basis.facts.default(dest)),
    "constant": lambda basis, name: repr(basis.facts.constants.get(name)),
    "choices": lambda basis, name: repr(basis.facts.choices(name)),
    "variable": lambda basis, name: _fact(basis.facts.environment.get(name)),
    "field": _field,
}
"""What a release answers to a derivation, by the kind of question."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What was found, the set of releases for which it holds, and what those answered alike."""

    found: Any
    releases: int
    questions: tuple[Question, ...]


Kept = dict[str, list[Shared]]
"""What has been found for some of the releases, by name."""


class _AskingFacts:
    """The facts of a release; what is looked up is noted."""

    def __init__(self, basis: Basis, note: Note) -> None:
        self._facts = basis.facts
        self._note = note
        self.version = basis.facts.version
        self.constants: Mapping[str, Any] = Noted(basis.facts.constants, note, "constant")
        self.environment: Mapping[str, Fact] = Noted(basis.facts.environment, note, "variable")

    def choices(self, name: str) -> tuple[Any, ...]:
        self._note(("choices", name))
        return self._facts.choices(name)

    def default(self, dest: str) -> Fact | None:
        self._note(("default", dest))
        return self._facts.default(dest)

    def field(self, qualified: str) -> Field | None:
        self._note(("field", qualified))
        return self._facts.field(qualified)


class Asking:
    """A release; what is asked of it is noted."""

    def __init__(self, basis: Basis, note: Note) -> None:
        self._basis = basis
        self._note = note
        self.facts = _AskingFacts(basis, note)
        self.changed = basis.changed
        self.place = basis.place

    def behaviour(self, subject: str) -> Mapping[str, Any] | None:
        self._note(("verified", subject))
        found = self._basis.behaviour(subject)
        return Noted(found, self._note, "behaviour", subject) if found else found

    def literal(self, dest: str) -> Property:
        self._note(("default", dest))
        return self._basis.literal(dest)

    def graph_mode(self, level: int) -> Fact | None:
        self._note(("graph mode", level))
        return self._basis.graph_mode(level)


@dataclass(slots=True)
class SharingContext(Context):
    """A launch in the release at `index` of a panel, and what is found for the `group` of those that read it alike.

    `kept` is the group's. `notes` are the questions of the derivation that runs.
    """

    panel: Panel[Basis]
    index: int
    kept: Kept
    group: int = 0
    notes: list[Question] = field(default_factory=list)

    def note(self, question: Question) -> None:
        """Note a question to the release."""
        self.notes.append(question)

    def once(self, name: str, find: Callable[[Context], Found]) -> Found:
        """What is found under a name, for all releases of the group that answer alike."""
        shared = self._kept(name)
        if shared is None:
            outer, self.notes = self.notes, []
            answer = find(self)
            questions = tuple(dict.fromkeys(self.notes))
            self.notes = outer
            shared = Shared(answer, self.panel.alike(self.index, questions, self.group), questions)
            self.kept.setdefault(name, []).append(shared)
        self.notes += shared.questions
        found: Found = shared.found
        return found

    def holds(self, name: str) -> int:
        """The releases for which what was found under a name holds."""
        shared = self._kept(name)
        return shared.releases if shared is not None else 0

    def _kept(self, name: str) -> Shared | None:
        for shared in self.kept.get(name, ()):
            if shared.releases >> self.index & 1:
                return shared
        return None
