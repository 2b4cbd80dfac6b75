"""`rules`: every hazard that is looked for."""

from __future__ import annotations

from typing import Any

import click

from bot.cli.machine import print_json
from bot.cli.options import format_option
from bot.cli.terminal import Terminal
from bot.hazards import Rule, load_rules

SCHEMA = 1


@click.command("rules")
@format_option("text", "json")
def rules_command(output: str) -> None:
    """List every rule: its name, level, title, and how sure its evidence is. `explain RULE` prints its page."""
    rules = load_rules().rules
    if output == "json":
        print_json({"schema": SCHEMA, "rules": [_rule_json(rule) for rule in rules]})
        return
    out = Terminal()
    out.columns((rule.id, rule.level, ", ".join(_grades(rule)), rule.title) for rule in rules)


def _grades(rule: Rule) -> tuple[str, ...]:
    """The grades that a finding of the rule can have, by the evidence for a defect."""
    return tuple(dict.fromkeys(entry.grade for entry in rule.evidence if entry.result == "defect"))


def _rule_json(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "level": rule.level,
        "title": rule.title,
        "grades": list(_grades(rule)),
        "upstream": list(rule.upstream),
    }
