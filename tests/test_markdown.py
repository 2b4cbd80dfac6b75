import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.markdown import MAX_QUOTE, cell, code, is_prose, prose


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "`plain`"),
        ("a `b` c", "`` a `b` c ``"),
        ("``", "``` `` ```"),
        ("two\nlines", "`two lines`"),
        ("a\x1bb", "`a\\x1bb`"),
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


@pytest.mark.parametrize(
    "text", [*"@#<&*~[]!|\\`$/>{}^", "_x_", "x_", "https:\x2f/x", "www.x.org", "WWW.x.org", "two\nlines", "\x1b"]
)
def test_a_sentence_with_a_mark_becomes_code(text: str) -> None:
    assert not is_prose(text)
    assert prose(f"a {text} b").startswith("`")


@pytest.mark.parametrize("text", ["", "expected at least one argument", "MODEL_DIR is required: (12.5 %)", "'häßlich'"])
def test_plain_prose_stays_as_it_is(text: str) -> None:
    assert prose(text) == text
