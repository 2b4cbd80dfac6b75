"""From the short forms that people write to the one long form of every field, and the defaults that Compose adds."""

from __future__ import annotations

from collections.abc import Callable

from bot.compose.faults import Fault
from bot.compose.ports import canonical_ports
from bot.compose.values import Value
from bot.compose.volumes import canonical_device, canonical_volume

Transform = Callable[[Value, str], Value]


def canonical(field: str, value: Value, owner: str) -> Value:
    """A service's field in its long form. Raises `Fault` for a short form that has no meaning."""
    transform = _TRANSFORMS.get(field)
    return transform(value, owner) if transform else value


def with_defaults(field: str, value: Value, owner: str) -> Value:
    """A canonical field with what Compose takes for granted, once all files are merged. Raises `Fault`."""
    transform = _DEFAULTS.get(field)
    return transform(value, owner) if transform else value


def _list_of_one(value: Value, _owner: str) -> Value:
    return [value] if isinstance(value, str) else value


def _dns(value: Value, owner: str) -> Value:
    items = _list_of_one(value, owner)
    return [item for item in items if item != "" and item is not None] if isinstance(items, list) else items


def _depends_on(value: Value, _owner: str) -> Value:
    if isinstance(value, list):
        return {name: {"condition": "service_started", "required": True} for name in value}
    if isinstance(value, dict):
        return {name: {"required": True, **item} if isinstance(item, dict) else item for name, item in value.items()}
    return value


def _env_file(value: Value, owner: str) -> Value:
    items = _list_of_one(value, owner)
    if not isinstance(items, list):
        return items
    return [
        {"path": item, "required": True} if isinstance(item, str) else {"required": True, **item}
        if isinstance(item, dict) else item
        for item in items
    ]  # fmt: skip


def _extends(value: Value, _owner: str) -> Value:
    return {"service": value} if isinstance(value, str) else value


def _gpus(value: Value, _owner: str) -> Value:
    return [{"count": value}] if isinstance(value, str) else value


def _named_map(value: Value, _owner: str) -> Value:
    return dict.fromkeys(value) if isinstance(value, list) else value


def _each(transform: Callable[[Value], Value]) -> Transform:
    def transform_all(value: Value, _owner: str) -> Value:
        return [transform(item) for item in value] if isinstance(value, list) else value

    return transform_all


def _file_mount(value: Value) -> Value:
    return {"source": value} if isinstance(value, str) else value


def _ports(value: Value, owner: str) -> Value:
    return canonical_ports(value, f"{owner}.ports")


def _build(value: Value, _owner: str) -> Value:
    if isinstance(value, str):
        return {"context": value}
    if not isinstance(value, dict):
        return value
    build = dict(value)
    contexts = build.get("additional_contexts")
    if isinstance(contexts, list):
        build["additional_contexts"] = dict([_split_pair(item) for item in contexts])
    if isinstance(build.get("secrets"), list):
        build["secrets"] = [_file_mount(item) for item in build["secrets"]]
    return build


def _split_pair(item: Value) -> tuple[str, str]:
    name, equals, text = str(item).partition("=")
    if not equals:
        raise Fault("invalid", f"invalid value {item}, expected key=value")
    return name, text


_TRANSFORMS: dict[str, Transform] = {
    "build": _build,
    "configs": _each(_file_mount),
    "depends_on": _depends_on,
    "devices": _each(canonical_device),
    "dns": _dns,
    "env_file": _env_file,
    "extends": _extends,
    "gpus": _gpus,
    "label_file": _list_of_one,
    "models": _named_map,
    "networks": _named_map,
    "ports": _ports,
    "secrets": _each(_file_mount),
    "volumes": _each(canonical_volume),
}


def _build_context(value: Value, _owner: str) -> Value:
    return {"context": ".", **value} if isinstance(value, dict) else value


def _port_defaults(value: Value, _owner: str) -> Value:
    if not isinstance(value, list):
        return value
    return [{"mode": "ingress", "protocol": "tcp", **item} if isinstance(item, dict) else item for item in value]


def _secret_targets(value: Value, _owner: str) -> Value:
    if not isinstance(value, list):
        return value
    return [
        {"target": f"/run/secrets/{item.get('source')}", **item} if isinstance(item, dict) else item for item in value
    ]


def _devices(value: Value, path: str) -> Value:
    if not isinstance(value, list):
        return value
    for item in value:
        if isinstance(item, dict) and "count" in item and "device_ids" in item:
            message = f'{path}.[]: "count" and "device_ids" attributes are exclusive'
            raise Fault("invalid", message, field=tuple(path.split(".")))
    return [
        {**item, "count": "all"} if isinstance(item, dict) and not {"count", "device_ids"} & item.keys() else item
        for item in value
    ]


def _reserved_devices(value: Value, owner: str) -> Value:
    if not isinstance(value, dict):
        return value
    resources = value.get("resources")
    if not isinstance(resources, dict):
        return value
    reservations = resources.get("reservations")
    if not isinstance(reservations, dict) or "devices" not in reservations:
        return value
    devices = _devices(reservations["devices"], f"{owner}.deploy.resources.reservations.devices")
    return {**value, "resources": {**resources, "reservations": {**reservations, "devices": devices}}}


def _gpu_defaults(value: Value, owner: str) -> Value:
    return _devices(value, f"{owner}.gpus")


_DEFAULTS: dict[str, Transform] = {
    "build": _build_context,
    "deploy": _reserved_devices,
    "gpus": _gpu_defaults,
    "ports": _port_defaults,
    "secrets": _secret_targets,
}
