"""A service that cannot be resolved is told of in every form, and is never taken for a clean one."""

from __future__ import annotations

from bot.audit import Report, audit
from bot.catalog import read_catalog
from bot.cli.audit import report_json
from bot.cli.sarif import report_sarif
from bot.cli.workflow import undecided
from bot.compose import Documents
from bot.hazards import load_rules
from bot.resolution import Repository
from bot.review import Review, review, standing, summary
from bot.review.check import check
from bot.review.diff import FileDiff
from bot.tree import MemoryTree

RULES = load_rules()
COMPOSE = """
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    volumes: ["./start.sh:/start.sh:ro"]
    entrypoint: ["bash", "/start.sh"]
  web:
    image: nginx:1.27
    entrypoint: ["/docker-entrypoint.sh"]
"""
SERVES = '[ -n "$NEVER_PASSED" ] && echo on\nexec vllm serve m\n'
LOST = '[ -n "$NEVER_PASSED" ] && echo on\ncoproc cat\nexec vllm serve m\n'
EVALUATES = 'eval "$(python3 /opt/settings.py)"\n[ -n "$MAY_BE_SET" ] && echo on\nexec vllm serve m\n'


def _audit(script: str, compose: str = COMPOSE) -> Report:
    tree = MemoryTree({"compose.yml": compose, "start.sh": script})
    return audit(Repository(tree, read_catalog(tree), Documents(tree, relative=True)), RULES)


def _review(before: Report, after: Report, edited: str = "compose.yml") -> Review:
    return review(before, after, {edited: FileDiff(frozenset(), frozenset())}, {})


def test_only_what_seems_to_run_a_server_is_told_with_its_place() -> None:
    (one,) = _audit(LOST).undecided
    assert (one.path, one.service, str(one.place), one.partly) == ("compose.yml", "engine", "start.sh:2", False)
    assert "coproc" in one.reason
    assert _audit(SERVES).undecided == ()


def test_every_form_of_an_audit_tells_it() -> None:
    report = _audit(LOST)
    assert report_json(report)["undecided"][0]["place"] == {"path": "start.sh", "line": 2}
    assert "Could not be decided (1)" in standing(report)
    assert [line.partition(",")[0] for line in undecided(report.undecided)] == ["::notice file=start.sh"]
    notes = report_sarif(report, RULES)["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert any("engine could not be resolved" in note["message"]["text"] for note in notes)


def test_a_change_of_it_is_neither_a_hazard_nor_a_success() -> None:
    made = _review(_audit(LOST), _audit(LOST, COMPOSE.replace("0.25.1", "0.28.0")))
    assert (made.conclusion, made.lost) == ("neutral", frozenset())
    told = check(made)
    assert told.title == "1 service could not be decided"
    assert [(note.path, note.start_line, note.level) for note in told.annotations] == [("start.sh", 2, "notice")]
    assert "no hazard" not in summary(made) + told.title + told.summary


def test_what_a_change_does_not_touch_is_listed_and_keeps_nobody_from_success() -> None:
    made = _review(_audit(LOST), _audit(LOST), "models/hare.yml")
    assert made.conclusion == "success"
    assert "Could not be decided (1)" in summary(made)


def test_a_server_that_is_not_vllm_is_not_told() -> None:
    other = COMPOSE.replace("vllm/vllm-openai:v0.25.1", "ghcr.io/ggml-org/llama.cpp:server")
    assert _audit(LOST.replace("vllm serve m", "llama-server"), other).undecided == ()


def test_what_was_resolved_before_is_told_first() -> None:
    made = _review(_audit(SERVES), _audit(LOST), "start.sh")
    assert made.conclusion == "neutral"
    assert {one.service for one in made.lost} == {"engine"}
    assert summary(made).index("No longer resolved") < 200
    assert _review(_audit(LOST), _audit(SERVES)).conclusion == "success"


def test_a_seam_is_dead_whatever_else_is_not_known() -> None:
    assert [(found.rule, found.cause) for found in _audit(LOST).findings] == [("dead-seam", "NEVER_PASSED")]
    assert not [found for found in _audit(EVALUATES).findings if found.rule == "dead-seam"]
