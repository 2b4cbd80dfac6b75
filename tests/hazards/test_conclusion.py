from __future__ import annotations

from dataclasses import replace

import pytest

from bot.hazards.conclusion import at_least, compare, conclusion, worsened
from bot.hazards.model import Finding, Level, Status, World


def made(status: Status = "active", level: Level = "error", cause: str = "", path: str = "a.yml") -> Finding:
    return Finding(
        rule="rule",
        title="",
        rule_level="error",
        level=level,
        status=status,
        evidence_grade="established",
        path=path,
        line=1,
        service="engine",
        slug=None,
        cause=cause,
        world=World({}),
        properties={},
        chain=(),
        message="",
        remedy="",
        evidence="",
        upstream=(),
    )


def test_matched_by_identity_never_by_text_or_line() -> None:
    moved = replace(made(), line=99, message="said otherwise", slug="new")
    found = compare([made()], [moved])
    assert found.unchanged == (moved,)
    assert (found.introduced, found.changed, found.fixed) == ((), (), ())


def test_introduced_and_fixed_are_by_cause() -> None:
    found = compare([made(cause="A")], [made(cause="B")])
    assert [item.cause for item in found.introduced] == ["B"]
    assert [item.cause for item in found.fixed] == ["A"]


@pytest.mark.parametrize(
    ("before", "after", "worse"),
    [
        (made("reachable", "warning"), made("active", "error"), True),
        (made("active", "error"), made("reachable", "warning"), False),
        (made("active", "error"), made("unknown", "notice"), False),
        (made("active", "error"), made("mitigated", "folded"), False),
        (made("mitigated", "folded"), made("unknown", "notice"), True),
        (made("active", "warning"), made("active", "error"), True),
    ],
)
def test_another_status_or_level_is_a_change_and_never_a_fix(before: Finding, after: Finding, worse: bool) -> None:
    found = compare([before], [after])
    assert found.changed == ((before, after),)
    assert found.fixed == ()
    assert worsened(before, after) is worse


def test_a_file_that_cannot_be_resolved_any_more_fixes_nothing() -> None:
    found = compare([made()], [], unresolved={"a.yml"})
    assert found.fixed == ()
    assert found.lost == (made(),)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([], [], "success"),
        ([made()], [made()], "success"),
        ([], [made()], "failure"),
        ([], [made(level="warning")], "neutral"),
        ([], [made("unknown", "notice")], "success"),
        ([made()], [], "success"),
        ([made("reachable", "warning")], [made()], "failure"),
        ([made("mitigated", "folded")], [made("reachable", "warning")], "neutral"),
        ([made()], [made("reachable", "warning")], "success"),
        ([made(cause="A")], [made(cause="A"), made(level="warning", cause="B")], "neutral"),
    ],
)
def test_conclusion(before: list[Finding], after: list[Finding], expected: str) -> None:
    assert conclusion(compare(before, after)) == expected


def test_thresholds() -> None:
    assert at_least("error", "warning")
    assert at_least("notice", "notice")
    assert not at_least("folded", "notice")
    assert not at_least("error", "never")
