"""How a later file (or an extending service) changes an earlier one, field by field."""

from __future__ import annotations

from collections.abc import Callable

from bot.compose.faults import Fault
from bot.compose.ports import port_key
from bot.compose.scalars import go_text
from bot.compose.values import MISSING, Value, pair
from bot.compose.volumes import device_target, volume_target

Rule = Callable[[Value, Value, str, str], Value]


def merge(base: Value, over: Value, field: str, owner: str) -> Value:
    """`over` laid upon `base`. `field` is the path within the owner, `owner` names it in messages (`services.web`).

    Raises `Fault` where the two do not go together.
    """
    if over is MISSING:
        return base
    if base is MISSING:
        return over
    rule = _RULES.get(field)
    if rule is not None:
        return rule(base, over, field, owner)
    if over is None:
        return base
    if isinstance(base, dict):
        if not isinstance(over, dict):
            raise _cannot_override(field, owner)
        return _merge_maps(base, over, field, owner)
    if isinstance(base, list):
        if not isinstance(over, list):
            raise _cannot_override(field, owner)
        return base + over
    return over


def _cannot_override(field: str, owner: str) -> Fault:
    path = f"{owner}.{field}"
    return Fault("invalid", f"cannot override {path}", field=tuple(path.split(".")))


def _merge_maps(base: Value, over: Value, field: str, owner: str) -> Value:
    merged = dict(base)
    for key, value in over.items():
        merged[key] = merge(base.get(key, MISSING), value, f"{field}.{key}", owner)
    return merged


def _replace(_base: Value, over: Value, _field: str, _owner: str) -> Value:
    return over


def as_sequence(value: Value) -> list[Value]:
    """A mapping as the list of its `NAME=value`; a string as a list of one."""
    if isinstance(value, dict):
        items: list[str] = []
        for key, item in value.items():
            if item is None:
                items.append(key)
            elif isinstance(item, list):
                items += [pair(key, one, go_text(one)) for one in item]
            else:
                items.append(pair(key, item, go_text(item)))
        return sorted(items)
    if isinstance(value, str):
        return [value]
    return value if isinstance(value, list) else []


def _append(base: Value, over: Value, _field: str, _owner: str) -> Value:
    return as_sequence(base) + as_sequence(over)


def _append_new(base: Value, over: Value, _field: str, _owner: str) -> Value:
    kept = as_sequence(base)
    return kept + [item for item in as_sequence(over) if item not in kept]


def _as_map(value: Value, default: Value) -> Value:
    if isinstance(value, list):
        return {item: default for item in value if isinstance(item, str)}
    return value if isinstance(value, dict) else {}


def _merge_named(base: Value, over: Value, field: str, owner: str) -> Value:
    return _merge_maps(_as_map(base, None), _as_map(over, None), field, owner)


def _merge_dependencies(base: Value, over: Value, field: str, owner: str) -> Value:
    default = {"condition": "service_started", "required": True}
    return _merge_maps(_as_map(base, default), _as_map(over, default), field, owner)


def _merge_build(base: Value, over: Value, field: str, owner: str) -> Value:
    before, after = ({"context": value} if isinstance(value, str) else value for value in (base, over))
    return _merge_maps(before or {}, after or {}, field, owner)


def _merge_logging(base: Value, over: Value, field: str, owner: str) -> Value:
    if not isinstance(base, dict) or not isinstance(over, dict):
        raise _cannot_override(field, owner)
    if "driver" in base and "driver" in over and base["driver"] != over["driver"]:
        return over
    return _merge_maps(base, over, field, owner)


def _merge_ulimits(base: Value, over: Value, field: str, owner: str) -> Value:
    if over is None:
        return base
    if not isinstance(base, dict) or not isinstance(over, dict):
        raise _cannot_override(field, owner)
    return {**base, **over}


_RULES: dict[str, Rule] = {
    **dict.fromkeys(
        (
            "annotations",
            "build.args",
            "build.additional_contexts",
            "build.labels",
            "deploy.labels",
            "dns",
            "dns_opt",
            "dns_search",
            "env_file",
            "environment",
            "label_file",
            "labels",
            "sysctls",
            "tmpfs",
        ),
        _append,
    ),
    **dict.fromkeys(("build.extra_hosts", "extra_hosts"), _append_new),
    **dict.fromkeys(("command", "entrypoint", "healthcheck.test"), _replace),
    **dict.fromkeys(("models", "networks"), _merge_named),
    "build": _merge_build,
    "depends_on": _merge_dependencies,
    "logging": _merge_logging,
    "ulimits": _merge_ulimits,
}

Key = Callable[[Value, str], object]


def _name_key(value: Value, path: str) -> object:
    if not isinstance(value, str):
        raise Fault("schema", f"{path}: unexpected type {_go_type(value)}", field=tuple(path.split(".")))
    return value.split("=", 1)[0]


def _expose_key(value: Value, path: str) -> object:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    shown = f"%!s({_go_type(value)}={go_text(value)})"
    raise Fault("schema", f"{path}: unsupported expose value {shown}", field=tuple(path.split(".")))


def _env_file_key(value: Value, path: str) -> object:
    if isinstance(value, dict):
        if "path" not in value:
            raise Fault("schema", f"environment path attribute {path} is missing", field=tuple(path.split(".")))
        return value["path"]
    return value if isinstance(value, str) else ""


def _file_key(directory: str) -> Key:
    def key(value: Value, path: str) -> object:
        if isinstance(value, str):
            return f"{directory}/{value}"
        if isinstance(value, dict):
            return value["target"] if "target" in value else f"{directory}/{value.get('source')}"
        raise Fault("schema", f"{path}: unsupported expose value", field=tuple(path.split(".")))

    return key


_KEYS: dict[str, Key] = {
    **dict.fromkeys(
        (
            "annotations",
            "build.additional_contexts",
            "build.args",
            "build.labels",
            "build.tags",
            "cap_add",
            "cap_drop",
            "deploy.labels",
            "dns",
            "dns_opt",
            "dns_search",
            "environment",
            "labels",
            "links",
            "networks.*.aliases",
            "networks.*.link_local_ips",
            "profiles",
            "sysctls",
            "tmpfs",
        ),
        _name_key,
    ),
    "configs": _file_key(""),
    "devices": device_target,
    "env_file": _env_file_key,
    "expose": _expose_key,
    "ports": port_key,
    "secrets": _file_key("/run/secrets"),
    "volumes": volume_target,
}
_KEYED_WITHIN = {"build": ("additional_contexts", "args", "labels", "tags"), "deploy": ("labels",)}
_LISTS_OF_NETWORK = ("aliases", "link_local_ips")


def deduplicate(value: Value, field: str, owner: str) -> Value:
    """A list without the items that a later one redefines: the later stands in the place of the first.

    Raises `Fault` for an item that has no key.
    """
    key = _KEYS.get(field)
    if isinstance(value, list):
        return _by_key(value, key, f"{owner}.{field}") if key else value
    if not isinstance(value, dict):
        return value
    if field in _KEYED_WITHIN:
        return {name: deduplicate(item, f"{field}.{name}", owner) for name, item in value.items()}
    if field == "networks":
        return {name: _deduplicate_network(item, f"{owner}.networks.{name}") for name, item in value.items()}
    return value


def _deduplicate_network(value: Value, path: str) -> Value:
    if not isinstance(value, dict):
        return value
    return {
        name: _by_key(item, _name_key, f"{path}.{name}")
        if name in _LISTS_OF_NETWORK and isinstance(item, list)
        else item
        for name, item in value.items()
    }


def _by_key(items: list[Value], key: Key, path: str) -> list[Value]:
    kept: dict[object, Value] = {}
    for index, item in enumerate(items):
        kept[key(item, f"{path}.[{index}]")] = item
    return items if len(kept) == len(items) else list(kept.values())


def _go_type(value: Value) -> str:
    names = {bool: "bool", int: "int", float: "float64", type(None): "<nil>"}
    if isinstance(value, dict):
        return "map[string]interface {}"
    return "[]interface {}" if isinstance(value, list) else names.get(type(value), type(value).__name__)
