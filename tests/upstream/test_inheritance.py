"""What a move of a pin inherits."""

from __future__ import annotations

import pytest

from bot.catalog import read_catalog
from bot.tree import MemoryTree
from bot.upstream.facts import Facts, Probe, collected
from bot.upstream.inheritance import inherited
from bot.upstream.repository_pins import RepositoryPin, pin_of

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
    (found,) = inherited([REFERENCE], pin("v0.20.0"), pin("v0.21.0"), lambda _: probed(before, after))
    assert found.kind == kind


def test_a_declared_image_has_what_it_is_declared_to_have() -> None:
    declared = pin("ghcr.io/x/y:1", f"images:\n  ghcr.io/x/y:1: {{contains: ['{REFERENCE}']}}\n")
    (found,) = inherited([REFERENCE], pin("v0.20.0"), declared, lambda _: probed(False, None))
    assert (found.kind, found.after.evidence[0]) == (
        "inherits",
        "the repository declares that ghcr.io/x/y:1 contains it",
    )


def pin(image: str, configuration: str = "") -> RepositoryPin:
    image = image if "/" in image else f"vllm/vllm-openai:{image}"
    return pin_of(read_catalog(MemoryTree({".github/seamguard.yml": configuration})), image)
