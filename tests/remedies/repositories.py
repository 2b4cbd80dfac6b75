"""Small repositories, each with one finding that a small edit ends."""

from __future__ import annotations

from collections.abc import Mapping

from bot.audit import audit
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import Finding, Rules, load_rules
from bot.memory import Memory
from bot.remedies import Answer, Limits, Offer, Refusal, remedies
from bot.resolution import Repository
from bot.tree import MemoryTree

RULES: Rules = load_rules()
PATH = "compose/engine.yml"

SEAM = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1   # the pin
    environment:
      - "NVIDIA_VISIBLE_DEVICES=all"
      # HOST=0.0.0.0 listens everywhere
      - OMP_NUM_THREADS=1  # one is enough
    entrypoint:
      - bash
      - -c
      - |
        # VLLM_EAGER=other is its name
        exec vllm serve --served-model-name $${VLLM_EAGER:-llama} "$$@"
      - --
    command: ["--model", "/models/llama"]
"""
"""A toggle that never arrives: `VLLM_EAGER`."""

EARLY = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    environment:
      - LINKED
    entrypoint:
      - bash
      - -c
      - |
        ONE=
        if [ "$$LINKED" = 1 ]; then ONE=--enforce-eager; fi
        echo "${ONE}"
        exec vllm serve ${ONE} "$$@"
      - --
    command: ["--model", "/models/llama"]
"""
"""Variables of the script, which Compose replaces before it runs."""

MISSPELT = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    command:
      - --model
      - /models/llama
      - --max-model-length   # a flag that there is not
      - "8192"
"""

HYBRID = """\
services:
  engine:
    image: vllm/vllm-openai:v0.28.0
    command:
      - --model
      - nvidia/Qwen3.6-27B-NVFP4
      - --max-model-len
      - "8192"
      - '--speculative-config'
      - '{"method": "mtp", "num_speculative_tokens": 3}'
      - --port
      - "8000"
"""
"""Prefix caching is on by default, in a release where that goes wrong with this drafter."""


def repository(files: Mapping[str, str]) -> Repository:
    tree = MemoryTree(files)
    memory = Memory()
    return Repository(tree, read_catalog(tree, memory), Documents(tree, relative=True, memory=memory))


def findings(files: Mapping[str, str], rule: str = "") -> tuple[Finding, ...]:
    report = audit(repository(files), RULES)
    return tuple(found for found in report.findings if rule in ("", found.rule))


def answers(files: Mapping[str, str], rule: str = "", limits: Limits | None = None) -> tuple[Answer, ...]:
    """What is offered for each finding of a rule that stands by default."""
    here = repository(files)
    report = audit(here, RULES)
    wanted = [found for found in report.findings if rule in ("", found.rule) and found.status == "active"]
    return tuple(remedies(here, report, wanted, RULES, *([limits] if limits else [])))


def offer(files: Mapping[str, str], rule: str) -> Offer:
    """The one edit that is offered."""
    (found,) = answers(files, rule)
    assert isinstance(found, Offer), found
    return found


def refusal(files: Mapping[str, str], rule: str) -> str:
    """Why the one finding gets no edit."""
    (found,) = answers(files, rule)
    assert isinstance(found, Refusal), found
    return found.why


def edited(files: Mapping[str, str], rule: str) -> dict[str, str]:
    """All files after the edit."""
    return {**files, **{file.path: file.after for file in offer(files, rule).files}}
