"""Printers of the larger parts of a service: `build:`, `deploy:`, `develop:`, hooks, and what others share."""

from __future__ import annotations

from bot.compose.casts import to_integer64
from bot.compose.printers import (
    COMMAND,
    FLAG,
    FLOAT,
    INTEGER,
    PAIRS,
    SHORT_DURATION,
    SIZE,
    TEXT,
    TEXTS,
    Unprintable,
    duration,
    guarded,
    integer,
    list_of,
    optional,
    record,
    text,
    within,
)
from bot.compose.scalars import go_text
from bot.compose.values import MISSING, Value


def _build_args(value: Value) -> Value:
    if isinstance(value, dict):
        return {name: go_text(item) for name, item in value.items() if item is not None}
    return {name: text for name, equals, text in (item.partition("=") for item in value) if equals}


def hosts(value: Value) -> Value:
    """Extra hosts, sorted."""
    if isinstance(value, dict):
        pairs = [
            (name, address)
            for name, addresses in value.items()
            for address in (addresses if isinstance(addresses, list) else [addresses])
        ]
        return sorted(f"{name}={_bare_address(str(address))}" for name, address in pairs)
    addresses_of: dict[str, list[str]] = {}
    for item in value:
        name, separator, address = item.partition("=" if "=" in item else ":")
        if not separator:
            raise Unprintable(f"invalid additional host, missing IP: {item}")
        addresses_of.setdefault(name.strip(), []).append(_bare_address(address))
    return sorted(f"{name}={address}" for name, addresses in addresses_of.items() for address in addresses)


def _bare_address(address: str) -> str:
    address = address.strip()
    return address[1:-1] if address.startswith("[") and address.endswith("]") else address


def ulimits(value: Value) -> Value:
    """Limits by name: a number, or a soft and a hard one."""
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


DEVICES = optional(
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


FILE_MOUNTS = optional(list_of(record(source=TEXT, target=TEXT, uid=TEXT, gid=TEXT, mode=guarded(_mode))))


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
    devices=DEVICES,
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


def deploy(value: Value) -> Value:
    """`deploy:`."""
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


def hook(value: Value) -> Value:
    """A command of `post_start:` or `pre_stop:`."""
    return {"command": None, **_HOOK_FIELDS(value)}


_WATCH = record(
    path=TEXT,
    action=TEXT,
    target=TEXT,
    ignore=TEXTS,
    include=TEXTS,
    initial_sync=FLAG,
    exec=hook,
)


def _watch(value: Value) -> Value:
    return {"exec": {"command": None}, **_WATCH(value)}


def develop(value: Value) -> Value:
    """`develop:`."""
    return MISSING if value is None else record(watch=optional(list_of(_watch)))(value)


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
    extra_hosts=optional(hosts),
    isolation=TEXT,
    network=TEXT,
    target=TEXT,
    secrets=FILE_MOUNTS,
    shm_size=SIZE,
    tags=TEXTS,
    ulimits=optional(ulimits),
    platforms=TEXTS,
    privileged=FLAG,
    provenance=optional(lambda value: value if isinstance(value, str) else go_text(value)),
    sbom=optional(lambda value: value if isinstance(value, str) else go_text(value)),
)


def build(value: Value) -> Value:
    """`build:`."""
    printed = _BUILD(value)
    if not printed.get("dockerfile") and not printed.get("dockerfile_inline"):
        printed["dockerfile"] = "Dockerfile"
    return printed
