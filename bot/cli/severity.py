"""Which finding a reader should see first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from bot.hazards import Finding

T = TypeVar("T")

_LEVELS = ("error", "warning", "notice", "folded")
_STATUSES = ("active", "reachable", "unknown", "mitigated")


def worst_first(items: Iterable[T], finding_of: Callable[[T], Finding]) -> list[T]:
    """By level, then by how sure it is that the default world has it, then by place."""

    def rank(item: T) -> tuple[int, int, str, int, str]:
        finding = finding_of(item)
        return (
            _LEVELS.index(finding.level),
            _STATUSES.index(finding.status),
            finding.path,
            finding.line,
            finding.rule,
        )

    return sorted(items, key=rank)
