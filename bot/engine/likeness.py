"""Releases that read a command line alike, so that a question to all of them is read a few times only.

What a release makes of a command line depends on its rewriting rules, on what each dash-word of the line means to
it, and on the types behind those flags; not on lines of source, nor on the rest of its flags. Where all of that is
the same, the reading is.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bot.engine.facts import Facts, Flag
from bot.engine.options import OptionTable, option_table
from bot.engine.rewriting import MAX_WORDS as MAX_ARGV
from bot.engine.rewriting import Rewritten, Token, rewrite, tokens_of
from bot.engine.settings import READ_BY_ENGINE, SPECULATION
from bot.provenance import Word

if TYPE_CHECKING:
    from bot.engine.commandline import CommandLine

PLACES = frozenset({"at", "line", "default_at"})
"""Keys of a release file that say where something is, not what."""

DEFAULTS = frozenset({"default", "computed", "deprecated"})
"""Keys of a flag that say nothing about how it is read."""


@dataclass(slots=True, eq=False)
class Question:
    """A command line with its files, and the readings so far, by what they depend on."""

    argv: Sequence[Word]
    files: Mapping[str, str]
    all_files: bool
    answers: dict[Hashable, CommandLine] = field(default_factory=dict)
    _rewritten: dict[Hashable, Rewritten] = field(default_factory=dict)
    _own: bool = False
    _tokens: list[Token] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._tokens = tokens_of(self.argv[:MAX_ARGV])
        self._own = any("--config" in word.text for word in self.argv)

    def rewritten(self, facts: Facts) -> Rewritten:
        """The words as argparse gets them."""
        key = (facts.version, id(facts)) if self._own else of(facts).rules
        found = self._rewritten.get(key)
        if found is None:
            found = self._rewritten[key] = rewrite(self.argv, self._tokens, facts, self.files, self.all_files)
        return found

    def likeness(self, facts: Facts, rewritten: Rewritten) -> Hashable:
        """Equal for releases that read the line alike."""
        if self._own:
            return facts.version, id(facts)
        likeness = of(facts)
        words = (token.text for token in rewritten.tokens)
        return likeness.rules, tuple([likeness.word(text) for text in words if text[:1] == "-"])


_last: Question | None = None


def asked(argv: Sequence[Word], files: Mapping[str, str], all_files: bool) -> Question:
    """The question; the same object when the very same arguments are asked again, as for the next release."""
    global _last  # noqa: PLW0603 - one question is kept, so that nothing needs to be handed through
    last = _last
    same = last is not None and last.argv is argv and last.all_files is all_files and last.files == files
    if last is None or not same or not isinstance(argv, tuple):
        last = _last = Question(argv, dict(files), all_files)
    return last


class Likeness:
    """What the words of a command line mean to one release, as numbers that are equal between releases alike."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.table: OptionTable = option_table(facts)
        rules = {name: value for name, value in facts.rules.items() if name not in ("at", "hashes")}
        checks = [_without(rule, PLACES) for rule in facts.raw.get("conflicts", ())]
        self.rules = _number([rules, checks, self.table.takes_negative_numbers])
        self.flags: dict[str, int] = {}
        self.words: dict[str, Hashable] = {}
        self.configs: dict[str, int] = {}

    def word(self, text: str) -> Hashable:
        """What a word with a dash means."""
        found = self.words.get(text)
        if found is None:
            option = self.table.option(text)
            if option is None:
                found = 0
            elif option.flag is None:
                found = (text, option.matches)
            else:
                found = (self.flag(option.flag), option.name, option.explicit)
            if len(self.words) < MAX_WORDS and len(text) <= MAX_WORD:
                self.words[text] = found
        return found

    def flag(self, flag: Flag) -> int:
        """How a flag is read, and what the field behind it takes."""
        number = self.flags.get(flag.name)
        if number is None:
            entry = _without(self.facts.raw["flags"].get(flag.name, {}), PLACES | DEFAULTS)
            owner, _, name = flag.field.partition(".")
            config = self.facts.raw["configs"].get(owner, {"fields": {}})
            behind = _without(config["fields"].get(name, {}), PLACES | DEFAULTS)
            classes = [flag.converter.removeprefix("config:"), READ_BY_ENGINE.get(flag.dest, "")]
            if flag.dest in SPECULATION:
                classes.append(READ_BY_ENGINE["speculative_config"])
            types = [behind, *(self.config(name) for name in classes if name)]
            number = self.flags[flag.name] = _number([flag.name, entry, types, self.named(behind)])
        return number

    def config(self, name: str) -> int:
        """A configuration class with all that its fields name."""
        number = self.configs.get(name)
        if number is None:
            self.configs[name] = 0
            entry = self.facts.raw["configs"].get(name)
            if entry is None:
                return 0
            fields = {key: _without(value, PLACES) for key, value in entry["fields"].items()}
            checks = [_without(check, PLACES) for check in entry.get("checks", ())]
            named = [self.named(value) for value in entry["fields"].values()]
            number = _number([name, entry["extra"], fields, checks, named])
            self.configs[name] = number
        return number

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
                    found.append(self.facts.raw["enums"].get(name, {}).get("members"))
                case list():
                    self.name(kind[1:] if isinstance(kind[0], str) else kind, found)


MAX_WORDS = 20_000
"""Words that are remembered of each release; a repository has some hundred."""

MAX_WORD = 200
"""Characters of a word that is remembered."""

_likenesses: dict[str, Likeness] = {}


def of(facts: Facts) -> Likeness:
    """The likeness of a release, kept as long as its facts are the same object."""
    kept = _likenesses.get(facts.version)
    if kept is None or kept.facts is not facts:
        kept = _likenesses[facts.version] = Likeness(facts)
    return kept


_numbers: dict[str, int] = {}


def _number(value: object) -> int:
    """A number for a value that JSON can hold: the same for the same value, never 0."""
    text = json.dumps(value, separators=(",", ":"))
    return _numbers.setdefault(text, len(_numbers) + 1)


def _without(entry: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in names}
