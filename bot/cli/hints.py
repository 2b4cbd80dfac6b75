"""What was perhaps meant by a word that nobody knows."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

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


def unread(given: Iterable[str], read: Iterable[str], texts: Iterable[str]) -> Iterator[str]:
    """A sentence for each host variable that is given and that no text of a project names.

    `read` are the variables that are asked for, from which the nearest is named.
    """
    names, whole = sorted(set(read)), list(texts)
    for name in given:
        if not name.startswith(_OF_COMPOSE) and not any(_names(name, text) for text in whole):
            yield f"--env {name}: nothing reads it; {near(name, names, 'what is read:')}"


_OF_COMPOSE = ("COMPOSE_", "DOCKER_")
"""Variables that Docker Compose itself reads."""


def _names(name: str, text: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", text) is not None


def _close(word: str, names: list[str]) -> list[str]:
    lower, written = word.lower(), {name.lower(): name for name in reversed(names)}
    parts = [name for name in names if lower and lower in name.lower()]
    spelt = [written[name] for name in difflib.get_close_matches(lower, written, 1)]
    return list(dict.fromkeys([*spelt, *parts]))[:MAX_HINTS]
