"""The folder on this machine for the facts of releases that the rules do not have: `bot learn` fills it."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path

VARIABLE = "SEAMGUARD_CACHE"
"""The environment variable that names another folder."""

MAX_FILES = 64
"""Release files that are kept: about 9 MB. The ones that were written first go first."""

MAX_FILE_BYTES = 1_000_000
"""A release file has below 150 kB; anything over this is none."""

_NAME = re.compile(r"[0-9][0-9A-Za-z.+]{0,63}")


def folder() -> Path:
    """Where learnt releases are kept; it need not exist."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named) / "releases"
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "seamguard" / "releases"


def read(version: str) -> str | None:
    """The text of a learnt release, None when there is none."""
    if not _NAME.fullmatch(version):
        return None
    try:
        file = folder() / f"{version}.json"
        if file.stat().st_size > MAX_FILE_BYTES:
            return None
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, RuntimeError):
        return None


def write(version: str, text: str) -> Path:
    """Keep a release's facts, and let go of the oldest beyond `MAX_FILES`. Raises `OSError` and `ValueError`."""
    if not _NAME.fullmatch(version):
        raise ValueError(f"{version!r} is not a version")
    where = folder()
    where.mkdir(parents=True, exist_ok=True)
    file = where / f"{version}.json"
    partial = where / f".{version}.{os.getpid()}"
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)
    kept = sorted(where.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    for old in kept[: max(0, len(kept) - MAX_FILES)]:
        with suppress(OSError):
            old.unlink()
    return file
