"""The folder on this machine for the facts of releases that the rules do not have.

`bot learn` fills it, and so does a question about such a release. Several processes may use it at once: a file is
there as a whole or not at all. What another version of this program learnt is not read, since it may have meant
something else.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from zlib import crc32

from bot import __version__
from bot.rules import RULES

VARIABLE = "SEAMGUARD_CACHE"
"""The environment variable that names another folder."""

OFFLINE_VARIABLE = "SEAMGUARD_OFFLINE"
"""The environment variable that forbids to fetch what is missing."""

SCHEMA = 2
"""Of the release files. Raised when a reader of the old form would misunderstand the new one."""

MAX_FILES = 64
"""Release files that are kept: about 9 MB. The ones that were written first go first."""

MAX_REFUSALS = 256
"""Notes that are kept of releases that cannot be learnt; each is a line."""

MAX_FILE_BYTES = 1_000_000
"""A release file has below 150 kB; anything over this is none."""

MAX_HELD = 8
"""Releases that a process keeps for itself."""

_held: dict[str, str] = {}
_NAME = re.compile(r"[0-9][0-9A-Za-z.+]{0,63}")


def folder() -> Path:
    """Where learnt releases are kept; it need not exist."""
    return base() / "releases" / _form()


def base() -> Path:
    """Where this program keeps what it need not ask for again; it need not exist."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "seamguard"


@cache
def _form() -> str:
    """What a release file must be of: its form, this program's version, and the definitions that are looked for."""
    wanted = crc32((RULES / "vllm" / "anchors.json").read_bytes())
    return f"{SCHEMA}-{__version__}-{wanted:08x}"


def read(version: str) -> str | None:
    """The text of a learnt release, None when there is none."""
    if version in _held:
        return _held[version]
    return _read(version, "json", MAX_FILE_BYTES) if _NAME.fullmatch(version) else None


def hold(version: str, text: str) -> None:
    """Keep a release's facts for as long as this process lives: where the folder cannot be written."""
    while len(_held) >= MAX_HELD:
        _held.pop(next(iter(_held)))
    _held[version] = text


def write(version: str, text: str) -> Path:
    """Keep a release's facts, and let go of the oldest beyond `MAX_FILES`. Raises `OSError` and `ValueError`."""
    return _write(version, "json", text, MAX_FILES)


def refuse(version: str, why: str, seconds: float) -> None:
    """Keep for some time that a release cannot be learnt. Raises `OSError` and `ValueError`."""
    _write(version, "none", json.dumps({"until": time.time() + seconds, "why": why}), MAX_REFUSALS)


def refusal(version: str) -> str | None:
    """Why a release could not be learnt a short time ago; None when that is not known, or long ago."""
    try:
        kept = json.loads(_read(version, "none", MAX_FILE_BYTES) or "{}") if _NAME.fullmatch(version) else {}
        return str(kept["why"]) if time.time() < float(kept["until"]) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _read(version: str, ending: str, limit: int) -> str | None:
    try:
        file = folder() / f"{version}.{ending}"
        if file.stat().st_size > limit:
            return None
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, RuntimeError):
        return None


def _write(version: str, ending: str, text: str, most: int) -> Path:
    if not _NAME.fullmatch(version):
        raise ValueError(f"{version!r} is not a version")
    where = folder()
    where.mkdir(parents=True, exist_ok=True)
    file = where / f"{version}.{ending}"
    from tempfile import mkstemp  # imports much, and few learn

    handle, partial = mkstemp(prefix=f".{version}-", dir=where)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(partial).replace(file)
    except OSError:
        Path(partial).unlink(missing_ok=True)
        raise
    let_go(where.parent, f"*/*.{ending}", most)
    return file


def let_go(where: Path, pattern: str, most: int) -> None:
    """Remove what was written first of the files that fit, beyond `most`; another process may be faster."""
    written: list[tuple[int, Path]] = []
    for path in where.glob(pattern):
        with suppress(OSError):
            written.append((path.stat().st_mtime_ns, path))
    for _, old in sorted(written)[: max(0, len(written) - most)]:
        with suppress(OSError):
            old.unlink()
