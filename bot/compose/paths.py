"""Relative paths: what they are relative to, and how they are printed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from bot.compose.values import Value, text_like
from bot.compose.volumes import is_windows_path

_REMOTE = re.compile(r"(?:https?|git|ssh|docker-image|target|service|oci-layout|github\.com)(?:://|:|/)|git@|ssh://")

Rebase = Callable[[str], str]


def rebase(directory: str, path: str) -> str:
    """A path as it is written, seen from where `directory` (relative too) is seen. Absolute ones stay."""
    if path[:1] in ("/", "~") or is_windows_path(path):
        return path
    return text_like(posixpath.normpath(posixpath.join(directory, path)), path)


def is_remote(path: str) -> bool:
    """Whether a build context lies elsewhere (a URL, another image or service)."""
    return bool(_REMOTE.match(path))


def absolute(root: str, path: str, home: str | None) -> str:
    """A path, relative to the root of the repository, as Compose prints it when the repository lies at `root`.

    Without a root, paths begin at `/`, and one that leaves the repository keeps its `..` (`/../x`).
    """
    if path.startswith("~") and home is not None:
        return text_like(posixpath.join(home, path[1:].lstrip("/")).rstrip("/") or "/", path)
    if path[:1] in ("/", "~") or is_windows_path(path):
        return path
    if root:
        return text_like(posixpath.normpath(f"{root}/{path}"), path)
    cleaned = posixpath.normpath(path)
    return text_like("/" if cleaned == "." else f"/{cleaned}", path)


def map_paths(field: str, value: Value, change: Rebase) -> Value:
    """A canonical field with every path in it changed."""
    mapper = _MAPPERS.get(field)
    return mapper(value, change) if mapper else value


def _in_list(key: str) -> Callable[[Value, Rebase], Value]:
    def mapper(value: Value, change: Rebase) -> Value:
        return [_changed(item, key, change) for item in value] if isinstance(value, list) else value

    return mapper


def _changed(item: Value, key: str, change: Rebase) -> Value:
    path = item.get(key) if isinstance(item, dict) else None
    return {**item, key: change(path)} if isinstance(path, str) else item


def _volumes(value: Value, change: Rebase) -> Value:
    if not isinstance(value, list):
        return value
    return [
        _changed(item, "source", change) if isinstance(item, dict) and item.get("type") == "bind" else item
        for item in value
    ]


def _build(value: Value, change: Rebase) -> Value:
    if not isinstance(value, dict):
        return value
    changed = dict(value)
    context = value.get("context")
    if isinstance(context, str) and not is_remote(context):
        changed["context"] = change(context)
    contexts = value.get("additional_contexts")
    if isinstance(contexts, dict):
        changed["additional_contexts"] = {
            name: change(path) if isinstance(path, str) and not is_remote(path) else path
            for name, path in contexts.items()
        }
    return changed


def _texts(value: Value, change: Rebase) -> Value:
    return [change(item) if isinstance(item, str) else item for item in value] if isinstance(value, list) else value


def _develop(value: Value, change: Rebase) -> Value:
    if isinstance(value, dict) and isinstance(value.get("watch"), list):
        return {**value, "watch": _in_list("path")(value["watch"], change)}
    return value


def _extends(value: Value, change: Rebase) -> Value:
    return _changed(value, "file", change)


_MAPPERS: dict[str, Callable[[Value, Rebase], Value]] = {
    "build": _build,
    "develop": _develop,
    "env_file": _in_list("path"),
    "extends": _extends,
    "label_file": _texts,
    "volumes": _volumes,
}

PATH_FIELDS = frozenset(_MAPPERS)
"""The fields of a service that hold paths of the host."""
