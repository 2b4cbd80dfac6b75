"""Titles and messages of commits, as people write them."""

from __future__ import annotations

import pytest

from bot.upstream.titles import (
    closed_issues,
    picked_commits,
    read_title,
    relanded_pulls,
    reverted_commits,
    reverted_pulls,
    same_title,
)


@pytest.mark.parametrize(
    ("title", "verb", "numbers", "quoted", "named"),
    [
        ("[Bugfix] Bound it (#50021)", "none", (50021,), None, ()),
        ("Bound it (#50021) (#50200)", "none", (50021, 50200), None, ()),
        ("Bound it (vllm-project/vllm#50021)", "none", (50021,), None, ()),
        ('Revert "Bound it (#50021)" (#50100)', "revert", (50100,), "Bound it (#50021)", ()),
        ('[CI/Build] Revert "Bound it (#50021)" (#50100)', "revert", (50100,), "Bound it (#50021)", ()),
        ("Bugfix: revert 'Bound it' (#50100)", "revert", (50100,), "Bound it", ()),
        ("[Revert] Bound it (#50100)", "revert", (50100,), "Bound it", ()),
        ("Revert #50021 (#50100)", "revert", (50100,), None, (50021,)),
        ("Revert PR 50021 (#50100)", "revert", (50100,), None, (50021,)),
        ("[Model] Revert Bound it (#50021) (#50100)", "revert", (50100,), "Bound it", (50021,)),
        ("Temporarily revert #50021 (#50100)", "revert", (50100,), None, (50021,)),
        ("Revert the revert of #50021 (#50100)", "reland", (50100,), None, (50021,)),
        ('Revert "Revert "Bound it (#1)" (#2)" (#3)', "revert", (3,), 'Revert "Bound it (#1)" (#2)', ()),
        ('Reapply "Bound it (#1)" (#3)', "reland", (3,), "Bound it (#1)", ()),
        ("[Re-land] [Core] Bound it (#3)", "reland", (3,), "[Core] Bound it", ()),
        ("Reland of #1: bound it (#3)", "reland", (3,), "#1: bound it", (1,)),
        ("[Reland] Bound it (#1) (#3)", "reland", (3,), "Bound it", (1,)),
        ("Reland the queue on top of (#1) (#3)", "reland", (1, 3), "the queue on top of", ()),
        ("Reland the queue after #1 (#3)", "reland", (3,), "the queue after #1", ()),
        ("Bound it (reland) (#3)", "reland", (3,), "Bound it", ()),
        ("Repair what the revert of #1 left (#3)", "none", (3,), None, (1,)),
        ("Re-enable the test (#3)", "none", (3,), None, ()),
        ("Reversible layers (#3)", "none", (3,), None, ()),
    ],
)
def test_a_title(title: str, verb: str, numbers: tuple[int, ...], quoted: str | None, named: tuple[int, ...]) -> None:
    found = read_title(title)
    assert (found.verb, found.numbers, found.quoted) == (verb, numbers, quoted)
    assert set(named) <= set(found.named)
    assert named or not found.named


@pytest.mark.parametrize(
    ("title", "picked", "subject"),
    [
        ("[Cherry-pick] Bound it (#1) (#2)", True, "Bound it"),
        ("[cherry-pick][0.19] Bound it (#1)", True, "[0.19] Bound it"),
        ("[Bugfix] Cherry-pick: Bound it (#2)", True, "[Bugfix] Bound it"),
        ("Backport of Bound it (#2)", True, "Bound it"),
        ("Bound the cherry tree (#2)", False, "Bound the cherry tree"),
    ],
)
def test_a_pick(title: str, picked: bool, subject: str) -> None:
    found = read_title(title)
    assert (found.picked, found.subject) == (picked, subject)


def test_what_messages_say() -> None:
    assert reverted_commits("This reverts commit ABCDEF1234.\nThis reverts\ncommit 99") == ("abcdef1234", "99")
    assert reverted_pulls("Reverts vllm-project/vllm#12 and reverts #13, was reverted by #14") == (12, 13)
    assert reverted_pulls("Reverts https://github.com/vllm-project/vllm/pull/15") == (15,)
    assert relanded_pulls("Re-lands vllm-project/vllm#12; a reland of #13; not #14") == (12, 13)
    assert picked_commits("(cherry picked from commit 0123abc)") == ("0123abc",)
    assert closed_issues("Fixes #1, closes vllm-project/vllm#2, FIX #3 and see #4") == (1, 2, 3)


def test_one_title_or_two() -> None:
    assert same_title("Bound It ", "bound it")
    assert same_title("Bound the accepted-token indices in…", "Bound the accepted-token indices in the path")
    assert not same_title("Bound…", "Bound the accepted-token indices")
    assert not same_title("", "")
