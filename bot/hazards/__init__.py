"""Rules over properties: which hazards stand on a service, and how sure that is."""

from bot.hazards.conclusion import Conclusion, Difference, at_least, compare, conclusion, improved, worse, worsened
from bot.hazards.evaluation import evaluate
from bot.hazards.loader import RuleError, load_rules
from bot.hazards.model import (
    Accepted,
    Finding,
    Grade,
    Level,
    Observation,
    Overlay,
    Situation,
    StatedOverlay,
    Status,
    Subject,
    World,
    replay,
)
from bot.hazards.releases import ReleaseRange
from bot.hazards.render import finding_json
from bot.hazards.rule import Rule, Rules

__all__ = [
    "Accepted",
    "Conclusion",
    "Difference",
    "Finding",
    "Grade",
    "Level",
    "Observation",
    "Overlay",
    "ReleaseRange",
    "Rule",
    "RuleError",
    "Rules",
    "Situation",
    "StatedOverlay",
    "Status",
    "Subject",
    "World",
    "at_least",
    "compare",
    "conclusion",
    "evaluate",
    "finding_json",
    "improved",
    "load_rules",
    "replay",
    "worse",
    "worsened",
]
