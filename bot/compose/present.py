"""The data that `docker compose config --format json` prints for the fields of a service.

Empty values are left out where Compose leaves them out.
"""

from __future__ import annotations

from bot.compose.blocks import DEVICES, FILE_MOUNTS, build, deploy, develop, hook, hosts, ulimits
from bot.compose.command_line import TooManyWords
from bot.compose.faults import Fault
from bot.compose.printers import (
    COMMAND,
    FLAG,
    FLOAT,
    INTEGER,
    OPTIONS,
    PAIRS,
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


def _health_test(value: Value) -> Value:
    return ["CMD-SHELL", value] if isinstance(value, str) else value


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


def _throttle(name: str, printer: Printer) -> Printer:
    """Limits of devices, printed under the names of Go's fields."""

    def printer_of_one(value: Value) -> Value:
        return {"Path": value.get("path", ""), name: within(f".{name.lower()}", printer, value.get(name.lower()))}

    return optional(list_of(printer_of_one))


def _rate(value: Value) -> Value:
    return size(value) or "0"


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
    **dict.fromkeys(("configs", "secrets"), FILE_MOUNTS),
    **dict.fromkeys(("post_start", "pre_stop"), optional(list_of(hook))),
    "blkio_config": record(
        weight=INTEGER,
        weight_device=_throttle("Weight", integer),
        **dict.fromkeys(
            ("device_read_bps", "device_read_iops", "device_write_bps", "device_write_iops"), _throttle("Rate", _rate)
        ),
    ),
    "build": build,
    "credential_spec": record(config=TEXT, file=TEXT, registry=TEXT),
    "depends_on": optional(map_of(record(condition=TEXT, restart=FLAG, required=flag))),
    "deploy": deploy,
    "develop": develop,
    "devices": optional(list_of(record(source=TEXT, target=TEXT, permissions=TEXT))),
    "extra_hosts": optional(hosts),
    "gpus": DEVICES,
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
    "ulimits": optional(ulimits),
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
