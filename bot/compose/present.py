"""The data that `docker compose config --format json` prints for the fields of a service.

Empty values are left out where Compose leaves them out.
"""

from __future__ import annotations

from bot.compose.casts import to_integer64
from bot.compose.command_line import TooManyWords
from bot.compose.faults import Fault
from bot.compose.printers import (
    COMMAND,
    FLAG,
    FLOAT,
    INTEGER,
    OPTIONS,
    PAIRS,
    SHORT_DURATION,
    SIZE,
    TEXT,
    TEXTS,
    WORDS,
    Printer,
    Unprintable,
    Unsupported,
    duration,
    flag,
    guarded,
    integer,
    list_of,
    map_of,
    optional,
    record,
    size,
    text,
    within,
    word,
)
from bot.compose.scalars import go_text
from bot.compose.values import MISSING, Value
from bot.compose.volumes import clean_target


def present(field: str, value: Value, service: str) -> Value:
    """What Compose prints for a field, `MISSING` when it prints nothing. Raises `Fault`."""
    printer = _FIELDS.get(field)
    if printer is None:
        return MISSING
    try:
        printed = printer(value)
    except TooManyWords as error:
        raise Fault("too-large", str(error), field=("services", service, field)) from None
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


def _health_test(value: Value) -> Value:
    return ["CMD-SHELL", value] if isinstance(value, str) else value


def _ulimits(value: Value) -> Value:
    if not isinstance(value, dict):
        return {}
    limits = record(soft=optional(integer), hard=optional(integer))
    return {
        name: limits(item) if isinstance(item, dict) else (within(f"[{name}]", integer, item) or {})
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


def _text_options(value: Value) -> Value:
    return {name: within(f"[{name}]", word, item) for name, item in value.items()} if isinstance(value, dict) else {}


def _provider_options(value: Value) -> Value:
    if not isinstance(value, dict):
        return {}
    return {
        name: [go_text(one) for one in item] if isinstance(item, list) else [go_text(item)]
        for name, item in value.items()
    }


def _published(value: Value) -> Value:
    return "" if value is None else str(value) if not isinstance(value, str) else value


_DEVICES = optional(
    list_of(
        record(
            capabilities=TEXTS,
            driver=TEXT,
            count=optional(_device_count),
            device_ids=TEXTS,
            options=PAIRS,
        )
    )
)


_FILE_MOUNTS = optional(list_of(record(source=TEXT, target=TEXT, uid=TEXT, gid=TEXT, mode=guarded(_mode))))


_ROLLOUT = record(
    parallelism=integer,
    delay=SHORT_DURATION,
    failure_action=TEXT,
    monitor=SHORT_DURATION,
    max_failure_ratio=FLOAT,
    order=TEXT,
)


_RESOURCE = record(
    cpus=FLOAT,
    memory=SIZE,
    pids=INTEGER,
    devices=_DEVICES,
    generic_resources=optional(list_of(record(discrete_resource_spec=record(kind=text, value=integer)))),
)


_PLACEMENT = record(
    constraints=TEXTS,
    preferences=optional(list_of(record(spread=TEXT))),
    max_replicas_per_node=INTEGER,
)


_DEPLOY = record(
    mode=TEXT,
    replicas=integer,
    labels=PAIRS,
    update_config=_ROLLOUT,
    rollback_config=_ROLLOUT,
    resources=record(limits=_RESOURCE, reservations=_RESOURCE),
    restart_policy=record(condition=TEXT, delay=guarded(duration), max_attempts=integer, window=guarded(duration)),
    placement=_PLACEMENT,
    endpoint_mode=TEXT,
)


def _deploy(value: Value) -> Value:
    return MISSING if value is None else {"resources": {}, "placement": {}, **_DEPLOY(value)}


def _hook_environment(value: Value) -> Value:
    if isinstance(value, dict):
        return {name: None if item is None else go_text(item) for name, item in value.items()}
    parts = [item.partition("=") for item in value]
    return {name: text if equals else None for name, equals, text in parts}


_HOOK_FIELDS = record(
    command=COMMAND,
    user=TEXT,
    privileged=FLAG,
    working_dir=TEXT,
    environment=optional(_hook_environment),
)


def _hook(value: Value) -> Value:
    return {"command": None, **_HOOK_FIELDS(value)}


_WATCH = record(
    path=TEXT,
    action=TEXT,
    target=TEXT,
    ignore=TEXTS,
    include=TEXTS,
    initial_sync=FLAG,
    exec=_hook,
)


def _watch(value: Value) -> Value:
    return {"exec": {"command": None}, **_WATCH(value)}


def _develop(value: Value) -> Value:
    return MISSING if value is None else record(watch=optional(list_of(_watch)))(value)


def _throttle(name: str, printer: Printer) -> Printer:
    """Limits of devices, printed under the names of Go's fields."""

    def printer_of_one(value: Value) -> Value:
        return {"Path": value.get("path", ""), name: within(f".{name.lower()}", printer, value.get(name.lower()))}

    return optional(list_of(printer_of_one))


def _rate(value: Value) -> Value:
    return size(value) or "0"


_BUILD = record(
    context=TEXT,
    dockerfile=TEXT,
    dockerfile_inline=TEXT,
    entitlements=TEXTS,
    args=optional(_build_args),
    ssh=optional(lambda value: value if isinstance(value, list) else [f"{k}={v}" for k, v in value.items()]),
    labels=PAIRS,
    cache_from=TEXTS,
    cache_to=TEXTS,
    no_cache=FLAG,
    additional_contexts=PAIRS,
    pull=FLAG,
    extra_hosts=optional(_hosts),
    isolation=TEXT,
    network=TEXT,
    target=TEXT,
    secrets=_FILE_MOUNTS,
    shm_size=SIZE,
    tags=TEXTS,
    ulimits=optional(_ulimits),
    platforms=TEXTS,
    privileged=FLAG,
    provenance=optional(lambda value: value if isinstance(value, str) else go_text(value)),
    sbom=optional(lambda value: value if isinstance(value, str) else go_text(value)),
)


def _build(value: Value) -> Value:
    printed = _BUILD(value)
    if not printed.get("dockerfile") and not printed.get("dockerfile_inline"):
        printed["dockerfile"] = "Dockerfile"
    return printed


_NETWORK = record(
    aliases=TEXTS,
    driver_opts=OPTIONS,
    gw_priority=INTEGER,
    interface_name=TEXT,
    ipv4_address=TEXT,
    ipv6_address=TEXT,
    link_local_ips=TEXTS,
    mac_address=TEXT,
    priority=INTEGER,
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
        TEXT,
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
        TEXTS,
    ),
    **dict.fromkeys(("expose", "group_add"), WORDS),
    **dict.fromkeys(("annotations", "labels", "sysctls"), PAIRS),
    **dict.fromkeys(("mem_limit", "mem_reservation", "mem_swappiness", "memswap_limit", "shm_size"), SIZE),
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
        INTEGER,
    ),
    **dict.fromkeys(("cpu_percent", "cpus"), FLOAT),
    **dict.fromkeys(("oom_kill_disable", "privileged", "read_only", "stdin_open", "tty", "use_api_socket"), FLAG),
    **dict.fromkeys(("attach", "init"), guarded(flag)),
    **dict.fromkeys(("command", "entrypoint"), COMMAND),
    **dict.fromkeys(("configs", "secrets"), _FILE_MOUNTS),
    **dict.fromkeys(("post_start", "pre_stop"), optional(list_of(_hook))),
    "blkio_config": record(
        weight=INTEGER,
        weight_device=_throttle("Weight", integer),
        **dict.fromkeys(
            ("device_read_bps", "device_read_iops", "device_write_bps", "device_write_iops"), _throttle("Rate", _rate)
        ),
    ),
    "build": _build,
    "credential_spec": record(config=TEXT, file=TEXT, registry=TEXT),
    "depends_on": optional(map_of(record(condition=TEXT, restart=FLAG, required=flag))),
    "deploy": _deploy,
    "develop": _develop,
    "devices": optional(list_of(record(source=TEXT, target=TEXT, permissions=TEXT))),
    "extra_hosts": optional(_hosts),
    "gpus": _DEVICES,
    "healthcheck": record(
        test=optional(_health_test),
        timeout=guarded(duration),
        interval=guarded(duration),
        retries=integer,
        start_period=guarded(duration),
        start_interval=guarded(duration),
        disable=FLAG,
    ),
    "logging": record(driver=TEXT, options=OPTIONS),
    "models": optional(map_of(lambda value: value and record(endpoint_var=TEXT, model_var=TEXT)(value))),
    "networks": optional(map_of(lambda value: None if value is None else _NETWORK(value))),
    "ports": optional(
        list_of(
            record(
                name=TEXT,
                mode=TEXT,
                host_ip=TEXT,
                target=INTEGER,
                published=optional(_published),
                protocol=TEXT,
                app_protocol=TEXT,
            )
        )
    ),
    "provider": record(type=text, options=optional(_provider_options)),
    "pull_policy": optional(lambda value: "missing" if value == "if_not_present" else value),
    "scale": integer,
    "stop_grace_period": guarded(duration),
    "storage_opt": optional(_text_options),
    "ulimits": optional(_ulimits),
    "volumes": optional(
        list_of(
            record(
                type=text,
                source=TEXT,
                target=lambda value: clean_target(text(value)),
                read_only=FLAG,
                consistency=TEXT,
                bind=record(propagation=TEXT, create_host_path=FLAG, selinux=TEXT, recursive=TEXT),
                volume=record(labels=PAIRS, nocopy=FLAG, subpath=TEXT),
                tmpfs=record(size=SIZE, mode=INTEGER),
                image=record(subpath=TEXT),
            )
        )
    ),
}
"""How each field of a service is printed. `environment`, `env_file` and `label_file` become other things first."""
