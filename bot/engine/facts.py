"""What is known of a release: the file that `bot learn` made from its source, as lookup tables."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from bot.engine import cache
from bot.engine.cache import SCHEMA
from bot.rules import RULES

RELEASES: Path = RULES / "vllm" / "releases"
SOURCE_URL = "https://github.com/vllm-project/vllm/blob/v{version}/{path}#L{line}"
Place = tuple[str, int]
"""A file of the release's source, and a line."""

Type = list[Any]
"""Alternatives, each a word (`"int"`) or a list (`["list", TYPE]`); see `bot.learn.values`."""


class UnknownReleaseError(Exception):
    """There is no file of facts for a release."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A default, and where the release's source says it. `computed` is the text of an expression without a value."""

    value: Any
    path: str
    line: int
    computed: str = ""

    @property
    def known(self) -> bool:
        """Whether the default is a literal."""
        return not self.computed


@dataclass(frozen=True, slots=True, eq=False)
class Flag:
    """One flag, as the release registers it with argparse.

    `action`: "store", "store_true", "boolean" (`--x`, `--no-x`), "append", "lora", "custom" (code of the
    release that is not modelled).
    `converter`: how a word becomes a value: "str", "int", "float", "human_int", "human_int_or_auto", "json", "dict",
    "dict_or_str", "lower_underscore", "none_is_empty" (the word "none" is ""), "config:NAME", "opaque" (code of the
    release that is not modelled); `optional` adds that an empty word or "None" is None.
    `nargs` is None (one word), "?", "+", or a number. `choices` is None when any value will do or when they are
    not known. `inverses` are the options that set False. `field` is the configuration field behind it
    (`CacheConfig.cache_dtype`).
    """

    name: str
    dest: str
    options: tuple[str, ...]
    inverses: tuple[str, ...]
    action: str
    converter: str
    optional: bool
    nargs: str | int | None
    const: Any
    choices: tuple[Any, ...] | None
    default: Fact
    field: str
    path: str
    line: int
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a configuration class. `limits` are pydantic's (`{"gt": 0}`), `validators` see `bot.learn.configs`."""

    name: str
    types: Type
    default: Fact
    limits: Mapping[str, float]
    validators: tuple[str, ...]
    required: bool


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration class. `extra` says what it does with keys that it lacks: "forbid", "ignore", "allow".

    `required` are the fields that must be given. `checks` are its own refusals, see `bot.engine.selfchecks`.
    """

    name: str
    path: str
    line: int
    extra: str
    fields: Mapping[str, Field]
    required: tuple[str, ...] = ()
    checks: tuple[Mapping[str, Any], ...] = ()


class _Fields(Mapping[str, Field]):
    """The fields of a class, each made when it is asked for: a command line asks for a few."""

    def __init__(self, entries: Mapping[str, Any], places: Sequence[Place]) -> None:
        self._entries = entries
        self._places = dict(zip(entries, places, strict=True))
        self._made: dict[str, Field] = {}

    def __getitem__(self, name: str) -> Field:
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = _field(name, self._entries[name], self._places[name])
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


@dataclass(frozen=True, eq=False)
class Facts:
    """A release. Cheap to make: tables are built when they are first asked for."""

    version: str
    raw: Mapping[str, Any]

    @cached_property
    def rules(self) -> Mapping[str, Any]:
        """How the command line is rewritten before argparse; see `bot.learn.rewriting`."""
        return dict(self.raw["rules"])

    @cached_property
    def entrypoint(self) -> tuple[str, ...] | None:
        """The ENTRYPOINT of the server's image, None when it is not known."""
        words = self.raw["entrypoint"]
        return tuple(words) if words else None

    @cached_property
    def flags(self) -> Mapping[str, Flag]:
        """Flags by the first of their names, in order of registration."""
        return {name: self._flag(name) for name in self.raw["flags"]}

    @cached_property
    def spellings(self) -> Mapping[str, str]:
        """Every spelling that argparse knows, negations included, with the first name of its flag."""
        pairs = bool(self.rules["enable_disable"])
        found: dict[str, str] = {}
        for name, entry in self.raw["flags"].items():
            names = entry.get("names", (name,))
            for option in (*names, *(_inverses(names, pairs) if entry.get("action") == "boolean" else ())):
                found[option] = name
        return found

    @cached_property
    def options(self) -> Mapping[str, Flag]:
        """Flags by every spelling that argparse knows."""
        return {option: self._flag(name) for option, name in self.spellings.items()}

    @cached_property
    def _dests(self) -> Mapping[str, str]:
        return {_dest(name, entry): name for name, entry in self.raw["flags"].items()}

    @cached_property
    def _made(self) -> dict[str, Flag]:
        return {}

    def _flag(self, name: str) -> Flag:
        flag = self._made.get(name)
        if flag is None:
            pairs = bool(self.rules["enable_disable"])
            entry = self.raw["flags"][name]
            own, default = self._flag_places[name]
            flag = self._made[name] = _flag(name, entry, pairs, own, default or self._behind(name, entry) or own)
        return flag

    @cached_property
    def _flag_places(self) -> dict[str, tuple[Place, Place | None]]:
        """For each flag its own place, and that of its default where it is not the usual one."""
        places = self.raw["places"]
        rows = zip(_row(places["flags"]), _row(places["defaults"]), strict=True)
        return {
            name: (own, default if default[1] else None)
            for name, (own, default) in zip(self.raw["flags"], rows, strict=True)
        }

    def _behind(self, name: str, entry: Mapping[str, Any]) -> Place | None:
        """The place of the configuration field behind a flag."""
        field = self.field(_qualified(entry, _dest(name, entry)))
        return (field.default.path, field.default.line) if field is not None else None

    def flag(self, name: str) -> Flag | None:
        """The flag that is spelt so, exactly; None when the release has none."""
        key = self.spellings.get(name)
        return self._flag(key) if key is not None else None

    def setting(self, dest: str) -> Flag | None:
        """The flag that writes a setting; None when the release has no such setting."""
        key = self._dests.get(dest)
        return self._flag(key) if key is not None else None

    def default(self, dest: str) -> Fact | None:
        """What the parser sets when the flag is absent; None when the release has no such setting.

        Not what the engine ends up with: many defaults are None here and are derived later.
        """
        flag = self.setting(dest)
        return flag.default if flag is not None else None

    def choices(self, name: str) -> tuple[Any, ...]:
        """The values of a named list (`CacheDType`, `EagleModelTypes`), empty when the release has none."""
        return tuple(self.raw["literals"].get(name, ()))

    @cached_property
    def unread_rules(self) -> tuple[str, ...]:
        """The functions of the command line (`parse_args`) that are as in no release that was compared with ours."""
        known = parser_fingerprints()
        return tuple(name for name, found in self.rules["hashes"].items() if found not in known.get(name, ()))

    @property
    def config_names(self) -> tuple[str, ...]:
        """The configuration classes that the release has."""
        return tuple(self.raw["configs"])

    @property
    def gaps(self) -> tuple[str, ...]:
        """Statements of the code that registers flags which could not be followed, with file and line."""
        return tuple(self.raw["gaps"])

    def config(self, name: str) -> Config | None:
        """A configuration class by name."""
        return self._configs.get(name) or self._make_config(name)

    @cached_property
    def _configs(self) -> dict[str, Config]:
        return {}

    def _make_config(self, name: str) -> Config | None:
        entry = self.raw["configs"].get(name)
        if entry is None:
            return None
        (path, line), *places = _row(self.raw["places"]["configs"][name])
        fields = entry["fields"]
        required = tuple([key for key, inner in fields.items() if inner.get("required")])
        checks = tuple(entry.get("checks", ()))
        made = Config(name, path, line, entry["extra"], _Fields(fields, places), required, checks)
        self._configs[name] = made
        return made

    def field(self, qualified: str) -> Field | None:
        """A field by `Class.name`."""
        owner, _, name = qualified.rpartition(".")
        config = self.config(owner)
        return config.fields.get(name) if config is not None else None

    def enum(self, name: str) -> Mapping[str, Any]:
        """The members of an enum, empty when it is not known."""
        members: Mapping[str, Any] = self.raw["enums"].get(name, {})
        return members

    def level_table(self, level: int) -> Mapping[str, Fact]:
        """What an optimisation level sets where nothing else did, by dotted option.

        Options as `compilation_config.cudagraph_mode`; empty in a release without levels.
        """
        levels = self.raw["levels"]
        if str(level) not in levels:
            return {}
        path, line = _row(self.raw["places"]["levels"])[list(levels).index(str(level))]
        return {
            option: Fact(None, path, line, value["computed"]) if isinstance(value, dict) else Fact(value, path, line)
            for option, value in levels[str(level)].items()
        }

    @cached_property
    def environment(self) -> Mapping[str, Fact]:
        """The variables that the release reads, with the default where it is a literal."""
        table = self.raw["environment"]
        places = _row(self.raw["places"]["environment"])
        return {name: _variable(entry, *at) for (name, entry), at in zip(table.items(), places, strict=True)}

    @cached_property
    def anchors(self) -> Mapping[str, tuple[str, int] | None]:
        """`path:Qualified.name` → hash and line, or None where the release has no such definition."""
        lines = self.raw["places"]["anchors"]
        return {
            f"{path}:{name}": (found, line) if found else None
            for path, names in self.raw["anchors"].items()
            for (name, found), line in zip(names.items(), lines[path], strict=True)
        }

    @property
    def rules_place(self) -> Place:
        """Where the command line is rewritten."""
        return _row([self.raw["places"]["rules"]])[0]

    @property
    def constants(self) -> Mapping[str, Any]:
        """The values of those anchors that are constants."""
        constants: Mapping[str, Any] = self.raw["constants"]
        return constants

    def source_link(self, path: str, line: int | None) -> str:
        """The address of a line of the release's source."""
        link = SOURCE_URL.format(version=self.version, path=path, line=line)
        return link if line else link.partition("#")[0]


def _row(places: Sequence[int | str]) -> list[Place]:
    """A row of places (see `bot.learn.places`); line 0 is none."""
    path = ""
    found: list[Place] = []
    for at in places:
        if isinstance(at, str):
            path, _, text = at.rpartition(":")
            at = int(text)
        found.append((path, at))
    return found


def _qualified(entry: Mapping[str, Any], dest: str) -> str:
    """The field behind a flag; its name is left out of the file when it is that of the setting."""
    field: str = entry.get("field", "")
    return f"{field}.{dest}" if field and "." not in field else field


def _variable(entry: list[Any], path: str, line: int) -> Fact:
    return Fact(entry[0], path, line) if entry else Fact(None, path, line, "computed")


def _default(entry: Mapping[str, Any], path: str, line: int) -> Fact:
    return Fact(entry.get("default"), path, line, entry.get("computed", ""))


def _dest(name: str, entry: Mapping[str, Any]) -> str:
    """The setting that a flag writes: the longest of its names says it, unless the release does."""
    written: str | None = entry.get("dest")
    if written:
        return written
    longest = next((option for option in entry.get("names", ()) if option.startswith("--")), name)
    return longest.lstrip("-").replace("-", "_")


def _flag(name: str, entry: Mapping[str, Any], pairs: bool, own: Place, default: Place) -> Flag:
    options = tuple(entry.get("names", (name,)))
    action = entry.get("action", "store")
    converter = entry.get("type", "str")
    optional = isinstance(converter, list)
    choices = entry.get("choices")
    dest = _dest(name, entry)
    return Flag(
        name=name,
        dest=dest,
        options=options,
        inverses=_inverses(options, pairs) if action == "boolean" else (),
        action=action,
        converter=converter[1] if optional else converter,
        optional=optional,
        nargs=entry.get("nargs"),
        const=entry.get("const"),
        choices=tuple(choices) if isinstance(choices, list) else None,
        default=_default(entry, *default),
        field=_qualified(entry, dest),
        path=own[0],
        line=own[1],
        deprecated=bool(entry.get("deprecated")),
    )


def _inverses(options: Sequence[str], pairs: bool) -> tuple[str, ...]:
    """The options that argparse adds to a two-way flag, and those that the release pairs with it."""
    long = [option for option in options if option.startswith("--")]
    negated = ["--no-" + option[2:] for option in long]
    if pairs:
        for this, other in (("--enable-", "--disable-"), ("--disable-", "--enable-")):
            negated += [other + option.removeprefix(this) for option in long if option.startswith(this)]
    return tuple(negated)


def _field(name: str, entry: Mapping[str, Any], where: Place) -> Field:
    return Field(
        name=name,
        types=entry["type"],
        default=_default(entry, *where),
        limits={key: entry[key] for key in ("gt", "ge", "lt", "le", "multiple_of") if key in entry},
        validators=tuple(entry.get("validators", ())),
        required=bool(entry.get("required")),
    )


@lru_cache(maxsize=128)
def load(version: str) -> Facts:
    """The facts of a release: those of the rules, else those that were learnt on this machine.

    Raises `UnknownReleaseError`.
    """
    if version in releases():
        found = from_text((RELEASES / f"{version}.json").read_text(encoding="utf-8"))
        # Thousands of small containers without cycles, kept as long as the process lives. A collector that looks at
        # them again and again takes a tenth of an audit's time.
        gc.freeze()
        return found
    text = cache.read(version)
    if text is None:
        raise UnknownReleaseError(version)
    return from_text(text)


def is_known(version: str) -> bool:
    """Whether a release has facts, in the rules or learnt on this machine."""
    try:
        load(version)
    except UnknownReleaseError:
        return False
    return True


def from_text(text: str) -> Facts:
    """The facts in a release file's text. Raises `UnknownReleaseError` when it is none, or of another schema."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnknownReleaseError(f"not a release file ({error})") from None
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA or not isinstance(raw.get("release"), str):
        found = raw.get("schema") if isinstance(raw, dict) else None
        raise UnknownReleaseError(f"the file is of schema {found}, not {SCHEMA}")
    return Facts(raw["release"], raw)


@lru_cache(maxsize=1)
def parser_fingerprints() -> Mapping[str, Sequence[str]]:
    """The known forms of the functions that rewrite and build the command line, by name (`rules/vllm/parser.json`)."""
    found: Mapping[str, Sequence[str]] = json.loads((RULES / "vllm" / "parser.json").read_text(encoding="utf-8"))
    return found


@lru_cache(maxsize=1)
def releases() -> tuple[str, ...]:
    """The releases that the rules have facts of, oldest first: those that a pin without a release is asked of."""
    return tuple(sorted((path.stem for path in RELEASES.glob("*.json")), key=_order))


def _order(version: str) -> Version:
    try:
        return Version(version)
    except InvalidVersion:
        return Version("0")
