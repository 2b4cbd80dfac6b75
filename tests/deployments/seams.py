"""Which variables really change what starts: each is set on the host, and put into the container, to see."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.deployments.deployment import Deployment, words
from tests.deployments.oracle import Started, configuration, start

_NAME = re.compile(r"\$\$?\{?[!#]?([A-Za-z_][A-Za-z0-9_]*)")
_PROBES = ("probe", "1", "0")
_SET_ELSEWHERE = frozenset(
    words(
        "HOME PATH PWD OLDPWD IFS UID RANDOM LINENO SECONDS PPID OPTIND OPTARG REPLY HOSTNAME BASH_SOURCE BASH_VERSION "
        "PIPESTATUS USER TERM CUDA_VERSION LD_LIBRARY_PATH LEN_ ARG_"
    )
)
"""Variables that the shell or the image sets, and a mere prefix of names."""

Outcome = tuple[list[str] | None, int | None]


def _outcome(started: Started) -> Outcome:
    """What started, without the environment: a variable put into the container is in it, of course."""
    return started.argv, started.exit


def names(deployment: Deployment) -> list[str]:
    """The variables that the files read."""
    found = dict.fromkeys(name for text in deployment.files.values() for name in _NAME.findall(text))
    return [name for name in found if name not in _SET_ELSEWHERE]


def effects(image: Path, deployment: Deployment) -> dict[str, frozenset[str]] | None:
    """For each variable whether setting it on the host ("host"), or in the container ("container"), changes what
    starts. "declared" is added where the compose gives it a value, "assigned" where something in the files does. None
    when Docker Compose refuses the files, or nothing is started at all.
    """
    with tempfile.TemporaryDirectory(prefix="project-") as name:
        root = Path(name, "proj")
        root.mkdir()
        deployment.write(root)
        base = configuration(root, deployment, {})
        if isinstance(base, str):
            return None
        before = _outcome(start(image, root, base))
        if before[0] is None:
            return None
        return {one: _effect(image, root, deployment, base, before, one) for one in names(deployment)}


def _effect(
    image: Path, root: Path, deployment: Deployment, base: Mapping[str, Any], before: Outcome, name: str
) -> frozenset[str]:
    found = set()
    declared = base.get("environment") or {}
    for probe in _PROBES:
        changed = configuration(root, deployment, {name: probe})
        if isinstance(changed, str):
            continue
        if changed != base and _outcome(start(image, root, changed)) != before:
            found.add("host")
        inside = {**base, "environment": {**declared, name: probe}}
        if _outcome(start(image, root, inside)) != before:
            found.add("container")
    if declared.get(name) is not None:
        found.add("declared")
    if any(_assigned(name, text) for text in deployment.files.values()):
        found.add("assigned")
    return frozenset(found)


def _assigned(name: str, text: str) -> bool:
    return re.search(rf"\b{name}(?:\[[^]]*\])?\+?=|(?:read|for)\b[^\n;]*\s{name}\b", text) is not None


def wrong_seams(effects: Mapping[str, Collection[str]], seams: Sequence[Mapping[str, Any]]) -> list[str]:
    """Variables that change what starts and are told wrongly, or not at all."""
    told = {seam["name"]: seam for seam in seams}
    return [fault for name, effect in effects.items() if (fault := _fault(name, effect, told.get(name)))]


def _fault(name: str, effect: Collection[str], seam: Mapping[str, Any] | None) -> str:
    if "host" in effect:
        if seam is None:
            return f"{name} changes what starts, and is not told"
        return "" if seam["forwarded"] else f"{name} is told to be dead, and setting it changes what starts"
    dead = seam is not None and not seam["forwarded"]
    if "container" not in effect:
        return f"{name} is told to be dead, and nothing reads it from the environment" if dead else ""
    if "declared" in effect or "assigned" in effect or dead:
        return ""
    return f"{name} is read by the entrypoint, and is not told to be dead"
