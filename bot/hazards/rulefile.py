"""From the YAML of one file in `rules/hazards/` to a compiled rule."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar, get_args

from bot.hazards.logic import Predicate, Vocabulary
from bot.hazards.model import Grade
from bot.hazards.predicates import (
    LEVELS,
    PROPERTY_NAMES,
    STATUSES,
    MisreadError,
    PredicateReader,
    Trail,
    did_you_mean,
    only_keys,
    reference,
    scalar,
    text,
    texts,
    truth,
)
from bot.hazards.rule import (
    EXAMPLE_OUTCOMES,
    Evidence,
    EvidenceResult,
    Example,
    LevelCase,
    MessageCase,
    Mitigation,
    Remedy,
    Rule,
)
from bot.hazards.text import Template

GRADES: tuple[Grade, ...] = get_args(Grade)
RESULTS: tuple[EvidenceResult, ...] = get_args(EvidenceResult)

REQUIRED = ("id", "title", "level", "evidence", "message", "explanation", "examples")
KEYS = frozenset(
    {*REQUIRED, "harm", "observes", "when", "mitigations", "levels", "undecided", "remedies", "upstream", "words"}
)

_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
Choice = TypeVar("Choice", bound=str)


def read_rule(data: object, path: str, vocabulary: Vocabulary) -> Rule:
    """Compile one rule. Raises `MisreadError` with the place of whatever has no meaning."""
    return _RuleReader(mapping(data, ()), path, vocabulary).read()


class _RuleReader:
    def __init__(self, data: Mapping[str, Any], path: str, vocabulary: Vocabulary) -> None:
        only_keys(data, KEYS, ())
        for key in REQUIRED:
            if key not in data:
                raise MisreadError((), f"the rule has no `{key}:`")
        self._data = data
        self._path = path
        self._observes = frozenset(texts(data["observes"], ("observes",))) if "observes" in data else frozenset()
        self._predicates = PredicateReader(vocabulary, self._observes)

    def read(self) -> Rule:
        data = self._data
        identifier = text(data["id"], ("id",))
        if not _ID.fullmatch(identifier):
            raise MisreadError(
                ("id",), f"not a name for a rule: {identifier!r}", "small letters and digits, with dashes"
            )
        if "when" not in data and not self._observes:
            raise MisreadError((), "the rule has neither `when:` nor `observes:`: it would never fire")
        return Rule(
            id=identifier,
            title=text(data["title"], ("title",)),
            level=choice(data["level"], LEVELS, ("level",)),
            silent_corruption=self._harm(),
            observes=self._observes,
            when=self._predicates.read(data.get("when"), ("when",)),
            mitigations=tuple(self._mitigation(*item) for item in self._items("mitigations")),
            evidence=self._evidence(),
            levels=tuple(self._level(*item) for item in self._items("levels")),
            messages=self._messages("message"),
            undecided=self._messages("undecided") if "undecided" in data else (),
            remedies=tuple(self._remedy(*item) for item in self._items("remedies")),
            upstream=tuple(reference(item, trail) for item, trail in self._items("upstream")),
            words=texts(data["words"], ("words",)) if "words" in data else (),
            explanation=text(data["explanation"], ("explanation",)),
            examples=tuple(_example(*item) for item in self._items("examples")),
            path=self._path,
        )

    def _items(self, key: str) -> list[tuple[Any, Trail]]:
        items = self._data.get(key, [])
        if not isinstance(items, list):
            raise MisreadError((key,), f"`{key}:` is a list")
        return [(item, (key, index)) for index, item in enumerate(items)]

    def _harm(self) -> bool:
        return "harm" in self._data and bool(choice(self._data["harm"], ("silent-corruption",), ("harm",)))

    def _when(self, item: Mapping[str, Any], trail: Trail, key: str = "when") -> Predicate:
        return self._predicates.read(item.get(key), (*trail, key))

    def _template(self, item: Mapping[str, Any], trail: Trail, key: str = "text") -> Template:
        if key not in item:
            raise MisreadError(trail, f"`{key}:` is missing")
        template = Template(text(item[key], (*trail, key)))
        if not template.balanced:
            raise MisreadError((*trail, key), "a code span is not closed", "one backquote on either side")
        for hole in template.unknown_holes(fields_allowed=bool(self._observes)):
            raise MisreadError(
                (*trail, key), f"nothing fills {{{hole}}}", "a property, or service, release, image, world…"
            )
        return template

    def _mitigation(self, item: Any, trail: Trail) -> Mitigation:
        data = mapping(item, trail)
        only_keys(data, frozenset({"when", "text"}), trail)
        if "when" not in data:
            raise MisreadError(trail, "a mitigation without `when:` would always hold")
        return Mitigation(self._when(data, trail), self._template(data, trail))

    def _evidence(self) -> tuple[Evidence, ...]:
        entries = tuple(self._entry(*item) for item in self._items("evidence"))
        if not any(entry.size == 0 and entry.result == "defect" for entry in entries):
            raise MisreadError(
                ("evidence",), "one entry without a `stack:` is needed: it grades what no other entry fits"
            )
        return entries

    def _entry(self, item: Any, trail: Trail) -> Evidence:
        data = mapping(item, trail)
        only_keys(data, frozenset({"grade", "source", "stack", "result", "sentence"}), trail)
        stack = self._when(data, trail, "stack")
        return Evidence(
            grade=choice(data.get("grade"), GRADES, (*trail, "grade")),
            source=text(data.get("source"), (*trail, "source")),
            stack=stack,
            result=choice(data.get("result", "defect"), RESULTS, (*trail, "result")),
            sentence=" ".join(text(data.get("sentence"), (*trail, "sentence")).split()),
            size=stack.size,
        )

    def _level(self, item: Any, trail: Trail) -> LevelCase:
        data = mapping(item, trail)
        only_keys(data, frozenset({"when", "status", "level"}), trail)
        statuses = texts(data["status"], (*trail, "status")) if "status" in data else ()
        return LevelCase(
            self._when(data, trail),
            frozenset(choice(status, STATUSES, (*trail, "status")) for status in statuses),
            choice(data.get("level"), LEVELS, (*trail, "level")),
        )

    def _messages(self, key: str) -> tuple[MessageCase, ...]:
        if isinstance(self._data[key], str):
            return (MessageCase(self._predicates.read(None, ()), self._template(self._data, (), key)),)
        cases = [self._message(*item) for item in self._items(key)]
        if not cases or cases[-1].when.size:
            raise MisreadError((key,), f"the last {key} must have no `when:`: it is said when no other fits")
        return tuple(cases)

    def _message(self, item: Any, trail: Trail) -> MessageCase:
        data = mapping(item, trail)
        only_keys(data, frozenset({"when", "text"}), trail)
        return MessageCase(self._when(data, trail), self._template(data, trail))

    def _remedy(self, item: Any, trail: Trail) -> Remedy:
        data = mapping(item, trail)
        only_keys(data, frozenset({"when", "text", "effect", "fixes", "seam", "edit"}), trail)
        effect = mapping(data.get("effect", {}), (*trail, "effect"))
        only_keys(effect, PROPERTY_NAMES, (*trail, "effect"))
        seam = truth(data.get("seam", False), (*trail, "seam"))
        if seam and not effect:
            raise MisreadError(trail, "a remedy by seam needs its `effect:`: the properties of the world to look for")
        fixes = data.get("fixes", [])
        return Remedy(
            self._when(data, trail),
            self._template(data, trail),
            {name: scalar(value, (*trail, "effect", name)) for name, value in effect.items()},
            tuple(reference(fix, (*trail, "fixes", index)) for index, fix in enumerate(fixes)),
            seam,
            text(data["edit"], (*trail, "edit")) if "edit" in data else "",
        )


def _example(item: Any, trail: Trail) -> Example:
    data = mapping(item, trail)
    only_keys(data, frozenset({"name", "expect", "level", "given"}), trail)
    return Example(
        name=text(data.get("name"), (*trail, "name")),
        outcome=choice(data.get("expect"), EXAMPLE_OUTCOMES, (*trail, "expect")),
        request=mapping(data.get("given"), (*trail, "given")),
        level=choice(data["level"], LEVELS, (*trail, "level")) if "level" in data else None,
    )


def mapping(data: object, trail: Trail) -> Mapping[str, Any]:
    """A mapping, as YAML says it."""
    if not isinstance(data, dict):
        raise MisreadError(trail, "a mapping is expected here")
    return data


def choice(data: object, known: tuple[Choice, ...], trail: Trail) -> Choice:
    """One of a few words."""
    for word in known:
        if data == word:
            return word
    raise MisreadError(trail, f"{data!r} is none of {', '.join(known)}", did_you_mean(data, known) if data else "")
