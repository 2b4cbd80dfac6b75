"""Findings on the files that describe a repository and are no composes: its lists of patches."""

from __future__ import annotations

from collections.abc import Iterable

from bot.audit.patch_list import of_list
from bot.engine import Pin
from bot.hazards import Finding, Observation, Rules, Situation, Subject, World, evaluate
from bot.memory import Itself
from bot.provenance import Position
from bot.resolution import Repository

KINDS = frozenset({"patch-list"})
"""The kinds of observation that are made here."""


def of_descriptions(repository: Repository, rules: Rules) -> tuple[Finding, ...]:
    """What is wrong in them, whichever composes are looked at."""
    asked = rules.observing(KINDS)
    catalog = repository.catalog
    if not asked.rules or not (catalog.patches or catalog.faults):
        return ()
    question = ("descriptions", Itself(rules), Itself(catalog))
    return repository.documents.memory.answer(
        question, repository.tree, lambda tree: _findings(asked, of_list(catalog, tree))
    )


def _findings(rules: Rules, observations: Iterable[Observation]) -> tuple[Finding, ...]:
    """The findings, each on the file where what was observed stands."""
    by_file: dict[str, list[Observation]] = {}
    for observation in observations:
        by_file.setdefault(observation.position.path, []).append(observation)
    return tuple(finding for path, seen in by_file.items() for finding in evaluate(rules, _subject(path, seen)))


def _subject(path: str, observations: list[Observation]) -> Subject:
    top = Position(path, 1)
    situation = Situation(World({}), {}, Pin("", None), (), (), (), tuple(observations), top)
    return Subject(path, "", (), top, (situation,))
