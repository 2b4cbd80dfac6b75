"""One issue per fix, the right words at each step, and nothing twice."""

from __future__ import annotations

import json
import re

import pytest

from bot.notices import Places
from bot.notices.plan import MAX_BODY_BYTES
from bot.notices.words import evidence
from bot.store.facts import MAX_VALUE
from tests.notices.conversation import PLACES, Conversation, Issue, notices
from tests.notices.scene import BOTH, BUG, MERGED, OPEN, OTHER, RELEASED, UPSTREAM, files, issue, watched
from tests.upstream.timeline import REFERENCE, TITLE, Fact, N, branch, commit, fix, probe, pull, revert, supersedes, tag

OLD, NEW = files("0.33.0"), files("0.34.0")


def told(*scenes: tuple[dict[str, str], list[Fact]]) -> Issue:
    """The one issue after some scenes."""
    conversation = Conversation()
    for tree, facts in scenes:
        conversation.tell(watched(tree, facts))
        before = conversation.state()
        conversation.tell(watched(tree, facts))
        assert conversation.state() == before
    return conversation.only()


def test_open_says_nothing() -> None:
    conversation = Conversation()
    conversation.tell(watched(OLD, OPEN))
    conversation.tell(watched(OLD, []))
    assert conversation.issues == []


def test_from_open_to_pinned_it_is_one_issue() -> None:
    conversation = Conversation()
    conversation.tell(watched(OLD, OPEN))
    conversation.tell(watched(OLD, MERGED))
    merged = conversation.only()
    assert merged.title == (
        "Upstream fix vLLM 48375 (MambaManager honours drop_eagle_block): merged upstream, not released yet"
    )
    assert "was merged upstream on `2026-06-01`" in merged.body
    assert "**No release is known to have it yet.**" in merged.body
    assert "- [ ]" not in merged.body
    conversation.tell(watched(OLD, RELEASED))
    released = conversation.only()
    assert released.title.endswith(": released upstream, not pinned here")
    assert "first release that has it is [`v0.34.0`]" in released.body
    assert "- [ ]" not in released.body
    assert len(released.comments) == 1
    assert "[`v0.34.0`](https://redirect.github.com/vllm-project/vllm/releases/tag/v0.34.0)" in released.comments[0]
    conversation.tell(watched(NEW, RELEASED))
    pinned = conversation.only()
    assert pinned.title.endswith(": in the pinned release: its caveats may go")
    assert pinned.body.count("- [ ]") == 6 + 3
    assert "### Not yet" not in pinned.body
    assert len(pinned.comments) == 2
    assert "6 of 6 caveats may go" in pinned.comments[1]
    conversation.tell(watched(NEW, RELEASED))
    assert len(conversation.only().comments) == 2


def test_every_caveat_has_its_place_and_its_condition() -> None:
    body = told((OLD, OPEN), (NEW, RELEASED)).body
    blob = f"https://github.com/acme/serving/blob/{'a' * 40}"
    for path, line in (("compose/one.yml", 8), ("profiles/patches.yml", 2), ("docs/UPSTREAM.md", 4)):
        assert f"[line {line}]({blob}/{path}#L{line})" in body
    for kind in ("comment", "mount", "call", "default", "patch entry", "tracker row"):
        assert f", {kind}: `" in body
    assert "until `vllm#48375 merges upstream AND the pin moves past it`" in body


def test_a_cherry_pick_and_a_squash_are_the_fix() -> None:
    cut = branch("releases/v0.33.1", 5)
    picked = commit("pick", 1, f"{TITLE} (#{N})", "(cherry picked from commit " + "0" * 40 + ")", "releases/v0.33.1")
    facts = [*MERGED, cut, picked, tag("v0.33.1", 1, "releases/v0.33.1")]
    conversation = Conversation()
    for pin, some in (("0.33.0", OPEN), ("0.33.0", facts), ("0.33.1", facts)):
        conversation.tell(watched(files(pin), some))
    assert "`v0.33.1`" in conversation.only().body
    assert conversation.only().title.endswith("its caveats may go")
    squash = [pull(commit=None), commit("squash", 12, f"{TITLE} (#{N})"), tag("v0.34.0", 20)]
    assert told((OLD, OPEN), (NEW, squash)).title.endswith("its caveats may go")


def test_a_revert_on_main_alone_leaves_the_pin_and_warns() -> None:
    reverted = [*RELEASED, revert(25)]
    result = told((OLD, OPEN), (NEW, RELEASED), (NEW, reverted))
    assert result.title.endswith("in the pinned release, and reverted upstream since")
    assert "Upstream has reverted it since, by [`vllm-project/vllm#50100`]" in result.body
    assert len(result.comments) == 1
    assert "another release may not have it" in result.comments[0]


def test_a_revert_before_any_release_and_its_return() -> None:
    reverted = [*MERGED, revert(15)]
    again = [
        *reverted,
        commit("again", 18, f'Reapply "{TITLE} (#{N})" (#50200)'),
        pull(50200, title=f"Reapply {TITLE}"),
    ]
    conversation = Conversation()
    conversation.tell(watched(OLD, OPEN))
    conversation.tell(watched(OLD, MERGED))
    conversation.tell(watched(OLD, reverted))
    assert conversation.only().title.endswith(": reverted upstream")
    assert "#50100" in conversation.only().comments[0]
    conversation.tell(watched(OLD, again))
    assert conversation.only().title.endswith(": merged upstream again, not released yet")
    conversation.tell(watched(NEW, [*again, tag("v0.34.0", 20)]))
    assert conversation.only().title.endswith("its caveats may go")
    assert len(conversation.only().comments) == 3


def test_a_revert_on_the_release_branch_alone() -> None:
    name = "releases/v0.34.1"
    cut = [branch(name, 20), revert(1, name), tag("v0.34.1", 1, name)]
    result = told((OLD, OPEN), (NEW, RELEASED), (files("0.34.1"), [*RELEASED, *cut]))
    assert result.title.endswith(": reverted upstream")
    assert "- [ ]" not in result.body
    assert len(result.comments) == 1
    assert "was reverted upstream" in result.comments[0]


def test_a_fix_that_another_one_supersedes() -> None:
    other = [pull(state="open"), supersedes("#50991"), pull(50991, state="open", title="Another way")]
    result = told((OLD, OPEN), (OLD, other))
    assert result.title.endswith(": superseded upstream")
    assert (
        "[`vllm-project/vllm#50991`](https://redirect.github.com/vllm-project/vllm/issues/50991) takes its place"
        in result.body
    )
    landed = [*other[:2], pull(50991, title="Another way"), commit("b", 12, "Another way (#50991)"), tag("v0.34.0", 20)]
    conversation = Conversation()
    for tree, facts in ((OLD, OPEN), (OLD, other), (NEW, landed)):
        conversation.tell(watched(tree, facts))
    assert "- [ ]" not in conversation.only().body  # somebody's word clears nothing
    conversation.tell(watched(NEW, [*landed, probe("v0.34.0", True, "reads its parameter")]))
    assert "- [ ]" in conversation.only().body


def test_what_the_repository_wrote_down_itself_is_no_news() -> None:
    tree = {**OLD, "docs/UPSTREAM.md": "| #48375 fix | 🟣 **superseded by #50991** | drop when it lands |\n"}
    conversation = Conversation()
    conversation.tell(watched(tree, OPEN))
    conversation.tell(watched(tree, [pull(state="open"), supersedes("#50991")]))
    assert conversation.issues == []


def test_closed_without_a_fix_is_a_warning_only_where_the_source_was_looked_at() -> None:
    closed = [pull(state="closed")]
    conversation = Conversation()
    conversation.tell(watched(OLD, OPEN))
    conversation.tell(watched(OLD, closed))
    assert conversation.issues == []
    conversation.tell(watched(OLD, [*closed, probe("v0.33.0", False, "never reads drop_eagle_block")]))
    assert conversation.only().title.endswith(": closed upstream, and not fixed")
    assert "was closed on `2026-06-01` without a merge, and **the defect is still there**" in conversation.only().body
    assert "drop_eagle_block" in conversation.only().body


def test_an_issue_that_was_closed_while_the_defect_lives_on() -> None:
    tree = {"compose/one.yml": "image: vllm/vllm-openai:v0.33.0\n# off until vllm#43559 is fixed and lands\n"}
    conversation = Conversation()
    conversation.tell(watched(tree, {BUG: [issue(43559, "open")]}))
    closed = {BUG: [issue(43559, "closed"), probe("v0.33.0", False, "still ignored")]}
    conversation.tell(watched(tree, closed))
    assert "was closed on `2026-06-03`, and **the defect is still there**" in conversation.only().body


def test_contained_by_history_and_not_by_the_source() -> None:
    result = told((OLD, OPEN), (NEW, [*RELEASED, probe("v0.34.0", False, "never reads it")]))
    assert result.title.endswith(": merged upstream, and the defect is still there")
    assert "The source counts, not the history." in result.body
    assert "- [ ]" not in result.body


def test_a_pin_that_moves_back_needs_its_caveats_again() -> None:
    conversation = Conversation()
    for tree in (OLD, NEW):
        conversation.tell(watched(tree, RELEASED if tree is NEW else OPEN))
    conversation.only().is_open = False
    conversation.tell(watched(OLD, RELEASED))
    result = conversation.only()
    assert result.is_open
    assert "the pin moved back" in result.comments[-1]
    assert "This issue is open again because of that." in result.comments[-1]
    assert "- [ ]" not in result.body
    conversation.tell(watched(NEW, RELEASED))
    assert "- [ ]" in conversation.only().body
    assert len(conversation.only().comments) == 2


def test_a_caveat_clears_for_each_pin_alone() -> None:
    conversation = Conversation()
    conversation.tell(watched(files({"one": "0.33.0", "two": "0.33.0"}), OPEN))
    conversation.tell(watched(files({"one": "0.34.0", "two": "0.33.0"}), RELEASED))
    result = conversation.only()
    may_go, _, not_yet = result.body.partition("### Not yet")
    assert "compose/one.yml#L8" in may_go
    assert "compose/two.yml#L8" not in may_go
    assert "compose/two.yml#L8" in not_yet
    assert "profiles/patches.yml" in not_yet  # for both
    conversation.tell(watched(files({"one": "0.34.0", "two": "0.34.0"}), RELEASED))
    assert "1 more service now run" in conversation.only().comments[-1]
    assert "### Not yet" not in conversation.only().body
    conversation.tell(watched(files({"one": "0.34.0", "two": "0.33.0"}), RELEASED))
    assert "`vllm/two` moved back" in conversation.only().comments[-1]


def test_what_is_for_every_pin_waits_for_the_last_one() -> None:
    tree = {
        "compose/one.yml": "services: {}\nimage: vllm/vllm-openai:v0.34.0\n",
        "compose/two.yml": "services: {}\nimage: vllm/vllm-openai:v0.33.0\n",
        "docs/UPSTREAM.md": OLD["docs/UPSTREAM.md"],
    }
    result = told((tree, OPEN), (tree, RELEASED))
    assert result.title.endswith(": released upstream, and not in every pin that needs it")
    assert "some pins of this repository have it; what waits for it here is for others, too" in result.body
    assert "- [ ]" not in result.body
    later = {**tree, "compose/two.yml": tree["compose/one.yml"]}
    assert told((tree, OPEN), (later, RELEASED)).title.endswith(": in the pinned release: its caveats may go")


@pytest.mark.parametrize("first", [REFERENCE, OTHER])
def test_two_fixes_on_two_clocks_clear_together(first: str) -> None:
    tree = files("0.34.0", drop=BOTH)
    landed: dict[str, list[Fact]] = {
        REFERENCE: RELEASED,
        OTHER: [pull(46324), commit("fix", 11, "Other (#46324)"), tag("v0.34.0", 20)],
    }
    pending: dict[str, list[Fact]] = {REFERENCE: OPEN, OTHER: [pull(46324, state="open")]}
    (second,) = {REFERENCE, OTHER} - {first}
    conversation = Conversation()
    conversation.tell(watched(tree, pending))
    conversation.tell(watched(tree, {first: landed[first], second: pending[second]}))
    if first == REFERENCE:
        body = conversation.only().body
        assert "### First look at these" in body
        assert "/46324) is not in the pinned release" in body
        entry = next(line for line in body.split("\n") if "patch entry" in line)
        assert not entry.startswith("- [ ]")
    conversation.tell(watched(tree, landed))
    both = next(issue for issue in conversation.issues if "48375" in issue.title)
    entry = next(line for line in both.body.split("\n") if "patch entry" in line)
    assert entry.startswith("- [ ]")


def test_what_a_patch_names_and_nobody_checked_is_said_before_drop() -> None:
    tree = files("0.34.0", drop="vllm#48375 AND vllm#50084 land")
    body = told((tree, OPEN), (tree, RELEASED)).body
    assert "/50084) was not checked" in body
    assert body.index("not checked") < body.index("### What may go")
    assert not any("patch entry" in line and line.startswith("- [ ]") for line in body.split("\n"))


def test_a_patch_that_holds_more_than_its_note_says_is_not_to_be_dropped_yet() -> None:
    own = {"patches/vllm-pr48375-mamba/install.sh": "# also takes over vllm#50085, from our own branch\n"}
    tree = {**NEW, **own}
    body = told((tree, OPEN), (tree, RELEASED)).body
    first, _, rest = body.partition("### What may go")
    assert "/50085) was not checked" in first
    for kind in ("patch entry", "mount"):
        assert f", {kind}: " in first
        assert f", {kind}: " not in rest
    checked: dict[str, list[Fact]] = {
        REFERENCE: RELEASED,
        f"{UPSTREAM}#50085": [pull(50085), commit("fix", 11, "More (#50085)"), tag("v0.34.0", 20)],
    }
    conversation = Conversation()
    conversation.tell(watched(tree, OPEN))
    conversation.tell(watched(tree, checked))
    one = next(issue for issue in conversation.issues if "48375" in issue.title)
    assert "### First look at these" not in one.body
    assert ", patch entry: " in one.body.partition("### What may go")[2]


def test_unknown_opens_nothing_and_clears_nothing() -> None:
    floating = files("latest")
    conversation = Conversation()
    conversation.tell(watched(floating, []))
    assert conversation.issues == []
    tree = {path: text.replace(":vlatest", ":latest") for path, text in floating.items()}
    conversation.tell(watched(tree, OPEN))
    conversation.tell(watched(tree, RELEASED))
    assert conversation.only().title.endswith(": released upstream, not pinned here")
    assert "- [ ]" not in conversation.only().body


def test_facts_that_are_lost_are_said_in_the_text_alone() -> None:
    conversation = Conversation()
    for tree, facts in ((OLD, OPEN), (NEW, RELEASED), (NEW, [])):
        conversation.tell(watched(tree, facts))
    assert "can't be told any more" in conversation.only().body
    assert "- [ ]" not in conversation.only().body
    conversation.tell(watched(NEW, RELEASED))
    assert "can't be told any more" not in conversation.only().body
    assert conversation.only().comments == []


def test_people_keep_their_words_their_ticks_and_their_title() -> None:
    conversation = Conversation()
    conversation.tell(watched(files({"one": "0.33.0", "two": "0.33.0"}), OPEN))
    half = files({"one": "0.34.0", "two": "0.33.0"})
    conversation.tell(watched(half, RELEASED))
    found = conversation.only()
    line = next(line for line in found.body.split("\n") if line.startswith("- [ ]") and "mount" in line)
    found.body = "Our plan\r\n\r\n" + found.body.replace(line, line.replace("[ ]", "[x]")) + "\n\nSee the wiki."
    found.title = "Drop the overlay"
    moved = {**half, "compose/one.yml": "# one more line\n" + half["compose/one.yml"]}
    conversation.tell(watched(moved, RELEASED))
    assert found.body.startswith("Our plan\r\n\r\n<!-- seamguard:upstream")
    conversation.tell(watched(files({"one": "0.34.0", "two": "0.34.0"}), RELEASED))
    assert found.body.startswith("Our plan\r\n\r\n<!-- seamguard:upstream")
    assert found.body.endswith("<!-- seamguard:upstream end -->\n\nSee the wiki.")
    assert found.title == "Drop the overlay"
    ticked = [line for line in found.body.split("\n") if line.startswith("- [x]")]
    assert len(ticked) == 1
    assert "compose/one.yml" in ticked[0]
    assert "mount" in ticked[0]
    without = {**NEW, "compose/one.yml": "services:\n  engine:\n    image: vllm/vllm-openai:v0.34.0\n"}
    conversation.tell(watched(without, RELEASED))
    assert "### Done" in found.body
    assert found.body.count("- [x]") == 1


def test_a_mark_that_people_broke_costs_them_nothing() -> None:
    conversation = Conversation()
    conversation.tell(watched(OLD, OPEN))
    conversation.tell(watched(OLD, MERGED))
    found = conversation.only()
    found.body = found.body.replace("<!-- seamguard:upstream end -->", "") + "mine"
    conversation.tell(watched(OLD, RELEASED))
    assert found.body.count("<!-- seamguard:upstream v1") == 1
    assert "mine" in found.body
    found.body = "all mine"
    conversation.tell(watched(NEW, RELEASED))
    assert found.body.startswith("all mine\n\n<!-- seamguard:upstream v1")


@pytest.mark.parametrize("reason", ["completed", "not_planned"])
def test_what_people_closed_stays_closed(reason: str) -> None:
    conversation = Conversation()
    conversation.tell(watched(OLD, OPEN))
    conversation.tell(watched(OLD, MERGED))
    found = conversation.only()
    found.is_open, found.state_reason = False, reason
    body = found.body
    conversation.tell(watched({**OLD, "more.yml": "# drop when vllm#48375 lands"}, MERGED))
    assert found.body == body
    conversation.tell(watched(NEW, RELEASED))
    assert conversation.only().is_open is False
    assert len(found.comments) == (1 if reason == "completed" else 0)
    assert "- [ ]" in found.body
    conversation.tell(watched(NEW, [*RELEASED, revert(25)]))
    assert conversation.only().is_open
    assert "open again because of that" in found.comments[-1]


def test_a_store_that_was_lost_finds_its_issue_again() -> None:
    conversation = Conversation()
    conversation.tell(watched(OLD, OPEN))
    conversation.tell(watched(OLD, MERGED))
    conversation.tell(watched(OLD, RELEASED))
    before = conversation.state()
    conversation.told.clear()
    conversation.tell(watched(OLD, RELEASED))
    assert conversation.state()[0] == before[0]  # type: ignore[index]
    conversation.told.clear()
    conversation.tell(watched(NEW, RELEASED))
    assert len(conversation.only().comments) == 2


def test_lines_that_move_change_nothing() -> None:
    conversation = Conversation()
    conversation.tell(watched(OLD, OPEN))
    conversation.tell(watched(OLD, MERGED))
    before = conversation.state()
    conversation.places = Places("https://github.com/acme/serving", "b" * 40)
    conversation.tell(watched({**OLD, "compose/one.yml": "\n" + OLD["compose/one.yml"]}, MERGED))
    assert conversation.state() == before
    assert conversation.places != PLACES


HOSTILE = (
    "# drop when vllm#48375 lands @everyone <img src=x> | `` ` <!-- seamguard:upstream end --> - [x] "
    "<!-- 0123456789ab --> https://github.com/vllm-project/vllm/pull/48375 fixes #1"
)


def test_what_a_stranger_wrote_is_shown_as_code() -> None:
    tree = {**NEW, "evil.yml": HOSTILE, "docs/`x` @you #1.md": "fix vllm#48375, drop when it lands"}
    result = told((tree, OPEN), (tree, RELEASED))
    assert result.body.count("<!-- seamguard:upstream end -->") == 1
    assert result.body.endswith("<!-- seamguard:upstream end -->")
    assert "<!-- 0123456789ab -->" not in result.body
    outside = outside_code(result.body)
    assert "@" not in outside
    assert "<img" not in outside
    assert "github.com/vllm-project" not in outside.replace("redirect.github.com", "")


def outside_code(text: str) -> str:
    from bot.markdown import outside_code as change

    found: list[str] = []

    def keep(part: str) -> str:
        found.append(part)
        return part

    for line in text.split("\n"):
        change(line, keep)
    return "".join(found)


def test_a_title_of_a_stranger_mentions_nobody() -> None:
    facts = [{**pull(), "title": "Fix `x` @someone closes #12 <b>"}, fix(10), tag("v0.34.0", 20)]
    (found,) = [one for name, one in notices(watched(NEW, facts, titles={})).items() if name == REFERENCE]
    from bot.notices import opening

    new = opening(found, PLACES)
    assert "@" not in new.title
    assert "#" not in new.title
    assert "@" not in outside_code(new.body)


def test_a_text_fits_what_github_takes() -> None:
    lines = "\n".join(f"# drop when vllm#48375 lands, because of reason {n} {'ü' * 200}" for n in range(2000))
    tree = {**NEW, "long.yml": lines}
    result = told((tree, OPEN), (tree, RELEASED))
    assert len(result.body.encode()) <= MAX_BODY_BYTES
    assert "more lines: `seamguard clocks` lists them all." in result.body
    assert result.body.endswith("<!-- seamguard:upstream end -->")


def test_a_table_of_long_names_fits_too() -> None:
    """Where images are named at length, and each has its own reasons."""
    pins = {f"{'ü' * 60}{n}": f"0.33.0-{n}-{'ö' * 90}" for n in range(60)}
    tree = {
        path: text.replace("image: ", f"image: registry.example/{'ä' * 120}/") if path.startswith("compose/") else text
        for path, text in files(pins).items()
    }
    result = told((tree, OPEN), (tree, RELEASED))
    assert len(result.body.encode()) <= MAX_BODY_BYTES
    assert re.search(r"^\| and \d+ more \| \| \| \|$", result.body, re.MULTILINE)
    assert "more lines: `seamguard clocks` lists them all." in result.body
    assert result.body.endswith("<!-- seamguard:upstream end -->")
    assert all(len(comment.encode()) < MAX_BODY_BYTES for comment in result.comments)


def test_of_more_users_than_a_fact_holds_the_first_are_remembered() -> None:
    names = {f"{'n' * 180}-{number:05}": "0.33.0" if number % 2 else "0.34.0" for number in range(3000)}
    conversation = Conversation()
    (found,) = [item for item in watched(files(names), RELEASED) if item.reference == REFERENCE]
    conversation.tell((found,))
    told = conversation.told[REFERENCE]
    assert len(json.dumps(told.as_json(), ensure_ascii=False)) < MAX_VALUE
    assert 300 < len(told.having) < 1500
    assert 300 < len(told.waiting) < 1500
    before = conversation.state()
    conversation.tell((found,))
    assert conversation.state() == before


def test_a_fix_that_nothing_names_any_more_is_said_to_be_so_once() -> None:
    conversation = Conversation()
    conversation.tell(watched(OLD, OPEN))
    conversation.tell(watched(OLD, RELEASED))
    found = conversation.only()
    found.body = f"Ours.\n\n{found.body}"
    for _ in range(3):
        conversation.leave(REFERENCE)
    assert found.title.endswith("(MambaManager honours drop_eagle_block): nothing here waits for it any more")
    assert found.body.startswith("Ours.\n")
    assert found.body.count("Nothing on the default branch names") == 1
    assert "What waits here" in found.body
    assert len(found.comments) == 1
    assert found.is_open
    conversation.tell(watched(OLD, RELEASED))
    assert found.title.endswith("released upstream, not pinned here")
    assert "Nothing on the default branch names" not in found.body
    assert len(found.comments) == 1


def test_a_closed_issue_of_a_fix_that_nothing_names_is_left_alone() -> None:
    conversation = Conversation()
    conversation.tell(watched(OLD, OPEN))
    conversation.tell(watched(OLD, RELEASED))
    found = conversation.only()
    found.is_open, found.state_reason = False, "completed"
    before = found.title, found.body, list(found.comments)
    conversation.leave(REFERENCE)
    assert (found.title, found.body, found.comments) == before
    assert conversation.told[REFERENCE].left


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("landed with 0123456789ab on releases/v0.33.1, “[Bugfix] It (#7)”",
         "landed with [`0123456789`](X/commit/0123456789ab) on `releases/v0.33.1`, `[Bugfix] It (#7)`"),
        ("#50100 reverts it, at a place that is not recorded",
         "[`vllm-project/vllm#50100`](X/issues/50100) reverts it, at a place that is not recorded"),
        ("superseded by other/place#7, which", "superseded by [`other/place#7`](O/issues/7), which"),
        ("probe of the source: <b>“x`y”“z” @who", "probe of the source: `<b>` `` x`y `` `z` `@who`"),
        ("“a <!-- mark --> b” 0123456789abcdef", "`a < !-- mark --> b` 0123456789abcdef"),
    ],
)  # fmt: skip
def test_evidence_shows_what_it_quotes_as_code_and_what_it_names_as_links(text: str, shown: str) -> None:
    (notice, *_) = notices(watched(OLD, MERGED)).values()
    there = "https://redirect.github.com"
    assert evidence(notice, text) == shown.replace("(X/", f"({there}/vllm-project/vllm/").replace(
        "(O/", f"({there}/other/place/"
    )


def test_what_landed_again_is_not_said_to_have_landed_when_it_first_did() -> None:
    again = [*MERGED, revert(15), commit("again", 18, f'Reapply "{TITLE} (#{N})" (#50200)')]
    result = told((OLD, OPEN), (OLD, MERGED), (OLD, again))
    lead = result.body.split("\n\n")[0]
    assert "has landed again" in lead
    assert "2026-06-01" not in lead + result.comments[-1]


def test_a_warning_names_the_source_that_was_looked_at() -> None:
    result = told((OLD, OPEN), (OLD, [pull(state="closed"), probe("v0.33.0", False, "never reads it")]))
    assert "**the defect is still there** in the source of `v0.33.0`. Keep what was put here" in result.body
    assert "no place of v0.33.0" not in result.body


def test_a_long_text_of_people_is_left_alone_and_the_news_is_told_below() -> None:
    conversation = Conversation()
    conversation.tell(watched(OLD, OPEN))
    conversation.tell(watched(OLD, MERGED))
    found = conversation.only()
    found.body = long = found.body + "\nours " * 12_000
    conversation.tell(watched(NEW, RELEASED))
    assert found.body == long
    assert len(found.comments) == 1
    conversation.told.clear()
    conversation.tell(watched(NEW, RELEASED))
    assert found.body == long


def test_what_the_configuration_says_of_an_image_is_no_caveat() -> None:
    declared = "images:\n  acme/vllm:1:\n    contains: [vllm#48375]\n"
    body = told((OLD, OPEN), ({**NEW, ".github/seamguard.yml": declared}, RELEASED)).body
    assert "seamguard.yml" not in body


def test_no_word_about_a_fix_that_nothing_here_waits_for() -> None:
    tree = {"compose/one.yml": "image: vllm/vllm-openai:v0.33.0\n# like vllm#48375 somehow\n"}
    conversation = Conversation()
    conversation.tell(watched(tree, RELEASED, extra=(REFERENCE,)))
    assert conversation.issues == []
    conversation.tell(watched(OLD, RELEASED, extra=(REFERENCE,)))
    assert conversation.only().title.endswith(": released upstream, not pinned here")


def test_every_reference_is_a_link_without_a_trace() -> None:
    body = told((OLD, OPEN), (NEW, [*RELEASED, revert(25)])).body
    assert UPSTREAM in body
    assert "https://github.com/vllm-project" not in outside_code(body)
