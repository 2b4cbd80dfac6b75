"""Patches that a change vendors where the repository's policy is to inherit fixes with the pinned release."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from bot.audit import Report
from bot.audit.patch_list import CODE
from bot.catalog import InheritOnly, Patch, is_patch, references_in_path
from bot.engine import Pin
from bot.hazards import Finding, Observation, Situation, Subject, World, evaluate, load_rules
from bot.provenance import Position, Reason
from bot.resolution import Repository, ResolvedService
from bot.tree import is_within

RULE = "vendoring-not-wanted"


def vendored(before: Repository, after: Repository, head: Report) -> tuple[Finding, ...]:
    """One finding for each patch that is new in `after`: an entry of `patches.yml`, a mounted one without an entry, or
    files that look like one and that nothing has.

    `after` is judged under the configuration that is there before the change. What was vendored before the change stays
    untold, and so does what moves, or is mounted in one more compose.
    """
    policy = after.catalog.configuration.inherit_only
    if policy is None:
        return ()
    known = {patch.id for patch in before.catalog.patches}
    files = frozenset(before.tree.paths())
    found: list[Finding] = []
    for patch in after.catalog.patches:
        if patch.id not in known and not patch.deprecated and patch.files and not _are_there(patch, files):
            found += _finding(policy, patch.id, patch.upstream, patch.position, "", ())
    mounted = list(_mounted(head, files))
    for path in _loose(after, files, [name for _, name, _, _ in mounted]):
        found += _finding(policy, path, references_in_path(path), Position(path, 1), "", ())
    for service, name, upstream, because in mounted:
        position = next((Position(r.path, r.line or 1) for r in because if r.path == service.path), service.position)
        found += _finding(policy, name, upstream, position, service.name, because)
    return tuple(head.taken(finding, None) for finding in found)


def _are_there(patch: Patch, files: frozenset[str]) -> bool:
    """Whether the change lists a patch that was vendored before."""
    return all(file in files or any(path.startswith(f"{file}/") for path in files) for file in patch.files)


def _loose(after: Repository, files: frozenset[str], mounted: Iterable[str]) -> Iterator[str]:
    """The first file of each folder of patches that is new and that neither an entry nor a compose has: it may be wired
    by the next change. A file that moves is not new.
    """
    there = list(after.tree.paths())
    gone = {posixpath.basename(path) for path in files.difference(there)}
    known = {*mounted, *(file for patch in after.catalog.patches for file in patch.files)}
    folders = {posixpath.dirname(path) for path in files if path.endswith(CODE)}
    for path in there:
        folder, name = posixpath.split(path)
        if path in files or folder in folders or name in gone or not path.endswith(CODE) or not is_patch(path):
            continue
        if not is_within(path, known):
            folders.add(folder)
            yield path


def _mounted(
    head: Report, files: frozenset[str]
) -> Iterator[tuple[ResolvedService, str, tuple[str, ...], tuple[Reason, ...]]]:
    """The patches without an entry whose files the change brings, each where it is first mounted."""
    seen: set[str] = set()
    for service in (service for unit in head.units for service in unit.services):
        for wired in (wired for world in service.worlds for wired in world.patches if not wired.listed):
            new = wired.id not in files and not any(path.startswith(f"{wired.id}/") for path in files)
            if new and wired.id not in seen:
                seen.add(wired.id)
                yield service, wired.id, wired.upstream, wired.because


def _finding(
    policy: InheritOnly,
    patch: str,
    upstream: tuple[str, ...],
    position: Position,
    service: str,
    because: Iterable[Reason],
) -> tuple[Finding, ...]:
    if policy.fixes and not set(policy.fixes) & set(upstream):
        return ()
    stated = Reason("catalog", policy.position.path, policy.position.line, "policy: vendoring: inherit-only")
    fields = {
        "patch": patch,
        "stands_for": tuple(upstream) or ("no upstream fix that it names",),
        "policy": f"{policy.position.path}:{policy.position.line}",
        "reason": policy.reason or "",
    }
    observation = Observation("vendored-patch", patch, position, (stated, *because), fields)
    situation = Situation(World({}), {}, Pin("", None), (), (), (), (observation,), position)
    subject = Subject(position.path, service, (), position, (situation,))
    return evaluate(load_rules().only({RULE}), subject)
