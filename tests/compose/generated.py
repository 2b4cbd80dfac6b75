"""Generated services: the fields that people write, in all their forms."""

from __future__ import annotations

import json
from random import Random
from typing import Any

ENVIRONMENT = {"V": "vv", "E": ""}
FILES = {
    "one.env": 'A=1\nB=one\n#c\nQ="x $V"\n',
    "two.env": "A=2\nZ=$Q\n",
    ".env": "N=1\nD=9s\n",
    "sub/.env": "V=subv\nU=subu\nX=$V\n",
    "sub/one.env": "A=sub\n",
    "sub/two.env": "B=$A\n",
    "sub/deep/one.env": "A=deep\n",
    "sub/deep/two.env": "Q=$A\n",
}

_PORTS: list[Any] = [
    "80",
    "80:80",
    "8080:80",
    "80:80/udp",
    80,
    443,
    "127.0.0.1:80:80",
    "80-81:90-91",
    "80-82:90",
    {"target": 80, "published": "80"},
    {"target": 80, "published": 8080},
    {"target": 80},
    {"target": 443, "published": "443", "protocol": "udp"},
    {"target": 80, "published": "80", "host_ip": "127.0.0.1", "mode": "host"},
    "${P:-81}:81",
]
_VOLUMES: list[Any] = [
    "/a:/x",
    "./b:/x:ro",
    "data:/x",
    "cache:/y",
    "/y",
    "./c:/y",
    "~/k:/z",
    {"type": "bind", "source": "./q", "target": "/x"},
    {"type": "volume", "source": "data", "target": "/y", "read_only": True},
    {"type": "tmpfs", "target": "/z", "tmpfs": {"size": "1m"}},
    {"type": "bind", "source": "./q", "target": "/z/", "bind": {"propagation": "rshared"}},
    "data:/y:nocopy",
    "/a:/x:z",
    "${W:-/m}:/m",
]
_CHOICES: dict[str, list[Any]] = {
    "command": ["a b", 'a "b c"', ["x", "${V}"], [], None, "", "a $$B ${V:-q w}", ["$$X", '{"a":1}']],
    "entrypoint": ['sh -c "x y"', ["e"], [], None, ""],
    "dns": ["1.1.1.1", ["1.1.1.1", "2.2.2.2"], "", []],
    "dns_search": ["a", ["b", "a"]],
    "tmpfs": ["/t", ["/t", "/u"], ["/v:size=1"]],
    "extra_hosts": [{"h": "1.1.1.1"}, {"h": ["1.1.1.1", "2.2.2.2"]}, ["h:1.1.1.1", "g=2.2.2.2"], ["h:::1"]],
    "user": ["1", "u:g", "${V}"],
    "image": ["i", "j:${V:-1}", "$V"],
    "restart": ["no", "always", "${R:-unless-stopped}"],
    "shm_size": ["1g", "${S:-2gb}", 1024],
    "mem_limit": ["5m", 10],
    "cpus": ["1.5", 2, 0.1],
    "init": [True, False, "${I:-true}"],
    "privileged": [True, False, "yes"],
    "stop_grace_period": ["5s", "1m", "1d2h"],
    "gpus": ["all", [{"count": 1}], [{"driver": "x"}]],
    "hostname": ["h", "${V}"],
    "pids_limit": [5, "6"],
    "x-note": [1, {"a": "${V}"}, ["$E"]],
    "post_start": [[{"command": "a b", "user": "u"}]],
    "storage_opt": [{"size": "1"}, {"other": 2}],
    "env_file": [
        "one.env",
        ["two.env"],
        ["one.env", "two.env"],
        [{"path": "two.env", "required": False}],
        [{"path": "no.env", "required": False}],
    ],
    "label_file": ["one.env", ["two.env"]],
    "pull_policy": ["always", "if_not_present"],
    "oom_score_adj": [5, "-5"],
    "scale": [1],
}
_LISTS: dict[str, list[Any]] = {
    "ports": _PORTS,
    "volumes": _VOLUMES,
    "devices": ["/dev/a", "/dev/a:/dev/b", "/dev/a:/dev/a:r", {"source": "/dev/c", "target": "/dev/a"}],
    "expose": ["80", 90, "5/udp"],
    "cap_add": ["A", "B"],
    "cap_drop": ["A", "B"],
    "security_opt": ["s1", "s2", "s3", "s4"],
    "group_add": ["g1", "g2", "g3", 5],
    "dns_opt": ["a", "b"],
    "external_links": ["a", "b"],
}
_PAIRED = ("environment", "labels", "annotations", "sysctls")


class Generator:
    """Makes services at random, reproducibly."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def services(self, count: int) -> list[dict[str, Any]]:
        """Services over two files, each with the same few fields in both."""
        made: list[dict[str, Any]] = []
        for _ in range(count):
            names = self._names(3)
            service = {"a.yml": {"image": "i", **self._fields(names)}, "b.yml": self._fields(names)}
            made.append({name: fields for name, fields in service.items() if fields})
        return made

    def extending_project(self) -> dict[str, str]:
        """A project whose services extend others, of the same file and of files in other folders."""
        main, base, deep = self._related(extends=True)
        return self._project({"services": main}, base, deep)

    def including_project(self) -> dict[str, str]:
        """A project that includes a file of another folder."""
        main, base, deep = self._related(extends=False)
        for service in base.values():
            service.setdefault("image", "z")
        entry = self._pick(
            ["sub/base.yml", {"path": ["sub/base.yml"]}, {"path": "sub/base.yml", "project_directory": "sub"}]
        )
        return self._project({"include": [entry], "services": main}, base, deep)

    def _project(self, main: dict[str, Any], base: dict[str, Any], deep: dict[str, Any]) -> dict[str, str]:
        named: dict[str, Any] = {"volumes": {"data": {}, "cache": {}}, "networks": {"front": {}, "back": {}}}
        beside = named if "include" in main else {}
        return {
            **FILES,
            "compose.yml": json.dumps({**main, **named}),
            "sub/base.yml": json.dumps({"services": base, **beside}),
            "sub/deep/deep.yml": json.dumps({"services": deep}),
        }

    def _related(self, extends: bool) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        main: dict[str, Any] = {}
        base: dict[str, Any] = {}
        deep: dict[str, Any] = {}
        for index in range(self._random.randint(1, 3)):
            names = self._names(4)
            base[f"b{index}"] = self._fields(names) | ({"image": "base"} if self._chance(0.8) else {})
            if self._chance(0.3):
                base[f"b{index}"]["extends"] = {"file": "deep/deep.yml", "service": f"d{index}"}
            elif self._chance(0.2):
                base[f"b{index}"]["extends"] = {"service": f"l{index}"}
                base[f"l{index}"] = {"image": "l", **self._fields(names)}
            deep[f"d{index}"] = {"image": "deep", **self._fields(names)}
            main[f"s{index}"] = self._fields(names) | ({"image": "m"} if self._chance(0.8) else {})
            if extends and self._chance(0.6):
                main[f"s{index}"]["extends"] = {"file": "sub/base.yml", "service": f"b{index}"}
            elif extends and self._chance(0.7):
                main[f"s{index}"]["extends"] = self._pick([f"x{index}", {"service": f"x{index}"}])
                main[f"x{index}"] = {"image": "x", **self._fields(names)}
        return main, base, deep

    def _pick(self, choices: list[Any]) -> Any:
        return self._random.choice(choices)

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _names(self, most: int) -> list[str]:
        names = [*_CHOICES, *_LISTS, *_PAIRED, "healthcheck", "deploy", "networks", "ulimits", "logging", "build"]
        return self._random.sample(names, self._random.randint(1, most))

    def _fields(self, names: list[str]) -> dict[str, Any]:
        return {name: self._field(name) for name in names if self._chance(0.8)}

    def _field(self, name: str) -> Any:
        if name in _CHOICES:
            return self._pick(_CHOICES[name])
        if name in _LISTS:
            return self._distinct(_LISTS[name])
        if name in _PAIRED:
            return self._pairs()
        return getattr(self, f"_{name}")()

    def _distinct(self, choices: list[Any]) -> list[Any]:
        return self._random.sample(choices, self._random.randint(0, min(3, len(choices))))

    def _pairs(self) -> Any:
        if self._chance(0.5):
            values = ["1", 2, True, None, "x", "${V}", "$E", 1.5, "", "${U:-z}"]
            return {self._pick(["A", "B", "C", "D"]): self._pick(values) for _ in range(self._random.randint(0, 3))}
        return self._distinct(["A", "B", "C=1", "A=2", "A=", "B=${V}", "D=x=y"])

    def _some(self, **choices: list[Any]) -> dict[str, Any]:
        return {name: self._pick(values) for name, values in choices.items() if self._chance(0.4)}

    def _healthcheck(self) -> Any:
        return self._some(
            test=["curl x", ["CMD", "a"], ["CMD-SHELL", "b"], ["NONE"], []],
            interval=["5s", "1m30s", "0s", "${D:-7s}"],
            retries=[3, "4", "${R:-5}"],
            disable=[True, False, "yes"],
        )

    def _deploy(self) -> Any:
        devices = [{}, {"count": 1}, {"count": "all"}, {"device_ids": ["0", "${G:-1}"]}]
        reserved = {"devices": [{"capabilities": ["gpu"], "driver": "nvidia", **self._pick(devices)}]}
        resources = self._some(limits=[{"cpus": "0.5", "memory": "1g"}, {"cpus": 2}], reservations=[reserved])
        return self._some(
            replicas=[0, 1, "${N:-1}"],
            labels=[self._pairs()],
            resources=[resources],
            restart_policy=[{"condition": "any", "delay": "5s"}],
            placement=[{"constraints": ["a"]}],
        )

    def _networks(self) -> Any:
        if self._chance(0.4):
            return self._distinct(["front", "back", "default"])
        attachments = [None, {}, {"aliases": ["a", "b"]}, {"aliases": ["c"]}, {"ipv4_address": "1.2.3.4"}]
        return {self._pick(["front", "back"]): self._pick(attachments) for _ in range(self._random.randint(0, 2))}

    def _ulimits(self) -> Any:
        limits = [5, "6", -1, {"soft": 1, "hard": 2}, {"soft": 3, "hard": "4"}, 0]
        return {
            self._pick(["nofile", "memlock", "core"]): self._pick(limits) for _ in range(self._random.randint(0, 3))
        }

    def _logging(self) -> Any:
        return self._some(driver=["a", "b"], options=[{"x": "1", "y": "q"}, {"x": 2}, {"z": 1.5}])

    def _build(self) -> Any:
        if self._chance(0.3):
            return self._pick([".", "./d", "https://x/y.git", "../up"])
        return self._some(
            context=[".", "./e", "/abs"],
            dockerfile=["D"],
            args=[self._pairs()],
            labels=[self._pairs()],
            tags=[["a"], ["b", "a"]],
            extra_hosts=[{"a": "1.1.1.1"}, ["b:2.2.2.2"]],
            shm_size=["1g", 5],
            additional_contexts=[{"a": "./x"}, ["b=./y"]],
        )
