"""Which flag each word belongs to: what argparse does with words and option names.

The parser of the server has flags and one optional positional, the model. The rules are those of CPython's
`argparse` (3.11, 3.12): exact names first, then the part before `=`, then unambiguous beginnings.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from re import compile as pattern

from bot.engine.facts import Fact, Facts, Flag
from bot.engine.likeness import Note, unnoted
from bot.engine.model import EngineError, ErrorKind
from bot.engine.rewriting import Token

HELP = Flag(
    "--help", "help", ("-h", "--help"), (), "help", "str", False, None, None, None, Fact(None, "", 0), "", "", 0
)
NO_VALUE_ACTIONS = frozenset({"store_true", "store_false", "boolean", "help"})

DIGITS = ".0123456789"
_NEGATIVE_NUMBER = pattern(r"^-\d+$|^-\d*\.\d+$")


@dataclass(slots=True)
class Occurrence:
    """A flag as it was used. `option` is the full name that was meant; `values` are its words."""

    flag: Flag
    option: str
    token: Token
    values: list[Token]


@dataclass(slots=True)
class Read:
    """The outcome of reading. `opened` is how many occurrences stand before the last open place, and that place."""

    occurrences: list[Occurrence] = field(default_factory=list)
    model: Token | None = None
    errors: list[EngineError] = field(default_factory=list)
    open_token: Token | None = None
    opened: int = 0


@dataclass(slots=True)
class Option:
    """How a word that looks like an option was understood. `flag` is None when no option is named so."""

    flag: Flag | None
    name: str
    explicit: str | None
    matches: tuple[str, ...] = ()


class OptionTable:
    """The option names of a release, prepared for lookup. Flags are made when they are asked for."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.known = {"-h": "", "--help": "", **facts.spellings}

    @cached_property
    def names(self) -> list[str]:
        """All option names, sorted."""
        return sorted(name for name in self.known if name.startswith("-"))

    @cached_property
    def takes_negative_numbers(self) -> bool:
        """Whether an option looks like a number, so that `-1` may be one."""
        return any(name[1:2] in DIGITS and _NEGATIVE_NUMBER.match(name) for name in self.known if len(name) > 1)

    def flag(self, name: str) -> Flag:
        """The flag of a known spelling."""
        return self.facts.flag(name) or HELP

    def beginning(self, prefix: str) -> list[str]:
        """The option names that begin so."""
        start = bisect_left(self.names, prefix)
        end = start
        while end < len(self.names) and self.names[end].startswith(prefix):
            end += 1
        return self.names[start:end]

    def option(self, text: str) -> Option | None:
        """How argparse understands a word; None for a plain argument."""
        if not text or text[0] != "-":
            return None
        if text in self.known:
            return Option(self.flag(text), text, None)
        if len(text) == 1:
            return None
        name, equals, explicit = text.partition("=")
        if equals and name in self.known:
            return Option(self.flag(name), name, explicit)
        return self._abbreviated(text, name, explicit if equals else None)

    def _abbreviated(self, text: str, name: str, explicit: str | None) -> Option | None:
        found: list[tuple[str, str | None]]
        if text[1] == "-":
            found = [(candidate, explicit) for candidate in self.beginning(name)]
        else:
            found = [(candidate, None) for candidate in self.beginning(text)]
            if text[:2] in self.known and text[:2] != text:
                found.append((text[:2], text[2:]))
        if len(found) == 1:
            candidate, value = found[0]
            return Option(self.flag(candidate), candidate, value)
        if found:
            return Option(None, text, None, tuple(candidate for candidate, _ in found))
        if _NEGATIVE_NUMBER.match(text) and not self.takes_negative_numbers:
            return None
        return None if " " in text else Option(None, text, None)


_tables: dict[str, OptionTable] = {}


def option_table(facts: Facts) -> OptionTable:
    """The table of a release, kept as long as its facts are the same object."""
    kept = _tables.get(facts.version)
    if kept is None or kept.facts is not facts:
        kept = _tables[facts.version] = OptionTable(facts)
    return kept


class _Reader:
    def __init__(self, tokens: list[Token], table: OptionTable, note: Note) -> None:
        self.tokens = tokens
        self.table = table
        self.note = note
        self.read = Read()
        self.model_done = False
        self.kinds: list[str] = []
        self.options: list[Option | None] = []
        self.stray: list[Token] = []
        self.classify()

    def classify(self) -> None:
        """`O` an option, `A` an argument, `-` the two dashes, `?` a place where anything may stand."""
        kinds, options, known = self.kinds, self.options, self.table.known
        only_arguments = False
        for token in self.tokens:
            text = token.text
            option = None
            if token.open:
                kind = "?"
            elif only_arguments or not text or text[0] != "-":
                kind = "A"
            elif text == "--":
                kind, only_arguments = "-", True
            else:
                self.note(("word", text))
                if text in known:
                    kind, option = "O", Option(self.table.flag(text), text, None)
                elif token.symbols and "${" in text.partition("=")[0]:
                    kind = "?"
                else:
                    option = self.table.option(text)
                    kind = "A" if option is None else "O"
            kinds.append(kind)
            options.append(option)

    def run(self) -> Read:
        index, count = 0, len(self.tokens)
        while index < count:
            kind = self.kinds[index]
            if kind == "O":
                index = self.take_option(index)
            elif kind == "?":
                index = self.take_open(index)
            else:
                index = self.take_argument(index)
        self.report_stray()
        return self.read

    # -- words that belong to no flag

    def take_open(self, index: int) -> int:
        """Anything may stand here; plain words behind it may belong to it."""
        self.open(self.tokens[index])
        self.model_done = self.model_done or index == 0
        index += 1
        while index < len(self.tokens) and self.kinds[index] == "A":
            index += 1
        return index

    def open(self, token: Token) -> None:
        self.read.open_token = token
        self.read.opened = len(self.read.occurrences)

    def take_argument(self, index: int) -> int:
        token = self.tokens[index]
        if not self.model_done:
            self.model_done = True
            dashes = 0
            while index < len(self.tokens) and self.kinds[index] == "-":
                index, dashes = index + 1, dashes + 1
            if index < len(self.tokens) and self.kinds[index] == "A":
                self.read.model = self.tokens[index]
                index += 1
            while index < len(self.tokens) and self.kinds[index] == "-":
                index += 1
            return index
        if token.symbols and token.text.startswith("${"):
            self.open(token)
        else:
            self.stray.append(token)
        return index + 1

    def report_stray(self) -> None:
        """Argparse's "unrecognized arguments", one error for each flag with the words behind it."""
        if not self.stray:
            return
        groups: list[list[Token]] = []
        previous: Token | None = None
        positions = {id(token): index for index, token in enumerate(self.tokens)}
        for token in self.stray:
            adjacent = previous is not None and positions[id(token)] == positions[id(previous)] + 1
            starts = token.text.startswith("-") and self.kinds[positions[id(token)]] == "O"
            if groups and adjacent and not starts:
                groups[-1].append(token)
            else:
                groups.append([token])
            previous = token
        for group in groups:
            text = " ".join(dict.fromkeys(token.written for token in group))
            unknown = group[0].text.startswith("-") and group[0].text != "--"
            self.read.errors.append(
                EngineError(
                    kind="unknown-flag" if unknown else "invalid-value",
                    argument=text,
                    message=f"unrecognized arguments: {text}",
                    because=group[0].because,
                )
            )

    # -- flags

    def take_option(self, index: int) -> int:
        token, option = self.tokens[index], self.options[index]
        assert option is not None
        if option.flag is None:
            if option.matches:
                self.error("ambiguous-flag", token, f"{option.name} could match {', '.join(option.matches)}")
                return self.skip_arguments(index + 1)
            self.stray.append(token)
            return index + 1
        flag, name, explicit = option.flag, option.name, option.explicit
        while explicit is not None:
            if flag.action not in NO_VALUE_ACTIONS:
                value = Token(explicit, token.because, token.written, token.symbols)
                self.read.occurrences.append(Occurrence(flag, name, token, [value]))
                if isinstance(flag.nargs, int) and flag.nargs > 1:
                    self.error("missing-value", token, f"{name}: expected {flag.nargs} arguments")
                return index + 1
            shorter = f"-{explicit[:1]}"
            self.note(("word", shorter))
            if name.startswith("--") or not explicit or shorter not in self.table.known:
                self.error("invalid-value", token, f"argument {name}: ignored explicit argument {explicit!r}")
                return index + 1
            self.read.occurrences.append(Occurrence(flag, name, token, []))
            flag, name, explicit = self.table.flag(shorter), shorter, explicit[1:] or None
        return self.take_values(index, flag, name)

    def skip_arguments(self, index: int) -> int:
        while index < len(self.tokens) and self.kinds[index] == "A":
            index += 1
        return index

    def take_values(self, index: int, flag: Flag, name: str) -> int:
        token = self.tokens[index]
        stop = index + 1
        if flag.action in NO_VALUE_ACTIONS:
            if flag.action == "help":
                self.error("conflict", token, f"{name} prints the help, and the server does not start")
            self.read.occurrences.append(Occurrence(flag, name, token, []))
            return stop
        nargs, kinds = flag.nargs, self.kinds
        if nargs is None and stop < len(kinds) and kinds[stop] == "A":
            self.read.occurrences.append(Occurrence(flag, name, token, [self.tokens[stop]]))
            return stop + 1
        most = 1 if nargs is None or nargs == "?" else len(kinds) if nargs == "+" else nargs
        assert isinstance(most, int)
        values: list[Token] = []
        while stop < len(kinds) and len(values) < most and kinds[stop] in "A?":
            value = self.tokens[stop]
            if kinds[stop] == "?" and (values or not value.text):
                break
            values.append(value)
            stop += 1
        opened = kinds[stop - 1] == "?" or (len(values) > 1 and any(v.text.startswith("${") for v in values))
        missing = not values if flag.nargs in (None, "+") else isinstance(flag.nargs, int) and len(values) < flag.nargs
        if missing and stop < len(self.tokens) and self.kinds[stop] == "?":
            values, missing = [self.tokens[stop]], False
        if missing:
            counts: dict[str | int | None, str] = {None: "one argument", "+": "at least one argument"}
            count = counts.get(flag.nargs, f"{flag.nargs} arguments")
            self.error("missing-value", token, f"argument {name}: expected {count}")
            return stop
        self.read.occurrences.append(Occurrence(flag, name, token, values))
        if opened:
            last = self.tokens[stop - 1]
            self.open(last)
            self.read.opened -= 1
            return self.skip_arguments(stop)
        return stop

    def error(self, kind: ErrorKind, token: Token, message: str) -> None:
        self.read.errors.append(EngineError(kind, token.written, message, token.because))


def read_options(tokens: list[Token], facts: Facts, note: Note = unnoted) -> Read:
    """Distribute words to the flags of a release. `note` is told each word that the release is asked about."""
    return _Reader(tokens, option_table(facts), note).run()
