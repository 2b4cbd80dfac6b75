"""The summary of a review, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.audit import Report, Undecided
from bot.engine import Value
from bot.hazards import Finding, Level, improved, worsened
from bot.markdown import cell, code, prose
from bot.provenance import Reason
from bot.review.bump_sections import bump_sections, short
from bot.review.comments import Comment, comment_on
from bot.review.compare import PropertyChange, Review
from bot.review.configuration import PATH
from bot.review.links import OFFLINE, Links
from bot.review.sections import Section, fitted, paragraph

MAX_BYTES = 65_000
"""Of a whole summary; GitHub takes 65,535 bytes of a check's and 65,536 characters of a comment's."""

_VERDICTS = {
    "failure": "**This change introduces a hazard.**",
    "neutral": "**This change introduces something to look at.**",
    "success": "**This change introduces no hazard.**",
}
_UNDECIDED = "**What this change does could not be decided.**"
_WORSE = "**This change makes a hazard worse.**"
_LOUDNESS = {"folded": "none"}
"""What is folded away is no level to a reader."""

_TABLE = ("| hazard | where | status | level |", "|---|---|---|---|")
_PROPERTY_TABLE = ("| property | services | because |", "|---|---|---|")
LEVELS: tuple[Level, ...] = ("error", "warning", "notice")
"""Those that are shown, the worst first."""

MAX_UNDECIDED = 20
"""Services that could not be resolved, a line each."""

MAX_LISTED = 6
"""Places that one row of a table names."""


def summary(review: Review, links: Links = OFFLINE, size: int = MAX_BYTES) -> str:
    """Introduced, worsened, improved and fixed findings, property changes; what is unchanged or undecided is folded."""
    return fitted([*main_sections(review, links), *further_sections(review, links)], size) + "\n"


def standing(audited: Report, links: Links = OFFLINE, size: int = MAX_BYTES) -> str:
    """What is in a repository, whatever a change does: its findings, the worst first, and what could not be read."""
    shown = sorted((f for f in audited.findings if f.level != "folded"), key=lambda f: LEVELS.index(f.level))
    counts = [(sum(f.level == level for f in shown), level) for level in LEVELS]
    told = ", ".join(f"{count} {level}{'s' if count > 1 else ''}" for count, level in counts if count) or "No findings"
    composes = f"{len(audited.units)} compose{'' if len(audited.units) == 1 else 's'}"
    rest = len(audited.findings) - len(shown)
    folded = (
        f" {rest} more {'is' if rest == 1 else 'are'} folded away: mitigated, or nothing to act on." if rest else ""
    )
    faults = [f"- {links.place(p.position.path, p.position.line)}: {prose(p.message)}" for p in audited.problems]
    faults += [f"- {links.place(item.path, None)}: {prose(item.reason)}" for item in audited.skipped]
    sections = [
        paragraph(f"**{told} in {composes}.**{folded}"),
        _table("", [_Row(finding, finding.status, finding.level) for finding in shown], links),
        _not_decided(audited.undecided, links),
        Section(f"Not read ({len(faults)})", tuple(faults), folded=True),
    ]
    return fitted(sections, size) + "\n"


def report(review: Review, links: Links = OFFLINE) -> str:
    """The summary, and what would be said on the lines of the change."""
    told = Section(
        "On the lines of this change", tuple(_told(comment, links) for comment in review.comments), apart=True
    )
    unplaced = unplaced_section(review, frozenset(key for comment in review.comments for key in comment.keys), links)
    sections = [*main_sections(review, links), told, unplaced, *further_sections(review, links)]
    return fitted(sections, 4 * MAX_BYTES) + "\n"


def _told(comment: Comment, links: Links) -> str:
    return f"#### {links.place(comment.path, comment.line)}\n\n{comment.text(links)}"


def main_sections(review: Review, links: Links) -> list[Section]:
    """What a reader should see first: the verdict, and every finding that the change moves."""
    shown = [finding for finding in review.news if finding.level != "folded" and finding.status != "unknown"]
    pairs = [pair for pair in review.changed if not _newly_undecided(*pair)]
    return [
        paragraph(f"{_verdict(review)} {_tally(review)}"),
        _lost(review, links),
        _table("Introduced", [_Row(finding, finding.status, finding.level) for finding in shown], links),
        _changed("Worsened", [pair for pair in pairs if worsened(*pair)], links),
        _changed("Improved", [pair for pair in pairs if improved(*pair)], links),
        _remaining([pair for pair in pairs if not worsened(*pair)], links),
        _changed("Changed", [pair for pair in pairs if not worsened(*pair) and not improved(*pair)], links),
        _table("Fixed", [_Row(finding, f"was {finding.status}", finding.level) for finding in review.fixed], OFFLINE),
        _not_decided([one for one in review.undecided if one not in review.lost], links),
        _configuration(review, links),
        _properties("Changes that no line mentions", [c for c in review.property_changes if _surprises(c)], links),
        *bump_sections(review.bumps, links),
    ]


def _verdict(review: Review) -> str:
    fails = review.conclusion == "failure"
    if undecided_only(review):
        return _UNDECIDED
    return _WORSE if fails and not counted(review.news) else _VERDICTS[review.conclusion]


def undecided_only(review: Review) -> bool:
    """Whether all that keeps a change from success is that some of what it touches could not be decided."""
    return bool(review.undecided) and review.conclusion == "neutral" and not at_warning(review)


def at_warning(review: Review) -> bool:
    """Whether a change introduces or worsens something to look at."""
    return any(finding.level in ("error", "warning") for finding in review.introduced_or_worsened)


def _lost(review: Review, links: Links) -> Section:
    """What was known before the change and is not any more: nobody can say that nothing stands there now."""
    rows = _undecided_rows([one for one in review.undecided if one in review.lost], links)
    return Section("No longer resolved", rows, ("What these services run was known before this change:", ""))


def _not_decided(found: Sequence[Undecided], links: Links) -> Section:
    """Services of which it is not known what they run: neither a hazard nor a clean bill."""
    rows = _undecided_rows(found, links)
    return Section(f"Could not be decided ({len(found)})", rows, folded=len(found) > MAX_LISTED)


def _undecided_rows(found: Sequence[Undecided], links: Links) -> tuple[str, ...]:
    shown = [
        f"- {links.place(one.path, None)}, service {code(one.service)}{' (in part)' if one.partly else ''}: "
        f"{prose(one.reason)} ({links.place(one.place.path, one.place.line)})"
        for one in found[:MAX_UNDECIDED]
    ]
    rest = len(found) - len(shown)
    return (*shown, *([f"- and {rest} more"] if rest else []))


def _surprises(change: PropertyChange) -> bool:
    """Whether a reader of the diff would want to be told: what was not known before need not have changed."""
    return change.unmentioned and change.before != "unknown"


def _newly_undecided(before: Finding, after: Finding) -> bool:
    """Whether nobody can tell any more that all is well: worse than before, and no hazard yet."""
    return after.status == "unknown" and worsened(before, after)


def _tally(review: Review) -> str:
    """How much of what, in one sentence."""
    counts = {
        "New": counted(review.news),
        "Worse": counted(review.worsened),
        "Better": sum(improved(*pair) for pair in review.changed),
        "Fixed": len(review.fixed),
    }
    told = [f"{what}: {count}." for what, count in counts.items() if count]
    reached = f"Looked at {_composes(review)} that it can touch." if review.composes else "It reaches no compose."
    return " ".join((*told, reached))


def counted(findings: Iterable[Finding]) -> str:
    """How many of each level, of those that are known to stand; empty for none."""
    levels = [finding.level for finding in findings if finding.status != "unknown"]
    counts = ((level, levels.count(level)) for level in ("error", "warning", "notice"))
    return ", ".join(f"{count} {level if count == 1 else f'{level}s'}" for level, count in counts if count)


def further_sections(review: Review, links: Links) -> list[Section]:
    """What is folded away: it is there for whoever asks."""
    undecided = [finding for finding in review.introduced if finding.status == "unknown" and not _is_taken(finding)]
    undecided += (
        after
        for before, after in review.changed
        if _newly_undecided(before, after) or after.status == "unknown" != before.status
    )
    mentioned = [change for change in review.property_changes if not _surprises(change)]
    return [
        _properties("Other property changes", mentioned, links, folded=True),
        _undecided(undecided, links),
        _accepted(review, links),
        _unchanged(review, links),
    ]


def unplaced_section(review: Review, placed: frozenset[str], links: Links) -> Section:
    """In full, what has no comment of its own: no file that contributes is in the diff, or there were too many."""
    rows = tuple(
        f"#### {_where(comment.finding, links)}\n\n{comment.text(links)}"
        for comment in (comment_on(finding, review.maybe_older) for finding in review.told)
        if comment.key not in placed
    )
    return Section(f"Without a line of their own ({len(rows)})", rows, folded=True, apart=True)


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of a table of findings; `status` and `level` as they are to be read."""

    finding: Finding
    status: str
    level: str


def _changed(title: str, pairs: Sequence[tuple[Finding, Finding]], links: Links) -> Section:
    rows = [
        _Row(after, _arrow(before.status, after.status), _arrow(before.level, after.level)) for before, after in pairs
    ]
    return _table(title, rows, links)


def _remaining(pairs: Sequence[tuple[Finding, Finding]], links: Links) -> Section:
    """What is left to do about each that has no comment of its own."""
    alike: dict[str, list[str]] = {}
    for _, after in pairs:
        if after.remedy:
            alike.setdefault(after.remedy, []).append(f"{_where(after, links)}{_cause(after)}")
    if len(alike) == 1:  # where it is to be done stands in the table above
        return paragraph(f"**What remains to be done:** {links.references(next(iter(alike)))}")
    left = tuple(f"- {_listed(places)}: {links.references(remedy)}" for remedy, places in alike.items())
    return Section("", left, ("**What remains to be done:**",))


def _is_taken(finding: Finding) -> bool:
    """Whether the repository takes the risk of a finding."""
    return finding.accepted is not None and not finding.accepted.ended


def _accepted(review: Review, links: Links) -> Section:
    """Risks that the repository takes and that this change introduces or alters."""
    rows = []
    for finding in (*review.introduced, *(after for _, after in review.changed)):
        accepted = finding.accepted
        if accepted is None or accepted.ended:
            continue
        until = f" until {links.references(', '.join(map(short, accepted.until)))}" if accepted.until else ""
        place = links.place(accepted.position.path, accepted.position.line)
        rows.append(
            f"- {prose(finding.title)}, {_where(finding, links)}: accepted{until}: {prose(accepted.reason)} ({place})"
        )
    return Section(f"Accepted risks ({len(rows)})", tuple(rows), folded=True)


def _unchanged(review: Review, links: Links) -> Section:
    """Those of the files that the change edits, and how many there are besides: a list of everything that a profile
    reaches is for `audit`.
    """
    told = [finding for finding in review.unchanged if finding.level != "folded"]
    shown = [finding for finding in told if finding.path in review.edited]
    taken = sum(map(_is_taken, review.unchanged))
    rest = len(review.unchanged) - len(told) - taken
    rows = _table("", [_Row(finding, finding.status, finding.level) for finding in shown], links)
    more = [
        _more(len(told) - len(shown), "in files that this change reaches without editing them"),
        _more(rest, "mitigated or undecided"),
        _more(taken, "accepted"),
    ]
    words = " ".join(word for word in more if word)
    title = f"Unchanged ({len(review.unchanged)}, {looked_at(review)})"
    if not rows.rows:
        return Section(title, (words,) if words else (), folded=True)
    return Section(title, (*rows.rows, *(("", words) if words else ())), rows.head, folded=True)


def _more(count: int, what: str) -> str:
    return f"{count} more {'is' if count == 1 else 'are'} {what}." if count else ""


def looked_at(review: Review) -> str:
    """What the numbers are about."""
    return f"in {_composes(review)} that this change can touch"


def _composes(review: Review) -> str:
    return "the one compose" if review.composes == 1 else f"the {review.composes} composes"


def _arrow(before: str, after: str) -> str:
    before, after = (_LOUDNESS.get(word, word) for word in (before, after))
    return after if before == after else f"{before} → {after}"


def _table(title: str, rows: Sequence[_Row], links: Links) -> Section:
    """Findings of one kind that stand alike share a line."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        told = (row.finding.title + _cause(row.finding), row.status + _world(row.finding), row.level)
        alike.setdefault(told, []).append(_where(row.finding, links))
    lines = (
        f"| {cell(hazard)} | {cell(_listed(places))} | {cell(status)} | {level} |"
        for (hazard, status, level), places in alike.items()
    )
    return Section(title, tuple(lines), _TABLE)


def _listed(items: Sequence[str]) -> str:
    """The first of several, and how many there are besides."""
    more = [f"{len(items) - MAX_LISTED} more"] if len(items) > MAX_LISTED else []
    return ", ".join([*items[:MAX_LISTED], *more])


def _where(finding: Finding, links: Links) -> str:
    """The name that the repository gives the compose, linked to the line; without links, the line too."""
    if finding.slug and links.repository:
        return links.place(finding.path, finding.line, code(finding.slug))
    return links.place(finding.path, finding.line) + (f" ({code(finding.slug)})" if finding.slug else "")


def _cause(finding: Finding) -> str:
    """The variable, flag or patch that an observation is about: a service may have several findings of one rule. A
    plain word (`pin`, `profile`, `interpolation`) is one of ours, and tells a reader nothing.
    """
    _, _, argument = finding.cause.partition(":")
    name = (argument or finding.cause).split(" ", 1)[0]
    return f": {code(name)}" if name and not (name.isalpha() and name.islower()) else ""


def _world(finding: Finding) -> str:
    if not finding.world.environment:
        return ""
    return " with " + code(" ".join(f"{name}={value}" for name, value in finding.world.environment.items()))


def _configuration(review: Review, links: Links) -> Section:
    """A word on a configuration that the change edits."""
    edit = review.configuration
    if edit is None:
        return Section("", ())
    file = links.place(PATH, None)
    told = f"This change edits {file}. It counts once it is on the default branch; this review did not use it."
    problems = [f"- {links.place(PATH, line)}: {prose(message)}" for line, message in edit.problems]
    if problems:
        return Section("The new configuration", (f"{told} It has faults:\n", *problems))
    return Section("", (told,))


def _properties(title: str, changes: Sequence[PropertyChange], links: Links, *, folded: bool = False) -> Section:
    """Property changes: what one line changes in a service is told together, and what is alike in several services."""
    by_cause: dict[tuple[str, str, Reason | None], list[PropertyChange]] = {}
    for change in changes:
        by_cause.setdefault((change.path, change.service, change.reason), []).append(change)
    alike: dict[tuple[str, str], list[str]] = {}
    for (_, _, reason), found in by_cause.items():
        moved = ", ".join(f"{code(one.property)} {_value(one.before)} → {_value(one.after)}" for one in found)
        why = code(reason.text) if reason else ""
        alike.setdefault((moved, why), []).append(_service(found[0], links))
    rows = (f"| {moved} | {cell(_listed(services))} | {cell(why)} |" for (moved, why), services in alike.items())
    return Section(title, tuple(rows), _PROPERTY_TABLE, folded=folded)


def _service(change: PropertyChange, links: Links) -> str:
    """The name of a service, linked to what changed it; the place itself where it is not linked and has no slug."""
    reason = change.reason
    if reason is not None and reason.kind == "engine-default":
        place = links.reason(reason, {reason: change.source} if change.source else {})
        return f"{code(change.slug or f'{change.path}: {change.service}')} ({place})"
    if reason is not None and reason.line is not None and (links.repository or not change.slug):
        return links.place(reason.path, reason.line, code(change.slug) if change.slug else "")
    return code(change.slug or f"{change.path}: {change.service}")


def _value(value: Value) -> str:
    if value is None or isinstance(value, bool):
        return code({True: "on", False: "off", None: "none"}[value])
    return cell(code(str(value)))


def _undecided(findings: Iterable[Finding], links: Links) -> Section:
    alike: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        told = (finding.title + _cause(finding), "; ".join(map(prose, finding.missing)))
        alike.setdefault(told, []).append(_where(finding, links))
    count = sum(map(len, alike.values()))
    rows = tuple(f"- {hazard}, {_listed(places)}: {missing}" for (hazard, missing), places in alike.items())
    return Section(f"Undetermined ({count})", rows, folded=True)
