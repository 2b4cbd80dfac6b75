"""Scripts that a service is given by `configs:` and `secrets:`."""

from __future__ import annotations

import pytest

from bot.resolution import ResolvedService
from tests.resolution.build import FILE, resolved

COMPOSE = """
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    {given}
    entrypoint: [bash, {path}]
{section}
"""
SCRIPT = "exec vllm serve m --max-num-seqs 4"


def _service(given: str, path: str, section: str, **environment: str) -> ResolvedService:
    text = COMPOSE.format(given=given, path=path, section=section)
    return resolved({FILE: text, "s/run.sh": SCRIPT}, environment=environment)


def _seqs(service: ResolvedService) -> tuple[object, str]:
    (world,) = service.worlds
    assert world.engine is not None
    found = world.engine.properties["max_num_seqs"]
    return found.value, found.certainty


@pytest.mark.parametrize(
    ("given", "path", "section"),
    [
        ("configs: [run]", "/run", f"configs: {{run: {{content: '{SCRIPT}'}}}}"),
        ("configs: [{source: run, target: a/b.sh}]", "/a/b.sh", f"configs: {{run: {{content: '{SCRIPT}'}}}}"),
        ("configs: [{source: run, target: /a/b.sh}]", "/a/b.sh", f"configs: {{run: {{content: '{SCRIPT}'}}}}"),
        ("configs: [run]", "/run", "configs: {run: {file: ./s/run.sh}}"),
        ("configs: [run]", "/run", "configs: {run: {environment: RUN}}"),
        ("secrets: [run]", "/run/secrets/run", "secrets: {run: {file: s/run.sh}}"),
        ("secrets: [{source: run, target: x.sh}]", "/run/secrets/x.sh", "secrets: {run: {file: s/run.sh}}"),
        ("secrets: [{source: run, target: /x.sh}]", "/x.sh", "secrets: {run: {environment: RUN}}"),
    ],
)
def test_a_script_that_compose_puts_into_the_container_is_followed(given: str, path: str, section: str) -> None:
    assert _seqs(_service(given, path, section, RUN=SCRIPT)) == (4, "certain")


BLOCK = """configs:
  run:
    content: |
      # comment
      exec vllm serve m --max-num-seqs $${SEQS:-${N:-4}}"""


def test_its_text_is_interpolated_and_keeps_its_lines() -> None:
    service = _service("configs: [run]", "/run", BLOCK, N="7")
    assert _seqs(service) == (7, "certain")
    (world,) = service.worlds
    assert world.engine is not None
    assert [(one.path, one.line) for one in world.engine.properties["max_num_seqs"].because] == [(FILE, 11)]
    assert {(seam.name, seam.scope, seam.position.line) for seam in service.survey.seams} == {
        ("N", "host", 11),
        ("SEQS", "container", 11),
    }


@pytest.mark.parametrize(
    ("given", "section"),
    [
        ("configs: [run]", "configs: {run: {external: true}}"),
        ("configs: [run]", "configs: {run: {file: ../run.sh}}"),
        ("configs: [run]", "configs: {run: {file: s/absent.sh}}"),
        ("configs: [run]", "configs: {run: {environment: ABSENT}}"),
        ("configs: [other]", f"configs: {{run: {{content: '{SCRIPT}'}}, other: {{content: x}}}}"),
    ],
)
def test_what_nobody_here_has_seen_is_not_known(given: str, section: str) -> None:
    (world,) = _service(given, "/run", section).worlds
    assert world.kind is None
    assert any("is not known" in item.reason for item in world.unresolved)
