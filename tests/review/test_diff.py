from __future__ import annotations

import difflib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.provenance import Reason
from bot.review import FileDiff, file_diffs, patch_diffs
from bot.review.comments import place
from bot.review.diff import NOTHING_SHOWN, patch_diff
from tests.review.conversation import finding

DIFF = """\
diff --git a/a.yml b/a.yml
--- a/a.yml
+++ b/a.yml
@@ -1,4 +1,5 @@
 one
-two
+TWO
+two and a half
 three
 four
diff --git a/gone.yml b/gone.yml
deleted file mode 100644
--- a/gone.yml
+++ /dev/null
@@ -1 +0,0 @@
-x
"""


def test_added_and_shown_lines_of_the_new_version() -> None:
    diffs = file_diffs(DIFF)
    assert set(diffs) == {"a.yml"}
    assert diffs["a.yml"].added == {2, 3}
    assert diffs["a.yml"].shown == {1, 2, 3, 4, 5}
    assert diffs["a.yml"].removed == {2}


def test_the_nearest_added_line_prefers_the_earlier() -> None:
    diff = file_diffs(DIFF)["a.yml"]
    assert [diff.nearest_added(line) for line in (1, 2, 3, 90)] == [2, 2, 3, 3]
    assert file_diffs("") == {}


# GitHub's patches, and any patch --------------------------------------------------------------------------------------


def test_a_file_without_a_patch_shows_nothing() -> None:
    assert patch_diffs([("a.yml", None), ("b.yml", "")]) == {"a.yml": NOTHING_SHOWN, "b.yml": NOTHING_SHOWN}


@pytest.mark.parametrize("patch", ["@@ -1,3 +1,9 @@\n+cut", "not a patch", "@@ -0,0 +1 @@", "@@ @@\n+x", "+x"])
def test_a_patch_that_is_cut_or_none_shows_what_it_has(patch: str) -> None:
    assert patch_diff(patch).shown <= {1}


def test_a_line_that_looks_like_a_head_of_a_hunk_is_content() -> None:
    found = patch_diff("@@ -1,2 +1,3 @@\n a\n+@@ -1 +50 @@\n-b\n+c\n\\ No newline at end of file")
    assert found == FileDiff(frozenset({2, 3}), frozenset({1, 2, 3}), frozenset({2}), (range(1, 4),))


LINES = st.lists(st.sampled_from(["a", "b", "- c", "+ d", "@@ -1 +1 @@", "\\ e", ""]), max_size=40)


@given(LINES, LINES, st.integers(0, 4))
def test_the_lines_of_any_patch_are_those_of_its_files(before: list[str], after: list[str], context: int) -> None:
    old, new = ([f"{line}\n" for line in side] for side in (before, after))
    text = "".join(difflib.unified_diff(old, new, "a/f.yml", "b/f.yml", n=context))
    found = patch_diff(text)
    assert found.added <= found.shown == {line for hunk in found.hunks for line in hunk}
    assert all(1 <= line <= len(new) for line in found.shown)
    assert all(1 <= line <= len(old) for line in found.removed)
    kept = [line for number, line in enumerate(new, 1) if number not in found.added]
    assert kept == [line for number, line in enumerate(old, 1) if number not in found.removed]
    assert file_diffs(text).get("f.yml", found) == found


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 30)), min_size=1, max_size=5),
    st.dictionaries(
        st.sampled_from(["a", "b", "c"]), st.tuples(st.sets(st.integers(1, 30)), st.sets(st.integers(1, 30)))
    ),
)
def test_a_comment_is_in_the_diff_and_as_near_as_can_be(
    sites: list[tuple[str, int]], shown: dict[str, tuple[set[int], set[int]]]
) -> None:
    (path, line), *chain = sites
    diffs = {name: FileDiff(frozenset(added), frozenset(added | context)) for name, (added, context) in shown.items()}
    about = replace(
        finding(path=path, line=line), chain=tuple(Reason("compose", where, number, "") for where, number in chain)
    )
    found = place(about, diffs)
    here = [(where, number) for where, number in sites if where in diffs]
    if found is None:
        assert not here
    elif found[1] is None:
        assert not any(diffs[where].shown for where, _ in here)
    else:
        assert found[1] in diffs[found[0]].shown
        contributing = [(where, number) for where, number in here if number in diffs[where].shown]
        assert found in contributing or not contributing
        if any(number in diffs[where].added for where, number in contributing):
            assert found[1] in diffs[found[0]].added
