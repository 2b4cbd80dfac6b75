"""Sentences that forbid to vendor a fix, and what breaks them or leaves them to be broken unnoticed.

Those of the repository are in its catalog; the comments of a compose may forbid it for that compose.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache

from bot.audit.patch_list import CODE
from bot.catalog import Catalog, Guard, Patch, is_patch, references_in_path
from bot.hazards import Observation, Rules
from bot.provenance import Position, Reason
from bot.references import references_in
from bot.resolution import EngineWorld, Repository, ResolvedService
from bot.tree import is_within, text_of
from bot.worlds.comments import comments

MAX_LINE = 4_000
"""Characters of two lines of a comment that are read."""

_OWN = re.compile(
    r"\b(?:does|will|shall|must)\s+not\s+vendor\s+(?:the\s+)?(?:patch\s+)?(pr[-_]?[1-9]\d{3,5}|(?:[\w.-]+/)?vllm#\d{3,6}|#\d{4,6})",
    re.IGNORECASE,
)


@lru_cache(maxsize=512)
def _in_comments(path: str, text: str) -> tuple[Guard, ...]:
    """What the comments of a compose say of itself; a sentence may go on in the next line."""
    if "vendor" not in text:
        return ()
    said = {position.line: comment for position, comment in comments(path, text).items()}
    found = []
    for line, comment in said.items():
        joined = f"{comment.strip()} {said.get(line + 1, '').strip()}"[:MAX_LINE]
        for match in _OWN.finditer(joined):
            if match.start() < len(comment.strip()):
                named = references_in_path(match[1]) or references_in(match[1])
                found += [Guard(one, Position(path, line), match[0], own=True) for one in named]
    return tuple(found)


def of_guards(repository: Repository, rules: Rules) -> Iterator[Observation]:
    """What the state of a repository makes of each sentence, whatever its composes mount."""
    catalog = repository.catalog
    files = [path for path in repository.tree.paths() if path.endswith(CODE) and is_patch(path)]
    by_reference: dict[str, list[str]] = {}
    for path in files if catalog.guards else ():
        for reference in dict.fromkeys(references_in_path(path)):
            by_reference.setdefault(reference, []).append(path)
    listed = {file for patch in catalog.patches for file in patch.files}
    for guard in catalog.guards:
        entries = [patch for patch in catalog.patches if _is_against(patch, guard)]
        loose = [path for path in by_reference.get(guard.reference, ()) if not is_within(path, listed)]
        for patch in entries:
            at = patch.position
            yield _seen(guard, "listed", patch.id, (Reason("catalog", at.path, at.line, f"patches: {patch.id}"),))
        if loose and not entries:
            folder = posixpath.dirname(loose[0])
            yield _seen(guard, "kept", loose[0], (Reason("catalog", loose[0], 1, f"a file of {folder}"),))
        if not entries and not loose and not _is_enforced(guard, catalog, rules):
            yield _seen(guard, "unenforced", "", ())


def _is_against(patch: Patch, guard: Guard) -> bool:
    """Whether an entry carries what is forbidden. One for a single release is told where a compose runs it."""
    carried = bool(patch.files) and patch.mechanism != "none" and not patch.deprecated and not patch.guard
    return carried and guard.reference in patch.upstream and guard.release is None


def _is_enforced(guard: Guard, catalog: Catalog, rules: Rules) -> bool:
    """Whether a change that vendors it would be told: by the policy, or because the fix is known to do harm there."""
    policy = catalog.configuration.inherit_only
    if policy is not None and (not policy.fixes or guard.reference in policy.fixes):
        return True
    return guard.release is not None and rules.upstream.unfit(guard.reference, (guard.release,)) is not None


def of_broken_guards(repository: Repository, service: ResolvedService, world: EngineWorld) -> Iterator[Observation]:
    """The patches that a service has although a sentence forbids them."""
    if world.kind is None or not any(wired.upstream for wired in world.patches):
        return
    own = _in_comments(service.path, text_of(repository.tree, service.path))
    for guard in (*own, *repository.catalog.guards):
        if guard.release is not None and world.pin.release != guard.release:
            continue
        for wired in world.patches:
            if guard.reference in wired.upstream and wired.mounted is not False:
                yield _seen(guard, "mounted", wired.id, wired.because, service)


def _seen(
    guard: Guard, problem: str, patch: str, because: tuple[Reason, ...], service: ResolvedService | None = None
) -> Observation:
    at = guard.position
    place = at
    if service is not None:
        here = (r for r in because if r.path == service.path and r.line is not None)
        place = next((Position(r.path, r.line) for r in here if r.line), service.position)
    short = guard.reference.removeprefix("vllm-project/")
    fields: dict[str, object] = {
        "problem": problem,
        "reference": guard.reference,
        "patch": patch,
        "where": str(at),
        "sentence": guard.sentence,
        "policy": f"policy: {{vendoring: {{mode: inherit-only, fixes: [{short}]}}}}",
    }
    reason = Reason("catalog", at.path, at.line, guard.sentence)
    cause = f"{guard.reference}:{patch}" if patch else guard.reference
    return Observation("vendor-guard", cause, place, (*because, reason), fields)
