"""Reading a source tree from a folder, an sdist or a wheel, and writing a release file."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

from bot.learn.limits import MAX_FILE_BYTES, MAX_MEMBERS, MAX_TOTAL_BYTES, TOO_MUCH
from bot.learn.source import SourceError, SourceTree, UnreadableError
from bot.learn.wheels import ENDING, wheel

WANTED = ("vllm/", "docker/Dockerfile")


def open_source(path: Path) -> SourceTree:
    """The source tree in a folder (that holds `vllm/`), in an sdist or in a wheel. Raises `SourceError`."""
    if path.is_dir():
        return folder(path)
    if path.is_file():
        return wheel(path) if path.suffix == ENDING else sdist(path)
    raise SourceError(f"{path}: no such folder or file")


def folder(root: Path) -> SourceTree:
    """A checkout."""

    def read(name: str) -> str | None:
        file = root / name
        if not file.is_file() or file.stat().st_size > MAX_FILE_BYTES:
            return None
        return file.read_text(encoding="utf-8", errors="replace")

    modules = sorted(path.relative_to(root).as_posix() for path in (root / "vllm").rglob("*.py"))
    return SourceTree(read, modules)


def sdist(path: Path) -> SourceTree:
    """An archive as PyPI or GitHub has it, in one folder. It is read member by member, never unpacked to disk: a name
    leads nowhere, and links are not followed.
    """
    texts: dict[str, str] = {}
    total = 0
    try:
        with tarfile.open(path) as archive:
            for count, member in enumerate(archive):
                if count >= MAX_MEMBERS:
                    raise UnreadableError(f"{path}: {TOO_MUCH}")
                name = member.name.partition("/")[2]
                if not (member.isfile() and name.startswith(WANTED)) or member.size > MAX_FILE_BYTES:
                    continue
                if not name.endswith((".py", "Dockerfile")):
                    continue
                total += member.size
                if total > MAX_TOTAL_BYTES:
                    raise UnreadableError(f"{path}: {TOO_MUCH}")
                stream = archive.extractfile(member)
                if stream is not None:
                    texts[name] = stream.read().decode("utf-8", errors="replace")
    except (tarfile.TarError, EOFError, OSError) as error:
        raise UnreadableError(f"{path}: not a readable archive ({error})") from error
    return SourceTree(texts.get, sorted(name for name in texts if name.endswith(".py")))


def dump(facts: dict[str, Any]) -> str:
    """A release file's text: one flag, field, variable or member a line, so that two releases diff well."""
    parts = [f"{_compact(key)}: {_block(value, _DEPTH.get(key, 1), 1)}" for key, value in facts.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


_DEPTH = {
    "schema": 0, "release": 0, "entrypoint": 0, "gaps": 0, "levels": 2, "configs": 3, "enums": 2, "conflicts": 1,
    "anchors": 2, "places": 2,
}  # fmt: skip
"""How many levels of a part are spread over lines."""


def _block(value: Any, depth: int, indent: int) -> str:
    if depth == 0 or not isinstance(value, dict | list) or not value:
        return _compact(value)
    if isinstance(value, list):
        if not isinstance(value[0], dict):
            return _compact(value)
        return "[\n" + ",\n".join(" " * indent + _compact(item) for item in value) + "\n]"
    inner = [f"{' ' * indent}{_compact(key)}: {_block(item, depth - 1, indent + 1)}" for key, item in value.items()]
    return "{\n" + ",\n".join(inner) + "\n" + " " * (indent - 1) + "}"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
