"""Asks Docker Compose and bash themselves: the record still holds, and every world can be replayed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployments.comparison import differences, resolve, services
from tests.deployments.deployment import RECORDED, Deployment, deployments
from tests.deployments.oracle import container_image, needs_container
from tests.deployments.record import record

_SAMPLE = 8
"""Every so many deployments are asked in the normal run."""


@pytest.fixture(scope="module")
def image() -> Iterator[Path]:
    with container_image() as root:
        yield root


def _wrong_worlds(image: Path, deployment: Deployment, folder: Path) -> list[str]:
    """Worlds in which something else starts than is told."""
    deployment.write(folder)
    service = services(resolve(str(folder), deployment.main, deployment.service, {}, "all"), deployment.service)
    by_env: dict[str, list[dict[str, object]]] = {}
    for world in service["worlds"] if service else ():
        by_env.setdefault(json.dumps(world["env"]), []).append(world)
    return [
        f"{env}: {fault}"
        for env, worlds in by_env.items()
        for fault in differences(record(image, deployment, json.loads(env), steps=False), worlds, [])
        if env != "{}"
    ]


def _check(image: Path, chosen: list[Deployment], folder: Path) -> None:
    """Collects all faults before it fails: the containers cost more than the comparison."""
    faults = {}
    for deployment in chosen:
        home = folder / deployment.name
        home.mkdir(parents=True)
        if wrong := _wrong_worlds(image, deployment, home):
            faults[deployment.name] = wrong
    assert not faults


@needs_container
def test_worlds_replay_in_a_sample(image: Path, tmp_path: Path) -> None:
    _check(image, deployments()[::_SAMPLE], tmp_path)


@needs_container
@pytest.mark.soak
def test_worlds_replay(image: Path, tmp_path: Path) -> None:
    _check(image, deployments(), tmp_path)


def _stale(image: Path, chosen: list[Deployment]) -> list[str]:
    rows = {(row["name"], json.dumps(row["env"])): row for row in map(json.loads, RECORDED.read_text().splitlines())}
    return [
        deployment.name
        for deployment in chosen
        for env in deployment.environments
        if record(image, deployment, env) != rows[deployment.name, json.dumps(env)]["expect"]
    ]


@needs_container
def test_the_record_holds_in_a_sample(image: Path) -> None:
    assert not _stale(image, [one for one in deployments()[:: _SAMPLE * 2] if _is_steady(one)])


@needs_container
@pytest.mark.soak
def test_the_record_holds(image: Path) -> None:
    assert not _stale(image, [one for one in deployments() if _is_steady(one)])


def _is_steady(deployment: Deployment) -> bool:
    """Whether it starts the same twice: no date, no random number, no race."""
    text = "".join(deployment.files.values())
    return not any(word in text for word in ("date", "RANDOM", " & ", "&\n", "mktemp", "$$$$$$$$", "$$$$ "))
