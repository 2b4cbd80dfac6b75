"""What was read of a boot log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.engine.model import Value

RELEASE = "release"
"""The name under which a log says the engine's version; all other names are properties."""


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that the engine said of itself: the value of a property, on `line` (from 1) of the log. `fact` names
    the pattern in `rules/bootlog.yml` that the line fits. Nothing else of the line is kept: logs hold secrets.
    """

    value: Value
    line: int
    fact: str


@dataclass(frozen=True, slots=True)
class BootLog:
    """What one engine said in its last boot.

    `said` is by property, and `release` for the version. `container` is the name that Docker Compose puts before the
    lines, empty without one; `model` and `served` are the model and the names that it is served under (of several, a
    log may say the first alone), empty where the log does not say them. `lines` counts the lines that are the engine's
    at all.
    """

    container: str
    said: Mapping[str, Said]
    model: str = ""
    served: tuple[str, ...] = ()
    port: int | None = None
    lines: int = 0
    doubts: Mapping[str, str] = field(default_factory=dict)
    """Properties that the log says in two ways, and why neither counts."""
    numbers: Mapping[str, int | float] = field(default_factory=dict)
    """The given arguments that are numbers or switches, by name: they tell composes of one model apart, and are no
    secrets."""

    @property
    def nameless(self) -> bool:
        """Whether it says nothing by which a service is called."""
        return not (self.container or self.model or self.served) and self.port is None
