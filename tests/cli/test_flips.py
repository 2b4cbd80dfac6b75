"""`flips`: a whole repository as if its pins moved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli import cli

COMPOSE = """
services:
  {name}:
    image: {image}
    command: ["--model", "{model}", {arguments}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, image, model, arguments in (
        ("quiet", "vllm/vllm-openai:v0.25.1", "Qwen/Qwen3.5-27B", '"--max-num-seqs", "4"'),
        ("explicit", "vllm/vllm-openai:latest", "Qwen/Qwen3.5-27B", '"--no-enable-prefix-caching"'),
        ("dense", "vllm/vllm-openai:v0.27.1", "Qwen/Qwen3-8B", '"--max-num-seqs", "4"'),
        ("other", "nginx:1", "x", '"y"'),
    ):
        text = COMPOSE.format(name=name, image=image, model=model, arguments=arguments)
        (tmp_path / name).mkdir()
        (tmp_path / name / "docker-compose.yml").write_text(text, encoding="utf-8")
    return tmp_path


def flips(folder: Path, *arguments: str) -> str:
    result = CliRunner().invoke(cli, ["flips", *arguments, "--repo", str(folder)])
    assert result.exit_code == 0, result.output
    return result.output


def test_who_changes_though_nothing_was_set(folder: Path) -> None:
    found = json.loads(flips(folder, "v0.27.1", "0.28.0", "--format", "json"))
    assert (found["old"], found["new"]) == ("0.27.1", "0.28.0")
    assert [service["service"] for service in found["services"]] == ["quiet"]
    changed = {entry["property"]: (entry["before"], entry["after"]) for entry in found["services"][0]["properties"]}
    assert changed["prefix_caching"] == (False, True)
    because = found["services"][0]["properties"][0]["because"]
    assert {reason["release"] for reason in because} == {"0.27.1", "0.28.0"}
    assert all(reason["line"] for reason in because)


def test_for_people(folder: Path) -> None:
    text = flips(folder, "0.27.1", "0.28.0")
    assert "quiet/docker-compose.yml: quiet" in text
    assert "prefix_caching: off → on" in text
    assert "blob/v0.27.1/vllm/engine/arg_utils.py#L" in text
    assert text.rstrip().endswith("1 service changes between 0.27.1 and 0.28.0")


def test_nothing_changes(folder: Path) -> None:
    assert flips(folder, "0.25.1", "0.27.1").strip() == "nothing changes from 0.25.1 to 0.27.1"


def test_what_could_not_be_compared_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unread = {"0.11.0": {"cudagraph_mode_effective": ()}}
    monkeypatch.setattr("bot.cli.flips.unverified", lambda facts: unread.get(facts.version, {}))
    text = flips(folder, "0.11.0", "0.11.1")
    assert "not compared, for nobody has read how 0.11.0 decides it: cudagraph_mode_effective" in text
    found = json.loads(flips(folder, "0.11.0", "0.11.1", "--format", "json"))
    assert found["unverified"] == {"0.11.0": ["cudagraph_mode_effective"]}
