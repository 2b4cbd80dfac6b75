"""A clone of the real history that the corpus holds."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.corpus import CORPUS


class History:
    """The cloned repository, addressed by the `Original:` trailer of its commits."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def commit(self, original: str) -> str:
        """The id of the commit that stands for an original one."""
        found = self._git("log", "--format=%H", f"--grep=Original: {original}")
        assert found, f"no commit for {original}"
        return found.splitlines()[0]

    def parent(self, original: str) -> str:
        return self._git("rev-parse", f"{self.commit(original)}^")

    def _git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(self.root), *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    root = tmp_path_factory.mktemp("history") / "clone"
    bundle = CORPUS / "club-history.bundle"
    subprocess.run(["git", "clone", "--quiet", "--branch", "main", str(bundle), str(root)], check=True)
    return History(root)
