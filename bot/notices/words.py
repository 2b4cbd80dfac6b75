"""The words that the text and the comments of a notice share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bot.markdown import clipped, code, sentence, shortened
from bot.notices.notice import Notice
from bot.notices.places import commit, quoted, reference, release
from bot.notices.standing import lacking, relevant_pins
from bot.references import normalise
from bot.upstream.clock import PinAnswer
from bot.upstream.repository_pins import RepositoryPin

MAX_PINS = 20
"""Rows of the table of pins."""

MAX_NAMES = 4
MAX_EVIDENCE = 3

_SHA = re.compile(r"[0-9a-f]{12}|[0-9a-f]{40}")
_REFERENCE = re.compile(r"(?:[\w.-]{1,100}/[\w.-]{1,100})?#[1-9][0-9]{0,8}", re.ASCII)
_PARTS = re.compile(
    rf"(“[^”]*”|(?<![\w/.#-])(?:{_SHA.pattern})(?![\w/#-])|(?<![\w/.#-]){_REFERENCE.pattern}(?!\w))", re.ASCII
)
"""What stands in a sentence of evidence for itself: a quotation, a commit, a reference."""

HAS = {"pinned": "**yes**", "not-pinned": "no", "unknown": "not known"}


def when(notice: Notice) -> str:
    """On which day it was merged, and as which commit, as far as that is recorded."""
    pull, repository = notice.watched.pull, notice.reference.rpartition("#")[0]
    day = f" on {code(pull.merged_at[:10])}" if pull and pull.merged_at else ""
    sha = f" as {commit(repository, pull.merge_commit)}" if pull and pull.merge_commit else ""
    return day + sha


def closed(notice: Notice) -> str:
    """What became of what counts as done upstream."""
    watched = notice.watched
    fact = watched.pull or watched.issue
    day = f" on {code(fact.closed_at[:10])}" if fact and fact.closed_at else ""
    if watched.pull is not None and watched.pull.state == "merged":
        return f"was merged{when(notice)}"
    return f"was closed{day}{' without a merge' if watched.pull is not None else ''}"


def not_reached(notice: Notice) -> str:
    """Why a release that has the fix clears nothing here."""
    if any(answer.state == "pinned" for _, answer in pins(notice)):
        return "some pins of this repository have it; what waits for it here is for others, too"
    return "no pin of this repository that waits for it is known to have it"


def pins(notice: Notice) -> list[tuple[RepositoryPin, PinAnswer]]:
    """The pins that matter, those with the fix first."""
    wanted = set(relevant_pins(notice.watched))
    order = {"pinned": 0, "not-pinned": 1, "unknown": 2}
    found = [(pin, answer) for pin, answer in notice.watched.pins if pin in wanted]
    return sorted(found, key=lambda row: (order[row[1].state], row[0].image))


def conflicts(notice: Notice) -> Iterator[str]:
    """A warning for each pin whose source and history disagree."""
    told = dict.fromkeys(answer.conflict for _, answer in pins(notice) if answer.conflict)
    for conflict in list(told)[:MAX_PINS]:
        yield f"> [!WARNING]\n> {evidence(notice, conflict)}. The source counts, not the history."


def denied(notice: Notice) -> list[str]:
    """The releases in whose source the defect was found: those pinned here, else the newest that was looked at."""
    return [release if release.startswith("v") else f"v{release}" for release in lacking(notice.watched)]


def about(notice: Notice) -> str:
    """What the fix is about: our own words for it, else the title of the pull request, which a stranger wrote."""
    pull = notice.watched.pull
    told = notice.watched.title or (pull.title if pull else "") or ""
    return shortened(" ".join(told.split()), 100)


def named(by: str) -> str:
    """What reverted or superseded a fix: a reference, or a commit."""
    return reference(by) if "#" in by else code(by[:10])


def release_of(notice: Notice, tag: str) -> str:
    """A release of the project that the fix is of."""
    return release(notice.reference.rpartition("#")[0], tag)


def evidence(notice: Notice, text: str) -> str:
    """A sentence of evidence: what it quotes as one code span, the commits and references in it as links."""
    repository = notice.reference.rpartition("#")[0]
    told = ""
    for part in filter(None, _PARTS.split(quiet(text))):
        shown = _linked(repository, part)
        told += f" {shown}" if told.endswith("`") and shown.startswith("`") else shown  # two code spans stay two
    return told


def _linked(repository: str, part: str) -> str:
    if part.startswith("“") and part.endswith("”"):
        return code(part[1:-1])
    if _SHA.fullmatch(part):
        return commit(repository, part)
    if _REFERENCE.fullmatch(part) and (name := normalise(part, repository)) is not None:
        return reference(name)
    left, right = part[: len(part) - len(part.lstrip())], part[len(part.rstrip()) :]
    return f"{left and ' '}{sentence(part)}{right and ' '}" if part.strip() else " "


def quiet(text: str) -> str:
    """A sentence of evidence, without our marks in what it quotes."""
    return clipped(text.replace("<!--", "< !--"), 600)


def some(names: Iterable[str], most: int = MAX_NAMES) -> str:
    """The first of some names, and how many more there are."""
    every = list(dict.fromkeys(names))
    shown = ", ".join(quoted(name) for name in every[:most])
    return shown + (f" and {len(every) - most} more" if len(every) > most else "")


def plural(word: str, count: int) -> str:
    """A noun as its number wants it."""
    return word if count == 1 else f"{word}s"


def verb(names: tuple[str, ...]) -> str:
    """Whether one waits, or several do."""
    return "waits" if len(names) == 1 else "wait"
