"""What a move of a pin inherits: which upstream fixes the new release has, which not, and of which nobody knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from bot.markdown import cell, code, prose
from bot.upstream.clock import PinAnswer, read_clock
from bot.upstream.facts import Facts

Kind = Literal["inherits", "keeps", "loses", "does-not-inherit", "unknown"]

_HEADS: tuple[tuple[Kind, str], ...] = (
    ("inherits", "inherits"),
    ("loses", "**loses**"),
    ("does-not-inherit", "does **not** inherit"),
    ("unknown", "not known"),
    ("keeps", "has, as before"),
)
MAX_EVIDENCE = 2
"""Sentences of evidence that a row quotes; the clock has all."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """One fix over a move of a pin. `before` and `after` are what is known of both pins."""

    reference: str
    title: str | None
    kind: Kind
    before: PinAnswer
    after: PinAnswer


def inherited(
    references: Iterable[str],
    before: str,
    after: str,
    facts: Callable[[str], Facts],
    titles: Mapping[str, str] | None = None,
) -> tuple[Inherited, ...]:
    """What a move from one pin to another does to each fix. Only what is known of the new pin is inherited."""
    found: list[Inherited] = []
    for reference in references:
        pins = read_clock(reference, (before, after), facts(reference)).pins
        kind = _kind(pins[before], pins[after])
        found.append(Inherited(reference, (titles or {}).get(reference), kind, pins[before], pins[after]))
    return tuple(found)


def _kind(before: PinAnswer, after: PinAnswer) -> Kind:
    if after.state == "unknown":
        return "unknown"
    if after.state == "pinned":
        return "keeps" if before.state == "pinned" else "inherits"
    return "loses" if before.state == "pinned" else "does-not-inherit"


def inheritance_markdown(found: Iterable[Inherited], before: str, after: str) -> str:
    """The table for the summary of a review; empty when there is nothing to say."""
    rows = list(found)
    if not rows:
        return ""
    lines = [f"From {code(before)} to {code(after)}, of the upstream fixes that this repository waits for:", ""]
    lines += ["| this move | fix | why |", "|---|---|---|"]
    for kind, head in _HEADS:
        for row in (row for row in rows if row.kind == kind):
            answer = row.after
            told = [answer.conflict] if answer.conflict else []
            why = "; ".join(cell(prose(text)) for text in (*told, *answer.evidence[:MAX_EVIDENCE]))
            title = f" {cell(prose(row.title))}" if row.title else ""
            lines.append(f"| {head} | {cell(code(row.reference))}{title} | {why} |")
    return "\n".join(lines) + "\n"
