"""Comments on a change: what is said of a finding, and the line that each comment belongs to."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bot.hazards import Finding
from bot.markdown import code, folded, prose
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
class Origin:
    """Of a finding's service: the files to give to Docker Compose with `-f`, the release that gave the engine's
    reasons (None where several did), and whether it could not be told what the service ran before the change, so that
    the finding may be older.
    """

    files: tuple[str, ...]
    release: str | None = None
    unknown_before: bool = False


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Lines of a file's new version, from `start` to `end`, and the text to put in their place."""

    path: str
    start: int
    end: int
    text: str

    def __str__(self) -> str:
        fence = "```"
        while fence in self.text:
            fence += "`"
        return f"{fence}suggestion\n{self.text}\n{fence}" if self.text else f"{fence}suggestion\n{fence}"


@dataclass(frozen=True, slots=True)
class Comment:
    """A review comment. `line` is None for a comment on the file as a whole; `side` is GitHub's name of the version.
    `start` is the first line of a comment on several. `again` says that another comment on the same rule
    gives its reasons at length.
    """

    path: str
    line: int | None
    side: str
    finding: Finding
    origin: Origin
    suggestion: Suggestion | None = None
    start: int | None = None
    again: bool = False

    def on_the_file(self) -> Comment:
        """The same as a comment on the file as a whole."""
        return replace(self, line=None, start=None, suggestion=None)

    @property
    def key(self) -> str:
        """What stands for the finding in a comment's mark."""
        return key(self.finding)

    @property
    def body(self) -> str:
        """The text without links."""
        return self.text(OFFLINE)

    def text(self, links: Links, size: int = MAX_BYTES) -> str:
        """The Markdown of the comment in at most `size` bytes: without the suggestion, then without most of the chain
        where there is no room. Nothing is cut in its middle, which could let a quotation loose.
        """
        chain = self.finding.chain
        for suggestion, kept in (
            (self.suggestion, len(chain)),
            (None, len(chain)),
            (None, MAX_CHAIN),
            (None, 1),
            (None, 0),
        ):
            finding = replace(self.finding, chain=chain[:kept])
            text = body(finding, self.origin, links, path=self.path, suggestion=suggestion, again=self.again)
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
        return fingerprint(*said, found.missing, worlds, chain, self.origin.files, self.suggestion or "")


def comment_on(
    finding: Finding, origins: Mapping[Identity, Origin], path: str = "", line: int | None = None
) -> Comment:
    """A comment at a place, or at none in particular."""
    return Comment(path, line, "RIGHT", finding, origins.get(finding.identity) or Origin((finding.path,)))


def comments(
    findings: Iterable[Finding],
    diffs: Mapping[str, FileDiff],
    origins: Mapping[Identity, Origin],
    suggestions: Mapping[Identity, Suggestion] | None = None,
) -> tuple[Comment, ...]:
    """A comment for each finding whose file, or a file that contributes to it, is in the diff."""
    found = []
    for finding in findings:
        suggestion = (suggestions or {}).get(finding.identity)
        if suggestion is not None and _applies(suggestion, diffs):
            start = suggestion.start if suggestion.start < suggestion.end else None
            comment = comment_on(finding, origins, suggestion.path, suggestion.end)
            found.append(replace(comment, suggestion=suggestion, start=start))
        elif (where := place(finding, diffs)) is not None:
            found.append(comment_on(finding, origins, *where))
    return tuple(_each_at_length_once(found))


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
    origin: Origin | None = None,
    links: Links = OFFLINE,
    *,
    path: str = "",
    suggestion: Suggestion | None = None,
    again: bool = False,
) -> str:
    """What happens, in which world, why, how sure, and what to do: in this order, on one screen. `path` is the file
    that the reader has open; `again` folds the reasons away.
    """
    origin = origin or Origin((finding.path,))
    links = links.at(origin.release)
    reasons = [part for part in (_why(finding, links, path, again), _certain(finding, links)) if part]
    label = "undecided" if finding.status == "unknown" else finding.level
    parts = [
        f"**{finding.title}** ({label}, {links.rule(finding.rule)})",
        links.references(finding.message),
        f"**When:** {world(finding, origin)}.{_OLDER if origin.unknown_before else ''}",
        folded("Why, and how sure", "\n\n".join(reasons)) if again else "\n\n".join(reasons),
        f"**{_remedy_title(finding)}:** {links.references(finding.remedy)}" if finding.remedy else "",
        str(suggestion or ""),
    ]
    return "\n\n".join(part for part in parts if part)


def plain(finding: Finding, origin: Origin) -> str:
    """A finding in plain text, for places that show no Markdown."""
    if finding.world.environment:
        when = f"Only when it is started with: {command(finding.world.environment, origin.files)}"
    else:
        when = ""
    missing = f"Not decided: {'; '.join(finding.missing[:MAX_MISSING])}" if finding.missing else ""
    remedy = f"{_remedy_title(finding)}: {finding.remedy}" if finding.remedy else ""
    parts = (finding.message, when, missing, remedy, f"Rule: {finding.rule}")
    return "\n".join(printable(part) for part in parts if part)


def _remedy_title(finding: Finding) -> str:
    return "What to do if so" if finding.status == "unknown" else "What to do"


def world(finding: Finding, origin: Origin) -> str:
    """The world of a finding, with the command that makes it."""
    if finding.world.environment:
        where = f"only when it is started with {code(command(finding.world.environment, origin.files))}"
    else:
        where = "by default, as the file stands"
    assumed = ", ".join(f"{code(name)} is {code(value)}" for name, value in finding.world.symbols.items())
    return f"{where}, where {assumed}" if assumed else where


def command(environment: Mapping[str, str], files: Iterable[str]) -> str:
    """What a person types to start a compose in a world."""
    sets = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
    return " ".join([*sets, "docker compose", *(f"-f {shlex.quote(file)}" for file in files), "up"])


def _why(finding: Finding, links: Links, path: str, whole: bool) -> str:
    lines = chain_lines(finding.chain, links, path, finding.message)
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
