"""The program as a process of its own: what a test in the same process cannot see."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bot import __version__
from tests.cli.conftest import CORRUPT, ENGINE, PROFILE

ROOT = Path(__file__).parent.parent.parent
Folder = Callable[..., Path]


def _bot(
    *arguments: str | Path, where: Path, given: str = "", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bot", *map(str, arguments)],
        check=False,
        capture_output=True,
        cwd=where,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
        input=given,
        timeout=60,
    )


@pytest.fixture
def root(folder: Folder) -> Path:
    found: Path = folder({"compose.yml": ENGINE, "corrupt.yml": CORRUPT, "models/hare.yml": PROFILE})
    return found


def test_version_and_help(root: Path) -> None:
    assert __version__ in _bot("--version", where=root).stdout
    shown = _bot("-h", where=root)
    assert (shown.returncode, shown.stderr) == (0, "")
    for command in ("audit", "demo", "explain", "inspect", "resolve", "review"):
        assert command in shown.stdout


def test_the_current_folder_is_audited_and_a_pipe_gets_plain_text(root: Path) -> None:
    done = _bot("audit", where=root)
    assert (done.returncode, done.stderr) == (1, "")
    assert "\x1b" not in done.stdout
    assert "error active  mtp-prefix-cache-hybrid  corrupt.yml:9" in done.stdout


def test_a_batch_over_a_pipe(root: Path) -> None:
    requests = [{"id": n, "file": "compose.yml", "env": {"TP": str(n)}} for n in (1, 2)]
    done = _bot("resolve", "--batch", "-", where=root, given="".join(f"{json.dumps(one)}\n" for one in requests))
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (0, "")
    assert [row["services"][0]["worlds"][0]["argv"][-1] for row in rows] == ["1", "2"]


def test_unreadable_input_is_one_sentence(root: Path) -> None:
    done = _bot("audit", "nowhere", where=root)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("seamguard: nowhere: no such file or folder")
    assert len(done.stderr.splitlines()) == 1


def test_a_terminal_without_unicode_still_gets_its_answer(root: Path) -> None:
    done = _bot("demo", where=root, environment={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
