"""What keeps the properties of an engine from being certain, whatever they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bot.engine.agreement import OWN_WORDS
from bot.engine.facts import Facts
from bot.engine.images import platform
from bot.engine.model import Pin, Property
from bot.provenance import Reason


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason for doubt: what it makes of derived values, and of those that the deployment sets itself."""

    text: str
    derived: Literal["assumed", "unknown"]
    own: Literal["certain", "assumed"]

    def shake(self, name: str, found: Property) -> Property:
        """A property under this doubt. What is said of the model stays."""
        if name.startswith("model.") or not found.known:
            return found
        own = bool(found.because) and all(reason.kind in OWN_WORDS for reason in found.because)
        outcome = self.own if own else self.derived
        if outcome == "certain":
            return found
        doubt = Reason("assumption", "", None, self.text)
        if outcome == "unknown":
            return Property(None, "unknown", (doubt, *found.because))
        return Property(found.value, "assumed", (*found.because, doubt))


def doubts(pin: Pin, opened: bool, facts: Facts) -> Iterator[Doubt]:
    """The doubts about a launch in a release. `opened` says that the command line has words which are not known."""
    if opened:
        yield Doubt("the command line holds words that are not known, which may set it", "unknown", "assumed")
    found = platform(pin.image)
    if found in ("cpu", "xpu"):
        yield Doubt(f"the image runs on {found}, and defaults are derived for CUDA only", "unknown", "certain")
    elif found != "cuda":
        yield Doubt(f"derived as for CUDA, and the image runs on {found}", "assumed", "certain")
    if facts.unread_rules:
        names = ", ".join(facts.unread_rules)
        yield Doubt(f"{names} of {facts.version} may read the command line differently", "assumed", "assumed")
