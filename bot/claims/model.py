"""What a repository's prose says about the engines that it ships."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.provenance import Position

ClaimKind = Literal["property", "release", "image", "absent", "default", "overlay", "nightly", "folder"]
"""What a claim is about: a property of the engine, the release or the image that runs, an option that is not given,
the value of a variable that nobody sets, a vendored patch, that the image is a nightly build, the folder of weights.
"""

MAX_SENTENCE = 180
"""Characters of a statement that a finding quotes."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement about what runs by default, tied to a value and to a place.

    `subject` is the property's name, or the option's (`kv_cache_dtype`) for `absent`, the variable's for
    `default`, the number of the upstream change (`#12345`, or `any`) for `overlay`; empty for the other kinds.
    `value` is what is claimed, in the form in which the resolver would give it; `approximate` when it is said to be
    about that. `words` are those that say so, from `position` to the column `end` (exclusive) of its line; `sentence`
    is the statement that they stand in, shortened. `about` are the composes that the statement names: their paths, and
    slugs as they are written; empty when it speaks of the services that it stands with. `setting` is the variable, and
    its value, with which it is said to be so; None for the default. `spelt` are the columns (the last exclusive)
    between which the value itself stands, where another one could be written there and the statement would be right;
    None where it says more that hangs on the value, or says it otherwise.
    """

    kind: ClaimKind
    subject: str
    value: str | int | float | bool | None
    words: str
    sentence: str
    position: Position
    end: int
    approximate: bool = False
    about: tuple[str, ...] = ()
    setting: tuple[str, str] | None = None
    spelt: tuple[int, int] | None = None

    @property
    def identity(self) -> str:
        """What tells the claim from others about the same service: what it says, never where or in which words."""
        if self.kind == "overlay":
            return f"overlay {self.subject}={'here' if self.value else 'none'}"
        said = f"{self.subject or self.kind}={'none' if self.value is None else self.value}"
        return f"{said} with {self.setting[0]}={self.setting[1]}" if self.setting else said


def shortened(sentence: str) -> str:
    """A statement as a finding quotes it."""
    return sentence if len(sentence) <= MAX_SENTENCE else f"{sentence[: MAX_SENTENCE - 1]}…"
