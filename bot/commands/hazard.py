"""The answer to `/explain` about a hazard: what it is, how sure that is, and where to read on."""

from __future__ import annotations

from bot.hazards import Rule, load_rules
from bot.markdown import code, folded
from bot.review.comments import GRADES
from bot.review.links import OFFLINE, Links

SHOWN_PARAGRAPHS = 2
"""Of the explanation; the others are folded away."""


def hazard_ids() -> frozenset[str]:
    """The rules that can be asked about."""
    return load_rules().ids


def explain_hazard(identity: str, links: Links = OFFLINE) -> str:
    """The answer, as Markdown, about one of `hazard_ids`."""
    rule = load_rules().named[identity]
    paragraphs = rule.explanation.strip().split("\n\n")
    parts = [
        f"#### {rule.title} ({rule.level}, {links.rule(rule.id)})",
        links.references("\n\n".join(paragraphs[:SHOWN_PARAGRAPHS])),
        folded("More about it", links.references("\n\n".join(paragraphs[SHOWN_PARAGRAPHS:]))),
        _certainty(rule, links),
        _further(rule, links),
    ]
    return "\n\n".join(part for part in parts if part)


def _certainty(rule: Rule, links: Links) -> str:
    lines = []
    for entry in rule.evidence:
        sentence, source = links.references(entry.sentence), links.references(entry.source)
        lines.append(f"- {entry.grade} ({GRADES[entry.grade]}): {sentence} Source: {source}.")
    return "\n".join(["**How sure:**", *lines])


def _further(rule: Rule, links: Links) -> str:
    upstream = ", ".join(
        links.references(reference) if links.repository else code(reference) for reference in rule.upstream
    )
    told = [f"Upstream: {upstream}."] if upstream else []
    told += [f"The whole rule, with examples: {links.rule(rule.id)}."] if links.rules else []
    return " ".join(told)
