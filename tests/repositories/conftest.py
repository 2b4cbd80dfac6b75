"""A small repository made by real git."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.repositories import git


@dataclass(frozen=True)
class Repository:
    path: Path

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.invalid")
        command = ["git", *identity, "-C", str(self.path), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=git.environment()).stdout.strip()

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            file = self.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, files: Mapping[str, str | bytes] | None = None) -> str:
        self.write(files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")
        return self.git("rev-parse", "HEAD")


def created(path: Path) -> Repository:
    path.mkdir()
    repository = Repository(path)
    repository.git("init", "-q", "-b", "main")
    return repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return created(tmp_path / "repository")
