import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.markdown import MAX_PROSE, MAX_QUOTE, cell, clipped, code, folded, is_prose, outside_code, prose, sentence


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


def test_a_long_sentence_is_cut() -> None:
    assert len(prose("a" * 10_000)) == MAX_PROSE
    assert len(prose("@" * 10_000)) == MAX_PROSE + 2
    assert prose("a" * MAX_PROSE) == "a" * MAX_PROSE


@given(st.text(alphabet="aé🜂\n", max_size=40), st.integers(0, 60))
def test_clipping_keeps_to_the_bytes_and_to_whole_characters(text: str, size: int) -> None:
    cut = clipped(text, size)
    assert len(cut.encode()) <= size
    assert cut == text or (text.startswith(cut.removesuffix("…")) and len(text.encode()) > size)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b", "A B"),
        ("a `b` c", "A `b` C"),
        ("a ``b ` c`` d", "A ``b ` c`` D"),
        ("a ` b", "A ` B"),
        ("`a", "`A"),
        ("```a`` b", "```A`` B"),
    ],
)
def test_what_is_no_code_is_changed(text: str, expected: str) -> None:
    assert outside_code(text, str.upper) == expected


@given(st.text(alphabet="`ab ", max_size=30))
def test_nothing_is_lost_outside_of_code(text: str) -> None:
    assert outside_code(text, str) == text


def test_what_is_folded_stands_apart() -> None:
    assert folded("more", "x") == "<details><summary>more</summary>\n\nx\n\n</details>"
    assert folded("more", "") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "the tag v0.24.0 of vllm/vllm-openai names release 0.24.0",
            "the tag v0.24.0 of `vllm/vllm-openai` names release 0.24.0",
        ),
        ("@a <b> c", "`@a <b>` c"),
        ("see `x` www.a.b", "see `` `x` www.a.b ``"),
        ("a\n# b", "a `#` b"),
        ("", ""),
    ],
)
def test_in_a_sentence_what_is_no_word_is_code(text: str, expected: str) -> None:
    assert sentence(text) == expected
