"""Whatever happens, in whatever order: one issue for a fix, nothing twice, and people's words stay."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.notices import marks
from bot.upstream.watch import Watched
from tests.notices.conversation import Conversation, Issue
from tests.notices.scene import MERGED, OPEN, RELEASED, files, watched
from tests.upstream.timeline import TITLE, Fact, N, branch, commit, probe, pull, revert, supersedes, tag

_BRANCH = "releases/v0.34.1"
FACTS: dict[str, list[Fact]] = {
    "nothing": [],
    "open": OPEN,
    "closed": [pull(state="closed")],
    "not fixed": [pull(state="closed"), probe("v0.33.0", False, "no"), probe("v0.34.0", False, "no")],
    "superseded": [pull(state="open"), supersedes("#50991")],
    "merged": MERGED,
    "reverted": [*MERGED, revert(15)],
    "again": [*MERGED, revert(15), commit("again", 18, f'Reapply "{TITLE} (#{N})" (#50200)')],
    "released": RELEASED,
    "reverted later": [*RELEASED, revert(25)],
    "reverted on the branch": [*RELEASED, branch(_BRANCH, 20), revert(1, _BRANCH), tag("v0.34.1", 1, _BRANCH)],
    "denied by the source": [*RELEASED, probe("v0.34.0", False, "no")],
}
PINS = ({"one": "0.33.0"}, {"one": "0.34.0"}, {"one": "0.34.1"}, {"one": "0.34.0", "two": "0.33.0"}, {"one": "0.99.0"})
WORLDS: dict[tuple[int, str], tuple[Watched, ...]] = {
    (index, name): watched(files(pins), facts)
    for (index, pins), (name, facts) in product(enumerate(PINS), FACTS.items())
}
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("world"), st.sampled_from(sorted(WORLDS))),
        st.tuples(st.sampled_from(["tick", "close", "not planned", "reopen", "above", "below", "forget"]), st.none()),
    ),
    min_size=1,
    max_size=14,
)


def ticked(body: str) -> set[str]:
    return set(re.findall(r"^- \[x\] .*<!-- ([0-9a-f]{12}) -->$", body, re.MULTILINE))


def human(conversation: Conversation, action: str, issue: Issue, words: list[str]) -> None:
    match action:
        case "tick":
            issue.body = issue.body.replace("- [ ]", "- [x]", 1)
        case "close" | "not planned":
            issue.is_open, issue.state_reason = False, "completed" if action == "close" else "not_planned"
        case "reopen":
            issue.is_open, issue.state_reason = True, "reopened"
        case "above":
            words.append(f"above {len(words)}")
            issue.body = f"{words[-1]}\n\n{issue.body}"
        case "below":
            words.append(f"below {len(words)}")
            issue.body = f"{issue.body}\n\n{words[-1]}"
        case "forget":
            conversation.told.clear()


Steps = list[tuple[str, tuple[int, str] | None]]


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_one_issue_nothing_twice_and_people_keep_their_words(steps: Steps) -> None:
    play(steps)


@pytest.mark.soak
@settings(max_examples=5000, deadline=None)
@given(STEPS)
def test_many_stories(steps: Steps) -> None:
    play(steps)


def play(steps: Steps) -> None:
    conversation = Conversation()
    words: list[str] = []
    for action, world in steps:
        if world is None:
            if conversation.issues:
                human(conversation, action, conversation.only(), words)
            continue
        before = [(issue.is_open, len(issue.comments), ticked(issue.body)) for issue in conversation.issues]
        conversation.tell(WORLDS[world])
        assert len(conversation.issues) <= 1
        settled = conversation.state()
        conversation.tell(WORLDS[world])
        assert conversation.state() == settled
        for issue, (was_open, count, ticks) in zip(conversation.issues, before, strict=False):
            assert len(issue.comments) <= count + 1
            assert ticks <= ticked(issue.body)
            assert issue.is_open or not was_open
            if issue.is_open and not was_open:
                assert "open again because of that" in issue.comments[-1]
        for issue in conversation.issues:
            assert [word for word in words if word in issue.body] == words
            assert len(set(issue.comments)) == len(issue.comments)
            name, facts = world
            if facts in ("nothing", "open", "closed", "merged", "reverted", "again") and name != 4 and issue.is_open:
                assert "### What may go" not in issue.body


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400), st.text(alphabet="a<!->-\n\r []x:", max_size=200))
def test_any_text_is_taken_apart_and_put_together_again(before: str, after: str) -> None:
    key = marks.fingerprint("x")
    mark = marks.Mark(key, "merged", "", 0, "g", "t")
    body = f"{before}\n{mark}\nours\n{marks.END}{after}"
    parts = marks.split(body, key)
    assert parts.mark == mark
    assert marks.joined(parts, mark, "ours") == body


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<!->- seamguard:upstream end v1 0123abc\n\r[]x", max_size=300))
def test_no_text_of_people_is_lost(text: str) -> None:
    parts = marks.split(text, marks.fingerprint("x"))
    assert parts.mark is None
    assert parts.before == text
