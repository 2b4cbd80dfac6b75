"""Which composes a change can touch: its own files, and what they extend, include, mount or are described by."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from bot.audit import Unit, discover
from bot.compose import load_project
from bot.resolution import Repository
from bot.review.mentions import dependents
from bot.tree import Tree, UnreadableFile

_UNREADABLE = "\0"
"""Stands for the text of a file that cannot be read; no file that can has it."""


@dataclass(frozen=True, slots=True)
class Affected:
    """The composes to look at on either side, and the files among which they were found."""

    base: frozenset[Unit]
    head: frozenset[Unit]
    paths: frozenset[str] = frozenset()

    def narrow(self, repository: Repository) -> Repository:
        """The repository without the other composes: to audit it costs what the change touches."""
        return replace(repository, tree=_Listing(repository.tree, self.paths))


@dataclass(frozen=True, slots=True)
class _Listing:
    """A tree that lists some of its YAML files, and has them all."""

    below: Tree
    listed: frozenset[str]

    def read(self, path: str) -> str | None:
        return self.below.read(path)

    def paths(self) -> Iterable[str]:
        return [path for path in self.below.paths() if path in self.listed or not path.endswith((".yml", ".yaml"))]

    def is_directory(self, path: str) -> bool:
        return self.below.is_directory(path)


def affected(base: Repository, head: Repository, changed: Iterable[str]) -> Affected:
    """The composes of both sides that may run differently when `changed` files change.

    A change to a profile, to `patches.yml` or to the configuration may concern any compose, so all are looked at then.
    A change to the registry concerns the composes whose names it changes.
    """
    texts = (_yaml_texts(base.tree), _yaml_texts(head.tree))
    paths = frozenset(changed) | _different(*texts)
    if base.catalog is not head.catalog and _described(base) != _described(head):
        everything = frozenset(texts[0]) | frozenset(texts[1])
        return Affected(frozenset(_units(base, everything)), frozenset(_units(head, everything)), everything)
    renamed = _renamed_by_the_registry(base, head, texts) | _stated_anew(base, head)
    near = dependents(_together(base.tree, head.tree, *texts), paths) | renamed
    near |= _beside(near, texts)
    near |= {file for group in head.catalog.configuration.together if not near.isdisjoint(group) for file in group}
    before, after = (_units(side, near) for side in (base, head))
    certain = paths | renamed
    names = {
        unit.path for side, units in ((base, before), (head, after)) for unit in units if _depends(side, unit, certain)
    }
    touched = [frozenset(unit for unit in units if unit.path in names) for units in (before, after)]
    files = {file for units in touched for unit in units for file in unit.files}
    return Affected(touched[0], touched[1], frozenset(files) | (certain & near))


def _described(repository: Repository) -> object:
    """What the repository says about all of its composes. Its names for them are looked at one by one."""
    return replace(repository.catalog, slugs={}, stated={}).without_positions()


def _yaml_texts(tree: Tree) -> dict[str, str]:
    return {path: _text(tree, path) for path in tree.paths() if path.endswith((".yml", ".yaml"))}


def _text(tree: Tree, path: str) -> str:
    try:
        return tree.read(path) or ""
    except UnreadableFile:
        return _UNREADABLE


def _together(base: Tree, head: Tree, before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    """Every file, with what it says on either side, and what the `.env` beside it says: that may hold names too."""
    both = {path: text if after.get(path, text) == text else f"{text}\n{after[path]}" for path, text in before.items()}
    found = {**after, **both}
    for tree in (base, head):
        for env in (path for path in tree.paths() if posixpath.basename(path) == ".env"):
            names = _text(tree, env)
            for path in (path for path in found if posixpath.dirname(path) == posixpath.dirname(env)):
                found[path] = f"{found[path]}\n{names}"
    return found


def _different(before: dict[str, str], after: dict[str, str]) -> frozenset[str]:
    """Files whose text is another one, whether the list of changes has them or not: it is cut when it is long, and
    does not name the symbolic links to what changed.
    """
    return frozenset(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def _stated_anew(base: Repository, head: Repository) -> frozenset[str]:
    """Composes of which the registry states something else now, wherever it stands."""

    def said(side: Repository, path: str) -> list[tuple[str, str, str | None]]:
        return [(one.slug, one.property, one.value) for one in side.catalog.stated.get(path, ())]

    paths = base.catalog.stated.keys() | head.catalog.stated.keys()
    return frozenset(path for path in paths if said(base, path) != said(head, path))


def _renamed_by_the_registry(base: Repository, head: Repository, texts: Iterable[dict[str, str]]) -> frozenset[str]:
    """Composes whose names in the registry are others now, and those that give themselves such a name."""
    old, new = base.catalog.slugs, head.catalog.slugs
    slugs = {slug for slug in old.keys() | new.keys() if old.get(slug) != new.get(slug)}
    named = {path for slug in slugs for path in (*old.get(slug, ()), *new.get(slug, ()))}
    if slugs:
        named |= {path for side in texts for path, text in side.items() if any(slug in text for slug in slugs)}
    return frozenset(named)


def _beside(paths: Iterable[str], texts: Iterable[dict[str, str]]) -> frozenset[str]:
    """The composes of the same folders under names that Docker Compose finds by itself: they go together."""
    folders = {posixpath.dirname(path) for path in paths}
    return frozenset(
        path
        for side in texts
        for path in side
        if "compose" in posixpath.basename(path) and posixpath.dirname(path) in folders
    )


def _units(repository: Repository, paths: frozenset[str]) -> list[Unit]:
    tree = _Listing(repository.tree, paths)
    return list(discover(tree, repository.documents, repository.catalog.configuration).units)


def _depends(repository: Repository, unit: Unit, changed: frozenset[str]) -> bool:
    question = ("needs", unit, repository.documents.view)
    files, mounted = repository.documents.memory.answer(question, repository.tree, partial(_needs, repository, unit))
    return not changed.isdisjoint(files) or any(_covers(source, path) for source in mounted for path in changed)


def _needs(repository: Repository, unit: Unit, tree: Tree) -> tuple[frozenset[str], frozenset[str]]:
    """The files that decide what a compose is, and the files and folders that it mounts."""
    project = load_project(repository.documents.over(tree), unit.files, {})
    beside = posixpath.join(posixpath.dirname(unit.path), ".env")
    mounts = (mount for service in project.services.values() for mount in service.mounts if mount.in_repository)
    return frozenset((*unit.files, *project.files, beside)), frozenset(mount.source for mount in mounts)


def _covers(source: str, path: str) -> bool:
    return source in ("", ".", path) or path.startswith(f"{source.rstrip('/')}/")
