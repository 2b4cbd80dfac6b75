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


def read_registry(root: Value) -> Mapping[str, tuple[str, ...]]:
    """The composes that each slug of a registry stands for.

    Understood are mappings from a slug to a path, or to an entry with a path under one of `MARKS`, and lists of entries
    that have a `slug`, `name` or `id` as well; at the top of the file or in one of its sections.
    """
    found: dict[str, dict[str, None]] = {}
    _collect(root, _DEPTH, found)
    return {slug: tuple(paths) for slug, paths in found.items()}


def slugs_of(catalog: Catalog, path: str, header: Header) -> tuple[str, ...]:
    """The slugs of a compose: those of the registry, else the one that its own header runs."""
    registered = tuple(slug for slug, paths in catalog.slugs.items() if path in paths)
    if registered or header.slug is None or header.slug in catalog.slugs:
        return registered
    return (header.slug,)


def _collect(value: Value, depth: int, found: dict[str, dict[str, None]]) -> None:
    if not depth:
        return
    if value.is_mapping:
        for key, entry in value.fields().items():
            if path := _compose(entry):
                found.setdefault(key, {})[path] = None
            elif key not in MARKS:
                _collect(entry, depth - 1, found)
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
    for mark in MARKS:
        text = fields[mark].text if mark in fields else None
        if text and _YAML.fullmatch(text):
            return text.removeprefix("./")
    return None
