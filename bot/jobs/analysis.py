"""What is found out from two trees: the review, and answers to questions. Pure; runs in the resolver's process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from bot.audit import Report, Unit, audit
from bot.catalog import Configuration, read_catalog
from bot.commands import Explain, explain
from bot.compose import Documents
from bot.engine import Pin
from bot.engine.missing import missing
from bot.github.model import ChangedFile
from bot.hazards import Rules, load_rules
from bot.memory import Memory
from bot.resolution import Repository
from bot.review import FileDiff, Links, Review, affected, configuration_edit, patch_diffs, review
from bot.tree import Tree

_COMMENTABLE = (".yml", ".yaml", ".sh", ".env", ".env.example")
"""Files that a comment could sit on: of the others no lines are needed."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """A review, and the lines of the change that its comments can sit on.

    `lacking` are pins of releases that nobody has facts of: a better review is to be had when they are learnt.
    """

    review: Review
    diffs: dict[str, FileDiff]
    lacking: tuple[Pin, ...] = ()


@dataclass(frozen=True, slots=True)
class Reviewed:
    """Asks what a change does, under this process's rules."""

    changes: tuple[ChangedFile, ...]

    def __call__(self, base: Tree, head: Tree) -> Analysis:
        """The review."""
        return analyse(base, head, self.changes, _rules())


@dataclass(frozen=True, slots=True)
class Explained:
    """Asks where a property of the proposed state comes from."""

    asked: Explain
    links: Links

    def __call__(self, base: Tree, head: Tree) -> str:
        """The answer in Markdown."""
        configuration = repository(base).catalog.configuration
        return explain(self.asked, judged_by(configuration, repository(head)), self.links)


@cache
def _rules() -> Rules:
    return load_rules()


@cache
def _memory() -> Memory:
    """What this process has found of trees: both sides of a change share it, and the next change does."""
    return Memory()


def repository(tree: Tree) -> Repository:
    """A tree with its catalog read."""
    memory = _memory()
    return Repository(tree, read_catalog(tree, memory), Documents(tree, memory=memory))


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
    unknown = set(missing((*old.pins, *new.pins)))
    lacking = {pin.release: pin for pin in (*old.pins, *new.pins) if pin.release in unknown} if unknown else {}
    return Analysis(review(old, new, diffs, renamed, edit), diffs, tuple(lacking.values()))


def judged_by(configuration: Configuration, repository: Repository) -> Repository:
    """The repository under another configuration: a change must not choose what it is judged by."""
    if repository.catalog.configuration is configuration:
        return repository
    return replace(repository, catalog=replace(repository.catalog, configuration=configuration))


def _audit(repository: Repository, rules: Rules, units: frozenset[Unit]) -> Report:
    return audit(repository, rules, only=lambda unit: unit in units)
