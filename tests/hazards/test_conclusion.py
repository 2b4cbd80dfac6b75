from __future__ import annotations

from dataclasses import replace

import pytest

from bot.hazards.conclusion import at_least, compare, conclusion, improved, worse, worsened
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


@pytest.mark.parametrize(
    ("before", "level"),
    [
        (made(), "notice"),
        (made("reachable", "warning"), "notice"),
        (made("mitigated", "folded"), "notice"),
    ],
)
def test_what_cannot_be_resolved_any_more_is_undecided_and_not_fixed(before: Finding, level: Level) -> None:
    found = compare([before, made(cause="other")], [], is_lost=lambda finding: finding.cause == "")
    assert [finding.cause for finding in found.fixed] == ["other"]
    ((_, after),) = found.changed
    assert (after.identity, after.status, after.level) == (before.identity, "unknown", level)
    assert after.missing
    assert not improved(before, after)
    assert conclusion(found) == "success"


def test_what_was_undecided_stays_so_when_it_cannot_be_resolved_any_more() -> None:
    before = made("unknown", "notice")
    assert compare([before], [], is_lost=lambda _: True).unchanged[0].identity == before.identity


@pytest.mark.parametrize("swap", [False, True])
def test_of_one_identity_the_worse_status_counts_before_the_level(swap: bool) -> None:
    reachable, active = made("reachable", "error"), made("active", "warning")
    assert worse(*((active, reachable) if swap else (reachable, active))) is active
    assert worse(made(level="warning"), made()).level == "error"


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
