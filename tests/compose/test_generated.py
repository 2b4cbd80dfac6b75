"""Merging, extending and including, on generated services, against the real Docker Compose."""

from __future__ import annotations

import pytest

from tests.compose.generated import ENVIRONMENT, FILES, Generator
from tests.compose.oracle import difference, differences, needs_docker_compose

pytestmark = needs_docker_compose


@pytest.mark.parametrize("seed", range(3))
def test_two_files_merge_as_in_docker_compose(seed: int) -> None:
    assert differences(Generator(seed).services(60), ENVIRONMENT, FILES) == []


@pytest.mark.parametrize("seed", range(6))
def test_services_extend_as_in_docker_compose(seed: int) -> None:
    assert difference(Generator(seed).extending_project(), ["-f", "compose.yml"], ENVIRONMENT) is None


@pytest.mark.parametrize("seed", range(6))
def test_files_include_as_in_docker_compose(seed: int) -> None:
    assert difference(Generator(seed).including_project(), ["-f", "compose.yml"], ENVIRONMENT) is None


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 130))
def test_two_files_merge_as_in_docker_compose_at_length(seed: int) -> None:
    assert differences(Generator(seed).services(150), ENVIRONMENT, FILES) == []


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 110))
def test_projects_resolve_as_in_docker_compose_at_length(seed: int) -> None:
    generator = Generator(seed)
    for _ in range(50):
        for files in (generator.extending_project(), generator.including_project()):
            assert difference(files, ["-f", "compose.yml"], ENVIRONMENT) is None
