"""Hostile deployments end in an answer, within a bounded time and memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.deployments.hostile import HOSTILE, WITHOUT_ANSWER

_SECONDS = 3
"""Of the processor, start-up and a busy machine included; an answer is due within two."""
_MEMORY = 768 * 2**20
"""Of address space: the program's own, and 512 MiB."""


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def _answer(name: str, folder: Path) -> dict[str, Any]:
    for path, text in HOSTILE[name].items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    request = json.dumps({"file": "docker-compose.yml", "repo": str(folder), "worlds": "all"})
    done = subprocess.run(
        [sys.executable, "-m", "bot", "resolve", "--batch", "-"],
        input=request,
        capture_output=True,
        text=True,
        preexec_fn=_bounded,
        check=False,
    )
    assert not done.returncode, f"ended with {done.returncode}: {done.stderr[-300:]}"
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _is_placed(problems: Iterable[dict[str, Any]]) -> bool:
    return any(problem["line"] is not None for problem in problems)


def _check(name: str, folder: Path) -> None:
    answer = _answer(name, folder)
    assert "error" not in answer, answer
    if name not in WITHOUT_ANSWER:
        return
    worlds = [world for service in answer["services"] for world in service["worlds"]]
    assert all(world["argv"] is None and world["exit"] is None for world in worlds)
    assert _is_placed(answer["errors"]) or all(_is_placed(world["unresolved"]) for world in worlds)


@pytest.mark.parametrize("name", list(HOSTILE)[::8])
def test_a_sample_ends(name: str, tmp_path: Path) -> None:
    _check(name, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("name", HOSTILE)
def test_everything_ends(name: str, tmp_path: Path) -> None:
    _check(name, tmp_path)
