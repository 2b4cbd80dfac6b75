"""The check of a commit keeps within what GitHub takes, and says what it left out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.hazards import World
from bot.review import Limits, merge_group_check, nothing_to_review, unfinished
from bot.review.check import check
from bot.review.plan import plan
from bot.review.sections import Section, fitted
from tests.review.conversation import finding, reviewed, shown

DIFFS = {"a.yml": shown(5)}
SMALL = Limits(body=2_000, check=1_200, annotation=100)


def test_every_introduced_finding_is_an_annotation_the_worst_first() -> None:
    told = check(reviewed([finding(level="notice", status="unknown"), finding("x", level="warning"), finding("y")], {}))
    assert [note.level for note in told.annotations] == ["failure", "warning", "notice"]
    assert {(note.path, note.start_line, note.end_line) for note in told.annotations} == {("a.yml", 5, 5)}
    assert check(reviewed([finding(level="folded")], {})).annotations == ()


def test_an_annotation_is_plain_text_with_the_command_that_shows_the_hazard() -> None:
    reachable = replace(finding(status="reachable"), world=World({"X": "a b"}))
    (note,) = check(reviewed([reachable], {})).annotations
    assert "Only when it is started with: X='a b' docker compose -f a.yml up engine" in note.message
    assert "What to do: Take it out." in note.message


@pytest.mark.parametrize(
    ("introduced", "title"),
    [
        ([], "Introduces no hazard"),
        ([finding()], "Introduces 1 error"),
        ([finding(), finding("x"), finding("y", level="warning")], "Introduces 2 errors, 1 warning"),
    ],
)
def test_the_title_counts(introduced: list, title: str) -> None:  # type: ignore[type-arg]
    assert check(reviewed(introduced, {})).title == title


def test_the_title_speaks_of_what_became_better() -> None:
    review = reviewed([], {})
    better = (finding(level="error"), replace(finding(level="warning"), status="reachable"))
    assert check(replace(review, changed=(better,))).title == "Introduces no hazard, improves 1"
    worse = reviewed([finding("x", level="warning")], {})
    assert check(replace(worse, changed=(better[::-1],))).title == "Introduces 1 warning, worsens 1 error"


def test_a_change_beside_every_compose_succeeds_without_a_comment() -> None:
    assert nothing_to_review().conclusion == "success"
    assert merge_group_check().conclusion == "success"


def test_a_review_that_did_not_finish_is_neutral_and_says_why() -> None:
    told = unfinished("the <b> of @evil")
    assert told.conclusion == "neutral"
    assert "`the <b> of @evil`" in told.summary


WORDS = st.text(alphabet="ab 🜂é@<|`\n", max_size=400)


@given(st.lists(st.tuples(WORDS, WORDS), max_size=30))
def test_nothing_is_longer_than_github_takes(words: list[tuple[str, str]]) -> None:
    found = [
        replace(finding(cause=f"{number}{a}", message=f"`{b[:200]}`"), remedy=b, missing=(a, b))
        for number, (a, b) in enumerate(words)
    ]
    review = reviewed(found, DIFFS)
    made = plan(review, "a" * 40, DIFFS, [], SMALL)
    texts = [made.check.summary, made.check.text]
    assert all(len(text.encode()) <= SMALL.check for text in texts)
    bodies = [new.body for new in made.inline] + ([made.summary.body] if made.summary else [])
    assert all(len(body.encode()) <= SMALL.body for body in bodies)
    assert all(len(note.message.encode()) <= SMALL.annotation for note in made.check.annotations)
    assert len(made.check.title) <= SMALL.check_title


@given(
    st.lists(
        st.builds(
            Section,
            st.text(alphabet="Té", max_size=9),
            st.lists(st.text(alphabet="aé🜂", max_size=60), max_size=20).map(tuple),
            folded=st.booleans(),
            apart=st.booleans(),
        ),
        max_size=6,
    ),
    st.integers(300, 2_000),
)
def test_sections_fit_and_what_is_left_out_is_counted(sections: list[Section], size: int) -> None:
    text = fitted(sections, size)
    assert len(text.encode()) <= size
    if fitted(sections, 10**6) != text:
        assert "do not fit here" in text or "Left out for want of room" in text
    assert text.count("<details>") == text.count("</details>")
