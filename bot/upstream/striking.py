"""Whether a pin has a fix, for those who only want to know that: what was recorded first, then what sources say."""

from __future__ import annotations

from collections.abc import Callable

from bot.engine import Pin
from bot.references import UPSTREAM
from bot.upstream.clock import read_clock
from bot.upstream.facts import Facts
from bot.upstream.known import Known
from bot.upstream.pins import pinned_at
from bot.upstream.watch import with_known


class Striking:
    """Answers for pins as the clocks do. `undecided` are the references of which it could not be told."""

    def __init__(self, known: Known, facts: Callable[[str], Facts] = lambda _: Facts()) -> None:
        self._known = known
        self._facts = facts
        self._answers: dict[tuple[str, str], bool | None] = {}
        self.undecided: dict[str, None] = {}

    def __call__(self, reference: str, pin: Pin) -> bool | None:
        """Whether the pin has the fix; None where that is not known. What is declared of an image counts."""
        if reference in pin.contains:
            return True
        if not reference.startswith(f"{UPSTREAM}#"):
            return None
        at = pinned_at(pin.image) if pin.release is None else None
        source = pin.release or (at.value if at is not None and at.kind == "commit" else None)
        if source is None:
            return None
        if (reference, source) not in self._answers:
            self._answers[reference, source] = self._ask(reference, source, f"v{source}" if pin.release else source)
        answer = self._answers[reference, source]
        if answer is None:
            self.undecided[reference] = None
        return answer

    def _ask(self, reference: str, source: str, asked: str) -> bool | None:
        facts = with_known(self._facts(reference), self._known, reference, (source,))
        return {"pinned": True, "not-pinned": False}.get(read_clock(reference, [asked], facts).pins[asked].state)
