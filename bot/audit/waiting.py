"""What a vendored patch waits for, as its entry says: whether a clock can watch it, and what was understood."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.catalog import Catalog, Patch
from bot.hazards import Observation
from bot.provenance import Reason
from bot.references import references_in

_MERGE = r"\bmerg(?:e[sd]?|ing)\b|\blands?\b|\bupstreamed\b|\bupstream\b.{0,40}\b(?:fixe[sd]|ships)\b"
_RELEASE = r"\breleases?d?\b|\bstock\b|\bnightly\b|\btagged\b"
_PIN = r"\bpin(?:s|ned|ning)?\b|\bbundles?\b|\bselected (?:\w+ )?(?:image|nightly|release)\b"
_CHECK = r"\bre-?run\b|\bverif\w+|\bvalidat\w+|\bprobe\b|\bboots?\b|\bdrift_guard\b|\bdiff check\b"
_OWN = r"\bre-?vendor\w*|\bretire[sd]?\b|\barchived?\b"
_CONDITIONS = tuple(
    (name, re.compile(words, re.IGNORECASE))
    for name, words in (
        ("a fix upstream", _MERGE),
        ("a release that has it", _RELEASE),
        ("a pin that has it", _PIN),
        ("a check by hand", _CHECK),
        ("a change in this repository", _OWN),
    )
)
"""What a sentence may wait for, and the words by which it is understood."""


def of_waiting(catalog: Catalog) -> Iterator[Observation]:
    """One observation for each delivered patch, about when it may go."""
    for patch in catalog.patches:
        if not patch.deprecated and not patch.guard and patch.mechanism != "none" and (patch.files or patch.script):
            yield _of_patch(patch)


def _of_patch(patch: Patch) -> Observation:
    said = " ".join((patch.drop_when or "").split())
    references = tuple(dict.fromkeys((*patch.upstream, *_named(said))))
    conditions = tuple(name for name, words in _CONDITIONS if words.search(said))
    at = patch.position
    quoted = Reason("catalog", at.path, at.line, f"drop_when: {said}"[:160] if said else f"patches: {patch.id}")
    fields: dict[str, object] = {
        "patch": patch.id,
        "said": bool(said),
        "watched": bool(references),
        "references": references,
        "understood": conditions,
    }
    return Observation("patch-clock", patch.id, at, (quoted,), fields)


def _named(said: str) -> Iterator[str]:
    """The references of a sentence, but for small numbers without a repository: they are the repository's own."""
    for reference in references_in(said):
        number = reference.rpartition("#")[2]
        if len(number) >= 4 or f"vllm#{number}" in said:
            yield reference
