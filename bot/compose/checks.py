"""The few kinds of check that a compose's schema is made of, with Docker Compose's words for what fails them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bot.compose.scalars import Timestamp


@dataclass(frozen=True, slots=True)
class Failure:
    """A value that the schema refuses. `depth` ranks: Docker Compose shows the deepest, and of several the first."""

    path: tuple[str, ...]
    message: str
    depth: int

    def __str__(self) -> str:
        return f"{'.'.join(self.path)} {self.message}"


class Check(Protocol):
    """Something that a value must be."""

    def failures(self, value: object, path: tuple[str, ...]) -> list[Failure]:
        """What is wrong with the value at `path`; empty when nothing is."""


def most_specific(failures: Iterable[Failure]) -> Failure:
    """The one that Docker Compose shows."""
    return max(failures, key=lambda failure: failure.depth)


_TYPES: Mapping[type, frozenset[str]] = {
    str: frozenset({"string"}),
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number"}),
    dict: frozenset({"object"}),
    list: frozenset({"array"}),
    type(None): frozenset({"null"}),
}
_NO_TYPE: frozenset[str] = frozenset()


def types_of(value: object) -> frozenset[str]:
    """The JSON types that a value has."""
    kind = value.__class__
    found = _TYPES.get(kind)
    if found is None:
        found = _TYPES["".__class__] if isinstance(value, str) else _NO_TYPE
    if isinstance(value, float) and value.is_integer():
        return found | {"integer"}
    return found


def _fail(path: tuple[str, ...], message: str) -> list[Failure]:
    return [Failure(path, message, len(path))]


def _type_failure(value: object, path: tuple[str, ...], names: Sequence[str]) -> list[Failure]:
    if isinstance(value, Timestamp):
        return _fail(path, "invalid jsonType time.Time")
    readable = sorted("mapping" if name == "object" else name for name in names)
    listed = f"{', '.join(readable[:-1])} or {readable[-1]}" if len(readable) > 1 else readable[0]
    return _fail(path, f"must be a {listed}")


@dataclass(frozen=True, slots=True)
class Typed:
    """A value of one of these JSON types."""

    names: tuple[str, ...]

    def failures(self, value: object, path: tuple[str, ...]) -> list[Failure]:
        """What is wrong with the value at `path`."""
        return [] if not types_of(value).isdisjoint(self.names) else _type_failure(value, path, self.names)


@dataclass(frozen=True, slots=True)
class Matching:
    """A string that holds a pattern."""

    pattern: str

    def failures(self, value: object, path: tuple[str, ...]) -> list[Failure]:
        """What is wrong with the value at `path`."""
        if not isinstance(value, str):
            return _type_failure(value, path, ("string",))
        return (
            [] if re.search(self.pattern, value) else _fail(path, f"'{value}' does not match pattern '{self.pattern}'")
        )


@dataclass(frozen=True, slots=True)
class OneWord:
    """A string out of a list."""

    words: tuple[str, ...]

    def failures(self, value: object, path: tuple[str, ...]) -> list[Failure]:
        """What is wrong with the value at `path`."""
        if not isinstance(value, str):
            return _type_failure(value, path, ("string",))
        if value in self.words:
            return []
        listed = ", ".join(f"'{word}'" for word in self.words)
        return _fail(path, f"value must be {'one of ' if len(self.words) > 1 else ''}{listed}")


@dataclass(frozen=True, slots=True)
class Between:
    """An integer within limits."""

    least: int
    most: int | None = None

    def failures(self, value: object, path: tuple[str, ...]) -> list[Failure]:
        """What is wrong with the value at `path`."""
        if "integer" not in types_of(value):
            return _type_failure(value, path, ("integer",))
        assert isinstance(value, int | float)
        if value < self.least:
            return _fail(path, f"must be greater than or equal to {self.least}")
        if self.most is not None and value > self.most:
            return _fail(path, f"must be less than or equal to {self.most}")
        return []


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list whose items all pass one check."""

    item: Check
    distinct: bool = False

    def failures(self, value: object, path: tuple[str, ...]) -> list[Failure]:
        """What is wrong with the value at `path`."""
        if not isinstance(value, list):
            return _type_failure(value, path, ("array",))
        found = [
            failure for index, item in enumerate(value) for failure in self.item.failures(item, (*path, str(index)))
        ]
        if self.distinct and not found:
            found += _repetition(value, path)
        return found


def _repetition(items: list[object], path: tuple[str, ...]) -> list[Failure]:
    seen: list[object] = []
    known: dict[object, int] = {}
    for index, item in enumerate(items):
        if isinstance(item, str | int | float | bool):
            key = (isinstance(item, str), item)
            first = known.setdefault(key, index)
        else:
            first = next((at for at, other in enumerate(seen) if other == item), index)
        if first < index:
            return _fail(path, f"items at {first} and {index} are equal")
        seen.append(item)
    return []


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping. Keys that are not in `known` must match a pattern of `others`; `closed` refuses all the rest."""

    known: Mapping[str, Check] = field(default_factory=dict)
    others: tuple[tuple[str, Check | None], ...] = ()
    required: tuple[str, ...] = ()
    closed: bool = True
    nullable: bool = False
    also: tuple[str, ...] = ()

    def failures(self, value: object, path: tuple[str, ...]) -> list[Failure]:
        """What is wrong with the value at `path`."""
        if not isinstance(value, dict):
            allowed = ("object", *(("null",) if self.nullable else ()), *self.also)
            return [] if not types_of(value).isdisjoint(allowed) else _type_failure(value, path, allowed)
        missing = [name for name in self.required if name not in value]
        found: list[Failure] = []
        if missing:
            listed = ", ".join(f"'{name}'" for name in missing)
            found += _fail(path, f"missing {'properties' if len(missing) > 1 else 'property'} {listed}")
        unknown: list[str] = []
        for key, item in value.items():
            check = self.known.get(key)
            if check is not None:
                found += check.failures(item, (*path, key))
            elif not self._other(key, item, path, found):
                unknown.append(key)
        if unknown and self.closed:
            listed = ", ".join(f"'{name}'" for name in unknown)
            found.append(Failure(path, f"additional properties {listed} not allowed", len(path) + 1))
        return found

    def _other(self, key: str, item: object, path: tuple[str, ...], found: list[Failure]) -> bool:
        for pattern, check in self.others:
            if re.search(pattern, key):
                if check is not None:
                    found += check.failures(item, (*path, key))
                return True
        return False


@dataclass(frozen=True, slots=True)
class Either:
    """A value that passes one of several checks."""

    choices: tuple[Check, ...]

    def failures(self, value: object, path: tuple[str, ...]) -> list[Failure]:
        """What is wrong with the value at `path`."""
        found: list[Failure] = []
        for choice in self.choices:
            failures = choice.failures(value, path)
            if not failures:
                return []
            found += failures
        return found
