from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.printable import printable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, häßlich, 漢字, 🦦", "plain, häßlich, 漢字, 🦦"),
        ("a\tb", "a b"),
        ("a\r\nb", r"a\r\nb"),
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b2J", r"\x9b2J"),
        ("\u202eabc", r"\u202eabc"),
        ("\udc80", r"\udc80"),
        (r"\n", r"\n"),
    ],
)
def test_what_does_not_print_is_escaped(text: str, expected: str) -> None:
    assert printable(text) == expected


@given(st.text())
def test_the_result_prints_on_one_line(text: str) -> None:
    assert printable(text).isprintable()
