"""`bot inspect clock`: the clock of one upstream reference, from recorded facts alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.cli.request import BadRequest, needed_text, words
from bot.references import normalise
from bot.upstream.clock import Clock, read_clock
from bot.upstream.facts import BadFact, read_facts


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Answers one request: `reference`, `pins` and `facts`, as the offline contract has them."""
    written = needed_text(request, "reference")
    reference = normalise(written)
    if reference is None:
        raise BadRequest(f"{written[:80]!r} is no upstream reference: write it as owner/repository#number")
    records = request.get("facts") or []
    if not isinstance(records, list):
        raise BadRequest("`facts` is a list of objects")
    try:
        facts = read_facts(records, reference.partition("#")[0])
    except BadFact as error:
        raise BadRequest(str(error)) from None
    return clock_json(read_clock(reference, words(request, "pins"), facts))


def clock_json(clock: Clock) -> dict[str, Any]:
    """A clock as the contract has it; `why` is there where the state is unknown."""
    told: dict[str, Any] = {
        "state": clock.state,
        "first_release": clock.first_release,
        "reverted_by": clock.reverted_by,
        "superseded_by": clock.superseded_by,
        "pins": {
            pin: {"state": found.state, "evidence": list(found.evidence), "conflict": found.conflict}
            for pin, found in clock.pins.items()
        },
    }
    return {**told, "why": clock.why} if clock.why else told
