"""How an upstream fix stands for a repository: what there is to be said of it, and who has it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bot.catalog.configuration import PATH as CONFIGURATION
from bot.upstream.pins import version_of
from bot.upstream.repository_pins import RepositoryPin, Use
from bot.upstream.sites import Site
from bot.upstream.watch import Watched

Stage = Literal[
    "unknown",
    "open",
    "closed",
    "not-fixed",
    "superseded",
    "reverted",
    "dead-target",
    "merged",
    "relanded",
    "released",
    "pinned",
]
"""What a notice says. `pinned`: a caveat stands on pins that have the fix. `not-fixed`: it counts as done upstream
while the source says that the defect is there. `closed`: nobody merged it, and no source was looked at.
"""

OPENS: frozenset[Stage] = frozenset({"not-fixed", "superseded", "merged", "relanded", "released", "pinned"})
"""The stages for which an issue is opened. The others are said in one that is there."""

_RANK: dict[Stage, int] = {
    "open": 0,
    "closed": 0,
    "not-fixed": 0,
    "superseded": 0,
    "reverted": 0,
    "merged": 1,
    "relanded": 1,
    "released": 2,
    "pinned": 3,
}
_BY_STATE: dict[str, Stage] = {
    "open": "open",
    "merged": "merged",
    "released": "released",
    "pinned": "released",  # by pins that no caveat depends on
    "superseded": "superseded",
    "reverted": "reverted",
    "re-landed": "relanded",
    "dead-target": "dead-target",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """A stage with what makes it another one though its name is the same. `by` is what reverted or superseded the fix:
    main may have lost what a pinned release has.

    `having` are the users of pins that have the fix, `waiting` those of pins that do not; those of pins of which it is
    not known are in neither.
    """

    stage: Stage
    by: str = ""
    having: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


def standing(watched: Watched, *, reached: bool) -> Standing:
    """How a fix stands, by its clock and the pins that matter. `reached`: there is no caveat that the fix has not yet
    reached, or one that it has.
    """
    relevant = set(relevant_pins(watched))
    pins = [(pin, answer) for pin, answer in watched.pins if pin in relevant]
    having = _users(pin for pin, answer in pins if answer.state == "pinned") if reached else ()
    waiting = _users(pin for pin, answer in pins if answer.state == "not-pinned")
    stage = _stage(watched, bool(having), any(a.conflict and a.state == "not-pinned" for _, a in pins))
    by = watched.clock.superseded_by if stage == "superseded" else None
    if stage in ("reverted", "released", "pinned"):
        by = watched.clock.reverted_by
    return Standing(stage, by or "", having, waiting)


def went_back(before: Stage, after: Stage) -> bool:
    """Whether a fix that had come so far no longer has."""
    return before in _RANK and after in _RANK and _RANK[after] < _RANK[before]


def live(site: Site) -> bool:
    """Whether a line still waits: it is not struck, does not itself say that the matter is settled, and is not what the
    repository declares of its images.
    """
    declares = site.position.path == CONFIGURATION and site.part != "accepted"
    return not site.struck and site.state not in ("landed", "resolved") and not declares


def weighs(site: Site) -> bool:
    """Whether a line is a caveat that somebody would want to hear about, not only a word about the reference."""
    plain = site.role in ("mentioned", "superseding")  # what takes another one's place is not itself waited for
    return live(site) and (not plain or bool(site.predicate) or site.patch is not None)


def relevant_pins(watched: Watched) -> tuple[RepositoryPin, ...]:
    """The pins of composes that have a caveat; all of them where no compose has one."""
    paths = {site.position.path for site in watched.sites if live(site)}
    own = tuple(pin for pin, _ in watched.pins if any(use.position.path in paths for use in pin.uses))
    return own or tuple(pin for pin, _ in watched.pins)


def user(use: Use) -> str:
    """What is remembered of a service that runs a pin, wherever its image is stated."""
    return f"{use.position.path}\t{use.name}"


def lacks(watched: Watched) -> bool:
    """Whether the source of the releases that matter was looked at, and the defect is there."""
    asked = _looked(watched)
    return bool(asked) and all(holds is False for holds in asked.values())


def lacking(watched: Watched) -> list[str]:
    """Those of them in whose source it is."""
    return [release for release, holds in _looked(watched).items() if holds is False]


def _looked(watched: Watched) -> dict[str, bool | None]:
    """What was found in the source of the pinned releases that matter, or of the newest where none of them was."""
    pinned = {pin.release for pin in relevant_pins(watched) if pin.release}
    looked = {str(version): probe.holds for probe in watched.probes if (version := version_of(probe.release))}
    asked = {release: looked[release] for release in sorted(pinned) if release in looked}
    if not asked and looked:
        newest = max((version for name in looked if (version := version_of(name))), default=None)
        asked = {str(newest): looked[str(newest)]}
    return asked


def _stage(watched: Watched, having: bool, contradicted: bool) -> Stage:
    if having:
        return "pinned"
    state = watched.clock.state
    if state == "closed-unmerged":
        return "not-fixed" if lacks(watched) else "closed"
    if contradicted and state not in ("open", "unknown", "superseded"):
        return "not-fixed"
    return _BY_STATE.get(state, "unknown")


def _users(pins: Iterable[RepositoryPin]) -> tuple[str, ...]:
    return tuple(sorted({user(use) for pin in pins for use in pin.uses}))
