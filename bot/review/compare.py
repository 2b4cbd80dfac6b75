"""Compares what a repository did with what it would do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.audit import Report
from bot.engine import Property, Value
from bot.hazards import Conclusion, Finding, compare, conclusion, worsened
from bot.provenance import Reason
from bot.resolution import ResolvedService
from bot.review.comments import Comment, comments
from bot.review.diff import FileDiff
from bot.review.flips import default_flips


@dataclass(frozen=True, slots=True)
class PropertyChange:
    """A property that differs in the default world. `before` and `after` are None-able values, "unknown" is the string
    that the contract gives an undecided one. `cause` is the place and text that decided the new value, an added line of
    the diff if one did; `unmentioned` is True when no added line of the diff is among its reasons, and no removed one
    among those of the old value.
    """

    path: str
    service: str
    slug: str | None
    property: str
    before: Value
    after: Value
    cause: str
    unmentioned: bool


@dataclass(frozen=True, slots=True)
class Review:
    """What a change does. `changed` holds the findings that are there before and after in another status or level."""

    conclusion: Conclusion
    introduced: tuple[Finding, ...]
    changed: tuple[tuple[Finding, Finding], ...]
    fixed: tuple[Finding, ...]
    unchanged: tuple[Finding, ...]
    property_changes: tuple[PropertyChange, ...]
    comments: tuple[Comment, ...]

    @property
    def introduced_or_worsened(self) -> tuple[Finding, ...]:
        """What the change is to blame for."""
        return (*self.introduced, *(after for before, after in self.changed if worsened(before, after)))


def review(base: Report, head: Report, diffs: Mapping[str, FileDiff], renamed: Mapping[str, str]) -> Review:
    """The change from `base` to `head`. `renamed` maps old paths to new ones: a moved file keeps its findings."""
    before = tuple(_moved(finding, renamed) for finding in base.findings)
    proposed = (*head.findings, *default_flips(base, head, renamed))
    difference = compare(before, proposed, lambda finding: not head.resolves(finding.path, finding.service))
    worth = [finding for finding in difference.introduced if finding.level != "folded"]
    worth += (after for old, after in difference.changed if worsened(old, after))
    return Review(
        conclusion(difference),
        difference.introduced,
        difference.changed,
        difference.fixed,
        difference.unchanged,
        tuple(_property_changes(base, head, diffs, renamed)),
        comments(worth, diffs),
    )


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
        yield PropertyChange(
            after.path,
            after.name,
            slug,
            name,
            _value(previous),
            _value(value),
            _cause(shown or value.because),
            not mentioned,
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


def _cause(because: Sequence[Reason]) -> str:
    """The reason that decided: an engine default where one did, else the last link of the chain."""
    default = [reason for reason in because if reason.kind == "engine-default"]
    for reason in (*default, *reversed(because)):
        place = f"{reason.path}:{reason.line}: " if reason.path and reason.line else ""
        return f"{place}{reason.text}"
    return ""
