"""What changed from one release's facts to another's: a changelog of flags, keys, defaults and variables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.engine.facts import Fact, Facts, Flag

ChangeKind = Literal["changed", "removed", "added"]


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the changelog.

    `subject` is a flag (`--kv-cache-dtype`), a key (`CompilationConfig.mode`), a level's option (`-O2
    compilation_config.mode`), a variable, or a rule of the command line. `text` says what changed, and is empty for
    what is there in one release only. `path` and `line` are in the newer release, or in the older for what is gone;
    the line may be None.
    """

    kind: ChangeKind
    subject: str
    text: str
    path: str
    line: int | None


def changelog(old: Facts, new: Facts) -> tuple[Change, ...]:
    """All changes: what changed first, then what is gone, then what is new; in each, in the order of the source."""
    found = [*_flags(old, new), *_keys(old, new), *_levels(old, new), *_variables(old, new), *_rules(old, new)]
    order = {"changed": 0, "removed": 1, "added": 2}
    return tuple(sorted(found, key=lambda change: order[change.kind]))


def _flags(old: Facts, new: Facts) -> Iterator[Change]:
    for name, flag in new.flags.items():
        before = old.options.get(name)
        if before is None:
            yield Change("added", name, "", flag.path, flag.line)
            continue
        for text, place in _flag(before, flag):
            yield Change("changed", name, text, *place)
    for name, flag in old.flags.items():
        if name not in new.options:
            yield Change("removed", name, "", flag.path, flag.line)


def _flag(old: Flag, new: Flag) -> Iterator[tuple[str, tuple[str, int]]]:
    default, here = (new.default.path, new.default.line), (new.path, new.line)
    if _said(old.default) != _said(new.default):
        yield f"default {_said(old.default)} → {_said(new.default)}", default
    if old.choices != new.choices:
        yield _difference("choices", old.choices, new.choices), here
    if set(old.options) != set(new.options):
        yield _difference("spellings", old.options, new.options), here
    read = [(flag.action, flag.nargs, flag.converter, flag.optional) for flag in (old, new)]
    if read[0] != read[1]:
        yield f"read as {_reading(old)} → {_reading(new)}", here
    if new.deprecated and not old.deprecated:
        yield "deprecated", here


def _reading(flag: Flag) -> str:
    counts: dict[str | int | None, str] = {None: "", "?": " (may be left out)", "+": " (several)"}
    words = counts.get(flag.nargs, f" ({flag.nargs})")
    kind = "a switch" if flag.action in ("boolean", "store_true", "store_false") else flag.converter + words
    return f"{kind} or none" if flag.optional else kind


def _keys(old: Facts, new: Facts) -> Iterator[Change]:
    """Keys of configuration classes, without those that a flag of their own already tells of."""
    told = {flag.field for flag in new.flags.values()}, {flag.field for flag in old.flags.values()}
    for name in new.config_names:
        before, after = old.config(name), new.config(name)
        assert after is not None
        if before is None:
            yield Change("added", name, f"{len(after.fields)} keys", after.path, after.line)
            continue
        for key, field in after.fields.items():
            earlier = before.fields.get(key)
            place = (field.default.path, field.default.line)
            if f"{name}.{key}" in told[0]:
                continue
            if earlier is None:
                yield Change("added", f"{name}.{key}", "", *place)
            elif _said(earlier.default) != _said(field.default):
                text = f"default {_said(earlier.default)} → {_said(field.default)}"
                yield Change("changed", f"{name}.{key}", text, *place)
        for key, field in before.fields.items():
            if key not in after.fields and f"{name}.{key}" not in told[1]:
                yield Change("removed", f"{name}.{key}", "", field.default.path, field.default.line)
    for name in old.config_names:
        gone = old.config(name)
        if new.config(name) is None and gone is not None:
            yield Change("removed", name, "", gone.path, gone.line)


def _levels(old: Facts, new: Facts) -> Iterator[Change]:
    for level in range(4):
        before, after = old.level_table(level), new.level_table(level)
        yield from _facts(f"-O{level} ", before, after)


def _variables(old: Facts, new: Facts) -> Iterator[Change]:
    yield from _facts("", old.environment, new.environment)


def _facts(prefix: str, old: Mapping[str, Fact], new: Mapping[str, Fact]) -> Iterator[Change]:
    for name, fact in new.items():
        before = old.get(name)
        if before is None:
            yield Change("added", f"{prefix}{name}", "", fact.path, fact.line)
        elif _said(before) != _said(fact):
            yield Change("changed", f"{prefix}{name}", f"default {_said(before)} → {_said(fact)}", fact.path, fact.line)
    for name, fact in old.items():
        if name not in new:
            yield Change("removed", f"{prefix}{name}", "", fact.path, fact.line)


def _rules(old: Facts, new: Facts) -> Iterator[Change]:
    path, line = new.rules_place
    for name, value in new.rules.items():
        if name != "hashes" and old.rules.get(name) != value:
            text = f"{_json(old.rules.get(name))} → {_json(value)}"
            yield Change("changed", f"command line, {name}", text, path, line)
    if old.entrypoint and new.entrypoint and old.entrypoint != new.entrypoint:  # a wheel does not say it
        text = f"{_json(old.entrypoint)} → {_json(new.entrypoint)}"
        yield Change("changed", "the image's entrypoint", text, "docker/Dockerfile", None)


def _difference(what: str, old: Sequence[Any] | None, new: Sequence[Any] | None) -> str:
    if old is None or new is None:
        return f"{what}: {'any' if old is None else 'a list'} → {'any' if new is None else 'a list'}"
    gained = [f"+{value}" for value in new if value not in old]
    lost = [f"-{value}" for value in old if value not in new]
    return f"{what}: {' '.join(gained + lost) or 'another order'}"


def _said(fact: Fact) -> str:
    return _json(fact.value) if fact.known else f"`{fact.computed}`"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
