"""What becomes of a claim that is held against what runs."""

from __future__ import annotations

from dataclasses import dataclass

from bot.provenance import Reason


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a claim: `agrees` None when that is not known. `actual` is what runs, and `because` why. `form`
    names the sentence in which a finding says so: empty for "`about` is `actual`, not `claimed`".
    """

    agrees: bool | None
    about: str = ""
    claimed: object = None
    actual: object = None
    because: tuple[Reason, ...] = ()
    form: str = ""

    @property
    def false(self) -> bool:
        """Whether resolution contradicts the claim."""
        return self.agrees is False


UNKNOWN = Verdict(None)
