from bot.review.diff import file_diffs

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
