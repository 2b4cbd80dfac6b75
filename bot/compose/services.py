"""From a resolved service to the answer: words with reasons, the container's environment, and mounts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.compose import dotenv
from bot.compose.documents import Documents
from bot.compose.faults import Fault
from bot.compose.layers import Scope, Scopes
from bot.compose.model import Mount, Service
from bot.compose.nodes import Text
from bot.compose.plan import Resolved
from bot.compose.scalars import go_text
from bot.compose.structure import Structure
from bot.compose.values import Environment, Value, text_like
from bot.compose.words import command, word
from bot.provenance import Position, Reason, Word
from bot.tree import OutsideTree, join


@dataclass(slots=True)
class Built:
    """A service, or why there is none."""

    service: Service | None
    faults: list[Fault] = field(default_factory=list)


def build_service(
    documents: Documents,
    resolved: Resolved,
    structure: Structure,
    scopes: Scopes,
    place: str,
    active: bool,
    read: dict[str, None],
) -> Built:
    """The answer for one service. Environment files are read for active services only, as Compose does."""
    config = resolved.config
    variables = scopes.of(Scope())
    faults: list[Fault] = []
    container = _Environment(documents, resolved, variables, place, read)
    try:
        environment = container.build(active)
        config = {**config, "environment": {name: _text(item) for name, item in environment.items()}}
        if not environment:
            del config["environment"]
        labels = container.labels() if active else None
        if labels:
            config["labels"] = {**labels, **config.get("labels", {})}
    except Fault as fault:
        return Built(None, [*faults, fault])
    image = config.get("image")
    service = Service(
        name=resolved.name,
        position=structure.positions[resolved.name],
        config=config,
        image=word(image) if image else None,
        entrypoint=command(resolved.values.get("entrypoint"), config["entrypoint"]),
        command=command(resolved.values.get("command"), config["command"]),
        environment=environment,
        mounts=_mounts(resolved, place),
        reads=resolved.plan.reads,
        profiles=tuple(config.get("profiles", ())),
        active=active,
        forwarded=frozenset(container.forwarded),
    )
    return Built(service, faults)


def _text(item: Word | None) -> str | None:
    return None if item is None else item.text


class _Environment:
    """The variables of a container."""

    def __init__(
        self, documents: Documents, resolved: Resolved, variables: Environment, place: str, read: dict[str, None]
    ) -> None:
        self._documents = documents
        self._resolved = resolved
        self._variables = variables
        self._place = place
        self._read = read
        self.forwarded: set[str] = set()

    def build(self, with_files: bool) -> dict[str, Word | None]:
        """The variables; None for one that is passed through and not set. Raises `Fault`."""
        own = self._own()
        words = {name: None if value is None else self._host(name, value) for name, value in own.items()}
        files = self._resolved.values.get("env_file")
        if not with_files or not files:
            return words
        return {**self._from_files(files, own), **words}

    def _host(self, name: str, value: str) -> Word:
        if isinstance(value, _HostText):
            found = self._resolved.plan.line(("environment", name)) or self._resolved.plan.line(("environment",))
            path, line = found or ("", None)
            return Word(str(value), (Reason("compose", path, line, f"{name} is passed on from the host: {value}"),))
        return word(value)

    def _own(self) -> dict[str, str | None]:
        value = self._resolved.values.get("environment")
        found: dict[str, str | None] = {}
        if isinstance(value, dict):
            for name, item in value.items():
                self._check(name)
                found[name] = self._passed(name) if item is None else text_like(go_text(item), item)
                if item is not None and not isinstance(item, str):
                    found[name] = _LiteralText(go_text(item))
        elif isinstance(value, list):
            for item in value:
                name, equals, text = item.partition("=")
                self._check(name)
                found[name] = text_like(text, item) if equals else self._passed(name)
        return found

    def _check(self, name: str) -> None:
        if name.endswith((" ", "\t")):
            message = (
                "decoding failed due to the following error(s):\n\n"
                f"'services[{self._resolved.name}].environment' environment variable {name} is declared with a trailing space"
            )
            fault = Fault("invalid", message)
            place = self._resolved.plan.line(("environment",))
            if place:
                fault.path, fault.line = place
            raise fault

    def _passed(self, name: str) -> str | None:
        self.forwarded.add(name)
        value = self._variables.get(name)
        return None if value is None else _HostText(value)

    def _from_files(self, files: Value, own: Mapping[str, str | None]) -> dict[str, Word | None]:
        values = {name: str(value) for name, value in own.items() if value is not None}
        words: dict[str, Word | None] = {}
        for index, entry in enumerate(files):
            lines = self._parse(entry, index, values, own)
            path = self._path_of(entry)
            source = self._documents.text(path) if lines else None
            for name, line in lines.items():
                text = values[name]
                shown = source.excerpt(line) if source else ""
                words[name] = Word(text, (Reason("compose", path, line, shown),))
                self.forwarded.add(name)
        return words

    def _path_of(self, entry: Mapping[str, Value]) -> str:
        return self._documents.locate(self._place, entry["path"])

    def _parse(
        self, entry: Mapping[str, Value], index: int, values: dict[str, str], own: Mapping[str, str | None]
    ) -> dict[str, int]:
        try:
            return self._parse_file(entry, values, own)
        except Fault as fault:
            if not fault.path:
                place = self._resolved.plan.line(("env_file", str(index))) or self._resolved.plan.line(("env_file",))
                if place:
                    fault.path, fault.line = place
            raise

    def _parse_file(
        self, entry: Mapping[str, Value], values: dict[str, str], own: Mapping[str, str | None]
    ) -> dict[str, int]:
        required = entry.get("required", True) not in (False, "false")
        path = self._path_of(entry)
        shown = self._documents.shown(path)
        self._read[path] = None
        source = self._documents.text(path)
        if source is None:
            if self._documents.tree.is_directory(path):
                raise Fault("not-found", f"failed to read {shown}: read {shown}: is a directory")
            if required:
                raise Fault("not-found", f"env file {shown} not found: stat {shown}: no such file or directory")
            return {}

        def lookup(name: str) -> str | None:
            found = self._variables.get(name)
            return own.get(name) if found is None else found

        form = entry.get("format", "")
        try:
            if form == "raw":
                return dotenv.parse_raw(source.text, values, lookup)
            if form:
                raise Fault("invalid", f'unsupported env_file format "{form}"')
            return dotenv.parse(source.text, lookup, values)
        except dotenv.BadEnvironmentFile as error:
            raise Fault("not-yaml", f"failed to read {shown}: {error}", path=path, line=error.line) from None

    def labels(self) -> dict[str, str] | None:
        """The labels of the files in `label_file`. Raises `Fault`."""
        files = self._resolved.values.get("label_file")
        if not files:
            return None
        values: dict[str, str] = {}
        for file in files:
            path = self._documents.locate(self._place, file)
            source = self._documents.text(path)
            shown = self._documents.shown(path)
            if source is None:
                raise Fault("not-found", f"label file {shown} not found: stat {shown}: no such file or directory")
            self._read[path] = None
            try:
                dotenv.parse(source.text, self._variables.get, values)
            except dotenv.BadEnvironmentFile as error:
                raise Fault("not-yaml", f"failed to read {shown}: {error}", path=path, line=error.line) from None
        return values


class _HostText(str):
    """A value that a bare name took from the host."""

    __slots__ = ()


class _LiteralText(str):
    """A number or boolean, as Compose writes it."""

    __slots__ = ()


def _mounts(resolved: Resolved, place: str) -> tuple[Mount, ...]:
    mounts: list[Mount] = []
    canonical = resolved.values.get("volumes") or ()
    for value, printed in zip(canonical, resolved.config.get("volumes", ()), strict=False):
        source, inside = _source(value, printed, place)
        mounts.append(
            Mount(
                type=printed["type"],
                source=source,
                target=printed.get("target", ""),
                read_only=bool(printed.get("read_only")),
                in_repository=inside,
                position=_position(value, resolved),
            )
        )
    for target in resolved.config.get("tmpfs", ()):
        place_of = resolved.plan.line(("tmpfs",)) or ("", 1)
        mounts.append(Mount("tmpfs", "", target.split(":")[0], False, False, Position(*place_of)))
    return tuple(mounts)


def _source(value: Mapping[str, Value], printed: Mapping[str, Value], place: str) -> tuple[str, bool]:
    source = value.get("source", "")
    if printed["type"] == "bind" and source:
        try:
            return join(place, source), True
        except OutsideTree:
            pass
    return str(printed.get("source", "")), False


def _position(value: Mapping[str, Value], resolved: Resolved) -> Position:
    for item in (value.get("target"), value.get("source")):
        if isinstance(item, Text):
            return item.scalar.position
    path, line = resolved.plan.line(("volumes",)) or ("", 1)
    return Position(path, line)
