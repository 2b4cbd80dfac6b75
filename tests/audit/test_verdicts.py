"""Stale claims of real repositories, each judged by a person against the file and what the compose resolves to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.audit import audit
from bot.cli.opening import opened
from bot.hazards import load_rules
from tests.corpus import CORPUS, needs_corpus
from tests.history.conftest import History, history  # noqa: F401

STATES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "verdicts.yml").read_text(encoding="utf-8"))
PRECISION = 0.95


def test_nearly_all_that_is_found_is_right() -> None:
    judged = {(place, verdict) for state in STATES for place, verdict in state["found"].items()}
    assert {verdict for _, verdict in judged} <= {"right", "wrong"}
    assert len(judged) >= 50
    assert sum(verdict == "right" for _, verdict in judged) >= PRECISION * len(judged)


@needs_corpus
@pytest.mark.parametrize("state", STATES, ids=lambda state: str(state["state"]))
def test_what_is_found_has_been_judged(history: History, state: dict[str, Any]) -> None:  # noqa: F811
    wild = state["state"] == "wild"
    revision = None if wild else history.commit(state["state"])
    with opened(CORPUS / "wild" if wild else history.root, revision) as repository:
        report = audit(repository, load_rules().only(["stale-claim"]))
    found = {f"{f.path}:{f.line} {f.cause}" for f in report.findings if f.rule == "stale-claim"}
    assert found == set(state["found"])
