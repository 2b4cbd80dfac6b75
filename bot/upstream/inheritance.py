"""What a move of a pin inherits: which upstream fixes the new release has, which not, and of which nobody knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from bot.upstream.clock import PinAnswer, read_clock
from bot.upstream.facts import Facts
from bot.upstream.repository_pins import RepositoryPin
from bot.upstream.watch import declared_or

Kind = Literal["inherits", "keeps", "loses", "does-not-inherit", "unknown"]


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
    before: RepositoryPin,
    after: RepositoryPin,
    facts: Callable[[str], Facts],
    titles: Mapping[str, str] | None = None,
) -> tuple[Inherited, ...]:
    """What a move from one pin to another does to each fix. Only what is known of the new pin is inherited."""
    found: list[Inherited] = []
    for reference in references:
        pins = read_clock(reference, (before.asked, after.asked), facts(reference)).pins
        old, new = (declared_or(reference, pin, pins[pin.asked]) for pin in (before, after))
        found.append(Inherited(reference, (titles or {}).get(reference), _kind(old, new), old, new))
    return tuple(found)


def _kind(before: PinAnswer, after: PinAnswer) -> Kind:
    if after.state == "unknown":
        return "unknown"
    if after.state == "pinned":
        return "keeps" if before.state == "pinned" else "inherits"
    return "loses" if before.state == "pinned" else "does-not-inherit"
