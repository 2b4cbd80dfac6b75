"""The incident that the project began with: two composes whose drafter and prefix caching corrupt each other.

Neither has a literal drafter among its arguments, and one hides its prefix flag behind a seam. The hotfix turned the
default off and left the seam.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bot.cli import cli
from tests.corpus import needs_corpus
from tests.history.conftest import History
from tests.schemas import violations

pytestmark = needs_corpus

HOTFIX = "edabcb8f"
PAIR = "mtp-prefix-cache-hybrid"
FOLDER = "models/qwen3.6-27b/vllm/compose"
DUAL, SINGLE = f"{FOLDER}/dual/nvfp4/mtp.yml", f"{FOLDER}/single/nvfp4/mtp.yml"
PROFILE = "scripts/lib/profiles/models/qwen3.6-27b.yml"
SEAM = {"PREFIX_CACHE_ARG": "--enable-prefix-caching"}


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def _review(history: History, *, reverse: bool = False) -> tuple[int, dict[str, Any]]:
    before, after = history.parent(HOTFIX), history.commit(HOTFIX)
    base, head = (after, before) if reverse else (before, after)
    result = _run("review", "--repo", str(history.root), "--base", base, "--head", head, "--format", "json")
    answer = json.loads(result.stdout)
    assert violations("review", answer) == []
    return result.exit_code, answer


@pytest.fixture(scope="module")
def hotfix(history: History) -> tuple[int, dict[str, Any]]:
    return _review(history)


def _changed(answer: dict[str, Any]) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    pairs = [(pair["before"], pair["after"]) for pair in answer["changed"] if pair["after"]["rule"] == PAIR]
    return {after["path"]: (before, after) for before, after in pairs}


def test_the_hotfix_leaves_the_pair_reachable_on_both(hotfix: tuple[int, dict[str, Any]]) -> None:
    status, answer = hotfix
    # It turned the default off below a comment that goes on saying "ON by default".
    assert (status, answer["conclusion"]) == (0, "neutral")
    assert [(found["rule"], found["path"], found["cause"]) for found in answer["introduced"]] == [
        ("stale-claim", DUAL, "prefix_caching=True")
    ]
    changed = _changed(answer)
    assert set(changed) == {DUAL, SINGLE}
    for before, after in changed.values():
        assert (before["status"], before["level"], before["world"]) == ("active", "error", {})
        assert (after["status"], after["level"], after["world"]) == ("reachable", "warning", SEAM)
        assert "vllm-project/vllm#43559" in after["upstream"]
    assert [change["path"] for change in answer["property_changes"] if change["property"] == "prefix_caching"] == [
        DUAL,
        SINGLE,
    ]
    assert PAIR not in {finding["rule"] for finding in answer["fixed"]}


def test_the_note_that_exempted_the_slug_is_a_stale_claim(history: History) -> None:
    answer = json.loads(
        _run(
            "audit", str(history.root), "--rev", history.parent(HOTFIX), "--rule", "stale-claim", "--format", "json"
        ).stdout
    )
    found = [finding for finding in answer["findings"] if finding["path"].endswith("patches.yml")]
    assert [(one["slug"], one["status"], one["level"]) for one in found] == [
        ("vllm/qwen-27b-dual-nvfp4", "active", "warning")
    ]
    assert "drafter mtp, not none" in found[0]["message"]


@pytest.mark.parametrize(
    ("path", "seam", "drafter"), [(DUAL, 221, (151, 152)), (SINGLE, 187, None)], ids=["dual", "single"]
)
def test_the_chain_leads_from_the_entrypoint_over_the_seam_to_the_profile(
    hotfix: tuple[int, dict[str, Any]], path: str, seam: int, drafter: tuple[int, int] | None
) -> None:
    chain = _changed(hotfix[1])[path][1]["chain"]
    shell = [reason["line"] for reason in chain if reason["kind"] == "shell" and reason["path"] == path]
    assert shell, "no line of the entrypoint"
    if drafter is not None:
        assert set(drafter) <= set(shell)
    assert any("--speculative-config" in reason["text"] for reason in chain if reason["kind"] == "shell")
    assert (path, seam) in {(reason["path"], reason["line"]) for reason in chain if reason["kind"] == "compose"}
    assert any(reason["path"] == PROFILE and "num_gdn_layers" in reason["text"] for reason in chain)


@pytest.mark.parametrize("output", ["text", "markdown"])
def test_what_a_person_reads_names_files_world_and_statuses(history: History, output: str) -> None:
    result = _run(
        *("review", "--repo", str(history.root), "--base", history.parent(HOTFIX), "--head", history.commit(HOTFIX)),
        *("--format", output),
    )
    assert result.exit_code == 0
    for words in (DUAL, SINGLE, "PREFIX_CACHE_ARG=--enable-prefix-caching", "active", "reachable"):
        assert words in result.stdout


def test_undoing_the_hotfix_fails_with_a_comment_on_a_changed_line_of_both(history: History) -> None:
    status, answer = _review(history, reverse=True)
    assert (status, answer["conclusion"]) == (1, "failure")
    changed = _changed(answer)
    assert {path: (before["status"], after["status"]) for path, (before, after) in changed.items()} == {
        DUAL: ("reachable", "active"),
        SINGLE: ("reachable", "active"),
    }
    comments = {comment["path"]: comment for comment in answer["comments"]}
    assert set(comments) == {DUAL, SINGLE}
    # the line that turns prefix caching on: the only changed ones of either file
    assert (comments[DUAL]["line"], comments[SINGLE]["line"]) == (218, 183)
    for comment in comments.values():
        assert comment["side"] == "RIGHT"
        assert comment["finding"]["rule"] == PAIR
        assert "num_gdn_layers" in comment["body"]
        assert len(comment["body"].splitlines()) < 40


def test_an_audit_before_the_hotfix_lists_both(history: History) -> None:
    result = _run("audit", str(history.root), "--rev", history.parent(HOTFIX), "--rule", PAIR, "--format", "json")
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert violations("audit", answer) == []
    active = {finding["path"]: finding["level"] for finding in answer["findings"] if finding["status"] == "active"}
    assert {path: level for path, level in active.items() if path in (DUAL, SINGLE)} == {DUAL: "error", SINGLE: "error"}


def test_the_documented_way_out_never_arrives(history: History) -> None:
    """`VLLM_ENFORCE_EAGER=1` was offered against a hazard of both; nothing forwards it."""
    result = _run(
        "audit", str(history.root), "--rev", history.parent(HOTFIX), "--rule", "dead-seam", "--format", "json"
    )
    dead = {(finding["path"], finding["cause"]) for finding in json.loads(result.stdout)["findings"]}
    assert {(DUAL, "VLLM_ENFORCE_EAGER"), (SINGLE, "VLLM_ENFORCE_EAGER")} <= dead
