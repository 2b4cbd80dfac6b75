"""The check of a commit: conclusion, title, summary, and an annotation for each finding that a change brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.audit import Undecided
from bot.hazards import Conclusion, Finding, Level, improved
from bot.markdown import clipped, prose, shortened
from bot.printable import printable
from bot.review.comments import plain
from bot.review.compare import Review
from bot.review.limits import GITHUB, Limits
from bot.review.links import OFFLINE, Links
from bot.review.sections import fitted
from bot.review.summary import MAX_UNDECIDED, counted, further_sections, main_sections, undecided_only

AnnotationLevel = Literal["notice", "warning", "failure"]

_LEVELS: dict[Level, AnnotationLevel] = {
    "error": "failure",
    "warning": "warning",
    "notice": "notice",
    "folded": "notice",
}
MAX_ANNOTATIONS = 500
"""Annotations of one check, ten requests' worth; the summary counts all findings."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark on a line of the new version, in plain text."""

    path: str
    start_line: int
    end_line: int
    level: AnnotationLevel
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class CheckOutput:
    """What a finished check says. `title` is one line, `summary` and `text` are Markdown."""

    title: str
    summary: str
    conclusion: Conclusion
    annotations: tuple[Annotation, ...] = ()
    text: str = ""


def check(review: Review, links: Links = OFFLINE, limits: Limits = GITHUB) -> CheckOutput:
    """The check of a review."""
    noted = [finding for finding in (*review.news, *review.worsened) if finding.level != "folded"]
    noted.sort(key=lambda finding: (list(_LEVELS).index(finding.level), finding.path, finding.line))
    open_ends = (_open_end(one, limits) for one in review.undecided[:MAX_UNDECIDED])
    return CheckOutput(
        title=shortened(title(review), limits.check_title),
        summary=fitted(main_sections(review, links), limits.check),
        conclusion=review.conclusion,
        annotations=(*(_annotation(finding, limits) for finding in noted[:MAX_ANNOTATIONS]), *open_ends)[
            :MAX_ANNOTATIONS
        ],
        text=fitted(further_sections(review, links), limits.check),
    )


def title(review: Review) -> str:
    """The review in one line."""
    introduced, worse = counted(review.news), counted(review.worsened)
    fixed, count = len(review.fixed), len(review.undecided)
    better = sum(improved(*pair) for pair in review.changed)
    parts = [
        f"introduces {introduced}" if introduced else "",
        "introduces no hazard" if not (introduced or worse or undecided_only(review)) else "",
        f"worsens {worse}" if worse else "",
        f"improves {better}" if better else "",
        f"fixes {fixed}" if fixed else "",
        f"{count} service{'' if count == 1 else 's'} could not be decided" if count else "",
    ]
    if not (introduced or worse or fixed or better or review.composes):
        return "Touches no compose"
    told = ", ".join(part for part in parts if part)
    return told[0].upper() + told[1:]


def _annotation(finding: Finding, limits: Limits) -> Annotation:
    return Annotation(
        finding.path,
        finding.line,
        finding.line,
        _LEVELS[finding.level],
        shortened(printable(finding.title), limits.annotation_title),
        clipped(plain(finding), limits.annotation),
    )


def _open_end(one: Undecided, limits: Limits) -> Annotation:
    """A remark at what could not be followed."""
    return Annotation(
        one.place.path,
        max(one.place.line, 1),
        max(one.place.line, 1),
        "notice",
        "Could not be decided",
        clipped(printable(f"{one.path}: {one.told}"), limits.annotation),
    )


def nothing_to_review(why: str = "no file of this change reaches a compose") -> CheckOutput:
    """The check of a change that cannot concern any engine."""
    return CheckOutput("Touches no compose", f"Nothing to review: {why}.", "success")


def merge_group_check() -> CheckOutput:
    """The check of a merge queue's commit: each of its pull requests has had its own review."""
    told = "Every change of this group was reviewed before it was queued."
    return CheckOutput("Reviewed in its pull requests", told, "success")


def unfinished(reason: str) -> CheckOutput:
    """The check of a review that could not be finished."""
    told = f"The review did not finish, so nothing is known of this change: {prose(reason)}. `/recheck` tries again."
    return CheckOutput("The review did not finish", told, "neutral")
