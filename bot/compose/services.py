"""From a resolved service to the answer: words with reasons, and mounts."""

from __future__ import annotations

from collections.abc import Mapping

from bot.compose.container import Container
from bot.compose.documents import Documents
from bot.compose.faults import Fault
from bot.compose.layers import Scope, Scopes
from bot.compose.model import BARE, Mount, Service, VariableRead
from bot.compose.nodes import Text
from bot.compose.plan import Answer, Resolved
from bot.compose.values import Environment, Stated, Value
from bot.compose.words import command, word
from bot.provenance import Position, Word
from bot.tree import OutsideTree, join


def build_service(
    documents: Documents, resolved: Resolved, position: Position, scopes: Scopes, place: str, active: bool
) -> tuple[Service, dict[str, None], list[Fault]]:
    """The answer for one service, the further files that it depends on, and faults that do not keep it from an answer.

    Environment files are read for active services only, as Compose does. Raises `Fault` when one cannot be read.
    """
    read: dict[str, None] = {}
    container = Container(documents, resolved, scopes.of(Scope()), place, read)
    environment, forwarded = container.variables(with_files=active)
    config = resolved.config
    if environment:
        config["environment"] = {name: None if item is None else item.text for name, item in environment.items()}
    passed = _passed_to_build(resolved, scopes.of(Scope()))
    if passed:
        build = config["build"]
        config["build"] = {**build, "args": {**build.get("args", {}), **passed}}
    labels = container.labels() if active else {}
    if labels:
        config["labels"] = {**labels, **config.get("labels", {})}
    image = config.get("image")
    service = Service(
        name=resolved.name,
        position=position,
        config=config,
        image=word(image) if image else None,
        entrypoint=_command(resolved.answers.get("entrypoint")),
        command=_command(resolved.answers.get("command")),
        environment=environment,
        mounts=_mounts(resolved, place),
        reads=_reads((*resolved.plan.reads, *container.reads), scopes.of(Scope())),
        profiles=tuple(config.get("profiles", ())),
        active=active,
        forwarded=forwarded,
        env_files=tuple(read),
        absent_env_files={file: Position(fault.path, fault.line or 1) for file, fault in container.absent.items()},
    )
    return service, read, list(container.absent.values())


def _reads(direct: tuple[VariableRead, ...], variables: Environment) -> tuple[VariableRead, ...]:
    """What a service asks of the host, and what the values that `.env` has for it ask of the host in their turn."""
    found = list(direct)
    seen = {(one.name, one.field) for one in direct}
    for read in found:
        value = variables.get(read.name)
        if not isinstance(value, Stated):
            continue
        for asked in value.asked:
            if (asked.name, read.field) not in seen:
                seen.add((asked.name, read.field))
                operator = BARE if asked.operator is None else asked.operator
                place = Position(value.reason.path, asked.line)
                found.append(VariableRead(asked.name, operator, asked.argument, read.field, place))
    return tuple(found) if len(found) > len(direct) else direct


def _passed_to_build(resolved: Resolved, variables: Environment) -> dict[str, str]:
    """The build arguments that are bare names, with what the host has for them."""
    build = resolved.value("build")
    args = build.get("args") if isinstance(build, dict) else None
    if isinstance(args, dict):
        bare = [name for name, value in args.items() if value is None]
    else:
        bare = [item for item in args or () if "=" not in item]
    return {name: variables[name] for name in bare if name in variables}


def _command(answer: Answer | None) -> tuple[Word, ...] | None:
    if answer is None or answer.printed is None:
        return None
    if answer.derived is None:
        answer.derived = command(answer.value, answer.printed)
    words: tuple[Word, ...] = answer.derived
    return words


def _mounts(resolved: Resolved, place: str) -> tuple[Mount, ...]:
    volumes = resolved.answers.get("volumes")
    if volumes is None:
        return _memory_mounts(resolved)
    if volumes.derived is None:
        printed = volumes.printed if isinstance(volumes.printed, list) else []
        volumes.derived = tuple(
            _mount(value, shown, place, resolved) for value, shown in zip(volumes.value, printed, strict=False)
        )
    mounts: tuple[Mount, ...] = volumes.derived
    return mounts + _memory_mounts(resolved)


def _mount(value: Mapping[str, Value], printed: Mapping[str, Value], place: str, resolved: Resolved) -> Mount:
    source, inside = _source(value, printed, place)
    return Mount(
        type=printed["type"],
        source=source,
        target=printed.get("target", ""),
        read_only=bool(printed.get("read_only")),
        in_repository=inside,
        position=_position(value, resolved),
    )


def _memory_mounts(resolved: Resolved) -> tuple[Mount, ...]:
    targets = resolved.config.get("tmpfs", ())
    position = Position(*(resolved.plan.line(("tmpfs",)) or resolved.plan.place)) if targets else None
    return tuple(
        Mount("tmpfs", "", target.split(":")[0], read_only=False, in_repository=False, position=position)
        for target in targets
        if position
    )


def _source(value: Mapping[str, Value], printed: Mapping[str, Value], place: str) -> tuple[str, bool]:
    source = value.get("source", "")
    if printed["type"] == "bind" and source and not source.startswith("~"):
        try:
            return join(place, source), True
        except OutsideTree:
            pass
    return str(printed.get("source", "")), False


def _position(value: Mapping[str, Value], resolved: Resolved) -> Position:
    for item in (value.get("target"), value.get("source")):
        if isinstance(item, Text):
            return item.scalar.position
    return Position(*(resolved.plan.line(("volumes",)) or resolved.plan.place))
