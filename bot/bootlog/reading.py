"""Reads a boot log for what the engine said that it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeGuard

from bot.bootlog.lines import Line, engine_lines
from bot.bootlog.messages import Key, Message, known_messages
from bot.bootlog.model import BootLog, Said
from bot.bootlog.representation import assignments, call, entries
from bot.engine.model import Value

MAX_BYTES = 1 << 20
"""Characters of a log that are read, its beginning: an engine boots in some hundred lines."""

_MODE = re.compile(
    r"['\"]cudagraph_mode['\"]:\s*(?:<CUDAGraphMode\.([A-Z_]+):|(\d+)(?=\s*[,}])|(\[\s*\d+,\s*\d+\s*\]))"
)
_MODES = {"0": "NONE", "1": "PIECEWISE", "2": "FULL", "[2,0]": "FULL_DECODE_ONLY", "[2,1]": "FULL_AND_PIECEWISE"}
_NAME = re.compile(r"[\w./+@:-]{1,300}")
_NUMBER = re.compile(r"\d{1,12}")
_FRACTION = re.compile(r"\d{1,12}\.\d{1,12}")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]{0,63}")
"""A value of a property that is text: the longest that vLLM has is half as long, and no prompt or address is one."""

_USER = re.compile(r"(?<=://)[^/@]*@")
MAX_NUMBERS = 100
"""Arguments that are kept of one log."""

_NUMBERS = frozenset(
    {
        "max_model_len",
        "max_num_seqs",
        "tensor_parallel_size",
        "pipeline_parallel_size",
        "spec_decode.num_speculative_tokens",
    }
)
_NAMED = frozenset({"model", "served"})
_SWITCHES = frozenset({"enforce_eager", "prefix_caching", "chunked_prefill"})
_LITERALS: Mapping[str, Value] = {"True": True, "False": False, "None": None}


def read(text: str) -> tuple[BootLog, ...]:
    """What the engines of a log said, one for each container that Docker Compose names; empty without an engine.

    Only the last boot of each counts. Whatever the text holds, nothing is raised.
    """
    boots: dict[str, _Boot] = {}
    for line in engine_lines(text[:MAX_BYTES]):
        boot = boots.setdefault(line.container, _Boot())
        boot.hear(line)
    return tuple(boot.log(container) for container, boot in boots.items() if boot.told or boot.said)


@dataclass
class _Boot:
    """What was heard of one engine since it last began to boot."""

    said: dict[str, Said] = field(default_factory=dict)
    whole: dict[str, Said] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)
    captured: dict[str, Said] = field(default_factory=dict)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    numbers: dict[str, int | float] = field(default_factory=dict)
    port: int | None = None
    started: bool = False
    told: int = 0

    def hear(self, line: Line) -> None:
        """Take in one line."""
        known = known_messages()
        for message in known.by_file.get(line.file, ()) if line.file else known.bars:
            if found := message.pattern.fullmatch(line.message):
                self._take(message, found, line)
                return

    def _take(self, message: Message, found: re.Match[str], line: Line) -> None:
        if message.role == "start":
            if self.whole or self.captured:
                self.__init__()  # type: ignore[misc]  # the engine boots anew
            self.started = True
        self.told += 1
        if message.role == "captured":
            self.captured.setdefault(found[0], Said(found[0], line.number, message.name))
            return
        if message.role == "configuration":
            self._configuration(found[2], line.number)
        elif message.role == "arguments":
            self.started = True
            self._arguments(found[1], line.number)
        elif message.role == "finished":
            self._finished(message.name, line.number)
        if message.open and not line.whole and message.role not in ("configuration", "arguments"):
            return
        for name, value in message.values(found):
            if name == "model":
                self.names.setdefault("model", _names(value))
            else:
                self._say(name, Said(value, line.number, message.name), message.first)

    def _say(self, name: str, said: Said, first: bool) -> None:
        """Note a value. One that comes first in a boot is the engine's own; what is said in two ways is in doubt."""
        if first and not self.started:
            return
        if name == "cudagraph_mode_effective" or name not in self.said:
            self.said[name] = said
        elif self.said[name].value != said.value and not first:
            self.doubts[name] = f"lines {self.said[name].line} and {said.line} say different things"

    def _configuration(self, text: str, line: int) -> None:
        found = assignments(text, "compilation_config")
        for name, value in _read(known_messages().configuration, found):
            if name in ("model", "served"):
                self.names[name] = _names(value)
            elif name in self.whole and self.whole[name].value != value:
                self.doubts[name] = f"lines {self.whole[name].line} and {line} say different things"
            else:
                self.whole.setdefault(name, Said(value, line, "configuration"))
        if self.whole.get("cudagraph_mode", _NOTHING).value == "NONE":
            self._say("cudagraph_mode_effective", Said("NONE", line, "configuration"), False)

    def _arguments(self, text: str, line: int) -> None:
        found = entries(text)
        for name, value in _read(known_messages().arguments, found):
            self.said.setdefault(name, Said(value, line, "arguments"))
        self.numbers = dict(islice(_numbers(found), MAX_NUMBERS))
        port = found.get("port", "")
        self.port = int(port) if _NUMBER.fullmatch(port) else self.port
        for key in ("model", "model_tag"):
            if key in found:
                self.names.setdefault("model", _names(_literal(found[key])))

    def _finished(self, name: str, line: int) -> None:
        """All graphs are captured: which kinds there were is what the worker runs with."""
        mode = _captured([str(said.value) for said in self.captured.values()])
        if mode is not None:
            self._say("cudagraph_mode_effective", Said(mode, line, name), False)

    def log(self, container: str) -> BootLog:
        """All that counts."""
        said = {**self.said, **self.whole}
        told = {name: found for name, found in said.items() if name not in self.doubts}
        model = next(iter(self.names.get("model", ())), "")
        served = self.names.get("served", ())
        return BootLog(container, told, model, served, self.port, self.told, dict(self.doubts), dict(self.numbers))


_NOTHING = Said("", 0, "")


def _captured(bars: list[str]) -> str | None:
    """The mode that captured graphs of these kinds; None where more than one would have."""
    kinds = set()
    for bar in bars:
        inner = re.sub(r"\s", "", bar.partition("(")[2].rstrip(")"))
        kinds.add(inner)
    if kinds == {"mixedprefill-decode,PIECEWISE"} or kinds == {"PIECEWISE"}:
        return "PIECEWISE"
    if kinds in ({"mixedprefill-decode,PIECEWISE", "decode,FULL"}, {"PIECEWISE", "FULL"}):
        return "FULL_AND_PIECEWISE"
    if kinds == {"decode,FULL"}:
        return "FULL_DECODE_ONLY"
    return "FULL" if "mixedprefill-decode,FULL" in kinds and len(kinds) <= 2 else None


def _read(keys: Mapping[str, Key], found: Mapping[str, str]) -> Iterator[tuple[str, Value]]:
    for name, key in keys.items():
        for text in (found[word] for word in key.keys if word in found):
            plain = key.mode is None and key.argument is None
            value = _literal(text) if plain else _inside(key, text)
            if value is not _MISSING and _fits(value, name):
                yield name, value


_MISSING = object()


def _inside(key: Key, text: str) -> object:
    """A value that stands inside of another."""
    if key.mode is not None:
        found = _MODE.search(text)
        if found is None:
            return _MISSING
        return found[1] or _MODES.get(re.sub(r"\s", "", found[2] or found[3]), _MISSING)
    if text == "None":
        return key.otherwise
    printed = call(text)
    given = printed[1].get(key.argument or "") if printed is not None else None
    return _MISSING if given is None else _literal(given)


def _literal(text: str) -> object:
    """A printed value: a literal of Python, or else a plain word."""
    if text in _LITERALS:
        return _LITERALS[text]
    if _NUMBER.fullmatch(text):
        return int(text)
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return text if _NAME.fullmatch(text) or text.startswith("[") else _MISSING


def _fits(value: object, name: str) -> TypeGuard[Value]:
    if name in _NUMBERS:
        return isinstance(value, int) and not isinstance(value, bool)
    if name in _SWITCHES:
        return isinstance(value, bool)
    if isinstance(value, str):
        return name in _NAMED or _WORD.fullmatch(value) is not None
    return value is None or isinstance(value, int)


def _numbers(found: Mapping[str, str]) -> Iterator[tuple[str, int | float]]:
    for name, text in found.items():
        if text in ("True", "False"):
            yield name, text == "True"
        elif _NUMBER.fullmatch(text):
            yield name, int(text)
        elif _FRACTION.fullmatch(text):
            yield name, float(text)


def _names(value: object) -> tuple[str, ...]:
    """Names of a model: one, or a printed list of them; without the user of an address."""
    if not isinstance(value, str):
        return ()
    names = re.findall(r"'([^'\\]{1,300})'", value)[:20] if value.startswith("[") else [value]
    return tuple(_USER.sub("", name) for name in names if _NAME.fullmatch(name))
