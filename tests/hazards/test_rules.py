"""Every rule's own examples."""

from __future__ import annotations

from typing import Any

import pytest

from bot.cli.inspect_hazards import subject_of
from bot.hazards.evaluation import evaluate
from bot.hazards.loader import load_rules
from bot.hazards.rule import Example, Rule

RULES = load_rules()


def _examples(*outcomes: str) -> list[Any]:
    """The examples with one of these outcomes, as parameters; all of them without any."""
    return [
        pytest.param(rule, example, id=f"{rule.id}: {example.name}")
        for rule in RULES.rules
        for example in rule.examples
        if not outcomes or example.outcome in outcomes
    ]


STATUS = {"fires": "active", "reachable": "reachable", "mitigated": "mitigated", "unknown": "unknown"}


@pytest.mark.parametrize(("rule", "example"), _examples())
def test_example(rule: Rule, example: Example) -> None:
    findings = [found for found in evaluate(RULES, subject_of(example.request)) if found.rule == rule.id]
    if example.outcome == "silent":
        assert findings == []
        return
    (finding,) = findings
    assert finding.status == STATUS[example.outcome]
    assert example.level is None or finding.level == example.level
    assert "(unknown)" not in finding.message + finding.remedy
    if finding.status == "unknown":
        assert finding.missing


@pytest.mark.parametrize("rule", RULES.rules, ids=lambda rule: rule.id)
def test_examples_show_every_outcome_that_a_rule_can_have(rule: Rule) -> None:
    shown = {example.outcome for example in rule.examples}
    assert {"fires", "silent"} <= shown
    assert ("mitigated" in shown) or not rule.mitigations
    assert ("unknown" in shown) or not rule.undecided


@pytest.mark.parametrize(("rule", "example"), _examples("unknown"))
def test_an_undecided_finding_says_what_would_be_so(rule: Rule, example: Example) -> None:
    (finding,) = (found for found in evaluate(RULES, subject_of(example.request)) if found.rule == rule.id)
    if not finding.world.symbols:
        assert finding.message.startswith("Undecided: ")
        assert any(word in finding.message for word in ("would", "could", "may"))
    assert finding.remedy == "" or "If it is so: " in finding.remedy or finding.remedy.startswith("Say ")
