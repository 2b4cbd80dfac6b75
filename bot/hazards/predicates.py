"""From the YAML of a rule to predicates: `{property: spec_decode.method, in: treats_as_eagle}`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from bot.engine.model import PROPERTIES, Value
from bot.hazards.logic import All, Always, AnyOf, Decided, Not, Predicate, Vocabulary
from bot.hazards.model import Level, Status
from bot.hazards.questions import (
    FIX_PLACES,
    Comparison,
    DefaultWorldTest,
    FactsTest,
    FieldTest,
    FixTest,
    ImageTest,
    KnownTest,
    MattersTest,
    ObservationTest,
    PropertyTest,
    ReleaseKnownTest,
    ReleaseTest,
    RuleTest,
    SetTest,
    SettingTest,
    SmTest,
    at_least,
    at_most,
    one_of,
)
from bot.hazards.releases import ReleaseRange
from bot.references import normalise

Trail = tuple[str | int, ...]
"""Where in the file: the keys and indices that lead to a value."""

MAX_DEPTH = 20
"""Nesting of a predicate: far beyond what a person can read."""

STATUSES: tuple[Status, ...] = get_args(Status)
LEVELS: tuple[Level, ...] = get_args(Level)
COMPARISONS = ("is", "in", "at_least", "at_most")
PROPERTY_NAMES = frozenset(PROPERTIES)


class MisreadError(Exception):
    """A rule says something that has no meaning. `trail` leads to the place, `hint` says what was perhaps meant."""

    def __init__(self, trail: Trail, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.trail = trail
        self.message = message
        self.hint = hint


def did_you_mean(word: object, known: Sequence[str] | frozenset[str]) -> str:
    """A hint: the known word that is nearest, or all of them."""
    from difflib import get_close_matches  # only ever needed for an error

    close = get_close_matches(str(word), sorted(known), n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"known here: {', '.join(sorted(known))}"


def only_keys(data: Mapping[Any, Any], known: frozenset[str], trail: Trail) -> None:
    """Refuse keys that mean nothing."""
    for key in data:
        if key not in known:
            raise MisreadError((*trail, key), f"unknown key {key!r}", did_you_mean(key, known))


class PredicateReader:
    """Compiles predicates with the words that all rules share.

    `observed` says whether the rule is about observations: only then may it ask for their kind and fields.
    """

    def __init__(self, vocabulary: Vocabulary, observed: frozenset[str] = frozenset()) -> None:
        self._vocabulary = vocabulary
        self._observed = observed
        self._readers: dict[str, tuple[frozenset[str], Callable[[Any, Trail, int], Predicate]]] = {
            "all": (frozenset(), self._all),
            "any": (frozenset(), self._any),
            "not": (frozenset(), self._not),
            "decided": (frozenset(), self._decided),
            "property": (frozenset((*COMPARISONS, "known", "set")), self._property),
            "setting": (frozenset(), self._setting),
            "release": (frozenset(), self._release),
            "facts": (frozenset(), self._facts),
            "fix": (frozenset({"by"}), self._fix),
            "sm": (frozenset(), self._sm),
            "image": (frozenset(), self._image),
            "observation": (frozenset(), self._observation),
            "field": (frozenset((*COMPARISONS, "filled")), self._field),
            "world": (frozenset(), self._world),
            "rule": (frozenset({"status", "level"}), self._rule),
            "matters": (frozenset(), self._matters),
        }

    def read(self, data: object, trail: Trail, depth: int = 0) -> Predicate:
        """Compile one predicate; nothing (None) always holds."""
        if depth > MAX_DEPTH:
            raise MisreadError(trail, "the predicate is nested too deeply")
        if data is None:
            return Always()
        if not isinstance(data, dict):
            raise MisreadError(trail, "a predicate is a mapping, like {property: prefix_caching, is: true}")
        subjects = [key for key in data if key in self._readers]
        if len(subjects) != 1:
            word = next((key for key in data if key not in self._readers), "")
            hint = did_you_mean(word, frozenset(self._readers)) if not subjects else "put them below `all:` or `any:`"
            what = "asks nothing" if not subjects else f"asks {len(subjects)} things at once ({', '.join(subjects)})"
            raise MisreadError((*trail, word) if word and not subjects else trail, f"the predicate {what}", hint)
        subject = subjects[0]
        options, reader = self._readers[subject]
        only_keys(data, options | {subject}, trail)
        return reader(data, trail, depth)

    def _all(self, data: Any, trail: Trail, depth: int) -> Predicate:
        return All(self._parts(data["all"], (*trail, "all"), depth))

    def _any(self, data: Any, trail: Trail, depth: int) -> Predicate:
        return AnyOf(self._parts(data["any"], (*trail, "any"), depth))

    def _not(self, data: Any, trail: Trail, depth: int) -> Predicate:
        return Not(self.read(data["not"], (*trail, "not"), depth + 1))

    def _decided(self, data: Any, trail: Trail, depth: int) -> Predicate:
        return Decided(self.read(data["decided"], (*trail, "decided"), depth + 1))

    def _parts(self, data: object, trail: Trail, depth: int) -> tuple[Predicate, ...]:
        if not isinstance(data, list) or not data:
            raise MisreadError(trail, "a list of predicates is expected here")
        return tuple(self.read(part, (*trail, index), depth + 1) for index, part in enumerate(data))

    def _property(self, data: Any, trail: Trail, _depth: int) -> Predicate:
        names = texts(data["property"], (*trail, "property"))
        for name in names:
            if name not in PROPERTY_NAMES:
                raise MisreadError(
                    (*trail, "property"), f"unknown property {name!r}", did_you_mean(name, PROPERTY_NAMES)
                )
        for word, test in (("known", KnownTest), ("set", SetTest)):
            if word in data:
                if len(data) != 2 or len(names) != 1 or not isinstance(data[word], bool):
                    raise MisreadError(trail, f"`{word}:` takes true or false, for one property, without a comparison")
                return test(names, data[word])
        questions = tuple(self._vocabulary.questions.get(name, name) for name in names)
        return PropertyTest(names, self._comparison(data, trail), questions)

    def _comparison(self, data: Mapping[str, Any], trail: Trail) -> Comparison:
        given = [key for key in COMPARISONS if key in data]
        if len(given) != 1:
            raise MisreadError(trail, f"one comparison is expected: {', '.join(COMPARISONS)}")
        key, wanted = given[0], data[given[0]]
        place = (*trail, key)
        if key == "is":
            return one_of((scalar(wanted, place),))
        if key == "in":
            return one_of(self._values(wanted, place))
        if isinstance(wanted, bool) or not isinstance(wanted, int | float):
            raise MisreadError(place, f"`{key}:` takes a number")
        return at_least(wanted) if key == "at_least" else at_most(wanted)

    def _values(self, wanted: object, trail: Trail) -> tuple[Value, ...]:
        if isinstance(wanted, str):
            if wanted not in self._vocabulary.sets:
                names = frozenset(self._vocabulary.sets)
                raise MisreadError(trail, f"no set of values is named {wanted!r}", did_you_mean(wanted, names))
            return self._vocabulary.sets[wanted]
        if not isinstance(wanted, list) or not wanted:
            raise MisreadError(trail, "`in:` takes a list of values, or the name of a set in rules/vocabulary.yml")
        return tuple(scalar(value, (*trail, index)) for index, value in enumerate(wanted))

    def _setting(self, data: Any, trail: Trail, _depth: int) -> Predicate:
        return SettingTest(text(data["setting"], (*trail, "setting")))

    def _release(self, data: Any, trail: Trail, _depth: int) -> Predicate:
        if data["release"] == "known":
            return ReleaseKnownTest()
        return ReleaseTest(release_range(data["release"], (*trail, "release")))

    def _facts(self, data: Any, trail: Trail, _depth: int) -> Predicate:
        if data["facts"] not in ("exact", "apply"):
            raise MisreadError((*trail, "facts"), "`facts:` is `exact` or `apply`")
        return FactsTest(data["facts"] == "exact")

    def _fix(self, data: Any, trail: Trail, _depth: int) -> Predicate:
        places = texts(data["by"], (*trail, "by")) if "by" in data else FIX_PLACES
        for place in places:
            if place not in FIX_PLACES:
                raise MisreadError((*trail, "by"), f"a fix comes by {', '.join(FIX_PLACES)}, not by {place!r}")
        chosen = tuple(place for place in FIX_PLACES if place in places)
        return FixTest(reference(data["fix"], (*trail, "fix")), chosen)

    def _sm(self, data: Any, trail: Trail, _depth: int) -> Predicate:
        wanted = data["sm"] if isinstance(data["sm"], list) else [data["sm"]]
        if not wanted or not all(type(value) is int for value in wanted):
            raise MisreadError((*trail, "sm"), "`sm:` takes compute capabilities times ten, like [120, 121]")
        return SmTest(frozenset(wanted))

    def _image(self, data: Any, trail: Trail, _depth: int) -> Predicate:
        wanted, place = data["image"], (*trail, "image")
        if not isinstance(wanted, dict) or len(wanted) != 1:
            raise MisreadError(place, "`image:` takes one of {stock:}, {described: true}, {plain: true}, {adds:}")
        only_keys(wanted, frozenset({"stock", "adds", "described", "plain"}), place)
        if "adds" in wanted:
            return ImageTest(adds=text(wanted["adds"], (*place, "adds")))
        for word in ("described", "plain"):
            if word in wanted:
                if wanted[word] is not True:
                    raise MisreadError((*place, word), f"`{word}:` is true or unknown, never false")
                return ImageTest(described=word == "described", plain=word == "plain")
        return ImageTest(stock=truth(wanted["stock"], (*place, "stock")))

    def _observation(self, data: Any, trail: Trail, _depth: int) -> Predicate:
        kinds = texts(data["observation"], (*trail, "observation"))
        for kind in kinds:
            if kind not in self._observed:
                raise MisreadError((*trail, "observation"), f"the rule does not say that it observes {kind!r}")
        return ObservationTest(frozenset(kinds))

    def _field(self, data: Any, trail: Trail, _depth: int) -> Predicate:
        self._needs_observation("field", trail)
        name = text(data["field"], (*trail, "field"))
        if "filled" not in data:
            return FieldTest(name, self._comparison(data, trail))
        if len(data) != 2:
            raise MisreadError(trail, "`filled:` takes true or false, without a comparison")
        return FieldTest(name, None) if truth(data["filled"], (*trail, "filled")) else Not(FieldTest(name, None))

    def _world(self, data: Any, trail: Trail, _depth: int) -> Predicate:
        if data["world"] not in ("default", "other"):
            raise MisreadError((*trail, "world"), "`world:` is `default` or `other`")
        return DefaultWorldTest(data["world"] == "default")

    def _rule(self, data: Any, trail: Trail, _depth: int) -> Predicate:
        self._needs_observation("rule", trail)
        statuses = texts(data.get("status", ["active"]), (*trail, "status"))
        for status in statuses:
            if status not in STATUSES:
                raise MisreadError((*trail, "status"), f"no status {status!r}", did_you_mean(status, STATUSES))
        levels = texts(data["level"], (*trail, "level")) if "level" in data else ()
        for level in levels:
            if level not in LEVELS:
                raise MisreadError(trail, f"no level {level!r}", did_you_mean(level, LEVELS))
        if isinstance(data["rule"], str):
            return RuleTest(data["rule"], None, frozenset(statuses), frozenset(levels))
        return RuleTest(None, self._in_field(data["rule"], (*trail, "rule")), frozenset(statuses), frozenset(levels))

    def _matters(self, data: Any, trail: Trail, _depth: int) -> Predicate:
        return MattersTest(self._in_field(data["matters"], (*trail, "matters")))

    def _in_field(self, data: object, trail: Trail) -> str:
        self._needs_observation("in_field", trail)
        if not isinstance(data, dict) or set(data) != {"in_field"}:
            raise MisreadError(trail, "name the observation's field: {in_field: NAME}")
        return text(data["in_field"], (*trail, "in_field"))

    def _needs_observation(self, what: str, trail: Trail) -> None:
        if not self._observed:
            raise MisreadError(trail, f"`{what}:` needs a rule that `observes:` something")


def text(data: object, trail: Trail) -> str:
    """A text that is not blank."""
    if not isinstance(data, str) or not data.strip():
        raise MisreadError(trail, "a text is expected here")
    return data


def texts(data: object, trail: Trail) -> tuple[str, ...]:
    """One text or a list of them."""
    if isinstance(data, list):
        if not data:
            raise MisreadError(trail, "the list is empty")
        return tuple(text(item, (*trail, index)) for index, item in enumerate(data))
    return (text(data, trail),)


def truth(data: object, trail: Trail) -> bool:
    """True or false, as YAML says it."""
    if not isinstance(data, bool):
        raise MisreadError(trail, "true or false is expected here")
    return data


def scalar(data: object, trail: Trail) -> Value:
    """A value that a property can have."""
    if data is not None and not isinstance(data, str | int | float | bool):
        raise MisreadError(trail, "a single value is expected here")
    return data


def reference(data: object, trail: Trail) -> str:
    """An upstream reference, written in full: rules are read by people who search for it."""
    if not isinstance(data, str) or normalise(data) != data:
        known = normalise(data) if isinstance(data, str | int) else None
        raise MisreadError(trail, f"not a full upstream reference: {data!r}", f"write {known!r}" if known else "")
    return data


def release_range(data: object, trail: Trail) -> ReleaseRange:
    """`>=0.26.0,<0.28.0`."""
    try:
        return ReleaseRange(text(data, trail))
    except ValueError as error:
        raise MisreadError(trail, str(error)) from None
