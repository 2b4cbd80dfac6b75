"""The questions that predicates are made of: about properties, release, image, GPU, observations and other rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from bot.engine.model import Property, Value
from bot.hazards.logic import Predicate, View
from bot.hazards.releases import ReleaseRange, Truth, agreed, lies_within

FixPlace = Literal["release", "image", "overlay"]
FIX_PLACES: tuple[FixPlace, ...] = ("release", "image", "overlay")

Comparison = Callable[[Any], Truth]


def one_of(values: Sequence[Value]) -> Comparison:
    """Membership that tells `true` from 1. A string of a compose, which knows where it stands, is a string."""
    known = frozenset((type(value), value) for value in values)
    return lambda value: (str if isinstance(value, str) else type(value), value) in known


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
    questions: tuple[str, ...]

    def _reads(self) -> tuple[str, ...]:
        return self.names

    def _holds(self, view: View) -> Truth:
        for name in self.names:
            found = view.properties.get(name)
            if found is not None and found.certainty != "unknown":
                return self.compare(found.value)
        return None

    def _missing(self, view: View) -> Iterator[str]:
        for name, question in zip(self.names, self.questions, strict=True):
            yield lacking(name, question, view.properties.get(name))

    def _affirmed(self, view: View) -> bool:
        return self._holds(view) is True


def lacking(name: str, question: str, found: Property | None) -> str:
    """An unknown property as a person asks for it, with the reason that its stage gave.

    A stage that has no reason but the property's own name has found nobody who says.
    """
    reason = found.because[-1].text if found is not None and found.because else ""
    if reason == f"nothing says what {name} is":
        reason = "no profile or known name says so"
    if reason.startswith(f"{name}: "):
        reason = f"releases differ, {reason.removeprefix(f'{name}: ')}"
    return f"{question}: {reason.replace(name, 'it')}" if reason else question


@dataclass(frozen=True, slots=True)
class KnownTest(Predicate):
    """Whether a property is known at all. Never itself unknown."""

    names: tuple[str, ...]
    known: bool

    def _reads(self) -> tuple[str, ...]:
        return self.names

    def _holds(self, view: View) -> Truth:
        found = view.properties.get(self.names[0])
        return (found is not None and found.certainty != "unknown") is self.known


@dataclass(frozen=True, slots=True)
class SetTest(Predicate):
    """Whether the deployment itself sets a property, rather than the engine's default. Never itself unknown."""

    names: tuple[str, ...]
    wanted: bool

    def _reads(self) -> tuple[str, ...]:
        return self.names

    def _holds(self, view: View) -> Truth:
        found = view.properties.get(self.names[0])
        kinds = {reason.kind for reason in found.because} if found is not None and found.known else set()
        stated = not kinds.isdisjoint(("compose", "shell")) and "engine-default" not in kinds
        return stated is self.wanted


@dataclass(frozen=True, slots=True)
class SettingTest(Predicate):
    """Whether the deployment gives an option of the engine at all, by its name in the engine's own configuration."""

    name: str

    def _holds(self, view: View) -> Truth:
        settings = view.situation.settings
        return None if settings is None else self.name in settings

    def _missing(self, view: View) -> Iterator[str]:  # noqa: ARG002
        yield f"whether {self.name} is set"


@dataclass(frozen=True, slots=True)
class ReleaseKnownTest(Predicate):
    """Whether the pin names its release. Never itself unknown."""

    def _holds(self, view: View) -> Truth:
        return view.situation.pin.release is not None


@dataclass(frozen=True, slots=True)
class FactsTest(Predicate):
    """Whether what the engine stage says was read in the pinned release itself (`exact`), or at least speaks for it.

    It does for a release that lies between two that agree, and for a pin without a release, of which nothing better is
    known. For an older or newer one it is unknown.
    """

    exact: bool

    def _holds(self, view: View) -> Truth:
        release = view.situation.pin.release
        asked = asked_releases(view)
        if self.exact:
            return release is not None and set(asked) <= {release}
        return True if release is None or not asked or lies_within(release, asked[0], asked[-1]) else None

    def _missing(self, view: View) -> Iterator[str]:
        asked = asked_releases(view)
        release = view.situation.pin.release
        yield f"what vLLM {release} makes of it: only {asked[0]} to {asked[-1]} have been looked into"


def asked_releases(view: View) -> tuple[str, ...]:
    """The releases whose facts gave properties and observations, oldest first."""
    return view.situation.asked or view.situation.releases


@dataclass(frozen=True, slots=True)
class ReleaseTest(Predicate):
    """Whether the engine's release lies in a range."""

    differs_by_release: ClassVar[bool] = True
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

    differs_by_release: ClassVar[bool] = True
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

    def patch(self, view: View) -> str:
        """The vendored patch on whose word alone the engine has the fix; empty where a release or an image has it."""
        if any(self._in(place, view) for place in self.places if place != "overlay"):
            return ""
        wired = (overlay for overlay in view.situation.overlays if overlay.wired)
        named = (overlay.id for overlay in wired if self.reference in overlay.upstream)
        return next(named, "") if "overlay" in self.places else ""

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
    """Whether the image is an unmodified upstream one (`stock`), or is declared to add something (`adds`).

    `described`: somebody says what it is, by its name or a declaration; `plain`: it has nothing that its release lacks.
    Neither can be known to be false.
    """

    stock: bool | None = None
    adds: str | None = None
    described: bool = False
    plain: bool = False

    def _holds(self, view: View) -> Truth:
        pin = view.situation.pin
        if self.adds is not None:
            return True if self.adds in pin.adds else declared(view)
        if self.described:
            return bool(pin.stock or pin.release or pin.contains or pin.adds) or None
        if self.plain:
            return pin.stock or None
        return None if pin.stock is None else pin.stock is self.stock

    def _missing(self, view: View) -> Iterator[str]:
        image = view.situation.pin.image
        told = "what {} adds to its release" if self.adds or self.stock is not None else "what is in {}"
        yield told.format(f"the image {image}" if image else "the image")


@dataclass(frozen=True, slots=True)
class ObservationTest(Predicate):
    """Whether the observation is of one of these kinds."""

    kinds: frozenset[str]

    def _holds(self, view: View) -> Truth:
        return view.observation is not None and view.observation.kind in self.kinds


@dataclass(frozen=True, slots=True)
class FieldTest(Predicate):
    """A field of the observation compared; of a list, any item. Unknown when the stage did not deliver the field.

    Without a comparison: whether there is anything in the field, which is never itself unknown. What an undelivered
    field would need may be told in the field `lacking`, by the name of the other.
    """

    name: str
    compare: Comparison | None

    def _holds(self, view: View) -> Truth:
        fields = view.observation.fields if view.observation else {}
        if self.compare is None:
            return bool(fields.get(self.name))
        if self.name not in fields:
            return None
        found = fields[self.name]
        if isinstance(found, list | tuple):
            return any(self.compare(item) is True for item in found)
        return self.compare(found)

    def _missing(self, view: View) -> Iterable[str]:
        told = view.observation.fields.get("lacking", {}) if view.observation else {}
        return (str(told.get(self.name, self.name)),)


@dataclass(frozen=True, slots=True)
class DefaultWorldTest(Predicate):
    """Whether this is the default world."""

    default: bool

    def _holds(self, view: View) -> Truth:
        return view.situation.world.default is self.default


@dataclass(frozen=True, slots=True)
class RuleTest(Predicate):
    """Whether another rule stands on this service: one by name, or one that a field of the observation lists.

    `levels` empty means: at any level.
    """

    rule: str | None
    in_field: str | None
    statuses: frozenset[str]
    levels: frozenset[str] = frozenset()

    def _holds(self, view: View) -> Truth:
        others = view.others
        return others is not None and any(
            others.status(rule) in self.statuses and (not self.levels or others.level(rule) in self.levels)
            for rule in self._rules(view)
        )

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
