from __future__ import annotations

import pytest

from bot.hazards.grading import level
from bot.hazards.model import Grade, Level, Status

STATUSES: tuple[Status, ...] = ("active", "reachable", "unknown", "mitigated")
TABLE: dict[tuple[Grade, bool], tuple[Level, Level, Level, Level]] = {
    ("established", False): ("error", "warning", "notice", "folded"),
    ("measured", False): ("error", "warning", "notice", "folded"),
    ("reported", False): ("warning", "notice", "notice", "folded"),
    ("reported", True): ("error", "warning", "notice", "folded"),
    ("contested", True): ("warning", "notice", "notice", "folded"),
    ("suspected", True): ("notice", "notice", "folded", "folded"),
}


@pytest.mark.parametrize(("grade", "silent"), list(TABLE))
def test_the_table_for_an_error(grade: Grade, silent: bool) -> None:
    assert tuple(level("error", grade, status, silent) for status in STATUSES) == TABLE[grade, silent]


@pytest.mark.parametrize(
    ("own", "grade", "status", "expected"),
    [
        ("warning", "established", "active", "warning"),
        ("warning", "established", "reachable", "notice"),
        ("warning", "reported", "active", "warning"),
        ("notice", "established", "active", "notice"),
        ("notice", "established", "reachable", "notice"),
        ("notice", "contested", "active", "notice"),
        ("folded", "established", "active", "folded"),
        ("folded", "contested", "active", "folded"),
        ("folded", "established", "unknown", "folded"),
    ],
)
def test_a_quieter_rule_is_never_made_louder(own: Level, grade: Grade, status: Status, expected: Level) -> None:
    assert level(own, grade, status, False) == expected
