"""What is found out from two trees: the review, and answers to questions. Pure; runs in the resolver's process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from bot.audit import Contains, Report, Unit, audit, unknown_rules
from bot.bootlog import BootLog
from bot.catalog import Configuration, read_catalog
from bot.commands import Explain, Verification, Verify, explain, verify
from bot.compose import Documents
from bot.engine import Pin
from bot.engine.missing import missing
from bot.github.model import ChangedFile
from bot.hazards import Rules, load_rules
from bot.learn.excerpts import Excerpts
from bot.memory import Memory
from bot.remedies import fixes
from bot.resolution import Repository
from bot.review import (
    FileDiff,
    Knowledge,
    Links,
    Review,
    affected,
    bumps,
    configuration_edit,
    patch_diffs,
    review,
    vendored,
    with_fixes,
)
from bot.tree import Tree
from bot.upstream.facts import Facts
from bot.upstream.known import known_from
from bot.upstream.striking import Striking

_COMMENTABLE = (".yml", ".yaml", ".sh", ".env", ".env.example")
"""Files that a comment could sit on: of the others no lines are needed."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """A review, and the lines of the change that its comments can sit on.

    `lacking` are pins of releases that nobody has facts of: a better review is to be had when they are learnt, and
    when the modules of releases in `unread` are on this machine. `references` are those that a moved pin or an accepted
    risk asks about.
    """

    review: Review
    diffs: dict[str, FileDiff]
    lacking: tuple[Pin, ...] = ()
    unread: Mapping[str, frozenset[str]] = field(default_factory=dict)
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reviewed:
    """Asks what a change does, under this process's rules. `facts` were recorded of upstream, by reference."""

    changes: tuple[ChangedFile, ...]
    facts: Mapping[str, Facts] = field(default_factory=dict)

    def __call__(self, base: Tree, head: Tree) -> Analysis:
        """The review."""
        return analyse(base, head, self.changes, _rules(), self.facts)


@dataclass(frozen=True, slots=True)
class Explained:
    """Asks where a property of the proposed state comes from."""

    asked: Explain
    links: Links

    def __call__(self, base: Tree, head: Tree) -> str:
        """The answer in Markdown."""
        configuration = repository(base).catalog.configuration
        return explain(self.asked, judged_by(configuration, repository(head)), self.links)


@dataclass(frozen=True, slots=True)
class Held:
    """The answer to `/verify`. `lacking` are pins of releases that nobody has facts of."""

    verification: Verification
    lacking: tuple[Pin, ...] = ()


@dataclass(frozen=True, slots=True)
class Verified:
    """Asks whether logs are of what the proposed state says."""

    asked: Verify
    logs: tuple[BootLog, ...]
    links: Links

    def __call__(self, base: Tree, head: Tree) -> Held:
        """The answer."""
        configuration = repository(base).catalog.configuration
        proposed = judged_by(configuration, repository(head))
        found = verify(self.asked, self.logs, proposed, _rules(), self.links)
        return Held(found, _lacking(found.pins))


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


def analyse(
    base: Tree, head: Tree, changes: Sequence[ChangedFile], rules: Rules, facts: Mapping[str, Facts] | None = None
) -> Analysis:
    """Compares what would be merged with what is there, under the configuration that is there."""
    before = repository(base)
    after = repository(head)
    own = after.catalog.configuration
    edit = configuration_edit([change.path for change in changes], (*own.problems, *unknown_rules(own, rules)))
    proposed = after
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
    sources = Excerpts(offline=True)  # this process has no business with the network
    recorded = facts or {}
    knowledge = Knowledge(lambda reference: recorded.get(reference, Facts()), sources.source)
    clock = Striking(known_from(rules.upstream.known, sources.source), knowledge.facts)
    old = _audit(before, rules, touched.base, clock)
    new = _audit(after, rules, touched.head, clock)
    moved = bumps(before, proposed, (old, new), renamed, rules.upstream, knowledge)
    found = review(old, new, diffs, renamed, edit, moved, vendored(before, after, new))
    found = with_fixes(found, diffs, fixes(after, new, found, rules))
    references = dict.fromkeys(
        reference for bump in moved for reference in (*(fix.reference for fix in bump.fixes), *bump.unrecorded)
    )
    references.update(clock.undecided)
    return Analysis(found, diffs, _lacking((*old.pins, *new.pins)), sources.lacking, tuple(references))


def _lacking(pins: Sequence[Pin]) -> tuple[Pin, ...]:
    """The pins of releases without facts, each release once."""
    unknown = set(missing(pins))
    return tuple({pin.release: pin for pin in pins if pin.release in unknown}.values()) if unknown else ()


def judged_by(configuration: Configuration, repository: Repository) -> Repository:
    """The repository under another configuration: a change must not choose what it is judged by."""
    if repository.catalog.configuration is configuration:
        return repository
    return replace(repository, catalog=replace(repository.catalog, configuration=configuration))


def _audit(repository: Repository, rules: Rules, units: frozenset[Unit], clock: Contains) -> Report:
    return audit(repository, rules, only=lambda unit: unit in units, contains=clock)
