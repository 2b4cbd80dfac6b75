"""`bot fix`: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.remedies.repositories import HYBRID, MISSPELT, PATH, SEAM


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "compose").mkdir()
    (tmp_path / PATH).write_text(SEAM)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    return tmp_path


def test_the_diff_is_for_git_and_the_rest_for_people(run: Run, folder: Path) -> None:
    answer = run("fix", folder, "--diff", "--offline")
    assert answer.status == 0
    assert "Proved by resolving the compose" in answer.err
    subprocess.run(["git", "apply", "-"], cwd=folder, input=answer.out.encode(), check=True)
    assert (folder / PATH).read_text() == SEAM.replace("is enough\n", "is enough\n      - VLLM_EAGER\n")
    again = run("fix", folder, "--offline")
    assert (again.status, again.out) == (0, "")
    assert "0 edits proved in 0 files, 0 findings left" in again.err


def test_files_are_written_as_they_would_be_patched(run: Run, folder: Path) -> None:
    (folder / PATH).write_bytes(SEAM.replace("\n", "\r\n").encode())
    (folder / PATH).chmod(0o640)
    answer = run("fix", folder / "compose", "--write", "--offline")
    assert answer.status == 0
    assert "1 edit written in 1 file, 0 findings left" in answer.out
    better = SEAM.replace("is enough\n", "is enough\n      - VLLM_EAGER\n")
    assert (folder / PATH).read_bytes().decode() == better.replace("\n", "\r\n")
    assert (folder / PATH).stat().st_mode & 0o777 == 0o640
    assert [file.name for file in (folder / "compose").iterdir()] == ["engine.yml"]


def test_what_is_left_is_counted_and_explained(run: Run, folder: Path) -> None:
    (folder / PATH).write_text(HYBRID)
    answer = run("fix", folder, "--diff", "--why", "--offline")
    assert answer.status == 1
    assert "gdn-spec-decode-wild-write: no edit: there is no small edit for this rule" in answer.err
    assert "1 edit proved in 1 file, 1 finding left" in answer.err
    only = run("fix", folder, "--rule", "mtp-prefix-cache-hybrid", "--offline")
    assert only.status == 0


def test_several_edits_of_one_file_are_made_together(run: Run, folder: Path) -> None:
    both = SEAM + MISSPELT.partition("\n")[2].replace("  engine:", "  other:")
    (folder / PATH).write_text(both)
    answer = run("fix", folder, "--diff", "--offline")
    assert answer.status == 0
    assert "2 edits proved in 1 file" in answer.err
    subprocess.run(["git", "apply", "--check", "-"], cwd=folder, input=answer.out.encode(), check=True)


def test_bad_questions(run: Run, folder: Path) -> None:
    assert run("fix", folder / "nowhere").status == 2
    assert run("fix", folder, "--rule", "dead-seams").status == 2
    assert run("fix", folder, "--diff", "--write").status == 2
