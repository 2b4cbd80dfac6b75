"""What a moved pin inherits, as parts of the summary: short, and folded when it is long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from bot.markdown import cell, code, prose, shortened
from bot.references import UPSTREAM
from bot.review.bumps import Bump, Overlay
from bot.review.links import Links
from bot.review.sections import Section
from bot.upstream.inheritance import Inherited, Kind
from bot.upstream.overlays import AnchorCheck, AnchorState
from bot.upstream.repository_pins import RepositoryPin

MAX_OPEN = 6
"""Rows up to which a table stands open."""

MAX_WHY = 160
"""Characters of the reason in a row; `bot clocks` has it all."""

MAX_NAMED = 4
"""References, uses and lines that a sentence names."""

FIX_WORDS: dict[Kind, str] = {
    "loses": "**loses**",
    "inherits": "**inherits**",
    "does-not-inherit": "does **not** inherit",
    "unknown": "not known",
    "keeps": "has, as before",
}
"""In the order in which they are told; what a pin keeps is only counted."""

ANCHOR_WORDS: dict[AnchorState, str] = {
    "target-gone": "**the file is gone**",
    "gone": "**the anchor is gone**",
    "ambiguous": "**the anchor stands more than once**",
    "outdated": "**lies over a file that has changed**",
    "applied": "already in the new source",
    "present": "fits",
    "unknown": "not known",
}
_TALLY: dict[Kind, str] = {
    "loses": "loses {}",
    "inherits": "inherits {}",
    "does-not-inherit": "does not inherit {}",
    "unknown": "leaves {} unknown",
    "keeps": "has {} as before",
}
_PROBED = re.compile(r"probe of the source: (?:the fix is (?:not )?there|cannot tell) \((.*)\)", re.DOTALL)
_PATCHES = "Vendored patches"
_TITLE = "Upstream fixes"
_TABLE = ("| this bump | upstream fix | why |", "|---|---|---|")
_OVERLAYS = ("| patch | in the new source | what it edits |", "|---|---|---|")


def bump_sections(bumps: Iterable[Bump], links: Links) -> Iterator[Section]:
    """For each move: what it inherits and what not, then the patches that fit no longer."""
    for bump in bumps:
        yield from _fixes(bump, links)
        yield _overlays(bump, links)


def _fixes(bump: Bump, links: Links) -> Iterator[Section]:
    """What the move changes stands open; what it leaves as it is too, when that is short."""
    changed = [_fix(fix, links) for fix in _of_kinds(bump, "loses", "inherits")]
    same = [_fix(fix, links) for fix in _of_kinds(bump, "does-not-inherit", "unknown")]
    text = f"From {code(_pin(bump.before))} to {code(_pin(bump.after))}: {sentence_of(bump)}. {_uses(bump, links)}."
    if bump.unrecorded and bump.after.source is not None:
        text += f" Nothing is recorded of {_named(bump.unrecorded)}."
    fold = len(changed) + len(same) > MAX_OPEN
    rows = changed if fold else changed + same
    yield Section(_TITLE, tuple(rows), (text, "", *_TABLE)) if rows else Section(_TITLE, (text,))
    if fold:
        yield Section(f"Upstream fixes that this bump does not inherit ({len(same)})", tuple(same), _TABLE, folded=True)


def _of_kinds(bump: Bump, *kinds: Kind) -> Iterator[Inherited]:
    return (fix for kind in kinds for fix in bump.fixes if fix.kind == kind)


def _pin(pin: RepositoryPin) -> str:
    return f"v{pin.release}" if pin.release else pin.image


def tally_of(bump: Bump) -> str:
    """How many fixes a move inherits, and how many it does not; empty where nothing is known of any."""
    counts = {kind: sum(fix.kind == kind for fix in bump.fixes) for kind in FIX_WORDS}
    return ", ".join(text.format(counts[kind]) for kind, text in _TALLY.items() if counts[kind])


def sentence_of(bump: Bump) -> str:
    """The same as the end of a sentence."""
    tally = tally_of(bump)
    if tally:
        return f"of the upstream fixes that are waited for here, it {tally}"
    return f"which upstream fixes it has is not known ({prose(bump.after.why or 'nothing is recorded')})"


def _uses(bump: Bump, links: Links) -> str:
    """Who moves, each name once."""
    names = {use.name: use for use in reversed(bump.uses)}
    shown = [
        links.place(use.position.path, use.position.line, code(name)) for name, use in list(names.items())[:MAX_NAMED]
    ]
    more = len(names) - len(shown)
    return f"Moved: {', '.join(shown)}{f' and {more} more' if more > 0 else ''}"


def _named(references: Sequence[str]) -> str:
    shown = ", ".join(code(short(one)) for one in references[:MAX_NAMED])
    return f"{shown} and {len(references) - MAX_NAMED} more" if len(references) > MAX_NAMED else shown


def short(reference: str) -> str:
    """A reference as people write it: `vllm#48375`."""
    return reference.replace(UPSTREAM, "vllm", 1) if reference.startswith(f"{UPSTREAM}#") else reference


def _fix(fix: Inherited, links: Links) -> str:
    title = f" {prose(fix.title)}" if fix.title else ""
    own = fix.reference.startswith(f"{UPSTREAM}#")
    reference = links.references(fix.reference) if own else code(fix.reference)
    return f"| {FIX_WORDS[fix.kind]} | {cell(reference + title)} | {cell(prose(why(fix)))} |"


def why(fix: Inherited) -> str:
    """The first reason, in a few words; that source and history disagree comes before all."""
    answer = fix.after
    told = answer.conflict or next(iter(answer.evidence), "")
    if (seen := _PROBED.fullmatch(told)) is not None:
        told = seen[1]  # what it means stands in the row already
    if fix.kind == "unknown" and fix.before.state == "pinned":
        told = f"the old pin has it; of the new one: {told}"
    return shortened(told, MAX_WHY)


def _overlays(bump: Bump, links: Links) -> Section:
    """The patches of which the new source says something else than the old one, and how many others there are."""
    rows = [row for overlay in bump.overlays for row in _overlay(overlay, links)]
    same = sum(not overlay.changed for overlay in bump.overlays)
    notes: list[str] = []
    if bump.unread:
        notes.append(f"Vendored patches were not held against {code(_pin(bump.after))}: {prose(bump.unread)}.")
    elif rows:
        notes.append(f"Vendored patches against the source of {code(_pin(bump.after))}, read and not run.")
    if same and rows:
        notes.append(f"Of {same} other{'s' if same > 1 else ''} nothing changes that could be told.")
    text = " ".join(notes)
    if not rows:
        return Section(_PATCHES, (text,) if text else ())
    folded = len(rows) > MAX_OPEN
    title = f"{_PATCHES} ({len(rows)})" if folded else _PATCHES
    return Section(title, tuple(rows), (text, "", *_OVERLAYS), folded=folded)


def _overlay(overlay: Overlay, links: Links) -> Iterator[str]:
    """A row for each state that edits of a script are in."""
    by_state: dict[AnchorState, list[AnchorCheck]] = {}
    for check in overlay.changed:
        by_state.setdefault(check.state, []).append(check)
    for state, words in ANCHOR_WORDS.items():
        checks = by_state.get(state)
        if not checks:
            continue
        lines = list(dict.fromkeys(check.line for check in checks))
        first = links.place(overlay.script, lines[0])
        more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
        mounted = "" if overlay.mounted else ", mounted by none of these"
        targets = ", ".join(dict.fromkeys(code(check.target) for check in checks if check.target))
        yield f"| {cell(first + more + mounted)} | {words} | {cell(targets)} |"
