"""What a release answers to the questions that reading a command line asks of it: see `bot.engine.likeness`.

Where a word is known, the answer is what the release makes of it: releases whose types differ in something else agree.
Where it holds something unknown, the answer is the definition behind the flag, with all that it names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from bot.engine.commandline import SWITCHES, is_on
from bot.engine.conversion import RefusalError
from bot.engine.facts import Facts, Flag
from bot.engine.options import option_table
from bot.engine.settings import READ_BY_ENGINE, SPECULATION
from bot.engine.values import converted, engine_config_in_json

DEFAULTS = frozenset({"default", "computed", "deprecated"})
"""Keys of a flag that say nothing about how it is read."""


def _release(facts: Facts) -> Hashable:
    """Another for each release: nothing is shared."""
    return facts.version


def _read(facts: Facts) -> Hashable:
    """Whether the functions that read the command line are known."""
    return not facts.unread_rules


def _rule(facts: Facts, name: str) -> Hashable:
    """How the command line is rewritten."""
    return repr(facts.rules[name])


def _word(facts: Facts, text: str) -> Hashable:
    """What a word with a dash means, and how its flag is read."""
    option = option_table(facts).option(text)
    if option is None:
        return None
    flag = option.flag
    if flag is None:
        return (text, option.matches)
    writer = facts.setting(flag.dest)
    how: Hashable = (flag.action, flag.nargs, repr(flag.const))
    if flag.action in SWITCHES:
        how = ("switch", is_on(flag, option.name))
    return flag.name, option.name, option.explicit, flag.dest, how, writer and (writer.name, writer.action == "append")


def _value(facts: Facts, name: str, text: str) -> Hashable:
    """What a flag makes of a word."""
    flag = facts.flag(name)
    if flag is None:
        return None
    value, refusal, (taken, refused) = converted(facts, flag, text)
    return (repr(value), _said(refusal), repr(taken), _said(refused))


def _engine(facts: Facts, name: str, text: str) -> Hashable:
    """What a configuration class makes of a JSON text."""
    value, refusal = engine_config_in_json(facts, name, text)
    return (repr(value), _said(refusal))


def _said(refusal: RefusalError | None) -> Hashable:
    return refusal and (refusal.message, refusal.path)


def _conflicts(facts: Facts, name: str) -> Hashable:
    """What the release refuses together with a setting."""
    return repr([rule for rule in facts.raw.get("conflicts", ()) if rule["if"] == name])


def _flag(facts: Facts, name: str) -> Hashable:
    """How a flag is read, and what the field behind it takes."""
    flag = facts.flag(name)
    return None if flag is None else json.dumps(_Definitions(facts).flag(flag))


def _class(facts: Facts, name: str) -> Hashable:
    """A configuration class with all that its fields name."""
    return json.dumps(_Definitions(facts).config(name))


ANSWERS: Mapping[str, Callable[..., Hashable]] = {
    "release": _release,
    "read": _read,
    "rule": _rule,
    "word": _word,
    "value": _value,
    "engine": _engine,
    "conflicts": _conflicts,
    "flag": _flag,
    "class": _class,
}
"""What a release answers, by the kind of question."""


class _Definitions:
    """Definitions of a release, each class once."""

    def __init__(self, facts: Facts) -> None:
        self.raw = facts.raw
        self.facts = facts
        self.said: set[str] = set()

    def flag(self, flag: Flag) -> list[Any]:
        entry = _without(self.raw["flags"].get(flag.name, {}), DEFAULTS)
        owner, _, name = flag.field.partition(".")
        config = self.raw["configs"].get(owner, {"fields": {}})
        behind = _without(config["fields"].get(name, {}), DEFAULTS)
        classes = [flag.converter.removeprefix("config:"), READ_BY_ENGINE.get(flag.dest, "")]
        if flag.dest in SPECULATION:
            classes.append(READ_BY_ENGINE["speculative_config"])
        return [flag.name, entry, behind, self.named(behind), *(self.config(name) for name in classes if name)]

    def config(self, name: str) -> list[Any]:
        entry = self.raw["configs"].get(name)
        if entry is None or name in self.said:
            return [name]
        self.said.add(name)
        fields = entry["fields"]
        return [name, entry["extra"], fields, entry.get("checks"), *(self.named(value) for value in fields.values())]

    def named(self, field: Mapping[str, Any]) -> list[Any]:
        """What a field's types and validators name: classes, enums, lists of choices."""
        found = [self.facts.choices(name[3:]) for name in field.get("validators", ()) if name.startswith("in:")]
        self.name(field.get("type", []), found)
        return found

    def name(self, kinds: list[Any], found: list[Any]) -> None:
        """Collect what alternatives of a type name."""
        for kind in kinds:
            match kind:
                case str() | ["literal", *_]:
                    pass
                case ["config", str(name)]:
                    found.append(self.config(name))
                case ["enum", str(name)]:
                    found.append(self.raw["enums"].get(name))
                case list():
                    self.name(kind[1:] if isinstance(kind[0], str) else kind, found)


def _without(entry: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in names}
