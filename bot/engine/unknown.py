"""The value of what is not known."""

from __future__ import annotations

from typing import Final


class Unknown:
    """The type of `UNKNOWN`. It has no truth value, so that it is never mistaken for one."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        raise TypeError("UNKNOWN is neither true nor false")


UNKNOWN: Final = Unknown()
"""The value of a setting whose word holds a symbol, or that an unknown word may have overridden."""
