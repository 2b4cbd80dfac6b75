"""Reading a server's command line exactly as a release's parser does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.engine.conflicts import conflicts
from bot.engine.conversion import RefusalError, holds_unknown, read_partly_known
from bot.engine.facts import Facts, Flag
from bot.engine.likeness import Note, Noted, unnoted
from bot.engine.model import EngineError, Ineffective
from bot.engine.options import Occurrence, Read, read_options
from bot.engine.rewriting import MAX_WORDS, Leaf, Token, rewrite, tokens_of
from bot.engine.settings import READ_BY_ENGINE, SPECULATION, Setting
from bot.engine.unknown import UNKNOWN
from bot.engine.values import (
    adapter,
    as_json,
    checked_config,
    converted,
    engine_config,
    engine_config_in_json,
    engine_value,
)
from bot.provenance import Reason, Word

__all__ = ["UNKNOWN", "CommandLine", "Setting", "parse", "unread"]

OTHER_COMMANDS = frozenset(
    {"bench", "chat", "collect-env", "complete", "launch", "run-batch", "snapshot", "help", "-h", "--help"}
)
"""What `vllm` can do besides serving."""


SWITCHES = frozenset({"boolean", "store_true", "store_false"})
"""Actions that set true or false."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What a command line says.

    `settings` holds explicit settings only, by `EngineArgs` name (`kv_cache_dtype`, `compilation_config` → dict).
    Members of enums are given by name. `nested` has each key of a JSON setting, dotted (`speculative_config.method`).
    `open` is True when an unquoted unknown may hold any further argument: then a setting that is not there may still
    be set.
    """

    settings: Mapping[str, Setting]
    errors: tuple[EngineError, ...] = ()
    ineffective: tuple[Ineffective, ...] = ()
    open: bool = False
    nested: Mapping[str, Setting] = field(default_factory=dict)


def parse(
    argv: Sequence[Word],
    facts: Facts,
    files: Mapping[str, str] | None = None,
    *,
    all_files: bool = False,
    note: Note = unnoted,
) -> CommandLine:
    """Read what follows `vllm` (`serve …`) or the server module (no `serve`).

    `files` are configuration files by path. A `--config` that is not among them may set anything, unless
    `all_files` says that there are no others: then it is an error. Settings are empty when the parser does not
    get as far as reading flags. `note` is told what the release is asked (see `bot.engine.answers`).
    """
    if argv and argv[0].text in OTHER_COMMANDS:
        word = argv[0]
        return CommandLine({}, (EngineError("conflict", word.text, f"`{word.text}` is not a server", word.because),))
    asked = _asked(argv, files or {}, all_files)
    if note is not unnoted:
        return _read(asked, facts, note)
    known = asked.lines.get(facts.version)
    if known is None or known[0] is not facts:
        known = asked.lines[facts.version] = (facts, _read(asked, facts, note))
    return known[1]


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A command line with its files, as tokens, and the readings so far by release."""

    argv: Sequence[Word]
    files: Mapping[str, str]
    all_files: bool
    tokens: list[Token]
    lines: dict[str, tuple[Facts, CommandLine]] = field(default_factory=dict)


MAX_ASKED = 16
"""Command lines that are kept with their readings: those of one service's worlds, which cards and releases share."""

_recent: dict[int, _Asked] = {}


def _asked(argv: Sequence[Word], files: Mapping[str, str], all_files: bool) -> _Asked:
    """The command line; the same object when the very same is asked again, as for the next release or card.

    Some are kept, so that nothing needs to be handed through.
    """
    known = _recent.get(id(argv))
    if known is not None and known.argv is argv and known.all_files is all_files and known.files == files:
        return known
    asked = _Asked(argv, dict(files), all_files, tokens_of(argv[:MAX_WORDS]))
    if isinstance(argv, tuple):
        while len(_recent) >= MAX_ASKED:
            _recent.pop(next(iter(_recent)), None)
        _recent[id(argv)] = asked
    return asked


def _read(asked: _Asked, facts: Facts, note: Note) -> CommandLine:
    rules = facts.rules if note is unnoted else Noted(facts.rules, note, "rule")
    rewritten = rewrite(asked.argv, asked.tokens, rules, facts, asked.files, asked.all_files, note)
    if rewritten.stopped:
        return CommandLine({}, tuple(rewritten.errors), tuple(rewritten.ineffective))
    read = read_options(rewritten.tokens, facts, note)
    serve = bool(asked.argv) and asked.argv[0].text == "serve"
    return _Assembly(facts, read, serve, rewritten.ineffective, note).finish()


class _Assembly:
    def __init__(self, facts: Facts, read: Read, serve: bool, ineffective: list[Ineffective], note: Note) -> None:
        self.facts = facts
        self.read = read
        self.serve = serve
        self.note = note
        self.errors = list(read.errors)
        self.ineffective = list(ineffective)
        self.settings: dict[str, Setting] = {}
        self.nested: dict[str, Setting] = {}
        self.checked: dict[str, tuple[Any, RefusalError | None]] = {}

    def finish(self) -> CommandLine:
        for index, occurrence in enumerate(self.read.occurrences):
            self.use(index, occurrence)
        self.check_fields()
        self.place_model()
        self.merge_speculation()
        for dest, config in READ_BY_ENGINE.items():
            if dest in self.settings:
                self.check_engine_config(dest, config)
        opened = self.read.open_token is not None
        for name in (*self.settings, *self.nested):
            self.note(("conflicts", name))
        self.errors += conflicts(self.settings, self.nested, self.facts, opened)
        return CommandLine(self.settings, tuple(self.errors), tuple(self.ineffective), opened, self.nested)

    # -- one flag

    def use(self, index: int, occurrence: Occurrence) -> None:
        flag = occurrence.flag
        if flag.action == "help":
            return
        because, argument = _written(occurrence)
        try:
            value = self.value(occurrence)
        except RefusalError as refusal:
            self.errors.append(
                EngineError("invalid-value", argument, f"argument {occurrence.option}: {refusal}", because)
            )
            return
        leaves = occurrence.values[0].group if occurrence.values else ()
        if flag.dest == "config":
            message = "a configuration file is only read when `--config` and its name are two arguments"
            self.ineffective.append(Ineffective("ignored", argument, "config", message, because))
        if self.read.open_token is not None and (index < self.read.opened or isinstance(value, dict)):
            value, because = UNKNOWN, (*because, *self.read.open_token.because)
            self.checked.pop(flag.dest, None)
        elif isinstance(value, dict) and any(token.symbols for token in occurrence.values):
            because = (*because, _one_value_each(occurrence.values))
        self.store(flag.dest, Setting(value, because, argument), leaves)

    def flag(self, dest: str) -> Flag:
        """The flag of a setting that was read."""
        flag = self.facts.setting(dest)
        assert flag is not None
        return flag

    def value(self, occurrence: Occurrence) -> Any:
        """What a flag sets. Raises `RefusalError`."""
        flag, values = occurrence.flag, occurrence.values
        self.checked.pop(flag.dest, None)
        if flag.action in SWITCHES:
            value = is_on(flag, occurrence.option)
            self.checked[flag.dest] = (value, None)
            return value
        if not values:
            return flag.const
        self.note_flag(flag, values)
        if flag.action == "custom" or (flag.action == "lora" and any(token.symbols for token in values)):
            return UNKNOWN
        if flag.action == "lora":
            return [adapter(token.text) for token in values if not (flag.optional and token.text in ("", "None"))]
        read = [self.word(flag, token) for token in values]
        if flag.nargs in (None, "?"):
            result: Any = read[0]
        else:
            result = UNKNOWN if any(item is UNKNOWN for item in read) else read
        if flag.action == "append":
            before = self.settings.get(flag.dest)
            earlier = before.value if before is not None else []
            result = UNKNOWN if UNKNOWN in (earlier, result) else [*earlier, result]  # type: ignore[misc]
        return result

    def note_flag(self, flag: Flag, values: list[Token]) -> None:
        """Note how a flag is read where more than known words decide it."""
        if flag.action == "lora" or any(token.symbols or token.open or holds_unknown(token.value) for token in values):
            self.note(("flag", flag.name))

    def word(self, flag: Flag, token: Token) -> Any:
        """The value of one word, checked against the flag's choices. Raises `RefusalError`."""
        if token.symbols or token.open:
            if not flag.converter.startswith(("config:", "json", "dict")):
                return UNKNOWN
            value = read_partly_known(token.text, token.symbols)
            return checked_config(self.facts, flag, value)
        if token.group and holds_unknown(token.value) and flag.converter.startswith(("config:", "json", "dict")):
            return checked_config(self.facts, flag, token.value)
        self.note(("value", flag.name, token.text))
        value, refusal, checked = converted(self.facts, flag, token.text)
        if refusal is not None:
            raise refusal.again()
        if flag.nargs is None and flag.action == "store":
            self.checked[flag.dest] = checked
        return value

    def store(self, dest: str, setting: Setting, leaves: tuple[Leaf, ...]) -> None:
        before = self.settings.get(dest)
        if before is not None and before.value is not UNKNOWN and before.value != setting.value:
            self.overridden(dest, before, setting)
        self.settings[dest] = setting
        if before is not None and isinstance(before.value, dict):
            for name in [name for name in self.nested if name.startswith(f"{dest}.")]:
                del self.nested[name]
        if isinstance(setting.value, dict):
            self.spread(dest, (), setting.value, setting, leaves)

    def overridden(self, dest: str, before: Setting, after: Setting) -> None:
        if self.flag(dest).action == "append":
            return
        message = f"`{before.argument}` is overridden by `{after.argument}`"
        if isinstance(before.value, dict) and isinstance(after.value, dict):
            lost = [key for key, value in before.value.items() if after.value.get(key, UNKNOWN) != value]
            if not lost:
                return
            message = f"`{after.argument}` replaces `{before.argument}` as a whole: {', '.join(lost)} is lost"
        self.ineffective.append(
            Ineffective("overridden", before.argument, dest, message, (*before.because, *after.because))
        )

    def spread(
        self, dest: str, path: tuple[str, ...], value: Mapping[str, Any], setting: Setting, leaves: tuple[Leaf, ...]
    ) -> None:
        """Give each key of a JSON setting its own reasons."""
        for key, inner in value.items():
            keys = (*path, key)
            if isinstance(inner, dict) and inner:
                self.spread(dest, keys, inner, setting, leaves)
                continue
            leaf = _leaf(leaves, keys)
            because, argument = (leaf.because, leaf.argument) if leaf else (setting.because, setting.argument)
            self.nested[f"{dest}.{'.'.join(keys)}"] = Setting(inner, because, argument)

    # -- all flags together

    def check_fields(self) -> None:
        """Check each value that stands against the configuration field that it goes to."""
        for dest, setting in self.settings.items():
            known = self.checked.get(dest)
            if known is None:
                self.note(("flag", self.flag(dest).name))
                known = engine_value(self.facts, self.flag(dest), setting.value)
            value, refusal = known
            if refusal is not None:
                flag = self.flag(dest)
                message = f"argument {flag.name}: {refusal}"
                self.errors.append(EngineError("invalid-value", setting.argument, message, setting.because))
                continue
            if value is not setting.value and value != setting.value:
                self.settings[dest] = Setting(value, setting.because, setting.argument)

    def place_model(self) -> None:
        """The positional wins over `--model`; the server module never reads it."""
        token = self.read.model
        if token is None:
            return
        if not self.serve:
            message = "the server module takes its model from `--model` only, and ignores this word"
            self.ineffective.append(Ineffective("ignored", token.written, "model", message, token.because))
            return
        value = UNKNOWN if token.symbols or token.open else token.text
        setting = Setting(value, token.because, token.written)
        before = self.settings.get("model")
        if before is not None and before.value != value:
            self.overridden("model", before, setting)
        self.settings["model"] = setting

    def merge_speculation(self) -> None:
        """`--spec-method` and its like, as keys of the speculative configuration."""
        given = [(dest, self.settings[dest]) for dest in SPECULATION if dest in self.settings]
        given = [(dest, setting) for dest, setting in given if setting.value is not None]
        if not given:
            return
        whole = self.settings.get("speculative_config")
        if whole is not None and whole.value is UNKNOWN:
            return
        keys: dict[str, Any] = dict(whole.value) if whole is not None and isinstance(whole.value, dict) else {}
        because = whole.because if whole is not None else ()
        argument = whole.argument if whole is not None else ""
        for dest, setting in given:
            key = SPECULATION[dest]
            if key in keys:
                message = f"`{setting.argument}` and {key} in `{argument}` are mutually exclusive"
                self.errors.append(EngineError("conflict", setting.argument, message, setting.because))
                return
            keys[key] = setting.value
            self.nested[f"speculative_config.{key}"] = setting
            because, argument = (*because, *setting.because), f"{argument} {setting.argument}".strip()
        self.settings["speculative_config"] = Setting(keys, because, argument)

    def check_engine_config(self, dest: str, config: str) -> None:
        """Check what the parser took as it was. Hyphens in its keys are underscores from 0.26.0 on."""
        setting = self.settings[dest]
        if setting.value is UNKNOWN or setting.value is None:
            return
        value = setting.value
        self.note(("rule", "spec_hyphens"))
        if dest == "speculative_config" and self.facts.rules["spec_hyphens"] and isinstance(value, dict):
            renamed = {key.replace("-", "_"): inner for key, inner in value.items()}
            if list(renamed) != list(value):
                self.rename(dest, value)
            value = renamed
        value, refusal = self.engine_config(value, config)
        if refusal is not None:
            where = self.nested.get(f"{dest}.{refusal.path}", setting)
            self.errors.append(EngineError("invalid-value", where.argument, f"{dest}: {refusal}", where.because))
            return
        self.settings[dest] = Setting(value, setting.because, setting.argument)
        for key, inner in value.items() if isinstance(value, dict) else ():
            before = self.nested.get(f"{dest}.{key}")
            if before is not None and before.value is not UNKNOWN:
                self.nested[f"{dest}.{key}"] = Setting(inner, before.because, before.argument)

    def engine_config(self, value: Any, config: str) -> tuple[Any, RefusalError | None]:
        """A value as a class of the engine's configuration takes it, or why it does not."""
        text = None if holds_unknown(value) else as_json(value)
        if text is None:
            self.note(("class", config))
            return engine_config(self.facts, config, value)
        self.note(("engine", config, text))
        return engine_config_in_json(self.facts, config, text)

    def rename(self, dest: str, value: Mapping[str, Any]) -> None:
        for key in value:
            for name in [n for n in self.nested if n == f"{dest}.{key}" or n.startswith(f"{dest}.{key}.")]:
                rest = name.removeprefix(f"{dest}.{key}")
                self.nested[f"{dest}.{key.replace('-', '_')}{rest}"] = self.nested.pop(name)


def is_on(flag: Flag, option: str) -> bool:
    """What a switch sets under one of its names."""
    return option not in flag.inverses and flag.action != "store_false"


def _written(occurrence: Occurrence) -> tuple[tuple[Reason, ...], str]:
    """The reasons for a flag and its words, and the argument as it was written."""
    token, values = occurrence.token, occurrence.values
    if not values or values[0].written == token.written:
        return token.because, token.written
    if token.said is not None and len(values) == 1 and token.said[0] is values[0]:
        return token.said[1:]
    because, argument = token.because, token.written
    for value in values:
        argument = f"{argument} {value.written}"
        if value.because and value.because != because:
            because = (*because, *(reason for reason in value.because if reason not in because))
    if len(values) == 1:
        token.said = (values[0], because, argument)
    return because, argument


def _leaf(leaves: tuple[Leaf, ...], keys: tuple[str, ...]) -> Leaf | None:
    """The last dotted argument that says something of a key."""
    for leaf in reversed(leaves):
        if leaf.keys == keys[: len(leaf.keys)]:
            return leaf
    return None


def _one_value_each(tokens: Sequence[Token]) -> Reason:
    names = ", ".join(dict.fromkeys(symbol for token in tokens for symbol in token.symbols))
    place = tokens[0].because[0] if tokens[0].because else None
    path, line = (place.path, place.line) if place else ("", None)
    return Reason("assumption", path, line, f"{names} stands for one value inside the JSON text")


def unread(environment: Mapping[str, Word], facts: Facts) -> tuple[Ineffective, ...]:
    """The `VLLM_*` variables that the release does not read."""
    known = facts.environment
    return tuple(
        Ineffective(
            kind="unread-variable",
            argument=f"{name}={word.text}",
            setting=name,
            message=f"vLLM {facts.version} does not read {name}",
            because=word.because,
        )
        for name, word in environment.items()
        if name.startswith("VLLM_") and name not in known
    )
