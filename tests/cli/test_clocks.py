"""`clocks`, `inspect clock` and `inspect probes`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.schemas import violations

FIX = "vllm-project/vllm#41800"
MAMBA = "vllm-project/vllm#48375"
COMPOSE = """\
# Engine: vLLM. Drop the overlay when vllm#48375 (fix) merges.
services:
  llm:
    image: {image}
    command: ["--model", "Qwen/Qwen3-8B"]
"""
SHA = "0123456789abcdef0123456789abcdef01234567"
FACTS: list[dict[str, Any]] = [
    {"kind": "commit", "sha": SHA, "branch": "main", "position": 7, "title": "[Bugfix] Honour (#48375)", "message": ""},
    {"kind": "tag", "name": "v0.34.0", "sha": SHA, "branch": "main", "position": 9},
    {
        "reference": MAMBA,
        "facts": [{"kind": "pull", "number": 48375, "state": "merged", "merge_commit": SHA, "title": "x"}],
    },
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, image in (
        ("old", "vllm/vllm-openai:v0.20.0"),
        ("new", "vllm/vllm-openai:v0.34.0"),
        ("floating", "vllm/vllm-openai:latest"),
        ("other", "nginx:1"),
    ):
        (tmp_path / name).mkdir()
        text = COMPOSE.format(image=image)
        (tmp_path / name / "docker-compose.yml").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_clocks_of_a_repository(run: Run, folder: Path) -> None:
    answer = run("clocks", "--repo", folder, "--format", "json")
    assert (answer.status, violations("clocks", answer.json)) == (0, [])
    clocks = {clock["reference"]: clock for clock in answer.json["clocks"]}
    assert {pin["image"].rpartition(":")[2] for pin in answer.json["pins"]} == {"v0.20.0", "v0.34.0", "latest"}
    states = {image.rpartition(":")[2]: pin["state"] for image, pin in clocks[FIX]["pins"].items()}
    assert states == {"v0.20.0": "not-pinned", "v0.34.0": "unknown", "latest": "unknown"}
    assert (clocks[FIX]["state"], clocks[FIX]["first_release"]) == ("released", "v0.21.0")
    sites = {(site["path"], site["line"]) for site in clocks[MAMBA]["sites"]}
    assert sites == {(f"{name}/docker-compose.yml", 1) for name in ("old", "new", "floating", "other")}


def test_recorded_facts_move_the_clocks(run: Run, folder: Path, tmp_path: Path) -> None:
    facts = tmp_path / "facts.jsonl"
    facts.write_text("\n".join(map(json.dumps, FACTS)), encoding="utf-8")
    answer = run("clocks", "--repo", folder, "--facts", facts, "--format", "json")
    (clock,) = (clock for clock in answer.json["clocks"] if clock["reference"] == MAMBA)
    assert (clock["state"], clock["first_release"]) == ("released", "v0.34.0")
    states = {image.rpartition(":")[2]: pin["state"] for image, pin in clock["pins"].items()}
    assert states == {"v0.20.0": "not-pinned", "v0.34.0": "pinned", "latest": "unknown"}


def test_for_people(run: Run, folder: Path) -> None:
    answer = run("clocks", "--repo", folder)
    assert answer.status == 0
    assert "until: Drop the overlay when vllm#48375 (fix) merges" in answer.out
    assert "vllm/vllm-openai:latest: unknown (a floating tag: latest)" in answer.out


def test_every_reference_on_request(run: Run, folder: Path) -> None:
    (folder / "NOTES.md").write_text("see vllm#12345", encoding="utf-8")
    assert "vllm#12345" not in run("clocks", "--repo", folder).out
    assert "vllm#12345" in run("clocks", "--repo", folder, "--all").out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1: not JSON"),
        ("[]", "line 1: not a JSON object"),
        ('{"facts": []}', "line 1: a reference"),
        ('{"kind": "pull", "state": "gone"}', "fact 1 (pull)"),
    ],
)
def test_broken_facts_are_refused(run: Run, folder: Path, tmp_path: Path, line: str, message: str) -> None:
    facts = tmp_path / "facts.jsonl"
    facts.write_text(line, encoding="utf-8")
    answer = run("clocks", "--repo", folder, "--facts", facts)
    assert answer.status == 2
    assert message in answer.err


def test_a_batch_of_timelines(run: Run) -> None:
    request = {"id": 1, "reference": "vllm#48375", "pins": ["v0.34.0"], "facts": [*FACTS[:2], *FACTS[2]["facts"]]}
    one, two, three = run(
        "inspect",
        "clock",
        "--batch",
        "-",
        requests=[request, {"id": 2, "reference": "?"}, {"id": 3, "reference": "vllm#1", "facts": [3]}],
    ).lines
    assert one == {
        "id": 1,
        "state": "pinned",
        "first_release": "v0.34.0",
        "reverted_by": None,
        "superseded_by": None,
        "pins": {"v0.34.0": {"state": "pinned", "evidence": one["pins"]["v0.34.0"]["evidence"], "conflict": None}},
    }
    assert "no upstream reference" in two["error"]
    assert "fact 1 is not an object" in three["error"]


def test_probes_of_a_source(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "vllm-0.21.0" / "vllm" / "entrypoints" / "utils.py"
    file.parent.mkdir(parents=True)
    file.write_text("def get_max_tokens(a, truncate_prompt_tokens=None):\n    return truncate_prompt_tokens\n")
    answer = run("inspect", "probes", "--source", tmp_path / "vllm-0.21.0")
    found = {probe["reference"]: probe["answers"]["0.21.0"] for probe in answer.json["probes"] if not probe["beside"]}
    assert found[FIX]["holds"] is True
    assert found[FIX]["places"] == ["vllm/entrypoints/utils.py:1"]
    assert found[MAMBA]["holds"] is None
    table = run("inspect", "probes", "--format", "markdown", "--source", tmp_path / "vllm-0.21.0").out
    assert "| 0.21.0 | ? | ? | ? | ? | ? | yes | ? | ? |" in table
    assert run("inspect", "probes", "--source", tmp_path).status == 2
