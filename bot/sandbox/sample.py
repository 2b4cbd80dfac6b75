"""The sample history: a repository of two commits, made on the spot."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

FILES = Path(__file__).parent / "files"

_IDENTITY = {
    "GIT_AUTHOR_NAME": "sample",
    "GIT_AUTHOR_EMAIL": "sample@example.invalid",
    "GIT_COMMITTER_NAME": "sample",
    "GIT_COMMITTER_EMAIL": "sample@example.invalid",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


@contextmanager
def sample_repository() -> Iterator[Path]:
    """A git repository whose tags `before` and `after` are the two sides of a change. It is gone afterwards."""
    with TemporaryDirectory(prefix="seamguard-sample-") as folder:
        root = Path(folder)
        _git(root, "init", "--quiet")
        for side in ("before", "after"):
            # With their times kept, git takes a file of the same size and time for unchanged.
            shutil.copytree(FILES / side, root, dirs_exist_ok=True, copy_function=shutil.copy)
            _git(root, "add", "--all")
            _git(root, "commit", "--quiet", "--no-gpg-sign", "-m", side)
            _git(root, "tag", side)
        yield root


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, env={**os.environ, **_IDENTITY})
