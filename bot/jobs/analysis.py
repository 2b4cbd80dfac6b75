"""The review itself, on two trees. Pure, and the longest part of a job: it runs in a thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.audit import Report, Unit, audit
from bot.catalog import Configuration, read_catalog
from bot.compose import Documents
from bot.github.model import ChangedFile
from bot.hazards import Rules
from bot.resolution import Repository
from bot.review import FileDiff, Review, affected, configuration_edit, patch_diffs, review
from bot.tree import Tree

_COMMENTABLE = (".yml", ".yaml", ".sh", ".env", ".env.example")
"""Files that a comment could sit on: of the others no lines are needed."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """A review, and the lines of the change that its comments can sit on."""

    review: Review
    diffs: dict[str, FileDiff]


def repository(tree: Tree) -> Repository:
    """A tree with its catalog read."""
    return Repository(tree, read_catalog(tree), Documents(tree))


def analyse(base: Tree, head: Tree, changes: Sequence[ChangedFile], rules: Rules) -> Analysis:
    """Compares what would be merged with what is there, under the configuration that is there."""
    before = repository(base)
    after = repository(head)
    edit = configuration_edit([change.path for change in changes], after.catalog.configuration.problems)
    after = judged_by(before.catalog.configuration, after)
    paths = {path for change in changes for path in (change.path, change.previous_path) if path}
    touched = affected(before, after, paths)
    diffs = dict(
        patch_diffs(
            (change.path, change.patch)
            for change in changes
            if change.status != "removed" and change.path.endswith(_COMMENTABLE)
        )
    )
    renamed = {
        change.previous_path: change.path for change in changes if change.previous_path and change.status == "renamed"
    }
    old = _audit(before, rules, touched.base)
    new = _audit(after, rules, touched.head)
    return Analysis(review(old, new, diffs, renamed, edit), diffs)


def judged_by(configuration: Configuration, repository: Repository) -> Repository:
    """The repository under another configuration: a change must not choose what it is judged by."""
    return replace(repository, catalog=replace(repository.catalog, configuration=configuration))


def _audit(repository: Repository, rules: Rules, units: frozenset[Unit]) -> Report:
    return audit(repository, rules, only=lambda unit: unit in units)
