"""What Docker Compose makes of a project as a whole: profiles, implied dependencies, and references that must exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bot.compose.faults import Fault
from bot.compose.plan import Resolved
from bot.compose.sections import Faults, Sections
from bot.compose.structure import Structure
from bot.compose.values import Value

_NAMESPACES = ("network_mode", "ipc", "pid", "uts", "cgroup")
_SERVICE = "service:"
_PROJECT = ": invalid compose project"


def select(
    services: Mapping[str, Resolved], profiles: Sequence[str] | None, variables: Mapping[str, str]
) -> frozenset[str]:
    """The services that are enabled: those without a profile, and those of a selected one (`*` selects all)."""
    listed = variables.get("COMPOSE_PROFILES", "").split(",")
    wanted = {name.strip() for name in listed} if profiles is None else set(profiles)
    return frozenset(
        name
        for name, service in services.items()
        if not service.config.get("profiles") or "*" in wanted or wanted & set(service.config["profiles"])
    )


def normalize(services: Mapping[str, Resolved], faults: Faults) -> None:
    """Adds what Compose takes for granted: the default network, and dependencies that other fields imply."""
    for service in services.values():
        config = service.config
        if not config.get("networks") and "network_mode" not in config and "provider" not in config:
            config["networks"] = {"default": None}
        implied = dict(_implied(config))
        if implied:
            config["depends_on"] = {**implied, **config.get("depends_on", {})}
        _scale(service, faults)


def _implied(config: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
    for source in config.get("volumes_from", ()):
        if not source.startswith("container:"):
            yield source.split(":")[0], {"condition": "service_started", "required": True}
    with_restart = {"condition": "service_started", "restart": True, "required": True}
    for namespace in _NAMESPACES:
        value = config.get(namespace, "")
        if value.startswith(_SERVICE):
            yield value[len(_SERVICE) :], with_restart
    for link in config.get("links", ()):
        parts = link.split(":")
        yield parts[0] if len(parts) == 2 else link, with_restart


def _scale(service: Resolved, faults: Faults) -> None:
    scale, deploy = service.config.get("scale"), service.config.get("deploy")
    if scale is None:
        return
    if scale < 0:
        _add(faults, service, "scale", f"services.{service.name}.scale: must be greater than or equal to 0")
    if deploy is None:
        return
    if deploy.get("replicas", scale) != scale:
        message = f"services.{service.name}: can't set distinct values on 'scale' and 'deploy.replicas'{_PROJECT}"
        _add(faults, service, "scale", message)
    service.config["deploy"] = {**deploy, "replicas": scale}


def check_consistency(
    services: Mapping[str, Resolved],
    selected: frozenset[str],
    sections: Sections,
    structure: Structure,
    faults: Faults,
) -> None:
    """Adds to `faults` what Compose refuses in the services that are enabled."""
    names: dict[str, str] = {}
    for name in sorted(selected):
        service = services[name]
        _check_service(service, services, selected, sections, structure, faults)
        container = service.config.get("container_name")
        if container is not None and names.setdefault(container, name) != name:
            message = f'services.{name}: container name "{container}" is already in use by service {names[container]}"'
            _add(faults, service, "container_name", message)
    cycle = _dependency_cycle({name: services[name] for name in selected})
    if cycle:
        _add(faults, services[cycle[0]], "depends_on", f"dependency cycle detected: {' -> '.join(cycle)}", "cycle")


def _check_service(
    service: Resolved,
    services: Mapping[str, Resolved],
    selected: frozenset[str],
    sections: Sections,
    structure: Structure,
    faults: Faults,
) -> None:
    config, name = service.config, service.name
    if "provider" not in config and "build" not in config and not config.get("image"):
        message = f'service "{name}" has neither an image nor a build context specified{_PROJECT}'
        _add(faults, service, "image", message)
    if "network_mode" in config and config.get("networks"):
        message = f"service {name} declares mutually exclusive `network_mode` and `networks`{_PROJECT}"
        _add(faults, service, "network_mode", message)
    for field, kind, refs in _references(config):
        known = sections[field.split(".")[-1]]
        for ref in refs:
            if known is not None and ref not in known and not (field == "networks" and ref == "default"):
                _add(faults, service, field, f'service "{name}" refers to undefined {kind} {ref}{_PROJECT}')
    for dependency, condition in config.get("depends_on", {}).items():
        there = dependency in services or dependency in structure.services
        if dependency not in selected and (condition.get("required") or not there):
            if there and dependency not in services:
                continue  # it exists, and has faults of its own
            message = f'service "{name}" depends on undefined service "{dependency}"{_PROJECT}'
            _add(faults, service, "depends_on", message)
    _check_container_name(service, faults)
    _check_health(service, faults)
    _check_mounts(service, faults)
    _check_develop(service, faults)
    _check_limits(service, faults)


def _references(config: Mapping[str, Value]) -> Iterator[tuple[str, str, list[str]]]:
    yield "networks", "network", list(config.get("networks", {}))
    volumes = [mount for mount in config.get("volumes", ()) if mount.get("type") == "volume" and mount.get("source")]
    yield "volumes", "volume", [mount["source"] for mount in volumes]
    yield "build.secrets", "build secret", _sources(config.get("build", {}).get("secrets", ()))
    yield "secrets", "secret", _sources(config.get("secrets", ()))
    yield "configs", "config", _sources(config.get("configs", ()))
    yield "models", "model", list(config.get("models", {}))


def _sources(mounts: Sequence[Mapping[str, Value]]) -> list[str]:
    return [mount.get("source", "") for mount in mounts]


def _check_container_name(service: Resolved, faults: Faults) -> None:
    if "container_name" not in service.config:
        return
    replicas = service.config.get("deploy", {}).get("replicas")
    for field, count in (("scale", service.config.get("scale")), ("deploy.replicas", replicas)):
        if count is not None and count > 1:
            reason = f"can't set container_name and {service.name} as container name must be unique"
            _add(faults, service, field.split(".")[0], f"services.{field}: {reason}{_PROJECT}")
            return


def _check_health(service: Resolved, faults: Faults) -> None:
    test = service.config.get("healthcheck", {}).get("test")
    if test and test[0] not in ("CMD", "CMD-SHELL", "NONE"):
        _add(faults, service, "healthcheck", 'healthcheck.test must start either by "CMD", "CMD-SHELL" or "NONE"')


def _check_mounts(service: Resolved, faults: Faults) -> None:
    for mount in service.config.get("volumes", ()):
        if mount.get("type") == "bind" and not mount.get("source"):
            message = 'invalid mount config for type "bind": field Source must not be empty'
            _add(faults, service, "volumes", message)
    tmpfs = [target.split(":")[0] for target in service.config.get("tmpfs", ())]
    volumes = [mount.get("target", "") for mount in service.config.get("volumes", ())]
    mounted: dict[str, str] = {}
    for field, targets in (("tmpfs", tmpfs), ("volumes", volumes)):
        for index, target in enumerate(targets):
            here = f"services.{service.name}.{field}[{index}]"
            first = mounted.setdefault(target, here)
            if first != here:
                _add(faults, service, field, f"{here}: target {target} already mounted as {first}")


_TWO_WAYS = (
    ("cpus", "limits", "cpus"),
    ("mem_limit", "limits", "memory"),
    ("mem_reservation", "reservations", "memory"),
    ("pids_limit", "limits", "pids"),
)
"""Fields of a service that say the same as one of its `deploy.resources`."""


def _check_limits(service: Resolved, faults: Faults) -> None:
    resources = service.config.get("deploy", {}).get("resources", {})
    for field, kind, name in _TWO_WAYS:
        if field in service.config and kind in resources and resources[kind].get(name) != service.config[field]:
            other = f"deploy.resources.{kind}.{name}"
            message = f"services.{service.name}: can't set distinct values on '{field}' and '{other}'{_PROJECT}"
            _add(faults, service, field, message)


def _check_develop(service: Resolved, faults: Faults) -> None:
    for rule in service.config.get("develop", {}).get("watch", ()):
        if rule.get("action") not in ("rebuild", "restart") and not rule.get("target"):
            message = f"services.{service.name}.develop.watch: target is required for non-rebuild actions{_PROJECT}"
            _add(faults, service, "develop", message)


def _dependency_cycle(services: Mapping[str, Resolved]) -> list[str] | None:
    """A way from a service back to itself, when there is one."""
    done: set[str] = set()
    for start in sorted(services):
        if start in done:
            continue
        path = [start]
        pending = [iter(sorted(services[start].config.get("depends_on", ())))]
        while pending:
            following = next(pending[-1], None)
            if following is None:
                pending.pop()
                done.add(path.pop())
            elif following in path:
                return [*path[path.index(following) :], following]
            elif following in services and following not in done:
                path.append(following)
                pending.append(iter(sorted(services[following].config.get("depends_on", ()))))
    return None


def _add(faults: Faults, service: Resolved, field: str, message: str, kind: str = "invalid") -> None:
    fault = Fault("cycle" if kind == "cycle" else "invalid", message)
    place = service.plan.line(tuple(field.split("."))) or service.plan.place
    if place:
        fault.path, fault.line = place
    faults.append((fault, service.name))
