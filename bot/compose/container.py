"""The variables of a container: `environment:`, what it takes from the host, and environment files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.compose import dotenv
from bot.compose.documents import Documents
from bot.compose.faults import Fault
from bot.compose.model import BARE, VariableRead
from bot.compose.nodes import Text
from bot.compose.plan import Resolved
from bot.compose.scalars import go_text
from bot.compose.values import Environment, Stated, Value, text_like
from bot.compose.words import word
from bot.provenance import Position, Reason, Word


@dataclass(frozen=True, slots=True)
class Declared:
    """`environment:` with its bare names looked up. `passed` are those names and what the host had for them."""

    words: Mapping[str, Word | None]
    passed: Mapping[str, str | None]

    def holds(self, variables: Environment) -> bool:
        """Whether the host still has the same for the bare names."""
        return all(variables.get(name) == value for name, value in self.passed.items())


class _Absent(Fault):
    """An environment file that must be there, and is not: often one that is not committed."""

    def __init__(self, file: str, message: str) -> None:
        super().__init__("not-found", message)
        self.file = file


class Container:
    """The environment of one service, in one environment of the host. Notes the files that it reads in `read`."""

    def __init__(
        self, documents: Documents, resolved: Resolved, variables: Environment, place: str, read: dict[str, None]
    ) -> None:
        self._documents = documents
        self._resolved = resolved
        self._variables = variables
        self._place = place
        self._read = read
        self.absent: dict[str, Fault] = {}
        self.reads: list[VariableRead] = []

    def variables(self, with_files: bool) -> tuple[Mapping[str, Word | None], frozenset[str]]:
        """The variables (None for one that is passed on and not set), and those that come from outside.

        Raises `Fault` for an environment file that cannot be read; `absent` collects those that must be there and
        are not.
        """
        declared = self._declared()
        files = self._resolved.value("env_file")
        if not with_files or not files:
            return declared.words, frozenset(declared.passed)
        from_files = self._from_files(files, declared.words)
        self.reads = [read for read in self.reads if read.field.partition(".")[2] not in declared.words]
        return {**from_files, **declared.words}, frozenset((*declared.passed, *from_files))

    def _declared(self) -> Declared:
        answer = self._resolved.answers.get("environment")
        if answer is None:
            return Declared({}, {})
        known = answer.derived
        if isinstance(known, Declared) and known.holds(self._variables):
            return known
        declared = self._declare(answer.value)
        answer.derived = declared
        return declared

    def _declare(self, value: Value) -> Declared:
        words: dict[str, Word | None] = {}
        passed: dict[str, str | None] = {}
        if isinstance(value, dict):
            pairs = [(name, item, item is not None) for name, item in value.items()]
        else:
            split = [(item, item.partition("=")) for item in value]
            pairs = [(parts[0], text_like(parts[2], item), bool(parts[1])) for item, parts in split]
        for name, item, given in pairs:
            self._check(name)
            if given:
                words[name] = word(item) if isinstance(item, str) else self._stated(name, go_text(item))
                continue
            passed[name] = found = self._variables.get(name)
            words[name] = None if found is None else self._passed_on(name, found, item)
        return Declared(words, passed)

    def _passed_on(self, name: str, value: str, item: Value) -> Word:
        path, line = (item.scalar.source.path, item.scalar.line) if isinstance(item, Text) else self._place_of(name)
        if isinstance(value, Stated):
            return Word(value, (Reason("compose", path, line, f"{name} is passed on: {value}"), value.reason), (line,))
        return Word(value, (Reason("compose", path, line, f"{name} is passed on from the host: {value}"),), (line,))

    def _stated(self, name: str, text: str) -> Word:
        """A number or boolean, whose place is that of its name."""
        path, line = self._place_of(name)
        source = self._documents.text(path)
        return Word(text, (Reason("compose", path, line, source.excerpt(line) if source else ""),), (line,))

    def _place_of(self, name: str) -> tuple[str, int]:
        plan = self._resolved.plan
        return plan.line(("environment", name)) or plan.line(("environment",)) or plan.place

    def _check(self, name: str) -> None:
        if name.endswith((" ", "\t")):
            message = f"environment variable {name} is declared with a trailing space"
            service = self._resolved.name
            whole = f"decoding failed due to the following error(s):\n\n'services[{service}].environment' {message}"
            raise self._at(Fault("invalid", whole), "environment")

    def _at(self, fault: Fault, *path: str) -> Fault:
        plan = self._resolved.plan
        fault.path, fault.line = plan.line(path) or plan.line(path[:1]) or plan.place
        return fault

    def _from_files(self, files: Value, declared: Mapping[str, Word | None]) -> dict[str, Word]:
        own = {name: item.text for name, item in declared.items() if item is not None}
        values = dict(own)
        words: dict[str, Word] = {}
        for index, entry in enumerate(files):
            try:
                path, lines = self._read_file(entry, values, own)
            except _Absent as fault:
                self.absent.setdefault(fault.file, self._at(fault, "env_file", str(index)))
                continue
            except Fault as fault:
                raise fault if fault.path else self._at(fault, "env_file", str(index)) from None
            source = self._documents.text(path) if lines else None
            for name, line in lines.items():
                excerpt = source.excerpt(line) if source else ""
                words[name] = Word(values[name], (Reason("compose", path, line, excerpt),), (line,))
        return words

    def _read_file(
        self, entry: Mapping[str, Value], values: dict[str, str], own: Mapping[str, str]
    ) -> tuple[str, dict[str, int]]:
        path = self._documents.locate(self._place, entry["path"])
        shown = self._documents.shown(path)
        self._read[path] = None
        source = self._documents.text(path)
        if source is None:
            if self._documents.tree.is_directory(path):
                raise Fault("not-found", f"failed to read {shown}: read {shown}: is a directory")
            if entry.get("required", True) not in (False, "false"):
                raise _Absent(path, f"env file {shown} not found: stat {shown}: no such file or directory")
            return path, {}

        def lookup(name: str) -> str | None:
            found = self._variables.get(name)
            return own.get(name) if found is None else found

        def note(asked: dotenv.Asked) -> None:
            place = Position(path, asked.line)
            operator = BARE if asked.operator is None else asked.operator
            self.reads.append(VariableRead(asked.name, operator, asked.argument, f"env_file.{asked.target}", place))

        form = entry.get("format", "")
        try:
            if form == "raw":
                return path, dotenv.parse_raw(source.text, values, lookup, note)
            if form:
                raise Fault("invalid", f'unsupported env_file format "{form}"')
            return path, dotenv.parse(source.text, lookup, values, note)
        except dotenv.BadEnvironmentFile as error:
            raise Fault("not-yaml", f"failed to read {shown}: {error}", path=path, line=error.line) from None

    def labels(self) -> dict[str, str]:
        """The labels of the files in `label_file`. Raises `Fault`."""
        values: dict[str, str] = {}
        for index, file in enumerate(self._resolved.value("label_file") or ()):
            path = self._documents.locate(self._place, file)
            source = self._documents.text(path)
            shown = self._documents.shown(path)
            self._read[path] = None
            if source is None:
                message = f"label file {shown} not found: stat {shown}: no such file or directory"
                raise self._at(Fault("not-found", message), "label_file", str(index))
            try:
                dotenv.parse(source.text, lambda _name: None, values)
            except dotenv.BadEnvironmentFile as error:
                raise Fault("not-yaml", f"failed to read {shown}: {error}", path=path, line=error.line) from None
        return values
