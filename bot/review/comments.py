"""Comments on a change: the words, and the line that each belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.hazards import Finding
from bot.markdown import code, prose
from bot.provenance import Reason
from bot.review.diff import FileDiff

GRADES = {
    "established": "established: reproduced, and the mechanism is known",
    "measured": "measured on real hardware, on one stack",
    "reported": "reported in public with a reproduction, not repeated",
    "contested": "contested: measured one way and the other",
    "suspected": "suspected: reasoned from the source, not measured",
}

MAX_CHAIN = 8
"""Links of a chain that a comment shows: more than a screen is not read."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A review comment. `line` is None for a comment on the file as a whole; `side` is GitHub's name of the version."""

    path: str
    line: int | None
    side: str
    body: str
    finding: Finding


def comments(findings: Iterable[Finding], diffs: Mapping[str, FileDiff]) -> tuple[Comment, ...]:
    """A comment for each finding whose file, or a file that contributes to it, is in the diff."""
    placed = ((finding, place(finding, diffs)) for finding in findings)
    return tuple(
        Comment(where[0], where[1], "RIGHT", body(finding), finding) for finding, where in placed if where is not None
    )


def place(finding: Finding, diffs: Mapping[str, FileDiff]) -> tuple[str, int | None] | None:
    """The changed line that causes the finding, else the changed line nearest to it, else the file; None when the
    change does not show any file that contributes.
    """
    sites = [(finding.path, finding.line)]
    sites += ((reason.path, reason.line) for reason in finding.chain if reason.line is not None)
    for path, line in sites:
        if path in diffs and line in diffs[path].added:
            return path, line
    for path, line in sites:
        if path in diffs and (nearest := diffs[path].nearest_added(line)) is not None:
            return path, nearest
    return next(((path, None) for path, _ in sites if path in diffs), None)


def body(finding: Finding) -> str:
    """What happens, in which world, why, how sure, and what to do: in this order, on one screen."""
    parts = [
        f"**{finding.title}** ({finding.level}, {finding.status})",
        finding.message,
        _world(finding),
        _chain(finding.chain),
        f"**How sure:** {GRADES[finding.evidence_grade]}. {finding.evidence}".rstrip(),
        f"**What to do:** {finding.remedy}" if finding.remedy else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _world(finding: Finding) -> str:
    if finding.world.environment:
        sets = " ".join(f"{name}={value}" for name, value in finding.world.environment.items())
        where = f"**When:** somebody runs {code(f'{sets} docker compose up')}"
    else:
        where = "**When:** by default, with nothing set"
    if finding.world.symbols:
        where += ", where " + ", ".join(
            f"{code(name)} is {code(value)}" for name, value in finding.world.symbols.items()
        )
    if finding.missing:
        where += ". **Undecided:** " + "; ".join(map(prose, finding.missing))
    return f"{where}."


def _chain(chain: tuple[Reason, ...]) -> str:
    lines = [f"- {place}{code(reason.text)}" for reason in chain[:MAX_CHAIN] for place in (_site(reason),)]
    if len(chain) > MAX_CHAIN:
        lines.append(f"- … {len(chain) - MAX_CHAIN} more")
    return "**Why:**\n" + "\n".join(lines) if lines else ""


def _site(reason: Reason) -> str:
    if not reason.path:
        return "assumed: " if reason.kind == "assumption" else ""
    return f"{code(f'{reason.path}:{reason.line}' if reason.line else reason.path)}: "
