"""An explicit value of the command line."""

from __future__ import annotations

from dataclasses import dataclass

from bot.provenance import Reason


@dataclass(frozen=True, slots=True)
class Setting:
    """An explicit value, its reasons, and the argument as it was written. The value may be `UNKNOWN`."""

    value: object
    because: tuple[Reason, ...]
    argument: str
