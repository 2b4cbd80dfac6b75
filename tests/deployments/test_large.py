"""Folders with very much in them: an audit ends, within a bounded time and memory, and says how far it is."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

_MEMORY = 768 * 2**20
"""Of address space: the program's own, and 512 MiB."""

COMPOSE = """
services:
  vllm:
    image: vllm/vllm-openai:v0.25.1
    command: [--model, m, '${MORE:---enforce-eager}']
"""


def _audited(folder: Path, seconds: int) -> subprocess.CompletedProcess[str]:
    """An audit in a process of its own that may take so many seconds of the processor."""

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))

    command = [sys.executable, "-m", "bot", "audit", str(folder), "--format", "json"]
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=bound, check=False)


def _with_files(folder: Path, folders: int, deep: int) -> None:
    """Five hundred files in each of some folders, and a compose at the bottom of a deep one."""
    for number in range(folders):
        place = folder / f"d{number}"
        place.mkdir()
        for name in range(500):
            (place / f"{name}.txt").touch()
    bottom = folder.joinpath(*["d"] * deep)
    bottom.mkdir(parents=True)
    (bottom / "compose.yml").write_text(COMPOSE.replace("--model,", "--modle,"))


@pytest.mark.parametrize(
    ("folders", "deep"), [(10, 100), pytest.param(200, 300, marks=pytest.mark.soak, id="100,000 files")]
)
def test_many_files_and_a_deep_folder(folders: int, deep: int, tmp_path: Path) -> None:
    _with_files(tmp_path, folders, deep)
    done = _audited(tmp_path, 6)
    assert done.returncode == 1, done.stderr[-300:]
    rules = {finding["rule"] for finding in json.loads(done.stdout)["findings"]}
    assert "unknown-flag" in rules


def test_more_files_than_a_repository_has_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bot.repositories import DirectoryTree, RepositoryError, directory

    monkeypatch.setattr(directory, "MAX_FILES", 400)
    _with_files(tmp_path, 1, 1)
    with pytest.raises(RepositoryError, match="more than 400 files; name a smaller folder"):
        DirectoryTree(tmp_path).paths()


@pytest.mark.soak
def test_thousands_of_composes_are_counted_on_the_way(tmp_path: Path) -> None:
    for number in range(5000):
        place = tmp_path / f"c{number}"
        place.mkdir()
        (place / "compose.yml").write_text(COMPOSE)
    done = _audited(tmp_path, 60)
    assert done.returncode == 0, done.stderr[-300:]
    assert "of 5000 done" in done.stderr
