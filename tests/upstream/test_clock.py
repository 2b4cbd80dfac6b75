"""Timelines of one fix, from recorded facts to states."""

from __future__ import annotations

import pytest

from tests.upstream.timeline import (
    REFERENCE,
    TITLE,
    Fact,
    N,
    branch,
    clock,
    commit,
    contains,
    fix,
    probe,
    pull,
    revert,
    sha,
    supersedes,
    tag,
)

RELEASE = "releases/v0.28.0"
PINNED, NOT, UNKNOWN = "pinned", "not-pinned", "unknown"
BY = 50100
RELAND = f"[Re-land] {TITLE} (#{BY + 1})"
REVERT_TITLE = f'Revert "{TITLE} (#{N})"'
PICK = commit("pick", 1, f"{TITLE} (#{N})", f"(cherry picked from commit {sha('fix')})", branch=RELEASE)
CUT = branch(RELEASE, 5)
ISSUE: Fact = {"kind": "issue", "number": N, "state": "closed", "closed_at": "2026-06-01T00:00:00Z"}

CASES: dict[str, tuple[list[Fact], dict[str, str], str]] = {
    "open": ([pull(state="open"), tag("v0.28.0", 20)], {"v0.28.0": NOT}, "open"),
    "open, and the pin is no known tag": ([pull(state="open")], {"v0.28.0": NOT}, "open"),
    "open, and the pin floats": ([pull(state="open")], {"latest": UNKNOWN}, "open"),
    "merged after the tag": ([pull(), fix(30), tag("v0.28.0", 20)], {"v0.28.0": NOT}, "merged"),
    "merged, in a candidate only": ([pull(), fix(), tag("v0.28.0rc1", 20)], {"v0.27.0": UNKNOWN}, "merged"),
    "a pin of the candidate": ([pull(), fix(), tag("v0.28.0rc1", 20)], {"v0.28.0rc1": PINNED}, "pinned"),
    "released, not pinned": (
        [pull(), fix(), tag("v0.28.0", 20), tag("v0.27.1", 5)],
        {"v0.27.1": NOT},
        "released",
    ),
    "squashed and in the tag": ([pull(), fix(), tag("v0.28.0", 20)], {"v0.28.0": PINNED}, "pinned"),
    "the pin without a v": ([pull(), fix(), tag("v0.28.0", 20)], {"0.28.0": PINNED}, "pinned"),
    "the pin with a flavour": ([pull(), fix(), tag("v0.28.0", 20)], {"v0.28.0-cu129": PINNED}, "pinned"),
    "the pin as an image": ([pull(), fix(), tag("v0.28.0", 20)], {"vllm/vllm-openai:v0.28.0": PINNED}, "pinned"),
    "a community image": ([pull(), fix(), tag("v0.28.0", 20)], {"ghcr.io/x/vllm:v0.28.0": UNKNOWN}, "released"),
    "the commit of the tag itself": ([pull(), fix(20), tag("v0.28.0", 20)], {"v0.28.0": PINNED}, "pinned"),
    "a tag placed by its hash": (
        [pull(), fix(), commit("head", 12, "Other (#1)"), tag("v0.28.0", None, None, of="head")],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "a nightly of a later commit": (
        [pull(), fix(), commit("night", 12, "Other (#1)")],
        {f"nightly-{sha('night')}": PINNED},
        "pinned",
    ),
    "a nightly of an earlier commit": (
        [pull(), fix(), commit("night", 8, "Other (#1)")],
        {f"nightly-{sha('night')}": NOT},
        "merged",
    ),
    "a nightly of a commit nobody recorded": ([pull(), fix()], {f"nightly-{sha('night')}": UNKNOWN}, "merged"),
    "cut before, not picked": ([pull(), fix(), CUT, tag("v0.28.0", 3, RELEASE)], {"v0.28.0": NOT}, "merged"),
    "cut before, picked": ([pull(), fix(), CUT, PICK, tag("v0.28.0", 3, RELEASE)], {"v0.28.0": PINNED}, "pinned"),
    "picked after the tag": ([pull(), fix(), CUT, PICK, tag("v0.28.0", 0, RELEASE)], {"v0.28.0": NOT}, "merged"),
    "picked, where the branch was cut is not recorded": (
        [pull(), fix(), PICK, tag("v0.28.0", 3, RELEASE)],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "where the branch was cut is not recorded": (
        [pull(), fix(), tag("v0.28.0", 3, RELEASE)],
        {"v0.28.0": UNKNOWN},
        "merged",
    ),
    "picked by hash under another title": (
        [
            pull(),
            fix(),
            CUT,
            commit("pick", 1, "Backport the flag", f"(cherry picked from commit {sha('fix')})", RELEASE),
            tag("v0.28.0", 3, RELEASE),
        ],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "picked under a number of its own": (
        [
            pull(),
            fix(),
            CUT,
            commit("pick", 1, f"[Cherry-pick] {TITLE} (#{N}) (#50200)", branch=RELEASE),
            tag("v0.28.0", 3, RELEASE),
        ],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "picked to the branch, never merged on main": (
        [pull(state="open"), CUT, PICK, tag("v0.28.0", 3, RELEASE)],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "a follow-up names it": (
        [pull(), fix(30), commit("later", 12, f"Test the flag of (#{N}) (#50200)"), tag("v0.28.0", 20)],
        {"v0.28.0": NOT},
        "merged",
    ),
    "merged into another branch": (
        [pull(), fix(10, "feature/flags"), tag("v0.28.0", 20)],
        {"v0.28.0": NOT},
        "merged",
    ),
    "merged, and nobody knows where": ([pull(), tag("v0.28.0", 20)], {"v0.28.0": UNKNOWN}, "merged"),
    "an ancestor": ([pull(), contains("v0.28.0", True)], {"v0.28.0": PINNED}, "pinned"),
    "no ancestor": ([pull(), contains("v0.28.0", False)], {"v0.28.0": NOT}, "merged"),
    "no ancestor, but picked": (
        [pull(), fix(), contains("v0.28.0", False), CUT, PICK, tag("v0.28.0", 3, RELEASE)],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "an ancestor, and a revert somewhere": (
        [pull(), fix(), revert(), contains("v0.28.0", True)],
        {"v0.28.0": UNKNOWN},
        "reverted",
    ),
    "an ancestor of nothing that was merged": (
        [pull(state="open"), contains("v0.28.0", True)],
        {"v0.28.0": UNKNOWN},
        "open",
    ),
    "reverted before the tag": ([pull(), fix(), revert(), tag("v0.28.0", 20)], {"v0.28.0": NOT}, "reverted"),
    "reverted after the tag": ([pull(), fix(), revert(25), tag("v0.28.0", 20)], {"v0.28.0": PINNED}, "pinned"),
    "reverted on main only": (
        [pull(), fix(3), CUT, revert(15), tag("v0.28.0", 3, RELEASE)],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "reverted on the release branch only": (
        [pull(), fix(3), CUT, revert(2, RELEASE), tag("v0.28.0", 3, RELEASE), tag("v0.29.0", 40)],
        {"v0.28.0": NOT, "v0.29.0": PINNED},
        "reverted",
    ),
    "reverted on the release branch after the tag": (
        [pull(), fix(3), CUT, revert(4, RELEASE), tag("v0.28.0", 3, RELEASE), tag("v0.28.1", 5, RELEASE)],
        {"v0.28.0": PINNED, "v0.28.1": NOT},
        "reverted",
    ),
    "reverted by hash alone": (
        [
            pull(),
            fix(),
            commit("r", 15, "Undo the flag (#50100)", f"This reverts commit {sha('fix')[:10]}."),
            tag("v0.28.0", 20),
        ],
        {"v0.28.0": NOT},
        "reverted",
    ),
    "reverted by number in the message": (
        [
            pull(),
            fix(),
            commit("r", 15, "[Revert] the flag (#50100)", f"Reverts vllm-project/vllm#{N}"),
            tag("v0.28.0", 20),
        ],
        {"v0.28.0": NOT},
        "reverted",
    ),
    "reverted by number in the title": (
        [pull(), fix(), commit("r", 15, f"Revert #{N} (#50100)"), tag("v0.28.0", 20)],
        {"v0.28.0": NOT},
        "reverted",
    ),
    "reverted by its title without a number": (
        [pull(), fix(), commit("r", 15, f'Revert "{TITLE}" (#50100)'), tag("v0.28.0", 20)],
        {"v0.28.0": NOT},
        "reverted",
    ),
    "reverted by hand with its own number": (
        [pull(), fix(), commit("r", 15, f'Revert "{TITLE}" (#{N})'), tag("v0.28.0", 20)],
        {"v0.28.0": NOT},
        "reverted",
    ),
    "a part reverted": (
        [pull(), fix(), commit("r", 15, f"Partially revert #{N} (#50100)"), tag("v0.28.0", 20)],
        {"v0.28.0": UNKNOWN},
        "merged",
    ),
    "something else reverted": (
        [
            pull(),
            fix(),
            commit("r", 15, 'Revert "Other (#40000)" (#50100)', f"This reverts commit {sha('other')}."),
            tag("v0.28.0", 20),
        ],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "an open revert": (
        [pull(), fix(), pull(BY, "open", None, REVERT_TITLE), tag("v0.28.0", 20)],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "a closed revert": (
        [pull(), fix(), pull(BY, "closed", None, REVERT_TITLE), tag("v0.28.0", 20)],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "a merged revert that nobody placed": (
        [pull(), fix(), pull(BY, "merged", "revert", REVERT_TITLE), tag("v0.28.0", 20)],
        {"v0.28.0": UNKNOWN},
        "reverted",
    ),
    "a revert under a title of its own, known by its pull request": (
        [
            pull(),
            fix(),
            pull(BY, "merged", "r", REVERT_TITLE),
            commit("r", 15, f"Back to before (#{BY})"),
            tag("v0.28.0", 20),
        ],
        {"v0.28.0": NOT},
        "reverted",
    ),
    "the revert reverted": (
        [
            pull(),
            fix(),
            revert(),
            commit("again", 17, f'Revert "{REVERT_TITLE} (#{BY})" (#50101)', f"This reverts commit {sha('revert')}."),
            tag("v0.28.0", 20),
        ],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "the revert reverted after the tag": (
        [pull(), fix(), revert(), commit("again", 27, f'Revert "{REVERT_TITLE} (#{BY})" (#50101)'), tag("v0.28.0", 20)],
        {"v0.28.0": NOT},
        "re-landed",
    ),
    "reverted three times": (
        [
            pull(),
            fix(),
            revert(),
            commit("again", 16, f'Revert "{REVERT_TITLE} (#{BY})" (#50101)'),
            commit("third", 17, f'Revert "Revert "{REVERT_TITLE} (#{BY})" (#50101)" (#50102)'),
            tag("v0.28.0", 20),
        ],
        {"v0.28.0": NOT},
        "reverted",
    ),
    "landed again, not released": (
        [pull(), fix(), revert(), commit("again", 30, RELAND), tag("v0.28.0", 8)],
        {"v0.28.0": NOT},
        "re-landed",
    ),
    "released before the revert, landed again, not released since": (
        [pull(), fix(), revert(), commit("again", 30, RELAND), tag("v0.27.0", 12), tag("v0.28.0", 20)],
        {"v0.28.0": NOT},
        "re-landed",
    ),
    "landed again, released, not pinned": (
        [pull(), fix(), revert(), commit("again", 30, RELAND), tag("v0.28.0", 20), tag("v0.29.0", 40)],
        {"v0.28.0": NOT},
        "released",
    ),
    "landed again, pinned": (
        [pull(), fix(), revert(), commit("again", 17, RELAND), tag("v0.28.0", 20)],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "landed again and reverted again": (
        [
            pull(),
            fix(),
            revert(),
            commit("again", 17, RELAND),
            commit("r2", 18, f'Revert "{RELAND}" (#50102)'),
            tag("v0.28.0", 20),
        ],
        {"v0.28.0": NOT},
        "reverted",
    ),
    "reapplied": (
        [pull(), fix(), revert(), commit("again", 17, f'Reapply "{TITLE} (#{N})" (#{BY + 1})'), tag("v0.28.0", 20)],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "closed unmerged": ([pull(state="closed"), tag("v0.28.0", 20)], {"v0.28.0": NOT}, "closed-unmerged"),
    "superseded, the other one is open": (
        [pull(state="closed"), supersedes("#45295"), pull(45295, "open", None, "General fix"), tag("v0.28.0", 20)],
        {"v0.28.0": NOT},
        "superseded",
    ),
    "superseded, the other one is in the tag": (
        [pull(state="closed"), supersedes("#45295"), commit("x", 10, "General fix (#45295)"), tag("v0.28.0", 20)],
        {"v0.28.0": UNKNOWN},
        "superseded",
    ),
    "superseded, and probed": (
        [pull(state="closed"), supersedes("#45295"), commit("x", 10, "General fix (#45295)"), probe("v0.28.0", True)],
        {"v0.28.0": PINNED},
        "superseded",
    ),
    "an issue closed without a fix": ([ISSUE, tag("v0.28.0", 20)], {"v0.28.0": UNKNOWN}, "closed-unmerged"),
    "an issue closed, and the defect is there": ([ISSUE, probe("v0.28.0", False)], {"v0.28.0": NOT}, "closed-unmerged"),
    "an issue closed, and the defect is gone": ([ISSUE, probe("v0.28.0", True)], {"v0.28.0": PINNED}, "pinned"),
    "an issue that a commit closes": (
        [ISSUE, commit("x", 10, "Fix it (#50300)", f"Fixes #{N}"), tag("v0.28.0", 20)],
        {"v0.28.0": UNKNOWN},
        "merged",
    ),
    "an open issue": ([{**ISSUE, "state": "open"}, tag("v0.28.0", 20)], {"v0.28.0": NOT}, "open"),
    "the probe decides against the history": (
        [pull(), fix(), tag("v0.28.0", 20), probe("v0.28.0", False)],
        {"v0.28.0": NOT},
        "merged",
    ),
    "the probe decides for it": (
        [pull(state="open"), tag("v0.28.0", 20), probe("v0.28.0", True)],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "the probe can't tell": (
        [pull(), fix(), tag("v0.28.0", 20), probe("v0.28.0", None)],
        {"v0.28.0": UNKNOWN},
        "merged",
    ),
    "two probes disagree": (
        [pull(), fix(), tag("v0.28.0", 20), probe("v0.28.0", True), probe("v0.28.0", False)],
        {"v0.28.0": UNKNOWN},
        "merged",
    ),
    "the probe of another release": (
        [pull(), fix(), tag("v0.28.0", 20), probe("v0.29.0", False)],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "its target is gone": (
        [pull(state="open"), probe("v0.28.0", None, "the function is gone")],
        {"v0.28.0": NOT},
        "dead-target",
    ),
    "the tag stands in two places": (
        [pull(), fix(), tag("v0.28.0", 20), tag("v0.28.0", 5)],
        {"v0.28.0": UNKNOWN},
        "merged",
    ),
    "a pin moved back": (
        [pull(), fix(), tag("v0.28.0", 20), tag("v0.27.1", 5)],
        {"v0.27.1": NOT},
        "released",
    ),
    "an ancestor whose merge is not recorded, on a known way": (
        [pull(), contains("v0.28.0", True), tag("v0.28.0", 20), commit("x", 5, "Other (#1)")],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "an ancestor whose merge is not recorded, and a revert on the way": (
        [pull(), contains("v0.28.0", True), tag("v0.28.0", 20), revert()],
        {"v0.28.0": NOT},
        "reverted",
    ),
    "an ancestor, says the answer, but not the recorded way": (
        [pull(), fix(30), contains("v0.28.0", True), tag("v0.28.0", 20)],
        {"v0.28.0": UNKNOWN},
        "merged",
    ),
    "several picked at once": (
        [
            pull(),
            fix(),
            CUT,
            commit("pick", 1, f"[Release] Cherry-pick #41000 and #{N} into 0.28 (#50200)", branch=RELEASE),
            tag("v0.28.0", 3, RELEASE),
        ],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "a follow-up that names it is picked": (
        [
            pull(),
            fix(),
            CUT,
            commit("pick", 1, f"[Cherry-pick] Fix what #{N} broke (#50190) (#50200)", branch=RELEASE),
            tag("v0.28.0", 3, RELEASE),
        ],
        {"v0.28.0": NOT},
        "merged",
    ),
    "a follow-up that names it in brackets is picked": (
        [
            pull(),
            fix(),
            CUT,
            commit("pick", 1, f"[Cherry-pick] Test the flag of (#{N}) (#50190) (#50200)", branch=RELEASE),
            tag("v0.28.0", 3, RELEASE),
        ],
        {"v0.28.0": NOT},
        "merged",
    ),
    "a revert picked to the release branch, landed again on main": (
        [
            pull(),
            fix(3),
            CUT,
            revert(15),
            commit("p", 1, REVERT_TITLE, f"(cherry picked from commit {sha('revert')})", RELEASE),
            commit("again", 17, RELAND),
            tag("v0.28.0", 3, RELEASE),
        ],
        {"v0.28.0": NOT},
        "re-landed",
    ),
    "landed again under both numbers": (
        [pull(), fix(), revert(), commit("again", 17, f"[Reland] Other words (#{N}) (#50101)"), tag("v0.28.0", 20)],
        {"v0.28.0": PINNED},
        "pinned",
    ),
    "nothing known": ([], {"v0.28.0": UNKNOWN}, "unknown"),
    "a commit alone": ([fix(), tag("v0.28.0", 20)], {"v0.28.0": PINNED}, "pinned"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_timeline(name: str) -> None:
    facts, pins, state = CASES[name]
    found = clock(facts, *pins)
    assert {pin: answer.state for pin, answer in found.pins.items()} == pins, found
    assert found.state == state, found


@pytest.mark.parametrize("name", CASES)
def test_every_answer_has_its_evidence(name: str) -> None:
    facts, pins, _ = CASES[name]
    assert all(answer.evidence for answer in clock(facts, *pins).pins.values())


def test_the_first_release_is_the_lowest_version_whenever_it_was_made() -> None:
    old = branch("releases/v0.19.1", 5)
    pick = commit("pick", 9, f"{TITLE} (#{N})", branch="releases/v0.19.1")
    facts = [pull(), fix(), old, pick, tag("v0.20.0", 20), tag("v0.19.1", 3, "releases/v0.19.1")]
    assert clock(facts).first_release == "v0.20.0"
    assert clock([*facts, tag("v0.19.2", 12, "releases/v0.19.1")]).first_release == "v0.19.2"


def test_no_first_release_while_a_lower_one_is_unknown() -> None:
    found = clock([pull(), fix(), tag("v0.20.0", 20), tag("v0.19.2", 12, "releases/v0.19.1")], "v0.20.0")
    assert (found.state, found.first_release) == ("pinned", None)


def test_a_post_release_is_a_release_and_a_candidate_is_none() -> None:
    found = clock([pull(), fix(), tag("v0.28.0rc2", 11), tag("v0.28.0", 8), tag("v0.28.0.post1", 14)], "v0.28.0")
    assert (found.state, found.first_release) == ("released", "v0.28.0.post1")


def test_who_reverted_it_and_what_superseded_it() -> None:
    assert clock([pull(), fix(), revert()]).reverted_by == f"vllm-project/vllm#{BY}"
    assert clock([pull(state="closed"), supersedes("vllm#45295")]).superseded_by == "vllm-project/vllm#45295"
    by_hand = commit("r", 15, "Undo the flag", f"This reverts commit {sha('fix')}.")
    assert clock([pull(), fix(), by_hand]).reverted_by == sha("r")


def test_a_revert_that_is_itself_the_fix() -> None:
    title = 'Revert "Break everything (#40000)"'
    facts = [pull(title=title), commit("fix", 10, f"{title} (#{N})"), tag("v0.28.0", 20)]
    assert clock(facts, "v0.28.0").state == "pinned"


def test_a_disagreement_of_source_and_history_is_reported() -> None:
    facts = [pull(), fix(), tag("v0.28.0", 20), probe("v0.28.0", False, "never read")]
    answer = clock(facts, "v0.28.0").pins["v0.28.0"]
    assert answer.conflict is not None
    assert "history" in answer.conflict
    assert any("never read" in line for line in answer.evidence)
    assert clock([*facts[:3], probe("v0.28.0", True)], "v0.28.0").pins["v0.28.0"].conflict is None


def test_two_fixes_are_two_clocks() -> None:
    other = commit("other", 30, "Align sizes (#46324)")
    facts = [pull(), fix(), pull(46324, "merged", "other", "Align sizes"), other, tag("v0.28.0", 20)]
    assert clock(facts, "v0.28.0", reference=REFERENCE).state == "pinned"
    assert clock(facts, "v0.28.0", reference="vllm-project/vllm#46324").pins["v0.28.0"].state == "not-pinned"


def test_some_pins_have_it_and_some_do_not() -> None:
    facts = [pull(), fix(), tag("v0.28.0", 20), tag("v0.27.0", 5)]
    found = clock(facts, "v0.28.0", "v0.27.0", "latest")
    assert [answer.state for answer in found.pins.values()] == ["pinned", "not-pinned", "unknown"]
    assert found.state == "released"


def test_branches_and_tags_by_their_full_names() -> None:
    facts = [pull(), fix(10, "refs/heads/main"), branch(f"origin/{RELEASE}", 12, "origin/main")]
    found = clock([*facts, tag("refs/tags/v0.28.0", 1, f"refs/heads/{RELEASE}")], "v0.28.0")
    assert found.state == "pinned"


def test_a_hash_that_is_too_short_is_a_doubt() -> None:
    by_hand = commit("r", 15, "Back to normal", f"This reverts commit {sha('fix')[:5]}.")
    assert clock([pull(), fix(), by_hand, tag("v0.28.0", 20)], "v0.28.0").pins["v0.28.0"].state == UNKNOWN
