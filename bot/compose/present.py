"""The data that `docker compose config --format json` prints for the fields of a service.

Each printer turns a canonical value into JSON data. Empty values are left out where Compose leaves them out.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from bot.compose.casts import to_boolean, to_float, to_integer64
from bot.compose.command_line import split
from bot.compose.faults import Fault
from bot.compose.scalars import go_text, round_to_float32
from bot.compose.units import format_duration, parse_duration, parse_size
from bot.compose.values import MISSING, Value, text_like
from bot.compose.volumes import clean_target

Printer = Callable[[Value], Value]


class Unprintable(ValueError):
    """A value that Compose cannot decode. `path` leads to it from the field (`.interval`, `[0].count`)."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path


class Unsupported(Exception):
    """A value that Compose accepts and cannot print."""


def present(field: str, value: Value, service: str) -> Value:
    """What Compose prints for a field, `MISSING` when it prints nothing. Raises `Fault`."""
    printer = _FIELDS.get(field)
    if printer is None:
        return MISSING
    try:
        printed = printer(value)
    except Unsupported as error:
        raise Fault("invalid", str(error), field=("services", service, field)) from None
    except Unprintable as error:
        message = f"'services[{service}].{field}{error.path}' {error.message}"
        where = tuple(part for part in f"{field}{error.path}".replace("[", ".").replace("]", "").split(".") if part)
        raise Fault(
            "invalid",
            f"decoding failed due to the following error(s):\n\n{message}",
            field=("services", service, *where),
        ) from None
    return printed


def _within(path: str, printer: Printer, value: Value) -> Value:
    try:
        return printer(value)
    except Unprintable as error:
        raise Unprintable(error.message, path + error.path) from None
    except ValueError as error:
        raise Unprintable(str(error), path) from None


def _guard(printer: Printer) -> Printer:
    return lambda value: _within("", printer, value)


def _or_nothing(printed: Value) -> Value:
    """What Go's `omitempty` leaves out."""
    return printed if printed not in ("", 0, False, None) and printed != [] and printed != {} else MISSING


def _optional(printer: Printer) -> Printer:
    return lambda value: _or_nothing(_within("", printer, value))


def _text(value: Value) -> Value:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Unprintable(f"expected type 'string', got unconvertible type '{_go_kind(value)}'")
    return value


def _word(value: Value) -> Value:
    """A string, for which Compose also takes a number."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _text(value)


def _go_kind(value: Value) -> str:
    return {bool: "bool", float: "float64", int: "int", dict: "map[string]interface {}"}.get(
        type(value), "[]interface {}"
    )


def _integer(value: Value) -> Value:
    if isinstance(value, str):
        return to_integer64(value)
    return int(value or 0)


def _float(value: Value) -> Value:
    number = to_float(value) if isinstance(value, str) else value or 0
    if not math.isfinite(number):
        raise Unsupported(f"json: unsupported value: {go_text(float(number))}")
    rounded = round_to_float32(float(number))
    return int(rounded) if rounded == int(rounded) else rounded


def _flag(value: Value) -> Value:
    return to_boolean(value) if isinstance(value, str) else bool(value)


def _size(value: Value) -> Value:
    if isinstance(value, str):
        size = parse_size(value)
    else:
        size = value if isinstance(value, int) else 0  # Compose reads a float as no size at all
    return str(size) if size else ""


def _duration(value: Value) -> Value:
    return format_duration(parse_duration(value)) if isinstance(value, str) else value


def _short_duration(value: Value) -> Value:
    """A duration that is left out when it is zero."""
    nanoseconds = parse_duration(value)
    return format_duration(nanoseconds) if nanoseconds else ""


def _list(item: Printer) -> Printer:
    def printer(value: Value) -> Value:
        items = value if isinstance(value, list) else [] if value is None else [value]
        return [_within(f"[{index}]", item, one) for index, one in enumerate(items)]

    return printer


def _record(**fields: Printer) -> Printer:
    """A mapping with these fields; a printer that answers `MISSING` leaves its field out."""

    def printer(value: Value) -> Value:
        if not isinstance(value, dict):
            return {}
        printed = {}
        for name, item in value.items():
            field = fields.get(name)
            if field is not None:
                shown = _within(f".{name}", field, item)
                if shown is not MISSING:
                    printed[name] = shown
        return printed

    return printer


def _map_of(item: Printer) -> Printer:
    def printer(value: Value) -> Value:
        if not isinstance(value, dict):
            return {}
        return {key: _within(f"[{key}]", item, one) for key, one in value.items()}

    return printer


def _pairs(value: Value) -> Value:
    """Labels and the like: a map, or a list of `NAME=value`, to strings."""
    if isinstance(value, dict):
        return {name: "" if item is None else text_like(go_text(item), item) for name, item in value.items()}
    if isinstance(value, list):
        split_items = (item.partition("=") for item in value if isinstance(item, str))
        return {name: text for name, _, text in split_items}
    return {}


def _build_args(value: Value) -> Value:
    if isinstance(value, dict):
        return {name: go_text(item) for name, item in value.items() if item is not None}
    return {name: text for name, equals, text in (item.partition("=") for item in value) if equals}


def _hosts(value: Value) -> Value:
    if isinstance(value, dict):
        pairs = [
            (name, address)
            for name, addresses in value.items()
            for address in (addresses if isinstance(addresses, list) else [addresses])
        ]
        return sorted(f"{name}={_bare_address(str(address))}" for name, address in pairs)
    hosts: dict[str, list[str]] = {}
    for item in value:
        name, separator, address = item.partition("=" if "=" in item else ":")
        if not separator:
            raise Unprintable(f"invalid additional host, missing IP: {item}")
        hosts.setdefault(name.strip(), []).append(_bare_address(address))
    return sorted(f"{name}={address}" for name, addresses in hosts.items() for address in addresses)


def _bare_address(address: str) -> str:
    address = address.strip()
    return address[1:-1] if address.startswith("[") and address.endswith("]") else address


def command_words(value: Value) -> list[str] | None:
    """A command as the list of its words; None for one that is not set. Raises ValueError."""
    if value is None or isinstance(value, list):
        return value
    if not value:
        return []
    return [text_like(word, value) for word, _ in split(value)]


def _health_test(value: Value) -> Value:
    return ["CMD-SHELL", value] if isinstance(value, str) else value


def _ulimits(value: Value) -> Value:
    if not isinstance(value, dict):
        return {}
    limits = _record(soft=_optional(_integer), hard=_optional(_integer))
    return {
        name: limits(item) if isinstance(item, dict) else (_within(f"[{name}]", _integer, item) or {})
        for name, item in value.items()
    }


def _device_count(value: Value) -> Value:
    if isinstance(value, str):
        if value.lower() == "all":
            return -1
        try:
            return to_integer64(value)
        except ValueError:
            raise Unprintable(f"invalid value \"{value}\", the only value allowed is 'all' or a number") from None
    return int(value or 0)


def _mode(value: Value) -> Value:
    return f"0{_integer_of_mode(value):03o}"


def _integer_of_mode(value: Value) -> int:
    return int(value, 8) if isinstance(value, str) else int(value)


def _options(value: Value) -> Value:
    """Options of a driver: numbers become text."""
    if not isinstance(value, dict):
        return {}
    return {name: "" if item is None else text_like(go_text(item), item) for name, item in value.items()}


def _text_options(value: Value) -> Value:
    return {name: _within(f"[{name}]", _word, item) for name, item in value.items()} if isinstance(value, dict) else {}


def _provider_options(value: Value) -> Value:
    if not isinstance(value, dict):
        return {}
    return {
        name: [go_text(one) for one in item] if isinstance(item, list) else [go_text(item)]
        for name, item in value.items()
    }


def _published(value: Value) -> Value:
    return "" if value is None else str(value) if not isinstance(value, str) else value


_TEXT = _optional(_text)
_TEXTS = _optional(_list(_text))
_WORDS = _optional(_list(_word))
_PAIRS = _optional(_pairs)
_INTEGER = _optional(_integer)
_FLOAT = _optional(_float)
_FLAG = _optional(_flag)
_SIZE = _optional(_size)
_OPTIONS = _optional(_options)
_SHORT = _optional(_short_duration)
_COMMAND = _guard(command_words)

_DEVICES = _optional(
    _list(
        _record(
            capabilities=_TEXTS,
            driver=_TEXT,
            count=_optional(_device_count),
            device_ids=_TEXTS,
            options=_PAIRS,
        )
    )
)
_FILE_MOUNTS = _optional(_list(_record(source=_TEXT, target=_TEXT, uid=_TEXT, gid=_TEXT, mode=_guard(_mode))))
_ROLLOUT = _record(
    parallelism=_integer,
    delay=_SHORT,
    failure_action=_TEXT,
    monitor=_SHORT,
    max_failure_ratio=_FLOAT,
    order=_TEXT,
)
_RESOURCE = _record(
    cpus=_FLOAT,
    memory=_SIZE,
    pids=_INTEGER,
    devices=_DEVICES,
    generic_resources=_optional(_list(_record(discrete_resource_spec=_record(kind=_text, value=_integer)))),
)
_PLACEMENT = _record(
    constraints=_TEXTS,
    preferences=_optional(_list(_record(spread=_TEXT))),
    max_replicas_per_node=_INTEGER,
)
_DEPLOY = _record(
    mode=_TEXT,
    replicas=_integer,
    labels=_PAIRS,
    update_config=_ROLLOUT,
    rollback_config=_ROLLOUT,
    resources=_record(limits=_RESOURCE, reservations=_RESOURCE),
    restart_policy=_record(condition=_TEXT, delay=_guard(_duration), max_attempts=_integer, window=_guard(_duration)),
    placement=_PLACEMENT,
    endpoint_mode=_TEXT,
)


def _deploy(value: Value) -> Value:
    return MISSING if value is None else {"resources": {}, "placement": {}, **_DEPLOY(value)}


def _hook_environment(value: Value) -> Value:
    if isinstance(value, dict):
        return {name: None if item is None else go_text(item) for name, item in value.items()}
    parts = [item.partition("=") for item in value]
    return {name: text if equals else None for name, equals, text in parts}


_HOOK_FIELDS = _record(
    command=_COMMAND,
    user=_TEXT,
    privileged=_FLAG,
    working_dir=_TEXT,
    environment=_optional(_hook_environment),
)


def _hook(value: Value) -> Value:
    return {"command": None, **_HOOK_FIELDS(value)}


_WATCH = _record(
    path=_TEXT,
    action=_TEXT,
    target=_TEXT,
    ignore=_TEXTS,
    include=_TEXTS,
    initial_sync=_FLAG,
    exec=_hook,
)


def _watch(value: Value) -> Value:
    return {"exec": {"command": None}, **_WATCH(value)}


def _develop(value: Value) -> Value:
    return MISSING if value is None else _record(watch=_optional(_list(_watch)))(value)


def _throttle(name: str, printer: Printer) -> Printer:
    """Limits of devices, printed under the names of Go's fields."""

    def printer_of_one(value: Value) -> Value:
        return {"Path": value.get("path", ""), name: _within(f".{name.lower()}", printer, value.get(name.lower()))}

    return _optional(_list(printer_of_one))


def _rate(value: Value) -> Value:
    return _size(value) or "0"


_BUILD = _record(
    context=_TEXT,
    dockerfile=_TEXT,
    dockerfile_inline=_TEXT,
    entitlements=_TEXTS,
    args=_optional(_build_args),
    ssh=_optional(lambda value: value if isinstance(value, list) else [f"{k}={v}" for k, v in value.items()]),
    labels=_PAIRS,
    cache_from=_TEXTS,
    cache_to=_TEXTS,
    no_cache=_FLAG,
    additional_contexts=_PAIRS,
    pull=_FLAG,
    extra_hosts=_optional(_hosts),
    isolation=_TEXT,
    network=_TEXT,
    target=_TEXT,
    secrets=_FILE_MOUNTS,
    shm_size=_SIZE,
    tags=_TEXTS,
    ulimits=_optional(_ulimits),
    platforms=_TEXTS,
    privileged=_FLAG,
    provenance=_optional(lambda value: value if isinstance(value, str) else go_text(value)),
    sbom=_optional(lambda value: value if isinstance(value, str) else go_text(value)),
)


def _build(value: Value) -> Value:
    printed = _BUILD(value)
    if not printed.get("dockerfile") and not printed.get("dockerfile_inline"):
        printed["dockerfile"] = "Dockerfile"
    return printed


_NETWORK = _record(
    aliases=_TEXTS,
    driver_opts=_OPTIONS,
    gw_priority=_INTEGER,
    interface_name=_TEXT,
    ipv4_address=_TEXT,
    ipv6_address=_TEXT,
    link_local_ips=_TEXTS,
    mac_address=_TEXT,
    priority=_INTEGER,
)

_FIELDS: dict[str, Printer] = {
    **dict.fromkeys(
        (
            "cgroup",
            "cgroup_parent",
            "container_name",
            "cpuset",
            "domainname",
            "hostname",
            "image",
            "ipc",
            "isolation",
            "mac_address",
            "network_mode",
            "pid",
            "platform",
            "restart",
            "runtime",
            "stop_signal",
            "user",
            "userns_mode",
            "uts",
            "working_dir",
        ),
        _TEXT,
    ),
    **dict.fromkeys(
        (
            "cap_add",
            "cap_drop",
            "device_cgroup_rules",
            "dns",
            "dns_opt",
            "dns_search",
            "external_links",
            "links",
            "profiles",
            "security_opt",
            "tmpfs",
            "volumes_from",
        ),
        _TEXTS,
    ),
    **dict.fromkeys(("expose", "group_add"), _WORDS),
    **dict.fromkeys(("annotations", "labels", "sysctls"), _PAIRS),
    **dict.fromkeys(("mem_limit", "mem_reservation", "mem_swappiness", "memswap_limit", "shm_size"), _SIZE),
    **dict.fromkeys(
        (
            "cpu_count",
            "cpu_period",
            "cpu_quota",
            "cpu_rt_period",
            "cpu_rt_runtime",
            "cpu_shares",
            "oom_score_adj",
            "pids_limit",
        ),
        _INTEGER,
    ),
    **dict.fromkeys(("cpu_percent", "cpus"), _FLOAT),
    **dict.fromkeys(("oom_kill_disable", "privileged", "read_only", "stdin_open", "tty", "use_api_socket"), _FLAG),
    **dict.fromkeys(("attach", "init"), _guard(_flag)),
    **dict.fromkeys(("command", "entrypoint"), _COMMAND),
    **dict.fromkeys(("configs", "secrets"), _FILE_MOUNTS),
    **dict.fromkeys(("post_start", "pre_stop"), _optional(_list(_hook))),
    "blkio_config": _record(
        weight=_INTEGER,
        weight_device=_throttle("Weight", _integer),
        **dict.fromkeys(
            ("device_read_bps", "device_read_iops", "device_write_bps", "device_write_iops"), _throttle("Rate", _rate)
        ),
    ),
    "build": _build,
    "credential_spec": _record(config=_TEXT, file=_TEXT, registry=_TEXT),
    "depends_on": _optional(_map_of(_record(condition=_TEXT, restart=_FLAG, required=_flag))),
    "deploy": _deploy,
    "develop": _develop,
    "devices": _optional(_list(_record(source=_TEXT, target=_TEXT, permissions=_TEXT))),
    "extra_hosts": _optional(_hosts),
    "gpus": _DEVICES,
    "healthcheck": _record(
        test=_optional(_health_test),
        timeout=_guard(_duration),
        interval=_guard(_duration),
        retries=_integer,
        start_period=_guard(_duration),
        start_interval=_guard(_duration),
        disable=_FLAG,
    ),
    "logging": _record(driver=_TEXT, options=_OPTIONS),
    "models": _optional(_map_of(lambda value: value and _record(endpoint_var=_TEXT, model_var=_TEXT)(value))),
    "networks": _optional(_map_of(lambda value: None if value is None else _NETWORK(value))),
    "ports": _optional(
        _list(
            _record(
                name=_TEXT,
                mode=_TEXT,
                host_ip=_TEXT,
                target=_INTEGER,
                published=_optional(_published),
                protocol=_TEXT,
                app_protocol=_TEXT,
            )
        )
    ),
    "provider": _record(type=_text, options=_optional(_provider_options)),
    "pull_policy": _optional(lambda value: "missing" if value == "if_not_present" else value),
    "scale": _integer,
    "stop_grace_period": _guard(_duration),
    "storage_opt": _optional(_text_options),
    "ulimits": _optional(_ulimits),
    "volumes": _optional(
        _list(
            _record(
                type=_text,
                source=_TEXT,
                target=lambda value: clean_target(_text(value)),
                read_only=_FLAG,
                consistency=_TEXT,
                bind=_record(propagation=_TEXT, create_host_path=_FLAG, selinux=_TEXT, recursive=_TEXT),
                volume=_record(labels=_PAIRS, nocopy=_FLAG, subpath=_TEXT),
                tmpfs=_record(size=_SIZE, mode=_INTEGER),
                image=_record(subpath=_TEXT),
            )
        )
    ),
}
"""How each field of a service is printed. `environment`, `env_file` and `label_file` become other things first."""
