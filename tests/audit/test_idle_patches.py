"""A listed patch is no fix: what its file holds decides, and where that was not looked at, the finding says so."""

from __future__ import annotations

import pytest

from bot.audit import audit
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import Finding, load_rules
from bot.resolution import Repository
from bot.tree import MemoryTree

RULES = load_rules()
COMPOSE = """
services:
  engine:
    image: vllm/vllm-openai:v0.28.0
    volumes: ["./patches/drop.py:/opt/drop.py:ro", "./start.sh:/start.sh:ro"]
    entrypoint: ["bash", "/start.sh"]
    command: ["--model", "Qwen/Qwen3-Next-80B-A3B-Instruct", "--enable-prefix-caching",
              "--speculative-config", '{"method": "mtp", "num_speculative_tokens": 2}']
"""
LISTED = """
patches:
- {id: drop-block, files: [patches/drop.py], upstream: {ref: "vllm-project/vllm#48375"},
   delivery_spec: {script: patches/drop.py, mounted_at: /opt/drop.py, invoke: "python3 /opt/drop.py"}}
"""
START = 'set -e\npython3 /opt/drop.py\nexec vllm serve "$@"\n'


def _found(patch: str) -> Finding:
    files = {"compose.yml": COMPOSE, "patches.yml": LISTED, "start.sh": START, "patches/drop.py": patch}
    tree = MemoryTree(files)
    report = audit(Repository(tree, read_catalog(tree), Documents(tree, relative=True)), RULES)
    return next(finding for finding in report.findings if finding.rule == "mtp-prefix-cache-hybrid")


@pytest.mark.parametrize("patch", ["", "# to be written\n", '"""Drops the block."""\n'])
def test_a_patch_that_does_nothing_mitigates_nothing(patch: str) -> None:
    assert _found(patch).status == "active"


def test_the_word_of_a_list_is_told_as_one() -> None:
    found = _found("import pathlib\npathlib.Path('/x').write_text('y')\n")
    assert found.status == "mitigated"
    assert "That is drop-block, which runs before the engine or stops the boot" in found.message
