"""Reconciliation: a plan says each thing once, and what is no longer true never."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.hazards import Finding
from bot.review import ConfigurationEdit, FileDiff, Limits, Links, Plan, Posted, Review, Suggestion, plan
from bot.review.marks import FindingMark, SummaryMark, key, read_mark
from tests.review.conversation import FILES, Conversation, finding, reviewed, shown

DIFFS = {path: shown(*range(1, 10)) for path in FILES}
LINKS = Links("https://github.com/acme/serving", "a" * 40, "https://seamguard.example/hazards")
HEAD = "a" * 40
LATER = "b" * 40
ONE = finding()
TWO = finding("dead-seam", "b.yml", 7, "X", "warning")


def _run(conversation: Conversation, *introduced: Finding, head: str = HEAD, **more) -> Plan:  # type: ignore[no-untyped-def]
    there = {name: more.pop(name) for name in ("unchanged", "undetermined") if name in more}
    made = plan(reviewed(introduced, DIFFS, **there), head, DIFFS, conversation.posted, links=LINKS.of(head), **more)
    conversation.carry_out(made)
    return made


def _state(conversation: Conversation, wanted: Finding) -> list[tuple[str, bool]]:
    return [(mark.state, item.minimised) for item, mark in conversation.threads() if mark.key == key(wanted)]


# What a first review says ---------------------------------------------------------------------------------------------


def test_a_first_review_comments_on_each_line_and_sums_up() -> None:
    there = Conversation()
    made = _run(there, ONE, TWO)
    assert [(new.path, new.line, new.side) for new in made.inline] == [("a.yml", 5, "RIGHT"), ("b.yml", 7, "RIGHT")]
    assert made.review_body.endswith("Introduces 1 error, 1 warning.")
    assert made.summary is not None
    assert made.summary.edit_id is None
    assert (made.edits, made.minimise, made.file_level) == ((), (), ())
    assert made.check.conclusion == "failure"


def test_what_introduces_nothing_gets_a_check_and_no_comment() -> None:
    made = _run(Conversation(), unchanged=[ONE])
    assert not made.writes
    assert made.check.conclusion == "success"


@pytest.mark.parametrize("silent", [finding(level="folded"), finding(status="unknown", level="notice")])
def test_what_is_folded_or_undecided_gets_no_comment(silent: Finding) -> None:
    assert not _run(Conversation(), silent).writes


def test_the_worst_findings_get_the_lines_and_the_rest_is_in_the_summary() -> None:
    many = [finding("unknown-flag", "a.yml", 5, f"flag{number}", "warning") for number in range(5)]
    made = plan(reviewed([*many, TWO, ONE], DIFFS), HEAD, DIFFS, [], Limits(inline=2))
    assert made.inline[0].key == key(ONE)
    assert len(made.inline) == 2
    assert made.summary is not None
    assert "Without a line of their own (5)" in made.summary.body


def test_a_finding_without_a_place_is_told_in_the_summary() -> None:
    made = plan(reviewed([ONE], {}), HEAD, {}, [])
    assert (made.inline, made.file_level) == ((), ())
    assert made.summary is not None
    assert "Take it out." in made.summary.body


def test_a_file_without_a_patch_gets_a_comment_on_the_file() -> None:
    diffs = {"a.yml": FileDiff(frozenset(), frozenset())}
    made = plan(reviewed([ONE], diffs), HEAD, diffs, [])
    assert [(new.path, new.line) for new in made.file_level] == [("a.yml", None)]
    assert made.review_body == ""


def test_what_github_refuses_goes_to_the_file_and_then_to_the_summary() -> None:
    review = reviewed([ONE, TWO], DIFFS)
    on_file = plan(review, HEAD, DIFFS, [], refused={key(ONE): "line"})
    assert [new.key for new in on_file.inline] == [key(TWO)]
    assert [new.key for new in on_file.file_level] == [key(ONE)]
    there = Conversation()
    there.carry_out(on_file)
    assert not plan(review, HEAD, DIFFS, there.posted).writes
    nowhere = plan(review, HEAD, DIFFS, [], refused={key(ONE): "file"})
    assert [new.key for new in (*nowhere.inline, *nowhere.file_level)] == [key(TWO)]
    assert nowhere.summary is not None
    assert "Without a line of their own (1)" in nowhere.summary.body


def test_a_suggestion_stands_on_its_lines() -> None:
    diffs = {"a.yml": FileDiff(frozenset({3}), frozenset(range(1, 7)), frozenset(), (range(1, 7),))}
    review = reviewed([ONE], diffs)
    suggestion = Suggestion("a.yml", 4, 5, "      - ```")
    review = replace(review, comments=(replace(review.comments[0], suggestion=suggestion),))
    (new,) = plan(review, HEAD, diffs, []).inline
    assert (new.start_line, new.line) == (4, 5)
    assert new.body.endswith("````suggestion\n      - ```\n````")


def test_a_suggestion_across_hunks_is_left_out() -> None:
    diffs = {"a.yml": FileDiff(frozenset({4, 6}), frozenset({4, 6}), frozenset(), (range(4, 5), range(6, 7)))}
    review = reviewed([ONE], diffs)
    suggestion = Suggestion("a.yml", 4, 6, "x")
    review = replace(review, comments=(replace(review.comments[0], suggestion=suggestion),))
    (new,) = plan(review, HEAD, diffs, []).inline
    assert (new.start_line, new.line) == (None, 4)
    assert "suggestion" not in new.body


# What a further review does -------------------------------------------------------------------------------------------


def test_a_push_that_changes_nothing_edits_nothing() -> None:
    there = Conversation()
    _run(there, ONE, TWO)
    moved = [finding(one.rule, one.path, one.line + 1, one.cause, one.level) for one in (ONE, TWO)]
    made = _run(there, *moved, head=LATER)
    assert (made.inline, made.edits, made.minimise, made.review_body) == ((), (), (), "")
    assert there.reviews == 1


def test_a_comment_whose_text_changes_is_edited_in_place() -> None:
    there = Conversation()
    _run(there, ONE)
    made = _run(there, replace(ONE, message="The server hangs."), head=LATER)
    (edit,) = made.edits
    assert "The server hangs." in edit.body
    assert there.reviews == 1


def test_a_fixed_finding_says_so_with_the_commit_and_is_folded_away() -> None:
    there = Conversation()
    _run(there, ONE, TWO)
    made = _run(there, TWO, head=LATER)
    (edit,) = made.edits
    assert "**Fixed** as of [`bbbbbbb`](https://github.com/acme/serving/commit/bbbb" in edit.body
    assert "Title of unknown-flag" in edit.body
    assert [item.reason for item in made.minimise] == ["RESOLVED"]
    assert _state(there, ONE) == [("fixed", True)]
    assert not plan(reviewed([TWO], DIFFS), LATER, DIFFS, there.posted, links=LINKS.of(LATER)).writes


def test_the_summary_stays_when_everything_is_fixed() -> None:
    there = Conversation()
    _run(there, ONE)
    made = _run(there, head=LATER)
    assert made.summary is not None
    assert made.summary.edit_id == 2
    assert "introduces no hazard" in made.summary.body


def test_a_finding_that_comes_back_gets_a_new_comment() -> None:
    there = Conversation()
    _run(there, ONE)
    _run(there, head=LATER)
    _run(there, ONE, head="c" * 40)
    assert _state(there, ONE) == [("fixed", True), ("open", False)]


def test_what_the_base_has_too_is_no_longer_due_to_the_change() -> None:
    there = Conversation()
    _run(there, ONE)
    made = _run(there, head=LATER, unchanged=[ONE])
    assert "No longer due to this change" in made.edits[0].body


def test_what_nobody_can_tell_any_more_is_left_as_it_is() -> None:
    there = Conversation()
    _run(there, ONE)
    made = _run(there, head=LATER, undetermined=frozenset({"a.yml"}))
    assert (made.edits, made.minimise) == ((), ())
    assert _state(there, ONE) == [("open", False)]


def test_an_outdated_comment_is_folded_away_and_said_where_the_line_is_now() -> None:
    there = Conversation()
    _run(there, ONE)
    there.outdate(1)
    made = _run(there, ONE, head=LATER)
    assert [item.reason for item in made.minimise] == ["OUTDATED"]
    assert _state(there, ONE) == [("moved", True), ("open", False)]
    assert not _run(there, ONE, head=LATER).writes


def test_after_a_force_push_a_comment_points_at_the_new_commit() -> None:
    there = Conversation()
    _run(there, ONE)
    assert not _run(there, ONE, head=LATER, commits=[HEAD, LATER]).edits
    made = _run(there, ONE, head=LATER, commits=[LATER])
    (edit,) = made.edits
    assert f"/blob/{LATER}/a.yml" in edit.body
    assert (made.inline, made.minimise) == ((), ())
    assert not _run(there, ONE, head=LATER, commits=[LATER]).writes


def test_a_thread_with_a_persons_reply_is_marked_and_never_folded_away() -> None:
    there = Conversation()
    _run(there, ONE)
    there.answer(1)
    there.outdate(1)
    assert not _run(there, ONE, head=LATER).inline
    assert _state(there, ONE) == [("open", False)]
    _run(there, head="c" * 40)
    assert _state(there, ONE) == [("fixed", False)]
    _run(there, ONE, head="d" * 40)
    assert _state(there, ONE) == [("open", False)]


def test_a_comment_that_a_person_folded_away_is_not_written_again() -> None:
    there = Conversation()
    _run(there, ONE)
    there.hide(1)
    made = _run(there, replace(ONE, message="Other."), head=LATER)
    assert (made.inline, made.edits, made.minimise) == ((), (), ())


def test_of_two_comments_on_a_finding_one_is_folded_away() -> None:
    there = Conversation()
    first = plan(reviewed([ONE], DIFFS), HEAD, DIFFS, [], links=LINKS)
    there.carry_out(first)
    there.carry_out(first)
    _run(there, ONE)
    assert _state(there, ONE) == [("open", False), ("moved", True)]
    assert len(there.summaries()) == 1


def test_a_comment_without_a_mark_is_never_touched() -> None:
    mark = Conversation()
    _run(mark, ONE)
    quoted = f"> quoted\n{mark.posted[0].body}"
    others = [Posted(1, "N1", "review", quoted, path="a.yml", line=5), Posted(2, "N2", "issue", "Hello")]
    made = plan(reviewed([], DIFFS), HEAD, DIFFS, others)
    assert not made.writes


# The new configuration ------------------------------------------------------------------------------------------------


def test_a_faulty_new_configuration_gets_a_word() -> None:
    review = replace(reviewed([], DIFFS), configuration=ConfigurationEdit(((3, "unknown key '@evil'"),)))
    made = plan(review, HEAD, DIFFS, [], links=LINKS)
    assert made.summary is not None
    assert "`unknown key '@evil'`" in made.summary.body
    assert "this review did not use it" in made.summary.body


def test_a_sound_new_configuration_is_only_noted_in_the_check() -> None:
    review = replace(reviewed([], DIFFS), configuration=ConfigurationEdit())
    made = plan(review, HEAD, DIFFS, [], links=LINKS)
    assert not made.writes
    assert "this review did not use it" in made.check.summary


# Properties -----------------------------------------------------------------------------------------------------------

FINDINGS = [
    finding(rule, path, line, "", level)
    for rule, level in (("unknown-flag", "error"), ("dead-seam", "warning"), ("compose-broken", "notice"))
    for path, line in zip(FILES, (2, 5, 8), strict=True)
]


@dataclass(frozen=True)
class Head:
    """One push: what its review finds, which lines are in the diff, what happens before it is looked at."""

    review: Review
    diffs: dict[str, FileDiff]
    sha: str


@st.composite
def heads(draw: st.DrawFn) -> Head:
    chosen = draw(st.lists(st.sampled_from(FINDINGS), unique_by=key, max_size=6))
    told = [replace(one, message=draw(st.sampled_from(("It exits.", "It hangs.")))) for one in chosen]
    paths = draw(st.sets(st.sampled_from(FILES)))
    diffs = {path: shown(*draw(st.sets(st.integers(1, 9)))) for path in sorted(paths)}
    return Head(reviewed(told, diffs), diffs, draw(st.sampled_from("abcdef")) * 40)


LIMITS = Limits(inline=4)


def _plan(head: Head, there: Conversation) -> Plan:
    return plan(head.review, head.sha, head.diffs, there.posted, LIMITS, links=LINKS.of(head.sha))


@given(st.lists(st.tuples(heads(), st.integers(0, 30), st.integers(0, 20)), max_size=5), heads())
@settings(max_examples=150, deadline=None)
def test_however_the_runs_before_it_ended_the_last_one_decides_what_is_seen(
    runs: list[tuple[Head, int, int]], last: Head
) -> None:
    there, alone = Conversation(), Conversation()
    for head, steps, outdated in runs:
        there.carry_out(_plan(head, there), steps)
        if there.posted and there.posted[outdated % len(there.posted)].kind == "review":
            there.outdate(outdated % len(there.posted) + 1)
    there.carry_out(_plan(last, there))
    alone.carry_out(_plan(last, alone))
    assert there.speaking() == alone.speaking()
    visible = [(item.path, mark.spot) for item, mark in there.threads() if not item.minimised]
    assert all(mark.state == "open" for item, mark in there.threads() if not item.minimised)
    assert len(visible) <= LIMITS.inline
    if alone.summaries():
        assert len(there.summaries()) == 1
        assert _gist(there) == _gist(alone)
    assert not _plan(last, there).writes


def _gist(conversation: Conversation) -> str:
    mark = read_mark(conversation.summaries()[0])
    assert isinstance(mark, SummaryMark)
    return mark.gist


@given(st.lists(st.tuples(heads(), st.integers(0, 30)), max_size=5), st.data())
@settings(max_examples=100, deadline=None)
def test_what_a_person_said_or_folded_away_stays(runs: list[tuple[Head, int]], data: st.DataObject) -> None:
    there = Conversation()
    answered: set[int] = set()
    hidden: dict[int, str] = {}
    for head, steps in runs:
        there.carry_out(_plan(head, there), steps)
        open_ = [item.id for item, mark in there.threads() if mark.state == "open" and not item.minimised]
        if open_:
            number = data.draw(st.sampled_from(open_))
            if data.draw(st.booleans()):
                there.answer(number)
                answered.add(number)
            elif number not in answered:
                there.hide(number)
                hidden[number] = there.posted[number - 1].body
        there.carry_out(_plan(head, there))
        assert not _plan(head, there).writes
    assert not any(there.posted[number - 1].minimised for number in answered)
    assert all(there.posted[number - 1].body == body for number, body in hidden.items())


@given(heads())
@settings(max_examples=100, deadline=None)
def test_every_comment_on_a_line_is_in_the_diff(head: Head) -> None:
    made = _plan(head, Conversation())
    for new in made.inline:
        assert new.line in head.diffs[new.path].shown
        mark = read_mark(new.body)
        assert isinstance(mark, FindingMark)
        assert (mark.key, mark.sha) == (new.key, head.sha)
    for new in made.file_level:
        assert new.path in head.diffs
