"""Findings that one line of a change causes in many composes, told as one.

What the rules found is kept as it is, a finding for each service. Only where comments would say the same on one line,
once for each compose, one finding speaks for all, and names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from bot.hazards import Finding, Level
from bot.markdown import code
from bot.provenance import Reason
from bot.review.comments import FLIP, Identity, place
from bot.review.diff import FileDiff

RANK: Final[Mapping[Level, int]] = {"error": 0, "warning": 1, "notice": 2, "folded": 3}
"""The worst first."""

MAX_NAMED = 100
"""Composes that one finding names."""

MAX_SENTENCES = 40
"""Sentences of one finding; what more would say is in the tables of the summary."""

MAX_CHAIN = 40
"""Reasons of one finding: as many as of any."""

Place = tuple[str, int]
"""A file and a line of it."""


def far_places(findings: Iterable[Finding], diffs: Mapping[str, FileDiff]) -> dict[Identity, Place]:
    """The lines of the change that cause findings in other files: in those that use an engine profile, say."""
    found: dict[Identity, Place] = {}
    for finding in findings:
        where = place(finding, diffs)
        if where is not None and where[1] is not None and where[0] != finding.path:
            found[finding.identity] = (where[0], where[1])
    return found


def gathered(findings: Iterable[Finding], far: Mapping[Identity, Place]) -> tuple[Finding, ...]:
    """The findings, the worst first; those of one rule that one line elsewhere causes (`far`) are made one.

    An error keeps its own comment, in which its reasons stand, but for a default that moves: the hazard that this
    brings in has a comment itself.
    """
    alone: list[Finding] = []
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        where = far.get(finding.identity)
        if where is None or (finding.level == "error" and finding.rule != FLIP):
            alone.append(finding)
        else:
            world = (tuple(finding.world.environment.items()), tuple(finding.world.symbols.items()))
            alike.setdefault((where, finding.rule, finding.status, finding.cause, world), []).append(finding)
    told = [*alone, *(_one(far[found[0].identity], found) for found in alike.values())]
    return tuple(sorted(told, key=lambda f: (RANK[f.level], f.path, f.line, f.rule, f.cause)))


def _one(where: Place, findings: list[Finding]) -> Finding:
    """One finding at the line that causes them; one that is alone stays as it is."""
    findings = sorted(findings, key=lambda finding: (RANK[finding.level], finding.path, finding.service))
    worst = findings[0]
    if len(findings) == 1:
        return worst
    links: dict[Reason, str] = {}
    for finding in findings:
        links |= finding.links
    path, line = where
    return replace(
        worst,
        path=path,
        line=line,
        service="",
        slug=None,
        message=_message(findings),
        chain=tuple(dict.fromkeys(reason for finding in findings for reason in finding.chain))[:MAX_CHAIN],
        remedy="\n\n".join(dict.fromkeys(finding.remedy for finding in findings if finding.remedy)),
        links=links,
        files=(),
    )


def _message(findings: list[Finding]) -> str:
    """Each sentence once, with the composes of which it is true."""
    where: dict[str, list[str]] = {}
    for finding in findings:
        where.setdefault(finding.message, []).append(finding.path)
    rows, left = [], MAX_NAMED
    for message, paths in [*where.items()][:MAX_SENTENCES]:
        named = list(dict.fromkeys(paths))  # two services of one are one compose
        rows.append(f"- {_listed(named, left)}: {message}")
        left = max(left - len(named), 0)
    count = len({finding.path for finding in findings})
    more = [f"- {len(where) - MAX_SENTENCES} more"] if len(where) > MAX_SENTENCES else []
    return "\n".join([f"In {count} composes:\n", *rows, *more])


def _listed(paths: list[str], most: int) -> str:
    """The first composes by name, and how many there are besides."""
    more = [f"{len(paths) - most} more"] if len(paths) > most else []
    return ", ".join([*map(code, paths[:most]), *more])
