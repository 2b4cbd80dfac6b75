"""Where a value came from.

Every stage passes its values on together with the reasons for them, so that a finding can show the way from
a line of a compose, through the entrypoint, to the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ReasonKind = Literal["compose", "shell", "engine-default", "catalog", "assumption"]


QUOTED = "it says: "
"""How a reason begins that quotes a sentence of a file, as it stands there."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a file of the repository. Lines and columns count from 1."""

    path: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Reason:
    """One link of a chain.

    `path` is relative to the repository, except for `engine-default`, where it is relative to the release's
    source tree (`vllm/engine/arg_utils.py`). `line` is None where a reason has no place (an assumption).
    `text` is what a person should read: the line itself, shortened, or a sentence.
    """

    kind: ReasonKind
    path: str
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Word:
    """A string that a program receives, and why.

    `lines` is set for text that may itself be read as a program: the file line of each line of `text`, all in
    `because[0].path`. `symbols` names the unknown values inside: `text` then holds `${NAME}` in their places and
    must not be read as a value. `splits` says that an unknown value stood unquoted, so that the process
    may get any number of words here.
    """

    text: str
    because: tuple[Reason, ...] = ()
    lines: tuple[int, ...] = ()
    symbols: tuple[str, ...] = ()
    splits: bool = False

    @property
    def known(self) -> bool:
        """Whether `text` is what the process gets."""
        return not self.symbols

    def __str__(self) -> str:
        return self.text
