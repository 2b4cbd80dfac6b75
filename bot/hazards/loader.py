"""Reads `rules/`: the hazard rules, their shared words, and which releases contain which upstream fix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml

from bot.hazards.logic import Vocabulary
from bot.hazards.predicates import (
    PROPERTY_NAMES,
    MisreadError,
    Trail,
    did_you_mean,
    only_keys,
    reference,
    release_range,
    scalar,
    text,
    texts,
)
from bot.hazards.questions import MattersTest, RuleTest
from bot.hazards.releases import Fix, Truth, Upstream, Verified
from bot.hazards.rule import Rule, Rules
from bot.hazards.rulefile import mapping, read_rule
from bot.rules import RULES

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Read = TypeVar("Read")


class RuleError(Exception):
    """A file below `rules/` that cannot be used; the message begins with its path and line."""

    def __init__(self, path: str, line: int, message: str, hint: str = "") -> None:
        super().__init__(f"{path}:{line}: {message}" + (f" ({hint})" if hint else ""))
        self.path = path
        self.line = line


@cache
def load_rules(folder: Path = RULES) -> Rules:
    """Every rule, compiled once per process. Raises `RuleError`."""
    upstream = _read(folder / "upstream.yml", folder, _upstream)
    vocabulary = _read(folder / "vocabulary.yml", folder, _vocabulary)
    files = sorted((folder / "hazards").glob("*.yml"))
    rules = tuple(_read(file, folder, lambda data, path: read_rule(data, path, vocabulary)) for file in files)
    _check_names(rules, files)
    return Rules(rules, upstream, vocabulary)


def _read(file: Path, folder: Path, read: Callable[[Any, str], Read]) -> Read:
    path = file.relative_to(folder.parent).as_posix()
    try:
        source = file.read_text(encoding="utf-8")
    except OSError as error:
        raise RuleError(path, 1, f"cannot be read: {error.strerror}") from None
    try:
        return read(yaml.load(source, Loader=_Loader), path)  # noqa: S506 - one of the two safe loaders
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise RuleError(path, line, f"not YAML: {error.problem}") from None
    except MisreadError as error:
        raise RuleError(path, line_of(source, error.trail), error.message, error.hint) from None


def line_of(source: str, trail: Trail) -> int:
    """The line of the value (or the key) that a trail leads to, as far as it leads. Parses again: only for errors."""
    node = yaml.compose(source, Loader=_Loader)
    line = 1
    for step in trail:
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == str(step)), None)
            if found is None:
                return line
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
    return line


def _check_names(rules: tuple[Rule, ...], files: list[Path]) -> None:
    """A rule is named like its file, and rules that ask about others name real ones."""
    names = frozenset(rule.id for rule in rules)
    for rule, file in zip(rules, files, strict=True):
        if rule.id != file.stem:
            raise RuleError(rule.path, 1, f"the rule is called {rule.id!r}, its file {file.stem!r}")
        for case in rule.levels:
            for leaf in case.when.leaves:
                if isinstance(leaf, RuleTest) and leaf.rule is not None and leaf.rule not in names:
                    raise RuleError(rule.path, 1, f"no rule is called {leaf.rule!r}", did_you_mean(leaf.rule, names))
        if any(isinstance(leaf, RuleTest | MattersTest) for leaf in rule.when.leaves):
            raise RuleError(rule.path, 1, "`rule:` and `matters:` weigh a finding: they belong below `levels:`")


def _vocabulary(data: Any, _path: str) -> Vocabulary:
    content = mapping(data, ())
    only_keys(content, frozenset({"sets", "settings", "questions"}), ())
    sets = mapping(content.get("sets", {}), ("sets",))
    settings = mapping(content.get("settings", {}), ("settings",))
    questions = mapping(content.get("questions", {}), ("questions",))
    only_keys(questions, PROPERTY_NAMES, ("questions",))
    return Vocabulary(
        {name: _members(item, ("sets", name)) for name, item in sets.items()},
        {name: texts(item, ("settings", name)) for name, item in settings.items()},
        {name: text(item, ("questions", name)) for name, item in questions.items()},
    )


def _members(data: Any, trail: Trail) -> tuple[Any, ...]:
    entry = mapping(data, trail)
    only_keys(entry, frozenset({"values", "source"}), trail)
    text(entry.get("source"), (*trail, "source"))
    values = entry.get("values")
    if not isinstance(values, list) or not values:
        raise MisreadError((*trail, "values"), "a set has a list of `values:`")
    return tuple(scalar(value, (*trail, "values", index)) for index, value in enumerate(values))


def _upstream(data: Any, _path: str) -> Upstream:
    fixes = [_fix(key, item) for key, item in mapping(data, ()).items()]
    return Upstream({fix.reference: fix for fix in fixes})


def _fix(key: Any, item: Any) -> Fix:
    trail: Trail = (str(key),)
    entry = mapping(item, trail)
    only_keys(entry, frozenset({"title", "verified", "fits"}), trail)
    return Fix(
        reference(key, trail),
        text(entry.get("title"), (*trail, "title")),
        _seen(entry, "verified", trail),
        _seen(entry, "fits", trail),
    )


def _seen(entry: Mapping[str, Any], key: str, trail: Trail) -> tuple[Verified, ...]:
    seen = entry.get(key, [])
    if not isinstance(seen, list):
        raise MisreadError((*trail, key), f"`{key}:` is a list of {{releases, holds, how}}")
    return tuple(_verified(part, (*trail, key, index)) for index, part in enumerate(seen))


def _verified(item: Any, trail: Trail) -> Verified:
    entry = mapping(item, trail)
    only_keys(entry, frozenset({"releases", "holds", "how"}), trail)
    words: dict[Any, Truth] = {True: True, False: False, "unknown": None}
    if "holds" not in entry or not isinstance(entry["holds"], bool | str) or entry["holds"] not in words:
        raise MisreadError((*trail, "holds"), "`holds:` is true, false or unknown")
    return Verified(
        release_range(entry.get("releases"), (*trail, "releases")),
        words[entry["holds"]],
        text(entry.get("how"), (*trail, "how")),
    )
