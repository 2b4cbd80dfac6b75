"""Slugs: a repository's own names for its composes, from its registry or from the composes themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.catalog.document import Value
from bot.catalog.model import Catalog, Header

MARKS = ("compose_path", "compose_file", "compose")
"""The keys under which a registry's entry names its compose."""

_DEPTH = 3
_YAML = re.compile(r"[^\s:{}]+\.ya?ml")
_REGISTRY = re.compile(r"(?:^|[/._-])registry[^/]*\.ya?ml$", re.IGNORECASE)


def read_registry(root: Value) -> Mapping[str, tuple[str, ...]]:
    """The composes that each slug of a registry stands for.

    Understood are mappings from a slug to an entry with a path under one of `MARKS` (in a file that is called a
    registry, also to the path itself), and lists of such entries that have a `slug`, `name` or `id` as well; at the
    top of the file or in one of its sections.
    """
    found: dict[str, dict[str, None]] = {}
    _collect(root, _DEPTH, is_registry(root.path), found)
    return {slug: tuple(paths) for slug, paths in found.items()}


def is_registry(path: str) -> bool:
    """Whether a file is one by its name."""
    return bool(_REGISTRY.search(path))


def slugs_of(catalog: Catalog, path: str, header: Header) -> tuple[str, ...]:
    """The slugs of a compose: those of the registry, else the one that its own header runs."""
    registered = tuple(slug for slug, paths in catalog.slugs.items() if path in paths)
    if registered or header.slug is None or header.slug in catalog.slugs:
        return registered
    return (header.slug,)


def _collect(value: Value, depth: int, plain: bool, found: dict[str, dict[str, None]]) -> None:
    if not depth:
        return
    if value.is_mapping:
        for key, entry in value.fields().items():
            path = _compose(entry) or (_path(entry) if plain else None)
            if path:
                found.setdefault(key, {})[path] = None
            else:
                _collect(entry, depth - 1, plain, found)
        return
    for entry in value.children:
        if entry.is_mapping:
            fields = entry.fields()
            slug = next((fields[name].text for name in ("slug", "name", "id") if name in fields), None)
            if slug and (path := _compose(entry)):
                found.setdefault(slug, {})[path] = None


def _compose(entry: Value) -> str | None:
    if not entry.is_mapping:
        return None
    fields = entry.fields()
    return next((path for mark in MARKS if mark in fields and (path := _path(fields[mark]))), None)


def _path(value: Value) -> str | None:
    text = value.text
    return text.removeprefix("./") if text and _YAML.fullmatch(text) else None
