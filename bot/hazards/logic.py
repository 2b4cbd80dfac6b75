"""Predicates in three-valued logic: what a rule asks of a service in one world.

`decide` answers True, False, or None for "unknown": an unknown part decides nothing that the known parts have not
decided already. `missing` says in words what an unknown answer would need.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from bot.engine.model import Property, Value, undoubted
from bot.hazards.model import Level, Observation, Situation, Status
from bot.hazards.releases import Truth, Upstream, agreed


class Others(Protocol):
    """What the other rules make of the service: for rules whose weight depends on them."""

    def status(self, rule: str) -> Status | None:
        """The worst status of the rule's findings on this service; None without a finding."""

    def level(self, rule: str) -> Level | None:
        """The level of the rule's finding on this service; None without a finding."""

    def depends_on(self, situation: Situation, setting: str) -> Truth:
        """Whether some rule's truth in `situation` hangs on what `setting` decides."""


@dataclass(slots=True)
class View:
    """What a predicate looks at: a situation, perhaps narrowed to one release or one observation.

    No predicate asks how certain `properties` are: they are the undoubted ones.
    """

    situation: Situation
    properties: Mapping[str, Property]
    releases: tuple[str, ...]
    upstream: Upstream
    observation: Observation | None = None
    others: Others | None = None
    contains: tuple[str, ...] = ()

    @classmethod
    def of(cls, situation: Situation, upstream: Upstream) -> View:
        """The situation as it is."""
        properties = undoubted(situation.properties)
        return cls(situation, properties, situation.releases, upstream, contains=situation.pin.contains)

    def about(self, observation: Observation, others: Others) -> View:
        """The same situation, seen by a rule that asks about one of its observations."""
        return View(
            self.situation, self.properties, self.releases, self.upstream, observation, others, contains=self.contains
        )

    def on_release(self, release: str) -> View:
        """The same situation, if the pin means this release."""
        return View(
            self.situation,
            self.properties,
            (release,),
            self.upstream,
            self.observation,
            self.others,
            self.contains,
        )

    def changed(self, properties: Mapping[str, Property], contains: Sequence[str]) -> View:
        """The view after a remedy: some properties differ, and the image has more fixes."""
        return View(
            self.situation,
            ChainMap(dict(properties), self.properties),  # type: ignore[arg-type] # only ever read
            self.releases,
            self.upstream,
            contains=(*self.contains, *contains),
        )


class Predicate(ABC):
    """A question with a three-valued answer."""

    differs_by_release: ClassVar[bool] = False

    def decide(self, view: View) -> Truth:
        """The answer; for a pin that may mean several releases, what holds in each of them, when they agree.

        Asked of all at once, `release < 0.26 or release >= 0.26` would be unknown.
        """
        answer = self._holds(view)
        if answer is not None or len(view.releases) < 2 or not self.asks_release:
            return answer
        return agreed([self._holds(view.on_release(release)) for release in view.releases])

    def missing(self, view: View) -> tuple[str, ...]:
        """What the unknown parts would need to know, in words."""
        return tuple(dict.fromkeys(self._missing(view)))

    def affirmed(self, view: View) -> bool:
        """Whether at least one property is known to be as the predicate wants it."""
        return self._affirmed(view)

    @property
    def leaves(self) -> tuple[Predicate, ...]:
        """The parts that ask something themselves."""
        return tuple(self._leaves())

    @property
    def asks_release(self) -> bool:
        """Whether the answer can differ from release to release with the same properties."""
        return any(leaf.differs_by_release for leaf in self._leaves())

    @property
    def size(self) -> int:
        """How many questions it asks: how closely a stack describes."""
        return len(self.leaves)

    @property
    def properties(self) -> tuple[str, ...]:
        """The properties that it reads, in its own order."""
        return tuple(dict.fromkeys(name for leaf in self._leaves() for name in leaf._reads()))

    @abstractmethod
    def _holds(self, view: View) -> Truth: ...

    def _missing(self, view: View) -> Iterable[str]:  # noqa: ARG002 - most leaves are never unknown
        return ()

    def _affirmed(self, view: View) -> bool:  # noqa: ARG002 - only properties speak for a hazard
        return False

    def _leaves(self) -> Iterator[Predicate]:
        yield self

    def _reads(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Joined(Predicate):
    """Several parts, of which some answer settles the whole."""

    settling: ClassVar[bool]
    """The answer of a part that settles the whole, whatever the others say."""

    parts: tuple[Predicate, ...]

    def _holds(self, view: View) -> Truth:
        answer: Truth = not self.settling
        for part in self.parts:
            found = part._holds(view)
            if found is self.settling:
                return found
            if found is None:
                answer = None
        return answer

    def _missing(self, view: View) -> Iterator[str]:
        for part in self.parts:
            if part._holds(view) is None:
                yield from part._missing(view)

    def _leaves(self) -> Iterator[Predicate]:
        for part in self.parts:
            yield from part._leaves()

    def _affirmed(self, view: View) -> bool:
        return any(part._affirmed(view) for part in self.parts)


@dataclass(frozen=True, slots=True)
class All(Joined):
    """Every part holds."""

    settling: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class AnyOf(Joined):
    """At least one part holds."""

    settling: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Not(Predicate):
    """The part does not hold. It speaks for nothing: what is absent is seldom why a hazard is there."""

    part: Predicate

    def _holds(self, view: View) -> Truth:
        found = self.part._holds(view)
        return None if found is None else not found

    def _missing(self, view: View) -> Iterator[str]:
        yield from self.part._missing(view)

    def _leaves(self) -> Iterator[Predicate]:
        yield from self.part._leaves()


@dataclass(frozen=True, slots=True)
class Decided(Predicate):
    """Whether the part can be answered at all. Never itself unknown: for words, not for what makes a hazard."""

    part: Predicate

    def _holds(self, view: View) -> Truth:
        return self.part.decide(view) is not None

    def _leaves(self) -> Iterator[Predicate]:
        yield from self.part._leaves()


@dataclass(frozen=True, slots=True)
class Always(Predicate):
    """True: of a rule that fires wherever its observation was made."""

    def _holds(self, view: View) -> Truth:  # noqa: ARG002
        return True

    def _leaves(self) -> Iterator[Predicate]:
        yield from ()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words that rules share: named sets of values, the properties that a setting decides, and what a person would
    ask to learn a property.
    """

    sets: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    questions: Mapping[str, str] = field(default_factory=dict)
