"""Replays what Docker Compose and bash started, as `record.py` wrote it down."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.deployments.comparison import differences, resolve, services
from tests.deployments.deployment import RECORDED, Deployment, deployments
from tests.deployments.seams import wrong_seams

_ROWS = {(row["name"], json.dumps(row["env"])): row for row in map(json.loads, RECORDED.read_text().splitlines())}


def _starts() -> Iterator[Any]:
    for one in deployments():
        for place, env in enumerate(one.environments):
            marks = [pytest.mark.xfail(reason=one.known[place], strict=True)] if place in one.known else []
            yield pytest.param(one, env, id=f"{one.name}-{place}", marks=marks)


def _surveys() -> Iterator[Any]:
    for one in deployments():
        if (row := _ROWS.get((one.name, "{}"))) and "effects" in row:
            marks = [pytest.mark.xfail(reason=one.known_seams, strict=True)] if one.known_seams else []
            yield pytest.param(one, id=one.name, marks=marks)


@pytest.mark.parametrize(("deployment", "env"), list(_starts()))
def test_what_starts(deployment: Deployment, env: dict[str, str], tmp_path: Path) -> None:
    deployment.write(tmp_path)
    answer = resolve(str(tmp_path), deployment.main, deployment.service, env)
    service = services(answer, deployment.service)
    expect = _ROWS[deployment.name, json.dumps(env)]["expect"]
    assert not differences(expect, service["worlds"] if service else [], answer["errors"], deployment.files)


@pytest.mark.parametrize("deployment", list(_surveys()))
def test_seams(deployment: Deployment, tmp_path: Path) -> None:
    deployment.write(tmp_path)
    service = services(resolve(str(tmp_path), deployment.main, deployment.service, {}), deployment.service)
    assert not wrong_seams(_ROWS[deployment.name, "{}"]["effects"], service["seams"] if service else [])
