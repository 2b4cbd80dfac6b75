from bot.worlds.comments import comments


def test_comments_stand_alone_or_behind_a_value() -> None:
    text = "# one\na: 1  # two\nb: x#not-a-comment\n  ## three\nc: |\n  run # four\n"
    assert comments(text) == ((1, "one"), (2, "two"), (4, "three"), (6, "four"))
