from __future__ import annotations

import pytest

from bot.hazards.text import MAX_VALUE, Template


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("a {flag} b", "plain words, 1.5", "a plain words, 1.5 b"),
        ("a {flag} b", "@somebody", "a `@somebody` b"),
        ("a {flag} b", "<b>`", "a `<b>'` b"),
        ("a `{flag}` b", "<b>`@x", "a `<b>'@x` b"),
        ("`a` {flag} `b`", "*x*", "`a` `*x*` `b`"),
        ("`a {flag}` {flag}", "#1", "`a #1` `#1`"),
        ("a {flag}", "two\nlines\x1b", r"a `two lines\x1b`"),
        ("a {flag}", True, "a on"),
        ("a {flag}", None, "a none"),
        ("a {flag}", ["x", "@y"], "a `x, @y`"),
        ("a {other}", "x", "a (unknown)"),
    ],
)
def test_what_fills_a_hole_stands_in_a_code_span_unless_it_is_prose(text: str, value: object, expected: str) -> None:
    assert Template(text).fill({"flag": value}) == expected


def test_a_long_value_is_cut() -> None:
    assert len(Template("{flag}").fill({"flag": "x" * 999})) == MAX_VALUE


@pytest.mark.parametrize(("text", "balanced"), [("a `b` c", True), ("a `b c", False), ("``a``", False), ("", True)])
def test_code_spans_are_balanced(text: str, balanced: bool) -> None:
    assert Template(text).balanced is balanced
