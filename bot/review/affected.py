"""Which composes a change can touch: its own files, and what they extend, include, mount or are described by."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass

from bot.audit import Unit, discover
from bot.compose import load_project
from bot.resolution import Repository


@dataclass(frozen=True, slots=True)
class Affected:
    """The composes to look at on either side."""

    base: frozenset[Unit]
    head: frozenset[Unit]


def affected(base: Repository, head: Repository, changed: Iterable[str]) -> Affected:
    """The composes of both sides that may run differently when `changed` files change.

    A change to a profile, to `patches.yml` or to the configuration may concern any compose, so all are looked at then.
    """
    paths = frozenset(changed)
    everything = base.catalog.without_positions() != head.catalog.without_positions()
    before, after = (discover(side.tree, side.documents, side.catalog.configuration).units for side in (base, head))
    if everything:
        return Affected(frozenset(before), frozenset(after))
    touched = {unit for unit in before if _depends(base, unit, paths)}
    known = frozenset(before) if _only_edits(base, head, paths) else touched
    touched |= {unit for unit in after if unit not in known and _depends(head, unit, paths)}
    names = {unit.path for unit in touched}
    return Affected(
        frozenset(unit for unit in before if unit.path in names),
        frozenset(unit for unit in after if unit.path in names),
    )


def _only_edits(base: Repository, head: Repository, changed: frozenset[str]) -> bool:
    """Whether every changed file is there before and after: then either side depends on it as the other does."""
    return all(side.documents.is_file(path) for side in (base, head) for path in changed)


def _depends(repository: Repository, unit: Unit, changed: frozenset[str]) -> bool:
    if not changed.isdisjoint(unit.files):
        return True
    project = load_project(repository.documents, unit.files, {})
    if not changed.isdisjoint(project.files):
        return True
    beside = posixpath.join(posixpath.dirname(unit.path), ".env")
    return beside in changed or any(
        _covers(mount.source, path)
        for service in project.services.values()
        for mount in service.mounts
        if mount.in_repository
        for path in changed
    )


def _covers(source: str, path: str) -> bool:
    return path == source or path.startswith(f"{source.rstrip('/')}/")
