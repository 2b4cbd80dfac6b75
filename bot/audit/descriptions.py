"""Findings on the files that describe a repository and are no composes: its lists of patches."""

from __future__ import annotations

from collections.abc import Iterable

from bot.audit.guards import of_guards
from bot.audit.patch_list import of_list
from bot.audit.waiting import of_waiting
from bot.engine import Pin
from bot.hazards import Finding, Observation, Rules, Situation, Subject, World, evaluate
from bot.memory import Itself
from bot.provenance import Position
from bot.resolution import Repository
from bot.tree import Tree

KINDS = frozenset({"patch-clock", "patch-list", "vendor-guard"})
"""The kinds of observation that are made here."""


def of_descriptions(repository: Repository, rules: Rules) -> tuple[Finding, ...]:
    """What is wrong in them, whichever composes are looked at."""
    asked = rules.observing(KINDS)
    catalog = repository.catalog
    if not asked.rules:
        return ()
    question = ("descriptions", Itself(rules), Itself(catalog))

    def work(tree: Tree) -> tuple[Finding, ...]:
        seen = (*of_list(catalog, tree), *of_waiting(catalog), *of_guards(repository.over(tree), rules))
        return _findings(asked, seen)

    return repository.documents.memory.answer(question, repository.tree, work)


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
