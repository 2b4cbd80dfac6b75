import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.review.markdown import MAX_QUOTE, cell, code


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "`plain`"),
        ("a `b` c", "`` a `b` c ``"),
        ("``", "``` `` ```"),
        ("two\nlines", "`two lines`"),
        ("", "` `"),
    ],
)
def test_code_spans(text: str, expected: str) -> None:
    assert code(text) == expected


@given(st.text(alphabet="`a@<>|\n -", max_size=300))
def test_a_code_span_cannot_be_left_from_within(text: str) -> None:
    span = code(text)
    fence = re.match(r"`+", span)
    assert fence is not None
    inside = span[len(fence[0]) : -len(fence[0])]
    assert span.endswith(fence[0])
    assert "\n" not in span
    assert fence[0] not in re.findall(r"`+", inside)
    assert len(inside) <= MAX_QUOTE + 2


def test_a_table_cell_keeps_its_row() -> None:
    assert cell("a|b\nc") == "a\\|b c"
