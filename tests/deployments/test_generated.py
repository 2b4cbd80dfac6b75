"""Random entrypoints: what is told is what the real Docker Compose and bash start, on every machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deployments.comparison import differences, resolve, services
from tests.deployments.generated import Entrypoints
from tests.deployments.oracle import container_image, needs_container
from tests.deployments.record import record


def _check(number: int, count: int, folder: Path) -> None:
    source = Entrypoints(number)
    faults = {}
    with container_image() as image:
        for at in range(count):
            deployment, home = source.one(), folder / str(at)
            home.mkdir()
            deployment.write(home)
            answer = resolve(str(home), deployment.main, deployment.service, {})
            service = services(answer, deployment.service)
            real = record(image, deployment, {}, steps=False)
            if wrong := differences(real, service["worlds"] if service else [], answer["errors"]):
                faults[deployment.files[deployment.main]] = wrong
    assert not faults


@needs_container
def test_generated_entrypoints(tmp_path: Path) -> None:
    _check(1, 6, tmp_path)


@needs_container
@pytest.mark.soak
@pytest.mark.parametrize("number", range(2, 12))
def test_many_generated_entrypoints(number: int, tmp_path: Path) -> None:
    _check(number, 200, tmp_path)
