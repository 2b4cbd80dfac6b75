"""Compares what a repository did with what it would do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.audit import Report, Undecided
from bot.engine import Property, Value, source_links
from bot.hazards import Conclusion, Difference, Finding, compare, conclusion, worsened
from bot.provenance import Reason
from bot.resolution import ResolvedService
from bot.review.bumps import Bump
from bot.review.comments import Comment, Fix, Identity, comments
from bot.review.configuration import ConfigurationEdit
from bot.review.diff import FileDiff
from bot.review.flips import default_flips
from bot.review.grouping import Place, far_places, gathered


@dataclass(frozen=True, slots=True)
class PropertyChange:
    """A property that differs in the default world. `before` and `after` are None-able values, "unknown" is the string
    that the contract gives an undecided one. `cause` is the place and text that decided the new value, an added line of
    the diff if one did; `unmentioned` is True when no added line of the diff is among its reasons, and no removed one
    among those of the old value. `reason` is the cause as a link of the chain, `source` its address in the
    release's source.
    """

    path: str
    service: str
    slug: str | None
    property: str
    before: Value
    after: Value
    cause: str
    unmentioned: bool
    reason: Reason | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """What a change does. `changed` holds the findings that are there before and after in another status or level.

    `maybe_older` are introduced findings of services of which it cannot be told what they ran before. `composes` is the
    number of composes that were looked at: those that the change can touch. `undetermined` are the files of those of
    them in which it is not known what runs. `configuration` is set when the change edits Seamguard's own configuration.
    `bumps` are the moves of pins, with what they inherit, `far` the lines that cause findings in other files,
    `edited` the files whose lines the change alters: the others it only reaches. `fixes` are edits that
    are proved to end findings. `undecided` are the services that could not be resolved, `lost` those among them that
    were resolved before the change.
    """

    conclusion: Conclusion
    introduced: tuple[Finding, ...]
    changed: tuple[tuple[Finding, Finding], ...]
    fixed: tuple[Finding, ...]
    unchanged: tuple[Finding, ...]
    property_changes: tuple[PropertyChange, ...]
    comments: tuple[Comment, ...]
    maybe_older: frozenset[Identity] = frozenset()
    composes: int = 0
    undetermined: frozenset[str] = frozenset()
    configuration: ConfigurationEdit | None = None
    bumps: tuple[Bump, ...] = ()
    far: Mapping[Identity, Place] = field(default_factory=dict)
    edited: frozenset[str] = frozenset()
    fixes: Mapping[Identity, Fix] = field(default_factory=dict)
    undecided: tuple[Undecided, ...] = ()
    lost: frozenset[Undecided] = frozenset()

    @property
    def introduced_or_worsened(self) -> tuple[Finding, ...]:
        """What the change is to blame for."""
        return (*self.introduced, *self.worsened)

    @property
    def news(self) -> tuple[Finding, ...]:
        """What is introduced, but for what is only said in another finding's comment."""
        beside = {finding.identity for comment in self.comments for finding in comment.beside}
        return tuple(finding for finding in self.introduced if finding.identity not in beside)

    @property
    def worsened(self) -> tuple[Finding, ...]:
        """What was there before, and is worse now."""
        return tuple(after for before, after in self.changed if worsened(before, after))

    @property
    def told(self) -> tuple[Finding, ...]:
        """What deserves a comment of its own, the worst first: what is folded, undecided or merely suspected is only
        listed. What one pin changes in many composes is one comment.
        """
        worth = (f for f in self.introduced_or_worsened if f.level != "folded" and f.status != "unknown")
        return gathered((f for f in worth if f.evidence_grade != "suspected"), self.far)


def review(
    base: Report,
    head: Report,
    diffs: Mapping[str, FileDiff],
    renamed: Mapping[str, str],
    configuration: ConfigurationEdit | None = None,
    bumps: tuple[Bump, ...] = (),
    vendored: tuple[Finding, ...] = (),
) -> Review:
    """The change from `base` to `head`. `renamed` maps old paths to new ones: a moved file keeps its findings.

    `vendored` are the patches that the change adds where none are wanted (`bot.review.vendoring`).
    """
    before = tuple(_moved(finding, renamed) for finding in base.findings)
    proposed = (*head.findings, *default_flips(base, head, renamed), *vendored)
    difference = compare(before, proposed, lambda finding: not _resolves(head, finding))
    # What was wrong in a list of patches before is nothing that the composes of this change have.
    elsewhere = {finding.identity for finding in head.described if finding.path not in diffs}
    lost = frozenset(_lost(base, head.undecided, renamed))
    touched = [one for one in head.undecided if one in lost or not diffs.keys().isdisjoint((one.path, one.place.path))]
    found = Review(
        "neutral" if touched and conclusion(difference) == "success" else conclusion(difference),
        difference.introduced,
        difference.changed,
        difference.fixed,
        tuple(finding for finding in difference.unchanged if finding.identity not in elsewhere),
        tuple(_property_changes(base, head, diffs, renamed)),
        (),
        frozenset(_maybe_older(difference, base, renamed)),
        len(head.units),
        frozenset(_undetermined(head)),
        configuration,
        bumps,
        edited=frozenset(diffs),
        undecided=head.undecided,
        lost=lost,
    )
    found = replace(found, far=far_places(found.introduced_or_worsened, diffs))
    return replace(found, comments=comments(found.told, diffs, found.maybe_older))


def with_fixes(found: Review, diffs: Mapping[str, FileDiff], fixes: Mapping[Identity, Fix]) -> Review:
    """The review, with edits to offer."""
    if not fixes:
        return found
    return replace(found, fixes=fixes, comments=comments(found.told, diffs, found.maybe_older, fixes=fixes))


def _resolves(report: Report, finding: Finding) -> bool:
    """Whether it is known what the service of a finding runs. The finding may stand in a file that is no compose."""
    return all(report.resolves(path, finding.service) for path in dict.fromkeys((finding.path, *finding.files)))


def _maybe_older(difference: Difference, base: Report, renamed: Mapping[str, str]) -> Iterable[Identity]:
    """What is new, where it cannot be told what the service ran before."""
    old_paths = {new: old for old, new in renamed.items()}
    for finding in difference.introduced:
        paths = {old_paths.get(path, path) for path in (finding.path, *finding.files)}
        if not all(base.resolves(path, finding.service) for path in paths):
            yield finding.identity


def _lost(base: Report, undecided: Iterable[Undecided], renamed: Mapping[str, str]) -> Iterable[Undecided]:
    """Services that were resolved before."""
    open_before = {(renamed.get(one.path, one.path), one.service): one.partly for one in base.undecided}
    known = {(renamed.get(s.path, s.path), s.name) for unit in base.units for s in unit.services}
    for one in undecided:
        key = (one.path, one.service)
        if key in known and (key not in open_before or (open_before[key] and not one.partly)):
            yield one


def _undetermined(head: Report) -> Iterable[str]:
    """Files of which it is not known what some service runs."""
    for unit in head.units:
        if unit.unresolved or unit.project.errors:
            yield unit.unit.path
    yield from (item.path for item in head.skipped if item.unread)


def _moved(finding: Finding, renamed: Mapping[str, str]) -> Finding:
    return replace(finding, path=renamed[finding.path]) if finding.path in renamed else finding


def _property_changes(
    base: Report, head: Report, diffs: Mapping[str, FileDiff], renamed: Mapping[str, str]
) -> Iterable[PropertyChange]:
    old = {(renamed.get(s.path, s.path), s.name): s for unit in base.units for s in unit.services}
    for unit in head.units:
        for service in unit.services:
            before = old.get((service.path, service.name))
            if before is not None:
                yield from _service_changes(before, service, diffs, renamed)


def _service_changes(
    before: ResolvedService, after: ResolvedService, diffs: Mapping[str, FileDiff], renamed: Mapping[str, str]
) -> Iterable[PropertyChange]:
    old, new = _properties(before), _properties(after)
    asked = next((world.engine.releases for world in after.defaults if world.engine is not None), ())
    for name, value in new.items():
        previous = old.get(name)
        if previous is None or _value(previous) == _value(value):
            continue
        shown = [reason for reason in value.because if reason.path in diffs and reason.line in diffs[reason.path].added]
        mentioned = bool(shown) or any(
            path in diffs and reason.line in diffs[path].removed
            for reason in previous.because
            for path in (renamed.get(reason.path, reason.path),)
        )
        slug = after.slugs[0] if after.slugs else None
        cause = _cause(shown or value.because)
        source = source_links(asked, value).get(cause) if cause else None
        yield PropertyChange(
            after.path,
            after.name,
            slug,
            name,
            _value(previous),
            _value(value),
            _told(cause),
            not mentioned,
            cause,
            source,
        )


def _properties(service: ResolvedService) -> Mapping[str, Property]:
    """The default world's properties; where its forks differ, the property is unknown."""
    engines = [world.engine for world in service.defaults if world.engine is not None]
    if not engines:
        return {}
    first = engines[0].properties
    return {
        name: value
        if all(_value(engine.properties[name]) == _value(value) for engine in engines)
        else Property(None, "unknown", value.because)
        for name, value in first.items()
    }


def _value(value: Property) -> Value:
    return value.value if value.known else "unknown"


def _cause(because: Sequence[Reason]) -> Reason | None:
    """The reason that decided: an engine default where one did, else the last link of the chain."""
    default = [reason for reason in because if reason.kind == "engine-default"]
    return next(iter((*default, *reversed(because))), None)


def _told(reason: Reason | None) -> str:
    if reason is None:
        return ""
    place = f"{reason.path}:{reason.line}: " if reason.path and reason.line else ""
    return f"{place}{reason.text}"
