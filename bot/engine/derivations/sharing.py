"""Derives each property once for all releases that answer alike what its derivation asks of them.

A derivation sees a release through `Release` alone. `Asking` stands in for one and notes every question; what it found
then holds for each release that answers them as this one does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.engine.derivations.basis import Basis
from bot.engine.derivations.context import Context, Derivation, Found
from bot.engine.facts import Fact, Field
from bot.engine.likeness import Note, Noted, Panel, Question, newest
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
        """What was read of the release about a property; each key that is looked up is noted."""
        self._note(("verified", subject))
        found = self._basis.behaviour(subject)
        return Noted(found, self._note, "behaviour", subject) if found else found

    def literal(self, dest: str) -> Property:
        """The parser's own default, as a property."""
        self._note(("default", dest))
        return self._basis.literal(dest)

    def graph_mode(self, level: int) -> Fact | None:
        """The CUDA graph mode that an optimisation level sets."""
        self._note(("graph mode", level))
        return self._basis.graph_mode(level)


@dataclass(slots=True)
class Shared:
    """What was found, and the set of releases for which it holds."""

    found: Any
    releases: int


class Sharing:
    """A launch in some releases of a panel, which read its command line alike. `start` is it in one of them."""

    def __init__(self, panel: Panel[Basis], releases: int, start: Context) -> None:
        self.panel = panel
        self.releases = releases
        self._start = start
        self._contexts: dict[int, SharingContext] = {}
        self._found: dict[str, list[Shared]] = {}
        self._busy: set[str] = set()
        self._named: Sharing | None = None

    def named(self) -> Sharing:
        """The same launch of the model that is only assumed."""
        if self._named is None:
            assert self._start.fuller is not None
            self._named = Sharing(self.panel, self.releases, self._start.with_model(self._start.fuller))
        return self._named

    def context(self, index: int) -> SharingContext:
        """The launch in the release at `index`."""
        found = self._contexts.get(index)
        if found is None:
            found = self._contexts[index] = self._context(index)
        return found

    def _context(self, index: int) -> SharingContext:
        basis, start = self.panel.members[index], self._start
        context = SharingContext(
            start.launch,
            start.line,
            basis,
            start.model,
            start.traits,
            start.derivations,
            self,
            index,
            fuller=start.fuller,
        )
        context.basis = Asking(basis, context.note)
        return context

    def all(self, name: str, find: Callable[[Context], Any]) -> list[Shared]:
        """What is found under a name, each thing once: first what the newest release finds, for its own reasons."""
        known = self._found.get(name)
        if known is None:
            self._busy.add(name)
            by_likeness: dict[Hashable, Shared] = {}
            rest = self.releases
            while rest:
                found, same = self.context(newest(rest)).find(find)
                same &= rest
                by_likeness.setdefault(_likeness(found), Shared(found, 0)).releases |= same
                rest &= ~same
            known = self._found[name] = list(by_likeness.values())
            self._busy.remove(name)
        return known

    def one(self, name: str, find: Callable[[Context], Any], index: int) -> Shared:
        """What is found under a name for one release."""
        if name in self._busy:  # two properties, of which each rests on the other in another release
            return Shared(*self.context(index).find(find))
        return next(shared for shared in self.all(name, find) if shared.releases >> index & 1)


def _likeness(found: Any) -> Hashable:
    """Equal for what other derivations cannot tell apart: reasons differ in words and lines, but not in kind."""
    if isinstance(found, Property):
        return repr(found.value), found.certainty, tuple([reason.kind for reason in found.because])
    return tuple([_likeness(part) if isinstance(part, Property) else part for part in found.says])


@dataclass(slots=True)
class SharingContext(Context):
    """A launch in one release of those that share. `alike` are those that have answered as it, so far."""

    sharing: Sharing
    index: int
    alike: int = 0

    def note(self, question: Question) -> None:
        """Note a question to the release."""
        self.alike &= self.sharing.panel.alike(self.index, question)

    def find(self, find: Callable[[Context], Found]) -> tuple[Found, int]:
        """What is found, and the releases that answer all that was asked on the way as this one."""
        outer, self.alike = self.alike, self.sharing.releases
        found = find(self)
        alike, self.alike = self.alike, outer
        return found, alike

    def by_name(self, derive: Derivation) -> Property:
        """What a derivation finds of the model that `fuller` describes."""
        found, alike = self.sharing.named().context(self.index).find(derive)
        self.alike &= alike
        return found

    def once(self, name: str, find: Callable[[Context], Found]) -> Found:
        """What is found under a name; worked out once for all releases that share."""
        shared = self.sharing.one(name, find, self.index)
        self.alike &= shared.releases
        found: Found = shared.found
        return found
