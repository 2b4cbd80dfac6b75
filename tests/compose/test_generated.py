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


_BASE = "services:\n  s: {image: i, command: [p], environment: {A: 1}}\n"
_ANCHORS = {
    "reset": "x-a: &a {command: !reset []}\nservices:\n  s: {<<: *a, image: j}\n",
    "reset in a list": "x-a: &a {command: !reset []}\nservices:\n  s: {<<: [*a], image: j}\n",
    "reset where it is merged": "services:\n  s: {<<: {command: !reset []}, image: j}\n",
    "reset below": "x-a: &a {environment: {A: !reset null}}\nservices:\n  s: {<<: *a, image: j}\n",
    "reset of an entry": "x-a: &a {A: !reset null}\nservices:\n  s: {environment: {<<: *a}, image: j}\n",
    "alias of a reset value": "x-a: &a !reset []\nservices:\n  s: {command: *a, image: j}\n",
    "override": "x-a: &a {environment: !override {B: 2}}\nservices:\n  s: {<<: *a, image: j}\n",
    "override in a list": "x-a: &a {environment: !override {B: 2}}\nservices:\n  s: {<<: [*a], image: j}\n",
    "alias of an override": "x-a: &a !override {B: 2}\nservices:\n  s: {environment: *a, image: j}\n",
    "text behind a tag": "services:\n  s: {image: j, command: !override null, environment: {C: !override 010}}\n",
}


@pytest.mark.parametrize("text", _ANCHORS.values(), ids=_ANCHORS)
def test_reset_and_override_behind_anchors(text: str) -> None:
    files = {"compose.yml": _BASE, "over.yml": text}
    assert difference(files, ["-f", "compose.yml", "-f", "over.yml"]) is None
    extending = text.replace("image: j", "image: j, extends: {file: base.yml, service: s}")
    assert difference({"compose.yml": extending, "base.yml": _BASE}, ["-f", "compose.yml"]) is None
