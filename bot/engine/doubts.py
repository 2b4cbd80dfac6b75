"""What keeps the properties of an engine from being certain, whatever they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bot.engine.agreement import OWN_WORDS
from bot.engine.facts import Facts
from bot.engine.model import Property
from bot.provenance import Reason


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason for doubt, and what it makes of derived values; those that the deployment sets are assumed."""

    text: str
    derived: Literal["assumed", "unknown"]

    def shake(self, name: str, found: Property) -> Property:
        """A property under this doubt. What is said of the model stays."""
        if name.startswith("model.") or not found.known:
            return found
        own = bool(found.because) and all(reason.kind in OWN_WORDS for reason in found.because)
        doubt = Reason("assumption", "", None, self.text)
        if not own and self.derived == "unknown":
            return Property(None, "unknown", (doubt, *found.because))
        return Property(found.value, "assumed", (*found.because, doubt))


def doubts(opened: bool, facts: Facts) -> Iterator[Doubt]:
    """The doubts about a launch in a release. `opened` says that the command line has words which are not known."""
    if opened:
        yield Doubt("the command line holds words that are not known, which may set it", "unknown")
    if facts.unread_rules:
        names = ", ".join(facts.unread_rules)
        yield Doubt(f"{names} of {facts.version} may read the command line differently", "assumed")
