"""What Docker Compose 2.40.3 accepts in a compose file, field by field.

Only the shapes: what a value means, and whether it names something that exists, is decided later.
"""

from __future__ import annotations

from bot.compose.checks import Between, Check, Either, Fields, ListOf, Matching, OneWord, Typed

_NAME = "^[a-zA-Z0-9._-]+$"
_EXTENSION: tuple[tuple[str, Check | None], ...] = (("^x-", None),)


def _typed(*names: str) -> Typed:
    return Typed(names)


def _fields(needed: tuple[str, ...] = (), /, *, nullable: bool = False, **known: Check) -> Fields:
    """A mapping of known fields, to which extensions (`x-…`) may be added."""
    return Fields(known, _EXTENSION, needed, nullable=nullable)


def _map(pattern: str, check: Check, *, closed: bool = False, nullable: bool = False) -> Fields:
    return Fields({}, ((pattern, check),), closed=closed, nullable=nullable)


TEXT = _typed("string")
FLAG = _typed("boolean", "string")
INTEGER = _typed("integer", "string")
NUMBER = _typed("number", "string")
_TEXTS = ListOf(TEXT)
_DISTINCT = ListOf(TEXT, distinct=True)
_ONE_OR_MORE = Either((TEXT, _DISTINCT))
_PAIRS = Either((_map(".+", _typed("string", "number", "boolean", "null"), closed=True), _DISTINCT))
_COMMAND = Either((_typed("null"), TEXT, _TEXTS))
_OPTIONS = _map("^.+$", NUMBER)
_HOSTS = Either((_map(".+", Either((TEXT, _TEXTS)), closed=True), _DISTINCT))
_LIMIT = _fields(("soft", "hard"), soft=INTEGER, hard=INTEGER)
_ULIMITS = _map("^[a-z]+$", Either((INTEGER, _LIMIT)))
_FILES = ListOf(Either((TEXT, _fields(source=TEXT, target=TEXT, uid=TEXT, gid=TEXT, mode=NUMBER))))
_HOOK = _fields(("command",), command=_COMMAND, user=TEXT, privileged=FLAG, working_dir=TEXT, environment=_PAIRS)
_RATE = Fields({"path": TEXT, "rate": INTEGER})
_WEIGHT = Fields({"path": TEXT, "weight": INTEGER})
_DEVICE: dict[str, Check] = {
    "capabilities": _DISTINCT,
    "count": INTEGER,
    "device_ids": _DISTINCT,
    "driver": TEXT,
    "options": _PAIRS,
}

_BUILD = _fields(
    context=TEXT,
    dockerfile=TEXT,
    dockerfile_inline=TEXT,
    entitlements=_TEXTS,
    args=_PAIRS,
    ssh=_PAIRS,
    labels=_PAIRS,
    cache_from=_TEXTS,
    cache_to=_TEXTS,
    no_cache=FLAG,
    additional_contexts=_PAIRS,
    network=TEXT,
    provenance=FLAG,
    sbom=FLAG,
    pull=FLAG,
    target=TEXT,
    shm_size=INTEGER,
    extra_hosts=_HOSTS,
    isolation=TEXT,
    privileged=FLAG,
    secrets=_FILES,
    tags=_TEXTS,
    ulimits=_ULIMITS,
    platforms=_TEXTS,
)

_ROLLOUT = _fields(
    parallelism=INTEGER,
    delay=TEXT,
    failure_action=TEXT,
    monitor=TEXT,
    max_failure_ratio=NUMBER,
    order=OneWord(("start-first", "stop-first")),
)

_DEPLOY = _fields(
    nullable=True,
    mode=TEXT,
    endpoint_mode=TEXT,
    replicas=INTEGER,
    labels=_PAIRS,
    rollback_config=_ROLLOUT,
    update_config=_ROLLOUT,
    resources=_fields(
        limits=_fields(cpus=NUMBER, memory=TEXT, pids=INTEGER),
        reservations=_fields(
            cpus=NUMBER,
            memory=TEXT,
            generic_resources=ListOf(_fields(discrete_resource_spec=_fields(kind=TEXT, value=NUMBER))),
            devices=ListOf(Fields(_DEVICE, _EXTENSION, ("capabilities",))),
        ),
    ),
    restart_policy=_fields(condition=TEXT, delay=TEXT, max_attempts=INTEGER, window=TEXT),
    placement=_fields(constraints=_TEXTS, preferences=ListOf(_fields(spread=TEXT)), max_replicas_per_node=INTEGER),
)

_DEVELOP = _fields(
    nullable=True,
    watch=ListOf(
        _fields(
            ("path", "action"),
            ignore=_ONE_OR_MORE,
            include=_ONE_OR_MORE,
            path=TEXT,
            action=OneWord(("rebuild", "sync", "restart", "sync+restart", "sync+exec")),
            target=TEXT,
            exec=_HOOK,
            initial_sync=_typed("boolean"),
        )
    ),
)

_DEPENDENCY = _fields(
    ("condition",),
    restart=FLAG,
    required=_typed("boolean"),
    condition=OneWord(("service_started", "service_healthy", "service_completed_successfully")),
)

_ENV_FILE = Either(
    (TEXT, ListOf(Either((TEXT, Fields({"path": TEXT, "format": TEXT, "required": FLAG}, required=("path",))))))
)

_ATTACHMENT = _fields(
    aliases=_DISTINCT,
    interface_name=TEXT,
    ipv4_address=TEXT,
    ipv6_address=TEXT,
    link_local_ips=_DISTINCT,
    mac_address=TEXT,
    driver_opts=_OPTIONS,
    priority=_typed("number"),
    gw_priority=_typed("number"),
)

_PORT = _fields(
    name=TEXT,
    mode=TEXT,
    host_ip=TEXT,
    target=INTEGER,
    published=INTEGER,
    protocol=TEXT,
    app_protocol=TEXT,
)

_VOLUME_MOUNT = _fields(
    ("type",),
    type=OneWord(("bind", "volume", "tmpfs", "cluster", "npipe", "image")),
    source=TEXT,
    target=TEXT,
    read_only=FLAG,
    consistency=TEXT,
    bind=_fields(
        propagation=TEXT,
        create_host_path=FLAG,
        recursive=OneWord(("enabled", "disabled", "writable", "readonly")),
        selinux=OneWord(("z", "Z")),
    ),
    volume=_fields(labels=_PAIRS, nocopy=FLAG, subpath=TEXT),
    tmpfs=_fields(size=Either((Between(0), TEXT)), mode=NUMBER),
    image=_fields(subpath=TEXT),
)

SERVICE_FIELDS: dict[str, Check] = {
    "annotations": _PAIRS,
    "attach": FLAG,
    "blkio_config": Fields(
        {
            **dict.fromkeys(
                ("device_read_bps", "device_read_iops", "device_write_bps", "device_write_iops"), ListOf(_RATE)
            ),
            "weight": INTEGER,
            "weight_device": ListOf(_WEIGHT),
        }
    ),
    "build": Either((TEXT, _BUILD)),
    "cap_add": _DISTINCT,
    "cap_drop": _DISTINCT,
    "cgroup": OneWord(("host", "private")),
    "cgroup_parent": TEXT,
    "command": _COMMAND,
    "configs": _FILES,
    "container_name": Matching("[a-zA-Z0-9][a-zA-Z0-9_.-]+"),
    "cpu_count": Either((TEXT, Between(0))),
    "cpu_percent": Either((TEXT, Between(0, 100))),
    "cpu_period": NUMBER,
    "cpu_quota": NUMBER,
    "cpu_rt_period": NUMBER,
    "cpu_rt_runtime": NUMBER,
    "cpu_shares": NUMBER,
    "cpus": NUMBER,
    "cpuset": TEXT,
    "credential_spec": _fields(config=TEXT, file=TEXT, registry=TEXT),
    "depends_on": Either((_DISTINCT, _map(_NAME, _DEPENDENCY, closed=True))),
    "deploy": _DEPLOY,
    "develop": _DEVELOP,
    "device_cgroup_rules": _DISTINCT,
    "devices": ListOf(Either((TEXT, _fields(("source",), source=TEXT, target=TEXT, permissions=TEXT)))),
    "dns": _ONE_OR_MORE,
    "dns_opt": _DISTINCT,
    "dns_search": _ONE_OR_MORE,
    "domainname": TEXT,
    "entrypoint": _COMMAND,
    "env_file": _ENV_FILE,
    "environment": _PAIRS,
    "expose": ListOf(NUMBER, distinct=True),
    "extends": Either((TEXT, Fields({"service": TEXT, "file": TEXT}, required=("service",)))),
    "external_links": _DISTINCT,
    "extra_hosts": _HOSTS,
    "gpus": Either((OneWord(("all",)), ListOf(Fields(_DEVICE, closed=False)))),
    "group_add": ListOf(NUMBER, distinct=True),
    "healthcheck": _fields(
        disable=FLAG,
        interval=TEXT,
        retries=NUMBER,
        test=Either((TEXT, _TEXTS)),
        timeout=TEXT,
        start_period=TEXT,
        start_interval=TEXT,
    ),
    "hostname": TEXT,
    "image": TEXT,
    "init": FLAG,
    "ipc": TEXT,
    "isolation": TEXT,
    "label_file": Either((TEXT, _TEXTS)),
    "labels": _PAIRS,
    "links": _DISTINCT,
    "logging": _fields(driver=TEXT, options=_map("^.+$", _typed("string", "number", "null"))),
    "mac_address": TEXT,
    "mem_limit": NUMBER,
    "mem_reservation": INTEGER,
    "mem_swappiness": INTEGER,
    "memswap_limit": NUMBER,
    "models": Either((_DISTINCT, _map(_NAME, Either((_fields(endpoint_var=TEXT, model_var=TEXT), _typed("null")))))),
    "network_mode": TEXT,
    "networks": Either((_DISTINCT, _map(_NAME, Either((_ATTACHMENT, _typed("null"))), closed=True))),
    "oom_kill_disable": FLAG,
    "oom_score_adj": Either((TEXT, Between(-1000, 1000))),
    "pid": TEXT,
    "pids_limit": NUMBER,
    "platform": TEXT,
    "ports": ListOf(Either((_typed("number"), TEXT, _PORT)), distinct=True),
    "post_start": ListOf(_HOOK),
    "pre_stop": ListOf(_HOOK),
    "privileged": FLAG,
    "profiles": _DISTINCT,
    "provider": _fields(
        ("type",),
        type=TEXT,
        options=_map(
            "^.+$",
            Either((_typed("string", "number", "boolean"), ListOf(_typed("string", "number", "boolean")))),
        ),
    ),
    "pull_policy": Matching("always|never|build|if_not_present|missing|refresh|daily|weekly|every_([0-9]+[wdhms])+"),
    "pull_refresh_after": TEXT,
    "read_only": FLAG,
    "restart": TEXT,
    "runtime": TEXT,
    "scale": INTEGER,
    "secrets": _FILES,
    "security_opt": _DISTINCT,
    "shm_size": NUMBER,
    "stdin_open": FLAG,
    "stop_grace_period": TEXT,
    "stop_signal": TEXT,
    "storage_opt": Fields(closed=False),
    "sysctls": _PAIRS,
    "tmpfs": _ONE_OR_MORE,
    "tty": FLAG,
    "ulimits": _ULIMITS,
    "use_api_socket": _typed("boolean"),
    "user": TEXT,
    "userns_mode": TEXT,
    "uts": TEXT,
    "volumes": ListOf(Either((TEXT, _VOLUME_MOUNT)), distinct=True),
    "volumes_from": _DISTINCT,
    "working_dir": TEXT,
}
"""What each field of a service must be. Fields that are neither here nor begin with `x-` are refused."""

_EXTERNAL = Fields({"name": TEXT}, _EXTENSION, also=("boolean", "string"))
_NAMED_EXTERNAL = Fields({"name": TEXT}, closed=False, also=("boolean", "string"))

_NETWORK = _fields(
    nullable=True,
    name=TEXT,
    driver=TEXT,
    driver_opts=_OPTIONS,
    ipam=_fields(
        driver=TEXT,
        config=ListOf(_fields(subnet=TEXT, ip_range=TEXT, gateway=TEXT, aux_addresses=_map("^.+$", TEXT, closed=True))),
        options=_map("^.+$", TEXT, closed=True),
    ),
    external=_EXTERNAL,
    internal=FLAG,
    enable_ipv4=FLAG,
    enable_ipv6=FLAG,
    attachable=FLAG,
    labels=_PAIRS,
)
_VOLUME = _fields(nullable=True, name=TEXT, driver=TEXT, driver_opts=_OPTIONS, external=_EXTERNAL, labels=_PAIRS)
_SECRET = _fields(
    name=TEXT,
    environment=TEXT,
    file=TEXT,
    external=_NAMED_EXTERNAL,
    labels=_PAIRS,
    driver=TEXT,
    driver_opts=_OPTIONS,
    template_driver=TEXT,
)
_CONFIG = _fields(
    name=TEXT,
    content=TEXT,
    environment=TEXT,
    file=TEXT,
    external=_NAMED_EXTERNAL,
    labels=_PAIRS,
    template_driver=TEXT,
)
_MODEL = _fields(("model",), name=TEXT, model=TEXT, context_size=_typed("integer"), runtime_flags=_TEXTS)
_INCLUDE = Either((TEXT, Fields({"path": _ONE_OR_MORE, "env_file": _ONE_OR_MORE, "project_directory": TEXT})))

SERVICES = Fields({}, ((_NAME, None),))
"""The names of services; their fields are checked one by one."""

TOP_LEVEL: dict[str, Check] = {
    "version": TEXT,
    "name": TEXT,
    "include": ListOf(_INCLUDE),
    "services": SERVICES,
    "models": _map(_NAME, _MODEL),
    "networks": _map(_NAME, _NETWORK),
    "volumes": _map(_NAME, _VOLUME, closed=True),
    "secrets": _map(_NAME, _SECRET, closed=True),
    "configs": _map(_NAME, _CONFIG, closed=True),
}
"""What each top-level field must be."""
