from bot.worlds.comments import comments, offers


def test_comments_stand_alone_or_behind_a_value() -> None:
    text = "# one\na: 1  # two\nb: x#not-a-comment\n  ## three\nc: |\n  run # four\n"
    found = {(position.path, position.line): comment for position, comment in comments("c.yml", text).items()}
    assert found == {("c.yml", 1): "one", ("c.yml", 2): "two", ("c.yml", 4): "three", ("c.yml", 6): "four"}


def test_a_line_is_what_ends_with_a_line_feed() -> None:
    (position,) = comments("c.yml", 'a: "\x0c\u2028"\n# here\n')
    assert position.line == 2


def test_an_offer_is_a_name_with_a_value() -> None:
    text = "# SPEC=off, or `CACHE='on'`.\n# X=$Y Z= a.b=c\nW=1\n# P=\"--name <id>\" Q='--a ...'\n"
    assert [(offer.name, offer.value, offer.position.line) for offer in offers("c.yml", text)] == [
        ("SPEC", "off", 1),
        ("CACHE", "on", 1),
    ]


def test_a_comment_may_speak_against_a_value() -> None:
    text = (
        "# N=0 is NOT a way to turn it off\n# never set N=1\n# N=2 isn't valid; N=3 is\n"
        "# N=4 does not change it\n# do not use `N=5`\n# N=6 must not be\n# not slower: N=7\n"
    )
    assert [offer.value for offer in offers("c.yml", text) if offer.denied] == ["0", "1", "2", "5", "6"]
