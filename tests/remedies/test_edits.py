"""The other edits, and what is not edited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from bot.hazards import load_rules
from bot.remedies import EDITS, Limits, Offer, Refusal
from bot.remedies.layout import MAX_CHARACTERS, Layout
from bot.remedies.model import Candidate, NoEdit
from tests.remedies.repositories import (
    EARLY,
    HYBRID,
    MISSPELT,
    PATH,
    SEAM,
    answers,
    edited,
    findings,
    offer,
    refusal,
)


def test_rules_and_edits_know_each_other() -> None:
    named = {remedy.edit for rule in load_rules().rules for remedy in rule.remedies} - {""}
    assert named == set(EDITS)


def test_each_dollar_sign_of_the_variable_is_doubled() -> None:
    found = edited({PATH: EARLY}, "early-interpolation")[PATH]
    assert found == EARLY.replace("${ONE}", "$${ONE}")
    assert findings({PATH: found}, "early-interpolation") == ()


def test_an_edit_that_changes_what_runs_by_default_is_not_offered() -> None:
    text = EARLY.replace('"$$LINKED" = 1', '"$$LINKED" != 1')
    assert "would change too" in refusal({PATH: text}, "early-interpolation")


def test_a_flag_with_a_near_name() -> None:
    found = edited({PATH: MISSPELT}, "unknown-flag")[PATH]
    assert found == MISSPELT.replace("--max-model-length", "--max-model-len")


CACHING = {
    "an item of its own before another flag": (
        HYBRID,
        HYBRID.replace("      - --port\n", "      - --no-enable-prefix-caching\n      - --port\n"),
    ),
    "turned round in a list": (
        HYBRID.replace("      - --port\n", "      - '--enable-prefix-caching'  # fast\n      - --port\n"),
        HYBRID.replace("      - --port\n", "      - '--no-enable-prefix-caching'  # fast\n      - --port\n"),
    ),
    "turned round in a variable's default": (
        HYBRID.replace("      - --port\n", "      - ${CACHING:---enable-prefix-caching}\n      - --port\n"),
        HYBRID.replace("      - --port\n", "      - ${CACHING:---no-enable-prefix-caching}\n      - --port\n"),
    ),
    "in a string": (
        HYBRID.partition("    command:")[0]
        + "    command: >-\n      --model nvidia/Qwen3.6-27B-NVFP4\n      --speculative-config.method mtp\n"
        + "      --speculative-config.num_speculative_tokens 3\n      --port 8000\n",
        HYBRID.partition("    command:")[0]
        + "    command: >-\n      --model nvidia/Qwen3.6-27B-NVFP4\n      --speculative-config.method mtp\n"
        + "      --speculative-config.num_speculative_tokens 3\n      --no-enable-prefix-caching --port 8000\n",
    ),
}


@pytest.mark.parametrize("form", CACHING)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_prefix_caching_is_switched_off_where_arguments_are_written(form: str, end: str) -> None:
    before, after = (text.replace("\n", end) for text in CACHING[form])
    files = {PATH: before}
    assert edited(files, "mtp-prefix-cache-hybrid") == {PATH: after}
    left = findings({PATH: after}, "mtp-prefix-cache-hybrid")
    assert all(found.status == "reachable" for found in left)


def test_a_setting_that_stays_within_reach_is_said() -> None:
    text = HYBRID.replace("      - --port\n", "      - ${CACHING:---enable-prefix-caching}\n      - --port\n")
    found = offer({PATH: text}, "mtp-prefix-cache-hybrid")
    assert "`mamba_cache_mode`, `prefix_caching`" in found.proved


def test_arguments_that_two_services_share_are_left_alone() -> None:
    text = HYBRID.replace("    command:\n", "    command: &all\n")
    text += "  other:\n    image: vllm/vllm-openai:v0.28.0\n    command: *all\n"
    found = answers({PATH: text}, "mtp-prefix-cache-hybrid")
    assert len(found) == 2
    assert all(isinstance(one, Refusal) for one in found)


PATCHED = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    volumes:
      - ./patches/fix:/etc/fix:ro
    entrypoint:
      - bash
      - -c
      - |
        bash /etc/fix/install.sh
        exec vllm serve "$$@"
      - --
    command: ["--model", "/models/llama"]
"""
INSTALL = "compose/patches/fix/install.sh"


@pytest.mark.parametrize(
    ("line", "better"),
    [
        ("bash /etc/fix/install.sh", "bash /etc/fix/install.sh || exit 1"),
        ("bash /etc/fix/install.sh || true", "bash /etc/fix/install.sh || exit 1"),
    ],
)
def test_a_failing_patch_ends_the_boot(line: str, better: str) -> None:
    files = {
        PATH: PATCHED.replace("bash /etc/fix/install.sh", line),
        INSTALL: "patch -p1 < /etc/fix/a.diff\n",
        "compose/patches/fix/a.diff": "--- a\n+++ b\n",
    }
    assert edited(files, "overlay-not-wired")[PATH] == PATCHED.replace("bash /etc/fix/install.sh", better)


def test_proofs_are_counted() -> None:
    (found,) = answers({PATH: SEAM}, "dead-seam", Limits(proofs=0))
    assert isinstance(found, Refusal)
    assert "no more edits" in found.why
    (found,) = answers({PATH: SEAM}, "dead-seam", Limits(composes=0))
    assert isinstance(found, Refusal)
    assert "too many" in found.why


def test_what_does_not_stand_by_default_gets_no_edit() -> None:
    files = {
        PATH: HYBRID.replace("      - --port\n", "      - ${CACHING:---no-enable-prefix-caching}\n      - --port\n")
    }
    assert not [one for one in answers(files, "mtp-prefix-cache-hybrid") if isinstance(one, Offer)]


def test_a_fault_of_ours_takes_no_review_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> Iterator[Candidate]:
        raise ZeroDivisionError("twice")

    monkeypatch.setitem(cast("dict[str, object]", EDITS), "forward-variable", broken)
    assert "internal error, please report it: ZeroDivisionError" in refusal({PATH: SEAM}, "dead-seam")


@pytest.mark.parametrize(
    "more",
    [f"# {'x' * MAX_CHARACTERS}\n", "---\nb: 1\n", "# a\u2028b\n", f"x-deep: {'[' * 500}{']' * 500}\n"],
    ids=["long", "two documents", "a foreign line end", "deep"],
)
def test_a_file_whose_places_cannot_be_told_is_left_alone(more: str) -> None:
    with pytest.raises(NoEdit):
        Layout(PATH, f"{SEAM}{more}").at("x-deep", "0")
