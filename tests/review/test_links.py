"""Addresses behind reasons."""

from __future__ import annotations

import pytest

from bot.provenance import Reason
from bot.review import OFFLINE, Links
from bot.review.marks import FindingMark, ReviewMark, SummaryMark, read_mark, without_mark

LINKS = Links("https://github.com/acme/serving", "a" * 40, "https://bot.example/hazards")
DEFAULT = Reason("engine-default", "vllm/envs.py", 12, "")
SOURCE = "https://github.com/vllm-project/vllm/blob/v0.25.1"
BLOB = f"https://github.com/acme/serving/blob/{'a' * 40}"


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (Reason("compose", "a b/ü(1).yml", 7, ""), f"[`a b/ü(1).yml:7`]({BLOB}/a%20b/%C3%BC%281%29.yml#L7)"),
        (Reason("catalog", "p.yml", None, ""), f"[`p.yml`]({BLOB}/p.yml)"),
        (Reason("shell", "a`].yml", 1, ""), f"[`` a`].yml:1 ``]({BLOB}/a%60%5D.yml#L1)"),
        (DEFAULT, f"[`vllm/envs.py:12`]({SOURCE}/vllm/envs.py#L12)"),
        (Reason("assumption", "", None, "x"), ""),
        (Reason("compose", "x" * 2000, 1, ""), f"`{'x' * 159}…`"),
    ],
)
def test_a_reason_is_linked_to_its_line(reason: Reason, told: str) -> None:
    assert LINKS.reason(reason, {DEFAULT: f"{SOURCE}/vllm/envs.py#L12"}) == told


def test_an_engines_reason_without_an_address_is_not_linked() -> None:
    assert LINKS.reason(DEFAULT, {}) == "`vllm/envs.py:12`"
    assert OFFLINE.reason(DEFAULT, {DEFAULT: SOURCE}) == "`vllm/envs.py:12`"


def test_references_are_linked_without_a_trace_in_the_other_repository() -> None:
    text = "Needs vllm-project/vllm#48375, not `vllm-project/vllm#1` nor #7."
    assert LINKS.references(text) == (
        "Needs [vllm-project/vllm#48375](https://redirect.github.com/vllm-project/vllm/issues/48375), "
        "not `vllm-project/vllm#1` nor #7."
    )
    assert OFFLINE.references(text) == text


def test_nothing_is_linked_offline() -> None:
    assert OFFLINE.place("a.yml", 3) == "`a.yml:3`"
    assert OFFLINE.rule("dead-seam") == "`dead-seam`"
    assert OFFLINE.commit("a" * 40) == "`aaaaaaa`"


# Marks ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mark",
    [
        FindingMark("0123456789abcdef", "a" * 40, "f" * 16, "e" * 16),
        FindingMark("0123456789abcdef", "a" * 40, "f" * 16, "e" * 16, "moved", "file"),
        SummaryMark("a" * 40, "e" * 16),
        ReviewMark("a" * 40),
    ],
)
def test_a_mark_is_read_as_it_was_written(mark: FindingMark | SummaryMark | ReviewMark) -> None:
    body = f"{mark}\nWords\n{mark}"
    assert read_mark(body) == mark
    assert read_mark(body.replace("\n", "\r\n")) == mark
    assert without_mark(body) == f"Words\n{mark}"
    assert str(mark).startswith("<!-- seamguard:")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "Words",
        f"Words\n{ReviewMark('a')}",
        f" {ReviewMark('a')}",
        f"`{ReviewMark('a')}`",
        "<!-- seamguard:finding v1 sha=a state=open -->",
        "<!-- seamguard:finding v1 0123456789abcdef sha=a state=lost -->",
        "<!-- seamguard:finding v2 0123456789abcdef sha=a state=open -->",
        "<!-- seamguard:summary v1 sha=<b> -->",
        "<!-- seamguard:answer v1 -->",
    ],
)
def test_what_is_no_mark_of_this_version_is_none(body: str) -> None:
    assert read_mark(body) is None
