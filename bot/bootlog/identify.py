"""Which services a boot log can be of."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.bootlog.model import BootLog
from bot.resolution import ResolvedService

_REPLICA = re.compile(r"[-_]\d{1,4}$")


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
        known = [names for parsed in worlds if isinstance(names := parsed.get("served_model_name"), list)]
        answers.append(any(set(log.served) & set(names) for names in known) if known else None)
    if log.port is not None:
        ports = [port for parsed in worlds if isinstance(port := parsed.get("port"), int)]
        answers.append(None if not ports or log.port in ports else False)
    return answers


def _same_model(one: str, other: str) -> bool:
    """Offline, a name of the hub has become a path in its cache: `…/models--owner--name/snapshots/…`."""
    cached = re.search(r"models--([^/]{1,200})/snapshots/", one)
    plain = cached[1].replace("--", "/") if cached else one
    return plain.rstrip("/") == other.rstrip("/")
