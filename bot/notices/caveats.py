"""Caveats: what a repository put in place until a fix arrives, and whether each may go."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from bot.notices.marks import fingerprint
from bot.notices.standing import live, relevant_pins
from bot.upstream.clock import PinState
from bot.upstream.mentions import Reader
from bot.upstream.repository_pins import RepositoryPin
from bot.upstream.sites import Site
from bot.upstream.watch import Watched

Kind = Literal[
    "patch entry",
    "vendored file",
    "mount",
    "call",
    "accepted risk",
    "default",
    "tracker row",
    "comment",
    "note",
    "overlay",
]
Verdict = Literal["clear", "not-yet", "unknown", "held"]
"""`held`: the fix itself is there, and something else that the caveat needs is not, or was not looked at."""

_RISK = re.compile(
    r"\b(?:accept(?:ed|s)?[-_ ]?risks?|risk[-_ ]?accept\w*|known[-_ ]risks?|waivers?|allow-?list)\b", re.I
)
_CALL = re.compile(r"(?:^|[\s;&|(\"'`])(?:bash|sh|source|python3?|exec|invoke)\b|\|\||&&")
_MOUNT = re.compile(r"^-?\s*[\"']?[^\s:]+:/[^\s]+|^(?:-\s+)?(?:source|target)\s*:")
_SETTING = re.compile(r"--[a-z][a-z-]+|\$\{?[A-Z][A-Z0-9_]{2,}|^-?\s*[A-Z][A-Z0-9_]{2,}\s*[:=]")
_APART = ("bug", "do-not-vendor", "superseded")
"""Roles of references that a patch names without having their code in it."""


@dataclass(frozen=True, slots=True)
class Caveat:
    """One thing to do once the fix is there. `identity` stays when the lines above it move; `why` says what is missing.

    `users` are the services whose pin decides; empty where no compose does.
    """

    identity: str
    kind: Kind
    site: Site
    verdict: Verdict
    why: tuple[str, ...] = ()
    users: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Need:
    """Another fix that a caveat needs, and how it stands for the caveat's pins."""

    reference: str
    state: PinState | Literal["not-checked"]


def caveats(watched: Watched, every: Mapping[str, Watched]) -> tuple[Caveat, ...]:
    """The caveats of a fix, by file and line. `every` has all references of the repository that are watched."""
    seen: Counter[str] = Counter()
    found: dict[str, Caveat] = {}
    shared = relevant_pins(watched)
    bundles = _bundles(every.values())
    for site in sorted(watched.sites, key=lambda site: (site.position.path, site.position.line)):
        if not live(site):
            continue
        kind = _kind(site)
        if kind == "patch entry":
            identity = _identity(watched.reference, kind, site.patch or "")
            known = found.get(identity)
            if known is not None and (known.site.predicate or not site.predicate):
                continue  # one entry is one thing to do, however many of its lines name the fix
        elif kind == "vendored file":
            identity = _identity(watched.reference, kind, site.position.path)
            if identity in found:
                continue
        else:
            name = _identity(watched.reference, site.position.path, _plain(site.text))
            identity = _identity(name, str(seen[name]))
            seen[name] += 1
        pins = tuple(pin for pin, _ in watched.pins if _uses(pin, site.position.path)) or shared
        own = _state(watched, pins)
        needs = _needs(site, watched.reference, pins, every, bundles)
        verdict: Verdict = "clear" if own == "pinned" else "not-yet" if own == "not-pinned" else "unknown"
        if verdict == "clear" and needs:
            verdict = "held"
        users = tuple(sorted({use.name for pin in pins for use in pin.uses if use.position.path == site.position.path}))
        found[identity] = Caveat(identity, kind, site, verdict, tuple(_told(need) for need in needs), users)
    return tuple(found.values())


def unplaced(caveat: Caveat) -> Caveat:
    """The caveat wherever its line is."""
    position = replace(caveat.site.position, line=0, column=0)
    return replace(caveat, site=replace(caveat.site, position=position))


def _needs(
    site: Site,
    reference: str,
    pins: tuple[RepositoryPin, ...],
    every: Mapping[str, Watched],
    bundles: Mapping[str, frozenset[str]],
) -> tuple[Need, ...]:
    """What else must be there: every fix that the caveat's own condition names, and every one in its patch."""
    named = {mention.reference for mention in Reader().mentions(site.predicate or "")}
    if site.patch is not None:
        named |= bundles.get(site.patch, frozenset())
    needs: list[Need] = []
    for other in sorted(named - {reference}):
        watched = every.get(other)
        if watched is not None and _is_apart(watched, site):
            continue
        state = _checked(watched, pins)
        if state != "pinned":
            needs.append(Need(other, state))
    return tuple(needs)


def _is_apart(watched: Watched, site: Site) -> bool:
    """Whether a reference is the bug that the fix is for, or something that the patch leaves out on purpose."""
    if watched.issue is not None:
        return True
    inside = [
        other
        for other in watched.sites
        if other.part != "wiring" and (_of_one_patch(other, site) or _on_one_line(other, site))
    ]
    return (
        bool(inside)
        and all(other.role in (*_APART, "mentioned") for other in inside)
        and any(other.role in _APART for other in inside)
    )


def _of_one_patch(one: Site, other: Site) -> bool:
    return one.patch is not None and one.patch == other.patch


def _on_one_line(one: Site, other: Site) -> bool:
    return (one.position.path, one.position.line) == (other.position.path, other.position.line)


def _checked(watched: Watched | None, pins: tuple[RepositoryPin, ...]) -> PinState | Literal["not-checked"]:
    if watched is None:
        return "not-checked"
    state = _state(watched, pins)
    return "not-checked" if state == "unknown" and watched.clock.state == "unknown" else state


def _state(watched: Watched, pins: tuple[RepositoryPin, ...]) -> PinState:
    """How a fix stands for several pins at once: they all have it, one surely does not, or nobody knows."""
    known = {pin.image: answer.state for pin, answer in watched.pins}
    states = {known.get(pin.image, "unknown") for pin in pins}
    if not states:
        return "unknown"
    return "not-pinned" if "not-pinned" in states else "unknown" if "unknown" in states else "pinned"


def _told(need: Need) -> str:
    match need.state:
        case "not-checked":
            return f"{need.reference} was not checked: there is neither a probe nor a clock for it"
        case "not-pinned":
            return f"{need.reference} is not in the pinned release"
        case _:
            return f"whether the pinned release has {need.reference} is not known"


def _bundles(every: Iterable[Watched]) -> Mapping[str, frozenset[str]]:
    """What each patch names, in its entry and in its own files."""
    found: dict[str, set[str]] = {}
    for watched in every:
        for site in watched.sites:
            if site.patch is not None and not site.struck:
                found.setdefault(site.patch, set()).add(watched.reference)
    return {patch: frozenset(references) for patch, references in found.items()}


def _kind(site: Site) -> Kind:
    path, text = site.position.path, site.text.strip()
    if site.part == "accepted" or _RISK.search(text) or _RISK.search(path):
        return "accepted risk"
    if site.part in ("entry", "file"):
        return "patch entry" if site.part == "entry" else "vendored file"
    if text.startswith(("|", "…")) and path.endswith((".md", ".rst")):
        return "tracker row"
    if path.endswith((".md", ".rst", ".txt")):
        return "note"
    if text.startswith(("#", "//")):
        return "comment"
    if _MOUNT.search(text):
        return "mount"
    if _CALL.search(text):
        return "call"
    return "default" if _SETTING.search(text) else "overlay"


def _uses(pin: RepositoryPin, path: str) -> bool:
    return any(use.position.path == path for use in pin.uses)


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def _identity(*parts: str) -> str:
    return fingerprint(*parts)[:12]
