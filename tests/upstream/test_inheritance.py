"""What a move of a pin inherits."""

from __future__ import annotations

import pytest

from bot.upstream.facts import Facts, Probe, collected
from bot.upstream.inheritance import inheritance_markdown, inherited

REFERENCE = "vllm-project/vllm#41800"


def probed(before: bool | None, after: bool | None) -> Facts:
    return collected([Probe("v0.20.0", before, "old | text"), Probe("v0.21.0", after, "@somebody <b>")])


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (False, True, "inherits"),
        (None, True, "inherits"),
        (True, True, "keeps"),
        (True, False, "loses"),
        (False, False, "does-not-inherit"),
        (None, False, "does-not-inherit"),
        (True, None, "unknown"),
        (False, None, "unknown"),
    ],
)
def test_a_move(before: bool | None, after: bool | None, kind: str) -> None:
    (found,) = inherited([REFERENCE], "v0.20.0", "v0.21.0", lambda _: probed(before, after))
    assert found.kind == kind


def test_the_table_quotes_strangers_as_code() -> None:
    found = inherited([REFERENCE], "v0.20.0", "v0.21.0", lambda _: probed(False, True), {REFERENCE: "a title"})
    table = inheritance_markdown(found, "v0.20.0", "v0.21.0")
    assert "| inherits | `vllm-project/vllm#41800` a title |" in table
    assert "`probe of the source: the fix is there (@somebody <b>)`" in table
    assert inheritance_markdown((), "a", "b") == ""
