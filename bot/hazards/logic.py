"""Predicates in three-valued logic: what a rule asks of a service in one world.

`holds` answers True, False, or None for "unknown": an unknown part decides nothing that the known parts have not
decided already. `missing` says in words what an unknown answer would need.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from bot.engine.model import Property, Value
from bot.hazards.model import Observation, Situation, Status
from bot.hazards.releases import ReleaseRange, Truth, Upstream, agreed

FixPlace = Literal["release", "image", "overlay"]
FIX_PLACES: tuple[FixPlace, ...] = ("release", "image", "overlay")


class Others(Protocol):
    """What the other rules make of the service: for rules whose weight depends on them."""

    def status(self, rule: str) -> Status | None:
        """The worst status of the rule's findings on this service; None without a finding."""

    def depends_on(self, situation: Situation, setting: str) -> Truth:
        """Whether some rule's truth in `situation` hangs on what `setting` decides."""


@dataclass(slots=True)
class View:
    """What a predicate looks at: a situation, perhaps narrowed to one release or one observation."""

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
        return cls(situation, situation.properties, situation.releases, upstream, contains=situation.pin.contains)

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
            {**self.properties, **properties},
            self.releases,
            self.upstream,
            contains=(*self.contains, *contains),
        )


class Predicate(ABC):
    """A question with a three-valued answer."""

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
        return any(isinstance(leaf, ReleaseTest | FixTest) for leaf in self._leaves())

    @property
    def size(self) -> int:
        """How many questions it asks: how closely a stack describes."""
        return len(self.leaves)

    @property
    def properties(self) -> tuple[str, ...]:
        """The properties that it reads, in its own order."""
        names = (name for leaf in self._leaves() if isinstance(leaf, PropertyTest | KnownTest) for name in leaf.names)
        return tuple(dict.fromkeys(names))

    @abstractmethod
    def _holds(self, view: View) -> Truth: ...

    def _missing(self, view: View) -> Iterable[str]:  # noqa: ARG002 - most leaves are never unknown
        return ()

    def _affirmed(self, view: View) -> bool:  # noqa: ARG002 - only properties speak for a hazard
        return False

    def _leaves(self) -> Iterator[Predicate]:
        yield self


@dataclass(frozen=True, slots=True)
class All(Predicate):
    """Every part holds."""

    parts: tuple[Predicate, ...]

    def _holds(self, view: View) -> Truth:
        answer: Truth = True
        for part in self.parts:
            found = part._holds(view)
            if found is False:
                return False
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
class AnyOf(Predicate):
    """At least one part holds."""

    parts: tuple[Predicate, ...]

    def _holds(self, view: View) -> Truth:
        answer: Truth = False
        for part in self.parts:
            found = part._holds(view)
            if found:
                return True
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


Comparison = Callable[[Any], Truth]


def one_of(values: Sequence[Value]) -> Comparison:
    """Membership that tells `true` from 1."""
    known = frozenset((type(value), value) for value in values)
    return lambda value: (type(value), value) in known


def at_least(bound: float) -> Comparison:
    """Unknown for what is not a number."""
    return lambda value: value >= bound if _is_number(value) else None


def at_most(bound: float) -> Comparison:
    """Unknown for what is not a number."""
    return lambda value: value <= bound if _is_number(value) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class PropertyTest(Predicate):
    """A property compared; of several names, the first that is known."""

    names: tuple[str, ...]
    compare: Comparison

    def _holds(self, view: View) -> Truth:
        for name in self.names:
            found = view.properties.get(name)
            if found is not None and found.certainty != "unknown":
                return self.compare(found.value)
        return None

    def _missing(self, view: View) -> Iterator[str]:
        for name in self.names:
            yield lacking(name, view.properties.get(name))

    def _affirmed(self, view: View) -> bool:
        return self._holds(view) is True


def lacking(name: str, found: Property | None) -> str:
    """An unknown property, with the reason that its stage gave."""
    reason = found.because[-1].text if found is not None and found.because else ""
    return f"{name}: {reason}" if reason else name


@dataclass(frozen=True, slots=True)
class KnownTest(Predicate):
    """Whether a property is known at all. Never itself unknown."""

    names: tuple[str, ...]
    known: bool

    def _holds(self, view: View) -> Truth:
        found = view.properties.get(self.names[0])
        return (found is not None and found.certainty != "unknown") is self.known


@dataclass(frozen=True, slots=True)
class ReleaseTest(Predicate):
    """Whether the engine's release lies in a range."""

    range: ReleaseRange

    def _holds(self, view: View) -> Truth:
        return agreed([self.range.holds(release) for release in view.releases])

    def _missing(self, view: View) -> Iterator[str]:
        yield lacking_release(view)


def lacking_release(view: View) -> str:
    """That the release is not known, with the reason that the pin gives."""
    why = view.situation.pin.why
    return f"the engine's release: {why}" if why else "the engine's release"


@dataclass(frozen=True, slots=True)
class FixTest(Predicate):
    """Whether the engine has an upstream fix: by its release, by the image's declaration, or by a wired overlay."""

    reference: str
    places: tuple[FixPlace, ...]

    def _holds(self, view: View) -> Truth:
        answer: Truth = False
        for place in self.places:
            found = self._in(place, view)
            if found:
                return True
            if found is None:
                answer = None
        return answer

    def _in(self, place: FixPlace, view: View) -> Truth:
        if place == "release":
            return view.upstream.contains(self.reference, view.releases)
        if place == "image":
            return True if self.reference in view.contains else declared(view)
        wired = [overlay.wired for overlay in view.situation.overlays if self.reference in overlay.upstream]
        if True in wired:
            return True
        return None if None in wired else False

    def _missing(self, view: View) -> Iterator[str]:
        if "overlay" in self.places:
            for overlay in view.situation.overlays:
                if self.reference in overlay.upstream and overlay.wired is None:
                    yield f"whether the overlay {overlay.id} is applied: {overlay.why}"
        if "image" in self.places and self.reference not in view.contains and declared(view) is None:
            yield f"whether the image contains {self.reference}"
        if "release" in self.places and view.upstream.contains(self.reference, view.releases) is None:
            named = ", ".join(view.releases) if len(view.releases) == 1 else "the release"
            yield f"whether {named or 'the release'} contains {self.reference}"


def declared(view: View) -> Truth:
    """False: the image has nothing beyond what is listed. None: it may have anything."""
    pin = view.situation.pin
    return False if pin.stock or pin.contains or pin.adds else None


@dataclass(frozen=True, slots=True)
class SmTest(Predicate):
    """Whether one of the compute capabilities is among the service's targets."""

    wanted: frozenset[int]

    def _holds(self, view: View) -> Truth:
        targets = view.situation.sm
        return not self.wanted.isdisjoint(targets) if targets else None

    def _missing(self, view: View) -> Iterable[str]:  # noqa: ARG002
        return ("the GPU that the service is meant for",)


@dataclass(frozen=True, slots=True)
class ImageTest(Predicate):
    """Whether the image is an unmodified upstream one (`stock`), or is declared to add something (`adds`)."""

    stock: bool | None = None
    adds: str | None = None

    def _holds(self, view: View) -> Truth:
        pin = view.situation.pin
        if self.adds is not None:
            return True if self.adds in pin.adds else declared(view)
        return None if pin.stock is None else pin.stock is self.stock

    def _missing(self, view: View) -> Iterator[str]:
        pin = view.situation.pin
        yield f"what the image {pin.image} adds to its release" if pin.image else "what the image adds to its release"


@dataclass(frozen=True, slots=True)
class ObservationTest(Predicate):
    """Whether the observation is of one of these kinds."""

    kinds: frozenset[str]

    def _holds(self, view: View) -> Truth:
        return view.observation is not None and view.observation.kind in self.kinds


@dataclass(frozen=True, slots=True)
class FieldTest(Predicate):
    """A field of the observation compared; of a list, any item. Unknown when the stage did not deliver the field."""

    name: str
    compare: Comparison

    def _holds(self, view: View) -> Truth:
        fields = view.observation.fields if view.observation else {}
        if self.name not in fields:
            return None
        found = fields[self.name]
        if isinstance(found, list | tuple):
            return any(self.compare(item) is True for item in found)
        return self.compare(found)

    def _missing(self, view: View) -> Iterable[str]:  # noqa: ARG002
        return (self.name,)


@dataclass(frozen=True, slots=True)
class DefaultWorldTest(Predicate):
    """Whether this is the default world."""

    default: bool

    def _holds(self, view: View) -> Truth:
        return view.situation.world.default is self.default


@dataclass(frozen=True, slots=True)
class RuleTest(Predicate):
    """Whether another rule stands on this service: one by name, or one that a field of the observation lists."""

    rule: str | None
    in_field: str | None
    statuses: frozenset[str]

    def _holds(self, view: View) -> Truth:
        return view.others is not None and any(view.others.status(rule) in self.statuses for rule in self._rules(view))

    def _rules(self, view: View) -> Sequence[str]:
        if self.rule is not None:
            return (self.rule,)
        listed = view.observation.fields.get(self.in_field or "", ()) if view.observation else ()
        return listed if isinstance(listed, list | tuple) else (listed,)


@dataclass(frozen=True, slots=True)
class MattersTest(Predicate):
    """Whether the setting that a field of the observation names decides some other rule."""

    in_field: str

    def _holds(self, view: View) -> Truth:
        setting = view.observation.fields.get(self.in_field) if view.observation else None
        if view.others is None or not isinstance(setting, str):
            return None
        return view.others.depends_on(view.situation, setting)

    def _missing(self, view: View) -> Iterable[str]:  # noqa: ARG002
        return ("which rules the setting decides",)


@dataclass(frozen=True, slots=True)
class Always(Predicate):
    """True: of a rule that fires wherever its observation was made."""

    def _holds(self, view: View) -> Truth:  # noqa: ARG002
        return True

    def _leaves(self) -> Iterator[Predicate]:
        yield from ()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words that rules share: named sets of values, and the properties that a setting decides."""

    sets: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
