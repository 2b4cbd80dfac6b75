"""What a repository's prose says about the engines that it ships."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.provenance import Position

ClaimKind = Literal["property", "release", "image", "absent"]
"""What a claim is about: a property of the engine, the release or the image that runs, an option that is not given."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement about what runs by default, tied to a value and to a place.

    `subject` is the property's name, or the option's (`kv_cache_dtype`) for `absent`; empty for a release or an image.
    `value` is what is claimed, in the form in which the resolver would give it; `approximate` when it is said to be
    about that. `words` are those that say so, from `position` to the column `end` (exclusive) of its line; `sentence`
    is the statement that they stand in, shortened. `about` are the composes that the statement names: their paths, and
    slugs as they are written; empty when it speaks of the services that it stands with.
    """

    kind: ClaimKind
    subject: str
    value: str | int | bool | None
    words: str
    sentence: str
    position: Position
    end: int
    approximate: bool = False
    about: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """What tells the claim from others about the same service: what it says, never where or in which words."""
        return f"{self.subject or self.kind}={'none' if self.value is None else self.value}"
