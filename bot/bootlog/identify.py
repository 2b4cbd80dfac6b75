"""Which services a boot log can be of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.bootlog.comparison import compare, same
from bot.bootlog.messages import known_messages
from bot.bootlog.model import BootLog
from bot.resolution import ResolvedService

_REPLICA = re.compile(r"[-_]\d{1,4}$")


@dataclass(frozen=True, slots=True)
class Match:
    """A log and a service that it may be of. `against` are the properties and arguments of which it says another value
    than the default world has.
    """

    log: BootLog
    service: ResolvedService
    against: tuple[str, ...] = ()


def matches(log: BootLog, services: Sequence[ResolvedService], *, named: bool = False) -> tuple[Match, ...]:
    """The services that a log may be of: the only one whose names and values are the log's, else all that are left,
    those that it contradicts least first. `named`: somebody says that it is of one of these, and one alone is taken at
    its word.
    """
    if named and len(services) == 1:
        return (Match(log, services[0]),)
    possible = [_match(log, service) for service in candidates(log, services)]
    fitting = [match for match in possible if not match.against]
    return tuple(sorted(fitting or possible, key=lambda match: len(match.against)))


def _match(log: BootLog, service: ResolvedService) -> Match:
    against = dict.fromkeys([*compare(log, service).against, *other_numbers(log, service)])
    return Match(log, service, tuple(against))


def other_numbers(log: BootLog, service: ResolvedService) -> Iterator[str]:
    """The arguments that are another number in every default world that gives them, but for those of which the log says
    what became of them.
    """
    worlds = [world.engine.parsed for world in service.defaults if world.engine is not None]
    told = {word for name, key in known_messages().configuration.items() if name in log.said for word in key.keys}
    for name, number in log.numbers.items():
        if name in told or name in log.said:
            continue
        given = [value for parsed in worlds if isinstance(value := parsed.get(name), int | float)]
        if given and not any(same(name, value, number) for value in given):
            yield name


def candidates(log: BootLog, services: Iterable[ResolvedService]) -> tuple[ResolvedService, ...]:
    """Those services whose names, model and port are none other than the log's, where at least one of them is the
    log's own: a log that names nothing could be of any.
    """
    return tuple(service for service in services if _is_of(log, service))


def _is_of(log: BootLog, service: ResolvedService) -> bool:
    """A question whose answer is not known on either side decides nothing."""
    answers = [_container(log, service), *_named(log, service)]
    return False not in answers and any(answers)


def _container(log: BootLog, service: ResolvedService) -> bool | None:
    """Compose writes the container's name before a line: `service-1`, or the one that the file gives it."""
    if not log.container:
        return None
    found = service.worlds[0].realisation.service
    given = found.config.get("container_name") if found is not None else None
    names = {service.name, *([given] if isinstance(given, str) else [])}
    return log.container in names or any(
        _REPLICA.sub("", log.container) == name or _REPLICA.sub("", log.container).endswith(f"-{name}")
        for name in names
    )


def _named(log: BootLog, service: ResolvedService) -> list[bool | None]:
    """Whether the model, the name under which it is served and the port are the log's, in some default world."""
    worlds = [world.engine.parsed for world in service.defaults if world.engine is not None]
    if not worlds:
        return [False]
    answers: list[bool | None] = []
    if log.model:
        models = [model for parsed in worlds if isinstance(model := parsed.get("model"), str)]
        answers.append(any(_same_model(log.model, model) for model in models) if models else None)
    if log.served:
        known = [names for parsed in worlds if isinstance(names := parsed.get("served_model_name"), list) and names]
        answers.append(any(log.served[0] == names[0] for names in known) if known else None)
    if log.port is not None:
        ports = [port for parsed in worlds if isinstance(port := parsed.get("port"), int)]
        answers.append(None if not ports or log.port in ports else False)
    return answers


def _same_model(one: str, other: str) -> bool:
    """Offline, a name of the hub has become a path in its cache: `…/models--owner--name/snapshots/…`."""
    cached = re.search(r"models--([^/]{1,200})/snapshots/", one)
    plain = cached[1].replace("--", "/") if cached else one
    return plain.rstrip("/") == other.rstrip("/")
