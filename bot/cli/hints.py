"""What was perhaps meant by a word that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MAX_HINTS = 3


def near(word: str, known: Iterable[str], otherwise: str) -> str:
    """The known words that are nearest, else all of them behind `otherwise`."""
    names = list(known)
    close = _close(word, names)
    return f"did you mean {' or '.join(close)}?" if close else f"{otherwise} {', '.join(sorted(names)) or 'none'}"


def no_service(path: str, service: str, known: Iterable[str]) -> str:
    """That a compose has no such service, and which it has."""
    names = list(known)
    close = _close(service, names)
    hint = f" (did you mean {' or '.join(close)}?)" if close else ""
    return f"{path}: no service {service!r}; it has {', '.join(names)}{hint}"


def _close(word: str, names: list[str]) -> list[str]:
    lower = word.lower()
    parts = [name for name in names if lower and lower in name.lower()]
    return list(dict.fromkeys([*difflib.get_close_matches(lower, names, 1), *parts]))[:MAX_HINTS]
