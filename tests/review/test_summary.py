"""What a review says of a change."""

from __future__ import annotations

import difflib

from bot.audit import Report, audit
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import load_rules
from bot.resolution import Repository
from bot.review import FileDiff, Review, file_diffs, report, review, summary
from bot.review.check import title
from bot.tree import MemoryTree

RULES = load_rules()
PROFILE = "id: hare-9b\nnum_hidden_layers: 32\nnum_gdn_layers: 24\nnum_attn_layers: 8\nweights: {x: {path: hare-9b}}\n"
BASE = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    command:
      - --model=/models/hare-9b
      - --speculative-config={"method":"mtp","num_speculative_tokens":2}
      - ${CACHE:---enable-prefix-caching}
"""
OFF = BASE.replace(":---enable", ":---no-enable")


def _audit(text: str) -> Report:
    tree = MemoryTree({"compose.yml": text, "models/hare-9b.yml": PROFILE})
    return audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES)


def _review(before: str, after: str) -> Review:
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), "a/compose.yml", "b/compose.yml")
    return review(_audit(before), _audit(after), file_diffs("".join(lines)), {})


def test_an_improvement_says_where_it_leads_and_what_is_left() -> None:
    text = summary(_review(BASE, OFF))
    assert "### Improved" in text
    assert "### Worsened" not in text
    assert "| active → reachable with `CACHE=--enable-prefix-caching` | error → warning |" in text
    assert "**What remains to be done:** Leave CACHE unset" in text


def test_what_got_worse_is_left_to_its_comment() -> None:
    outcome = _review(OFF, BASE)
    text = summary(outcome)
    assert "### Worsened" in text
    assert "### Improved" not in text
    assert "| reachable → active | warning → error |" in text
    assert "What remains" not in text
    assert [(comment.line, comment.finding.rule) for comment in outcome.comments] == [(7, "mtp-prefix-cache-hybrid")]


def test_a_row_names_the_variable_or_the_flag_that_it_is_about() -> None:
    wrong = BASE + "      - --no-such-flag=3\n    environment: [VLLM_OF_NOBODY=1]\n"
    text = summary(_review(BASE, wrong))
    assert "| The pinned release has no such flag: `--no-such-flag` |" in text
    assert "| A setting has no effect in this release: `VLLM_OF_NOBODY` |" in text


def test_what_follows_from_a_changed_line_is_mentioned() -> None:
    changes = {change.property: change for change in _review(BASE, OFF).property_changes}
    assert changes["mamba_cache_mode"].cause.startswith("compose.yml:7: ")
    assert not any(change.unmentioned for change in changes.values())


def test_what_follows_from_a_removed_line_is_mentioned() -> None:
    eager = BASE + "      - --enforce-eager\n"
    changes = {change.property: change for change in _review(eager, BASE).property_changes}
    assert changes["enforce_eager"].after is False
    assert not changes["enforce_eager"].unmentioned


def test_what_only_a_new_pin_brings_is_not_mentioned() -> None:
    quiet = BASE.replace("      - ${CACHE:---enable-prefix-caching}\n", "")
    changes = {change.property: change for change in _review(quiet, quiet.replace("0.25.1", "0.28.0")).property_changes}
    assert changes["prefix_caching"].after is True
    assert changes["prefix_caching"].unmentioned


def test_a_moved_default_and_the_hazard_that_it_brings_make_one_comment() -> None:
    quiet = BASE.replace("      - ${CACHE:---enable-prefix-caching}\n", "").replace("0.25.1", "0.27.1")
    moved = _review(quiet, quiet.replace("0.27.1", "0.28.0"))
    (comment,) = moved.comments
    assert (comment.path, comment.line) == ("compose.yml", 3)
    assert (comment.finding.rule, [one.rule for one in comment.beside]) == ("mtp-prefix-cache-hybrid", ["default-flip"])
    assert "Moving the pin from 0.27.1 to 0.28.0" in comment.body
    assert comment.body.index("Moving the pin") < comment.body.index("**Why:**")
    assert title(moved) == "Introduces 1 error"
    assert "Another release" not in summary(moved)
    assert "Moving the pin" in report(moved)


def test_what_only_got_worse_is_not_called_new() -> None:
    worse = _review(OFF, BASE)
    assert title(worse) == "Worsens 1 error"
    assert summary(worse).startswith("**This change makes a hazard worse.** Worse: 1 error. Looked at the one compose")


def test_what_was_not_known_before_is_no_surprise() -> None:
    quiet = BASE.replace("      - ${CACHE:---enable-prefix-caching}\n", "")
    outcome = _review(quiet.replace("vllm-openai:v0.25.1", "vllm-openai:latest"), quiet)
    assert any(change.before == "unknown" for change in outcome.property_changes)
    assert "Changes that no line mentions" not in summary(outcome)


def test_unchanged_findings_of_files_that_the_change_only_reaches_are_counted() -> None:
    trees = [{"a.yml": BASE, "b.yml": BASE, "models/hare-9b.yml": PROFILE + more} for more in ("", "# edited\n")]
    before, after = (
        audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES) for tree in map(MemoryTree, trees)
    )
    outcome = review(before, after, {"a.yml": FileDiff(frozenset(), frozenset())}, {})
    rows = [line for line in summary(outcome).splitlines() if "Prefix caching with a drafter" in line]
    assert [("a.yml" in row, "b.yml" in row) for row in rows] == [(True, False)]
    assert "in files that this change reaches without editing them." in summary(outcome)


def test_a_word_of_ours_is_not_shown_as_a_name_of_the_file() -> None:
    broken = BASE.replace("${CACHE:---enable-prefix-caching}", "${CACHE")
    assert "| The service cannot start |" in summary(_review(BASE, broken))


def test_what_is_folded_away_is_counted() -> None:
    text = summary(_review(OFF, OFF + "      - --seed=1\n"))
    assert "Unchanged (" in text
    assert "| folded |" not in text


def test_what_could_not_be_told_before_may_be_older() -> None:
    broken = BASE.replace("image:", "imag:")
    (there, here) = (
        next(c for c in outcome.comments if c.finding.rule == "mtp-prefix-cache-hybrid")
        for outcome in (_review(OFF, BASE), _review(broken, BASE))
    )
    assert "may be older than this change" in here.body
    assert "may be older" not in there.body


def test_the_first_comment_on_a_rule_gives_the_reasons_and_the_others_fold_them() -> None:
    twice = BASE + "      - --nope=1\n      - --nein=2\n"
    bodies = [c.body for c in _review(BASE, twice).comments if c.finding.rule == "unknown-flag"]
    assert ["<details><summary>Why, and how sure" in body for body in bodies] == [False, True]


def test_the_command_names_the_file() -> None:
    (comment,) = _review(OFF.replace("      - ${CACHE:---no-enable-prefix-caching}\n", ""), OFF).comments
    assert "`CACHE=--enable-prefix-caching docker compose -f compose.yml up engine`" in comment.body


def test_what_is_undecided_is_listed_with_its_reasons_and_has_no_comment() -> None:
    unknown = BASE.replace("hare-9b", "fox").replace("0.25.1", "0.25.0")
    outcome = _review(BASE.replace("/models/hare-9b", "/models/fox").replace("enable", "no-enable"), unknown)
    text = summary(outcome)
    assert "Undetermined (" in text
    assert not any(comment.finding.status == "unknown" for comment in outcome.comments)
