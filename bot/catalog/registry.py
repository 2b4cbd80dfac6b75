"""Slugs: a repository's own names for its composes, from its registry or from the composes themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from bot.catalog.document import Value
from bot.catalog.model import Catalog, EngineProfile, Header

MARKS = ("compose_path", "compose_file", "compose")
"""The keys under which a registry's entry names its compose."""

ENGINE_MARKS = ("engine_profile", "engine-profile", "engine")
"""The keys under which it names its engine profile."""

DEPTH = 3
"""Sections of a registry, one in another, in which entries are looked for."""

_YAML = re.compile(r"[^\s:{}]+\.ya?ml")
_REGISTRY = re.compile(r"(?:^|[/._-])registry[^/]*\.(?:ya?ml|json|py)$", re.IGNORECASE)


def read_registry(root: Value) -> Mapping[str, tuple[str, ...]]:
    """The composes that each slug of a registry stands for.

    Understood are mappings from a slug to an entry with a path under one of `MARKS` (in a file that is called a
    registry, also to the path itself), and lists of such entries that have a `slug`, `name` or `id` as well; at the
    top of the file or in one of its sections.
    """
    found: dict[str, dict[str, None]] = {}
    for slug, path, _ in entries(root, is_registry(root.path)):
        found.setdefault(slug, {})[path] = None
    return {slug: tuple(paths) for slug, paths in found.items()}


def read_engines(root: Value) -> Mapping[str, str]:
    """The engine profile that a registry's entry names for each slug."""
    found: dict[str, str] = {}
    for slug, _, entry in entries(root, is_registry(root.path)):
        fields = entry.fields() if entry.is_mapping else {}
        named = next((text for key in ENGINE_MARKS if key in fields and (text := fields[key].text)), None)
        if named:
            found[slug] = named
    return found


def is_registry(path: str) -> bool:
    """Whether a file is one by its name."""
    return bool(_REGISTRY.search(path))


def slugs_of(catalog: Catalog, path: str, header: Header) -> tuple[str, ...]:
    """The slugs of a compose: those of the registry, else the one that its own header runs."""
    registered = tuple(slug for slug, paths in catalog.slugs.items() if path in paths)
    if registered or header.slug is None or header.slug in catalog.slugs:
        return registered
    return (header.slug,)


def engine_of(catalog: Catalog, header: Header, slugs: Iterable[str]) -> EngineProfile | None:
    """The engine profile that a compose is run with: the one that its header names, else that of its slugs' entries.

    None when nobody names one, or several are named.
    """
    named = header.get("engine-profile")
    names = {named} if named else {catalog.slug_engines[slug] for slug in slugs if slug in catalog.slug_engines}
    return catalog.engines.get(names.pop()) if len(names) == 1 else None


def entries(value: Value, plain: bool, depth: int = DEPTH) -> Iterator[tuple[str, str, Value]]:
    """(slug, compose, entry) of every entry; `plain` when a slug may be followed by the path itself."""
    if not depth:
        return
    if value.is_mapping:
        for key, entry in value.fields().items():
            path = _compose(entry) or (_path(entry) if plain else None)
            if path:
                yield key, path, entry
            else:
                yield from entries(entry, plain, depth - 1)
        return
    for entry in value.children:
        if entry.is_mapping:
            fields = entry.fields()
            slug = next((fields[name].text for name in ("slug", "name", "id") if name in fields), None)
            if slug and (path := _compose(entry)):
                yield slug, path, entry


def _compose(entry: Value) -> str | None:
    if not entry.is_mapping:
        return None
    fields = entry.fields()
    return next((path for mark in MARKS if mark in fields and (path := _path(fields[mark]))), None)


def _path(value: Value) -> str | None:
    text = value.text
    return text.removeprefix("./") if text and _YAML.fullmatch(text) else None
