"""A change that makes a sentence false, wherever the sentence stands."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import unified_diff

from bot.audit import Report, audit
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import Finding, load_rules
from bot.resolution import Repository
from bot.review import Review, review
from bot.review.diff import file_diffs
from bot.tree import MemoryTree

RULES = load_rules()
HEADER = "# Title\n#\n# Prefix caching OFF by default.\n# bash switch.sh engine/hare\n" + "#\n" * 12
COMPOSE = (
    f"{HEADER}services:\n  hare:\n    image: vllm/vllm-openai:v0.25.1\n    environment: [SPEC]\n    command:\n"
    "      - --model=/models/hare-9b\n      - --no-enable-prefix-caching\n"
)
CACHED = COMPOSE.replace("--no-enable", "--enable")
CORRECTED = CACHED.replace("caching OFF", "caching ON")
NOTE = (
    "patches:\n  - {id: fix, files: [p], delivery_mechanism: none, note: 'engine/hare ships no MTP arg, for good.'}\n"
)
DRAFTING = COMPOSE + """      - '--speculative-config={"method":"mtp","num_speculative_tokens":2}'\n"""
UNKNOWN = COMPOSE.replace("    command:\n", "    entrypoint: [bash, -c, 'exec $$(cat /x) $$0 $$@']\n    command:\n")


def _report(files: Mapping[str, str]) -> Report:
    tree = MemoryTree(dict(files))
    return audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES)


def _review(before: Mapping[str, str], after: Mapping[str, str], renamed: Mapping[str, str] | None = None) -> Review:
    diff = "".join(
        f"diff --git a/{path} b/{path}\n"
        + "".join(unified_diff(before[path].splitlines(True), text.splitlines(True), f"a/{path}", f"b/{path}"))
        for path, text in after.items()
        if path in before and before[path] != text
    )
    return review(_report(before), _report(after), file_diffs(diff), renamed or {})


def _stale(findings: tuple[Finding, ...]) -> list[str]:
    return [f"{finding.path}:{finding.line} {finding.cause}" for finding in findings if finding.rule == "stale-claim"]


def _commented(found: Review) -> list[tuple[str, int | None]]:
    return [(comment.path, comment.line) for comment in found.comments if comment.finding.rule == "stale-claim"]


def test_the_comment_is_at_the_line_that_makes_the_sentence_false() -> None:
    found = _review({"compose.yml": COMPOSE}, {"compose.yml": CACHED})
    assert _stale(found.introduced) == ["compose.yml:3 prefix_caching=False"]
    assert _commented(found) == [("compose.yml", COMPOSE.count("\n"))]
    assert found.conclusion == "neutral"


def test_the_comment_is_at_the_sentence_where_the_change_writes_it() -> None:
    before = CORRECTED.replace("# Prefix caching ON by default.\n", "")
    found = _review({"compose.yml": before}, {"compose.yml": CACHED})
    assert _commented(found) == [("compose.yml", 3)]


def test_a_change_that_mentions_it_everywhere_says_nothing() -> None:
    found = _review({"compose.yml": COMPOSE}, {"compose.yml": CORRECTED})
    assert _stale(found.introduced) == _stale(found.unchanged) == []


def test_a_corrected_sentence_is_fixed() -> None:
    found = _review({"compose.yml": CACHED}, {"compose.yml": CORRECTED})
    assert _stale(found.fixed) == ["compose.yml:3 prefix_caching=False"]


def test_moving_the_sentence_changes_nothing() -> None:
    found = _review({"compose.yml": CACHED}, {"compose.yml": f"# More.\n{CACHED}"})
    assert _stale(found.unchanged) == ["compose.yml:4 prefix_caching=False"]
    assert _stale(found.introduced) == _stale(found.fixed) == []


def test_a_note_elsewhere_is_commented_on_where_the_drafter_comes_in() -> None:
    before, after = ({"compose.yml": text, "lib/patches.yml": NOTE} for text in (COMPOSE, DRAFTING))
    found = _review(before, after)
    assert _stale(found.introduced) == ["lib/patches.yml:2 spec_decode.method=none of compose.yml"]
    assert _commented(found) == [("compose.yml", DRAFTING.count("\n"))]


def test_what_can_no_longer_be_told_is_not_fixed() -> None:
    files = {"compose.yml": DRAFTING, "lib/patches.yml": NOTE}
    found = _review(files, {**files, "compose.yml": UNKNOWN})
    assert _stale(found.fixed) == []
