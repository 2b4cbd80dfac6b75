"""The messages that are known, `rules/bootlog.yml`, ready to be looked for."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from bot.engine.model import Value
from bot.rules import RULES

MAX_VALUE = 300
"""Characters of a value that a line says; names of models are shorter."""

_PLACE = re.compile(r"%(?:s|d|\.\d+f)")
_RELEASE = re.compile(r"\d+\.\d+\.\d+")
_TEXT = re.compile(r"[\w./+@:-]+")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}")
"""What a line says of anything but a model: the longest name of an architecture is half as long."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `files` are the names of the modules that write it; none for a progress bar, which has no mark.

    `first` says that a later one may be about the drafter's model, `open` that a value ends it: cut, the value would be
    another one. `says` are the properties with how each is read.
    """

    name: str
    pattern: re.Pattern[str]
    files: frozenset[str]
    role: str
    first: bool
    open: bool
    says: Mapping[str, Mapping[str, Any]]

    def values(self, found: re.Match[str]) -> Iterator[tuple[str, Value]]:
        """The properties that a line says, with their values; what is no known word is not said."""
        for name, how in self.says.items():
            if "is" in how:
                yield name, how["is"]
                continue
            text = found[how["from"]].strip()
            if how.get("first_word"):
                text = (re.match(r"\w*", text) or [""])[0]
            if "words" in how:
                if text in how["words"]:
                    yield name, how["words"][text]
            elif name == "release" and not _RELEASE.match(text):
                continue
            elif len(text) <= MAX_VALUE and _TEXT.fullmatch(text):
                word = text.rpartition(".")[2] if name == "attention_backend" else text
                if name == "model" or _WORD.fullmatch(word):
                    yield name, word


@dataclass(frozen=True, slots=True)
class Key:
    """How a property stands in the printed configuration: under one of `keys`, there as the argument of a call, or as
    the mode in a dictionary. `otherwise` is its value where the key holds None.
    """

    keys: tuple[str, ...]
    argument: str | None
    mode: str | None
    otherwise: Value


@dataclass(frozen=True, slots=True)
class Messages:
    """All of them: those of modules by the module's name, those of progress bars, and the keys of what is printed."""

    by_file: Mapping[str, tuple[Message, ...]]
    bars: tuple[Message, ...]
    configuration: Mapping[str, Key]
    arguments: Mapping[str, Key]


@cache
def known_messages() -> Messages:
    """The messages, read once per process."""
    data = yaml.safe_load((RULES / "bootlog.yml").read_text(encoding="utf-8"))
    messages = [_message(name, found) for name, found in data["messages"].items()]
    by_file: dict[str, list[Message]] = {}
    for message in messages:
        for file in message.files:
            by_file.setdefault(file, []).append(message)
    return Messages(
        {file: tuple(found) for file, found in by_file.items()},
        tuple(message for message in messages if not message.files),
        {name: _key(found) for name, found in data["configuration"].items()},
        {name: _key(found) for name, found in data["arguments"].items()},
    )


def _message(name: str, found: Mapping[str, Any]) -> Message:
    role = str(found.get("role", ""))
    files = frozenset(posixpath.basename(place.rpartition(":")[0]) for place in found["source"].values())
    return Message(
        name,
        _pattern(str(found["message"])),
        frozenset() if role == "captured" else files,
        role,
        bool(found.get("first")),
        str(found["message"]).endswith("%s"),
        found.get("says", {}),
    )


def _key(found: Mapping[str, Any]) -> Key:
    otherwise = found.get("otherwise")
    return Key(
        tuple(found["keys"]), found.get("argument"), found.get("mode"), None if otherwise == "none" else otherwise
    )


def _pattern(message: str) -> re.Pattern[str]:
    """A message as an expression. A blank may be missing, or be several: a chat may have wrapped the line there."""
    parts = [re.sub(r"(?:\\ )+", r"\\s*", re.escape(part)) for part in _PLACE.split(message)]
    return re.compile("(.*?)".join(parts), re.DOTALL)
