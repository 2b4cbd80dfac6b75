"""Comments on a change: what is said of a finding, and the line that each comment belongs to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.hazards import Finding
from bot.markdown import code, fenced, folded, prose, sentence
from bot.printable import printable
from bot.review.chain import chain_lines
from bot.review.diff import FileDiff
from bot.review.links import OFFLINE, Links
from bot.review.marks import fingerprint, key

GRADES = {
    "established": "reproduced, and the mechanism is known",
    "measured": "on real hardware, on one stack",
    "reported": "in public with a reproduction, not repeated",
    "contested": "measured one way and the other",
    "suspected": "reasoned from the source, not measured",
}

FLIP = "default-flip"
"""The rule about defaults that move with the pin."""

_RULE_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")

MAX_BYTES = 60_000
"""Of one comment; GitHub takes 65,536 characters."""

_OLDER = " It may be older than this change: on the base branch it cannot be told what this service runs."

MAX_CHAIN = 5
"""Places of a chain that a comment shows; the others are folded away: more than a screen is not read."""

MAX_MISSING = 4
"""Reasons for which a finding is undecided that a comment names."""

Identity = tuple[str, str, str, str]
"""What makes two findings the same one: rule, path, service, cause."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Lines of a file's new version, from `start` to `end`, and the text to put in their place."""

    path: str
    start: int
    end: int
    text: str

    def __str__(self) -> str:
        return fenced("suggestion", self.text)


@dataclass(frozen=True, slots=True)
class Replacement:
    """The characters of a file from a line and column (from 1) up to another, and the text to put in their place."""

    path: str
    begin: tuple[int, int]
    end: tuple[int, int]
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """An edit that is proved to end a finding: what it `does`, what was `proved`, and the edit as a `patch`, and as a
    suggestion where it can be one. `patch` is empty where a comment could not show it as it is; `replacements` are the
    edit for a program.
    """

    does: str
    proved: str
    patch: str = ""
    suggestion: Suggestion | None = None
    replacements: tuple[Replacement, ...] = ()

    @property
    def gist(self) -> tuple[str, ...]:
        """What it says, wherever the lines are."""
        kept = (line for line in self.patch.split("\n") if not line.startswith("@@"))
        return (self.does, self.proved, *kept)


@dataclass(frozen=True, slots=True)
class Comment:
    """A review comment. `line` is None for a comment on the file as a whole; `side` is GitHub's name of the version.
    `start` is the first line of a comment on several. `maybe_older` says that it cannot be told
    what the service ran before the change. `again` says that another comment on the same rule
    gives its reasons at length. `beside` are findings that it speaks of too: a default that moves with the pin is told
    with the hazard that it brings.
    """

    path: str
    line: int | None
    side: str
    finding: Finding
    maybe_older: bool = False
    suggestion: Suggestion | None = None
    start: int | None = None
    again: bool = False
    beside: tuple[Finding, ...] = ()
    fix: Fix | None = None

    def on_the_file(self) -> Comment:
        """The same as a comment on the file as a whole."""
        return replace(self, line=None, start=None, suggestion=None)

    def in_its_place(self) -> Comment:
        """The same, written into a comment that is there already: GitHub holds that one's lines, which may be others
        than those of the suggestion, so the edit is shown as a patch.
        """
        return replace(self, suggestion=None) if self.fix is not None else self

    @property
    def key(self) -> str:
        """What stands for the finding in a comment's mark."""
        return key(self.finding)

    @property
    def keys(self) -> tuple[str, ...]:
        """What stands for each finding that the comment speaks of."""
        return (self.key, *map(key, self.beside))

    @property
    def body(self) -> str:
        """The text without links."""
        return self.text(OFFLINE)

    def text(self, links: Links, size: int = MAX_BYTES) -> str:
        """The Markdown of the comment in at most `size` bytes: without the suggestion or patch, then without most of
        the chain where there is no room. Nothing is cut in its middle, which could let a quotation loose.
        """
        chain = tuple(dict.fromkeys((*self.finding.chain, *(one for more in self.beside for one in more.chain))))
        sources = {**self.finding.links, **{one: url for more in self.beside for one, url in more.links.items()}}
        for suggestion, fix, kept in (
            (self.suggestion, self.fix, len(chain)),
            (None, None, len(chain)),
            (None, None, MAX_CHAIN),
            (None, None, 1),
            (None, None, 0),
        ):
            finding = replace(self.finding, chain=chain[:kept], links=sources)
            text = body(
                finding,
                links,
                path=self.path,
                suggestion=suggestion,
                fix=fix,
                maybe_older=self.maybe_older,
                again=self.again,
                beside=self.beside,
            )
            if len(text.encode("utf-8", "replace")) <= size:
                return text
        return f"**{self.finding.title}** ({self.finding.level}, {links.rule(self.finding.rule)})"

    @property
    def gist(self) -> str:
        """The fingerprint of what the comment says, wherever the lines are: when only they move, no comment changes."""
        found = self.finding
        chain = [(reason.kind, reason.path, reason.text) for reason in found.chain]
        said = (
            found.title,
            found.level,
            found.status,
            found.message,
            found.remedy,
            found.evidence_grade,
            found.evidence,
        )
        worlds = (sorted(found.world.environment.items()), sorted(found.world.symbols.items()))
        beside = [finding.message for finding in self.beside]
        edit = (self.fix.gist,) if self.fix is not None else ()
        return fingerprint(
            *said, found.missing, worlds, chain, found.files, self.maybe_older, self.suggestion or "", *beside, *edit
        )


def comment_on(finding: Finding, older: Collection[Identity], path: str = "", line: int | None = None) -> Comment:
    """A comment at a place, or at none in particular."""
    return Comment(path, line, "RIGHT", finding, finding.identity in older)


def comments(
    findings: Iterable[Finding],
    diffs: Mapping[str, FileDiff],
    older: Collection[Identity] = (),
    suggestions: Mapping[Identity, Suggestion] | None = None,
    fixes: Mapping[Identity, Fix] | None = None,
) -> tuple[Comment, ...]:
    """A comment for each finding whose file, or a file that contributes to it, is in the diff."""
    found = []
    for finding in findings:
        fix = (fixes or {}).get(finding.identity)
        suggestion = (suggestions or {}).get(finding.identity) or (fix.suggestion if fix is not None else None)
        if suggestion is not None and _applies(suggestion, diffs):
            start = suggestion.start if suggestion.start < suggestion.end else None
            comment = comment_on(finding, older, suggestion.path, suggestion.end)
            found.append(replace(comment, suggestion=suggestion, start=start, fix=fix))
        elif (where := place(finding, diffs)) is not None:
            found.append(replace(comment_on(finding, older, *where), fix=fix))
    return tuple(_each_at_length_once(_with_their_causes(found)))


def _with_their_causes(found: Sequence[Comment]) -> list[Comment]:
    """A moved default and the hazard that it brings to the same service make one comment, where the pin stands in the
    same file: on the pin's line, which the change wrote.
    """
    told: dict[int, list[Comment]] = {}
    for comment in found:
        if comment.finding.rule == FLIP and (hazard := _brought_by(comment, found)) is not None:
            told.setdefault(hazard, []).append(comment)
    merged = {comment.finding.identity for flips in told.values() for comment in flips}
    return [
        _led_by(told[number], comment) if number in told else comment
        for number, comment in enumerate(found)
        if comment.finding.identity not in merged
    ]


def _brought_by(flip: Comment, found: Sequence[Comment]) -> int | None:
    """Which comment in the same file is about a hazard that a moved default says it brings."""
    if flip.path != flip.finding.path:
        return None
    named = frozenset(_RULE_ID.findall(flip.finding.message))
    for number, other in enumerate(found):
        about = other.finding
        if about.rule != FLIP and about.rule in named and (about.path, about.service) == flip.finding.identity[1:3]:
            return number
    return None


def _led_by(flips: Sequence[Comment], hazard: Comment) -> Comment:
    beside = tuple(flip.finding for flip in flips)
    if hazard.suggestion is not None:
        return replace(hazard, beside=beside)
    return replace(hazard, path=flips[0].path, line=flips[0].line, beside=beside)


def _each_at_length_once(found: Iterable[Comment]) -> Iterable[Comment]:
    """Of the comments of one rule, the first one gives its reasons; the others fold them away."""
    seen: set[str] = set()
    for comment in found:
        yield replace(comment, again=True) if comment.finding.rule in seen else comment
        seen.add(comment.finding.rule)


def _applies(suggestion: Suggestion, diffs: Mapping[str, FileDiff]) -> bool:
    return suggestion.path in diffs and diffs[suggestion.path].in_one_hunk(suggestion.start, suggestion.end)


def place(finding: Finding, diffs: Mapping[str, FileDiff]) -> tuple[str, int | None] | None:
    """The changed line that causes the finding, else a line of the diff that contributes, else the line of the diff
    nearest to one that does, else the file; None when the change does not show any file that contributes.
    """
    sites = [(finding.path, finding.line)]
    sites += (
        (reason.path, reason.line)
        for reason in finding.chain
        if reason.line is not None and reason.kind != "engine-default"
    )
    sites = [(path, line) for path, line in sites if path in diffs]
    exact = [(path, line) for path, line in sites if line in diffs[path].shown]
    for path, line in (*(site for site in exact if site[1] in diffs[site[0]].added), *exact):
        return path, line
    for path, line in sites:
        if (nearest := diffs[path].nearest_added(line) or diffs[path].nearest_shown(line)) is not None:
            return path, nearest
    return next(((path, None) for path, _ in sites), None)


def body(
    finding: Finding,
    links: Links = OFFLINE,
    *,
    path: str = "",
    suggestion: Suggestion | None = None,
    fix: Fix | None = None,
    maybe_older: bool = False,
    again: bool = False,
    beside: Sequence[Finding] = (),
) -> str:
    """What happens, in which world, why, how sure, and what to do: in this order, on one screen. `path` is the file
    that the reader has open; `maybe_older`, `again` and `beside` are those of `Comment`.
    """
    reasons = [part for part in (_why(finding, links, path, again), _certain(finding, links)) if part]
    label = "undecided" if finding.status == "unknown" else finding.level
    parts = [
        f"**{finding.title}** ({label}, {links.rule(finding.rule)})",
        links.references(finding.message),
        f"**When:** {world(finding)}.{_OLDER if maybe_older else ''}",
        *(f"**{other.title}:** {links.references(other.message)}" for other in beside),
        folded("Why, and how sure", "\n\n".join(reasons)) if again else "\n\n".join(reasons),
        f"**What to do:** {links.references(finding.remedy)}" if finding.remedy else "",
        *_edit(suggestion, fix),
    ]
    return "\n\n".join(part for part in parts if part)


def _edit(suggestion: Suggestion | None, fix: Fix | None) -> tuple[str, ...]:
    """The edit as a suggestion, else as a patch that is folded away, with what was proved of it."""
    if fix is None:
        return (str(suggestion or ""),)
    said = sentence(f"{fix.does}. {fix.proved}".replace("`", ""))
    if suggestion is not None:
        return said, str(suggestion)
    if not fix.patch:
        return (f"An edit was proved, which `seamguard fix` makes. {said}",)
    return (folded("A patch that does it", f"{said}\n\n{fenced('diff', fix.patch.rstrip(chr(10)))}"),)


def plain(finding: Finding) -> str:
    """A finding in plain text, for places that show no Markdown."""
    when = f"Only when it is started with: {finding.replay}" if finding.world.environment else ""
    missing = f"Not decided: {'; '.join(finding.missing[:MAX_MISSING])}" if finding.missing else ""
    remedy = f"What to do: {finding.remedy}" if finding.remedy else ""
    parts = (finding.message, when, missing, remedy, f"Rule: {finding.rule}")
    return "\n".join(printable(part) for part in parts if part)


def world(finding: Finding) -> str:
    """The world of a finding, with the command that makes it."""
    if finding.world.environment:
        where = f"only when it is started with {code(finding.replay)}"
    else:
        where = "by default, as the file stands"
    assumed = ", ".join(f"{code(name)} is {code(value)}" for name, value in finding.world.symbols.items())
    return f"{where}, where {assumed}" if assumed else where


def _why(finding: Finding, links: Links, path: str, whole: bool) -> str:
    lines = chain_lines(finding.chain, links, finding.links, path, finding.message)
    kept = len(lines) if whole else MAX_CHAIN
    shown = ["**Why:**", *lines[:kept]] if lines else []
    rest = lines[kept:]
    more = folded(f"{len(rest)} more reason{'s' if len(rest) > 1 else ''}", "\n".join(rest))
    return "\n\n".join(part for part in ("\n".join(shown), more) if part)


def _certain(finding: Finding, links: Links) -> str:
    return f"**How sure:** {_certainty(finding, links)}"


def _certainty(finding: Finding, links: Links) -> str:
    grade = f"{finding.evidence_grade} ({GRADES[finding.evidence_grade]})"
    sources = [_source(reference, links) for reference in finding.upstream if reference not in finding.evidence]
    tail = f"{links.references(finding.evidence)}" + (f" See {', '.join(sources)}." if sources else "")
    if finding.status != "unknown":
        return f"{grade}. {tail}".rstrip()
    missing = [prose(reason) for reason in finding.missing[:MAX_MISSING]]
    if len(finding.missing) > MAX_MISSING:
        missing.append(f"{len(finding.missing) - MAX_MISSING} more")
    open_ = f"whether it is so here is not decided: {'; '.join(missing)}." if missing else "not decided here."
    return f"{open_} Where it is so, it is {grade}. {tail}".rstrip()


def _source(reference: str, links: Links) -> str:
    return links.references(reference) if links.repository else code(reference)
