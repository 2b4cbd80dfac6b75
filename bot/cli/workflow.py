"""Findings as workflow commands of GitHub Actions, which the runner turns into annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bot.audit import Undecided
from bot.cli.severity import worst_first
from bot.hazards import Finding
from bot.markdown import shortened
from bot.printable import printable

MAX_TITLE = 255
"""Characters that GitHub shows of a title."""

MAX_MESSAGE = 4_000
"""Characters of a message; GitHub takes 64 KB, and nobody reads them in a diff."""

MAX_UNDECIDED = 5
"""Notices about services that could not be resolved: GitHub shows ten of a step, and findings need some."""

_COMMANDS = {"error": "error", "warning": "warning", "notice": "notice", "folded": "debug"}


def annotated(findings: Iterable[Finding]) -> Iterator[str]:
    """A line for each, the worst first: of each level GitHub shows the first ten of a step, and logs the others."""
    return (annotation(finding) for finding in worst_first(findings, lambda finding: finding))


def annotation(finding: Finding) -> str:
    """A finding as a workflow command. What is folded away is shown where the workflow is debugged."""
    title = _property(shortened(f"{finding.rule} ({finding.status})", MAX_TITLE))
    place = f"file={_property(finding.path)},line={max(finding.line, 1)},title={title}"
    service = f"{finding.service}: " if finding.service else ""
    message = shortened(f"{service}{finding.message} {finding.remedy}".strip(), MAX_MESSAGE)
    return f"::{_COMMANDS[finding.level]} {place}::{_data(message)}"


def undecided(found: Sequence[Undecided]) -> Iterator[str]:
    """A notice for each of the first services that could not be resolved, and one for how many there are besides."""
    for one in found[:MAX_UNDECIDED]:
        place = f"file={_property(one.place.path)},line={max(one.place.line, 1)},title=not decided"
        yield f"::notice {place}::{_data(shortened(f'{one.path}: {one.told}', MAX_MESSAGE))}"
    if len(found) > MAX_UNDECIDED:
        yield f"::notice title=not decided::{len(found) - MAX_UNDECIDED} more services could not be resolved"


def fault(message: str) -> str:
    """A fault of the run itself."""
    return f"::error title=Seamguard::{_data(shortened(message, MAX_MESSAGE))}"


def _data(text: str) -> str:
    """Line ends as the runner reads them back; an escape sequence would reach the log that it prints."""
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
