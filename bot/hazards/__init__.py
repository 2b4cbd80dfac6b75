"""Rules over properties: which hazards stand on a service, and how sure that is."""

from bot.hazards.conclusion import Difference, at_least, compare, conclusion, worsened
from bot.hazards.evaluation import evaluate
from bot.hazards.loader import RuleError, load_rules, pairs_read, properties_read
from bot.hazards.model import (
    Finding,
    Grade,
    Level,
    Observation,
    Overlay,
    Situation,
    Status,
    Subject,
    World,
)
from bot.hazards.render import finding_json
from bot.hazards.rule import Rule, Rules

__all__ = [
    "Difference",
    "Finding",
    "Grade",
    "Level",
    "Observation",
    "Overlay",
    "Rule",
    "RuleError",
    "Rules",
    "Situation",
    "Status",
    "Subject",
    "World",
    "at_least",
    "compare",
    "conclusion",
    "evaluate",
    "finding_json",
    "load_rules",
    "pairs_read",
    "properties_read",
    "worsened",
]
