"""What is said of lists of patches and of tables in a real repository, each judged by a person against its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.audit import audit
from bot.audit.descriptions import of_descriptions
from bot.cli.opening import opened
from bot.hazards import load_rules
from tests.corpus import needs_corpus
from tests.history.conftest import History, history  # noqa: F401

STATES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "row_verdicts.yml").read_text(encoding="utf-8"))
PRECISION = 0.95


def test_nearly_all_that_is_found_is_right() -> None:
    judged = [verdict for state in STATES for verdict in state["found"].values()]
    assert set(judged) <= {"right", "wrong"}
    assert len(STATES) == 10
    assert len(judged) >= 100
    assert judged.count("right") >= PRECISION * len(judged)


@needs_corpus
@pytest.mark.parametrize("state", STATES, ids=lambda state: str(state["state"]))
def test_what_is_found_has_been_judged(history: History, state: dict[str, Any]) -> None:  # noqa: F811
    rules = load_rules()
    with opened(history.root, history.commit(state["state"])) as repository:
        stated = frozenset(repository.catalog.stated)
        tables = audit(repository, rules.only(["registry-drift"]), only=lambda unit: unit.path in stated)
        found = [*of_descriptions(repository, rules), *tables.findings]
    told = {f"{one.path}:{one.line} {one.rule} {one.cause}" for one in found}
    assert told == set(state["found"])
    assert not [one for one in found if one.level == "error"]
