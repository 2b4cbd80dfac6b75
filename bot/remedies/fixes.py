"""Edits as a review offers them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.audit import Report
from bot.hazards import Finding, Rules
from bot.hazards.predicates import LEVELS
from bot.remedies.model import Changed, Identity, Offer
from bot.remedies.offers import Limits, remedies
from bot.remedies.patch import patch
from bot.resolution import Repository
from bot.review import Fix, Replacement, Review, Suggestion

IN_A_REVIEW = Limits(proofs=6, composes=20)
"""A proof costs about 40 ms of CPU for one compose. Most changes bring in one finding or two; further ones get their
edit from `bot fix`, and so do edits that concern every compose, as those of `patches.yml` do.
"""

IN_AN_AUDIT = Limits(proofs=40, composes=20)
"""About five seconds of an audit that is written for a program to read."""

MAX_SHOWN = 4_000
"""Characters of a suggestion or a patch in a comment: half a screen."""


Fixes = Mapping[Identity, Fix]


def fixes(repository: Repository, report: Report, found: Review, rules: Rules) -> Fixes:
    """The edits for what a review tells, where `repository` is the proposed state and `report` its audit."""
    return _proved(repository, report, found.told, rules, IN_A_REVIEW)


def standing_fixes(repository: Repository, report: Report, rules: Rules) -> Fixes:
    """The edits for what an audit finds, the loudest first, as far as they are made in one go."""
    loud = [one for one in report.findings if one.edit and one.level != "folded"]
    return _proved(repository, report, sorted(loud, key=lambda one: LEVELS.index(one.level)), rules, IN_AN_AUDIT)


def _proved(repository: Repository, report: Report, findings: Iterable[Finding], rules: Rules, limits: Limits) -> Fixes:
    answers = remedies(repository, report, findings, rules, limits)
    return {answer.identity: _fix(answer) for answer in answers if isinstance(answer, Offer)}


def _fix(offer: Offer) -> Fix:
    text = patch(offer.files)
    changes = tuple(Replacement(file.path, *part) for file in offer.files for part in file.replaced)
    return Fix(offer.does, offer.proved, text if _shows_as_it_is(text) else "", _suggestion(offer.files), changes)


def _suggestion(files: tuple[Changed, ...]) -> Suggestion | None:
    """The edit as lines to put in the place of others: only of one file, and only what survives being shown."""
    if len(files) != 1:
        return None
    start, end, text = files[0].span
    if end >= len(files[0].before.split("\n")) or not _shows_as_it_is(text):
        return None  # the last line has no end: what GitHub makes of that is not known
    return Suggestion(files[0].path, start, end, text)


def _shows_as_it_is(text: str) -> bool:
    """Whether a comment shows a text as it is, and all of it: GitHub changes line ends, and a character that does not
    print could show something else than it does.
    """
    return len(text) <= MAX_SHOWN and text.replace("\n", "").replace("\t", "").isprintable()
