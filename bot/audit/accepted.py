"""Risks that a repository takes knowingly (`accepted:` in its configuration), and when that ends.

An accepted finding stays where it is and is folded: it fails no check and gets no comment. Once the pin has the fix
that it waited for, the acceptance has ended, and the finding counts again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.catalog import Acceptance, Catalog, Configuration, Problem, fits
from bot.engine import Pin
from bot.hazards import Accepted, Finding, Rules
from bot.provenance import Position
from bot.resolution import ResolvedService

Contains = Callable[[str, Pin], bool | None]
"""(upstream reference, pin) → whether the pin has the fix; None when nobody knows, which ends nothing."""

Again = Callable[[ResolvedService], Sequence[Finding]]
"""What the rules say of a service that has fewer worlds."""

Fate = Literal["covers", "mitigated", "ended", "elsewhere"]
"""What became of an acceptance at a finding that it is about. `elsewhere`: it is worse in a world that is not meant."""


def shipped(rules: Rules) -> Contains:
    """By what the image is declared to contain, and by the released sources that were looked into."""

    def contains(reference: str, pin: Pin) -> bool | None:
        if reference in pin.contains:
            return True
        return rules.upstream.contains(reference, (pin.release,)) if pin.release else None

    return contains


@dataclass(frozen=True, slots=True)
class _Held:
    """An acceptance held against a finding: whether it has ended there, and by what."""

    acceptance: Acceptance
    ended: str

    @property
    def told(self) -> Accepted:
        one = self.acceptance
        return Accepted(one.reason, one.position, one.until, one.by, self.ended)


class Acceptances:
    """The accepted risks of one state of a repository. It remembers what became of each (`idle`)."""

    def __init__(self, catalog: Catalog, contains: Contains) -> None:
        self._catalog = catalog
        self._contains = contains
        self._slugs = slugs_by_path(catalog) if catalog.configuration.accepted else {}
        self._fates: dict[Position, set[Fate]] = {}

    def applied(self, finding: Finding, service: ResolvedService | None, again: Again = lambda _: ()) -> Finding:
        """The finding, folded where its risk is taken.

        An acceptance for a world covers those in which its variables have these values. When the finding stands in
        others as well, it is the one of these that counts.
        """
        about = [one for one in self._catalog.configuration.accepted if self._is_about(one, finding, service)]
        if not about:
            return finding
        if finding.status == "mitigated":
            self._note(about, "mitigated")
            return finding
        meant = [one for one in about if _holds_in(one, finding.world.environment)]
        self._note([one for one in about if one not in meant], "elsewhere")
        held = [_Held(one, self._ended(one, finding, service)) for one in meant]
        over = [item for item in held if item.ended]
        counting = [item for item in held if not item.ended]
        self._note([item.acceptance for item in over], "ended")
        if not counting:
            return _ended(finding, over[0]) if over else finding
        everywhere = next((item for item in counting if not item.acceptance.world), None)
        if everywhere is not None or service is None:
            chosen = everywhere or counting[0]
            self._note([chosen.acceptance], "covers")
            return _taken(finding, chosen)
        self._note([item.acceptance for item in counting], "covers")
        elsewhere = self._elsewhere(finding, service, [one for one in about if one.world], again)
        return elsewhere or _taken(finding, counting[0])

    def idle(
        self, rules: Rules, places: Mapping[str, frozenset[str]], unsure: Callable[[str], bool]
    ) -> Iterator[Problem]:
        """The acceptances that do nothing, and why, once every finding of the repository was seen. `places` are all of
        its files with the slugs of each; of those that are `unsure` nothing is concluded.
        """
        for one in self._catalog.configuration.accepted:
            fates = self._fates.get(one.position, set())
            if "covers" in fates or one.rule not in (rules.ids if rules.reported is None else rules.reported):
                continue
            here = [path for path, slugs in places.items() if _is_place(one, path, slugs)]
            where = one.where[:80]
            if not here:
                told = f"accepts nothing: {where!r} fits no file of the repository and no slug of its registry"
            elif "ended" in fates:
                told = f"the acceptance of {one.rule} ({where}) has ended: the pin has {_listed(one.until)}; it can go"
            elif "elsewhere" in fates or any(map(unsure, here)):
                continue
            else:
                world = " ".join(f"{name}={value}" for name, value in one.world.items())
                state = "is mitigated there" if "mitigated" in fates else "does not stand there"
                if world:
                    state = f"{state} with {world[:80]}"
                told = f"accepts nothing: {one.rule} {state} ({where}); it can go"
            yield Problem(told, one.position)

    def _is_about(self, one: Acceptance, finding: Finding, service: ResolvedService | None) -> bool:
        """Whether it is about a finding: on its file, on those that run with it, or on the one that has the service."""
        if one.rule != finding.rule:
            return False
        slugs = frozenset(service.slugs if service is not None else ())
        own = (service.position.path,) if service is not None else ()
        return any(
            _is_place(one, path, slugs | self._slugs.get(path, frozenset()), finding.service)
            for path in dict.fromkeys((finding.path, *finding.files, *own))
        )

    def _ended(self, one: Acceptance, finding: Finding, service: ResolvedService | None) -> str:
        """Why an acceptance no longer counts: every pin of the finding has every fix. Empty while it does."""
        pins = _pins(finding, service)
        if not one.until or not pins:
            return ""
        if not all(self._contains(reference, pin) for reference in one.until for pin in pins):
            return ""
        named = " and ".join(dict.fromkeys(f"vLLM {pin.release}" if pin.release else pin.image for pin in pins))
        return f"{named}, which is pinned here, has {_listed(one.until)}"

    def _elsewhere(
        self, finding: Finding, service: ResolvedService, about: Sequence[Acceptance], again: Again
    ) -> Finding | None:
        """The finding as it stands in the worlds that nobody has accepted."""
        counting = [one for one in about if not self._ended(one, finding, service)]
        left = tuple(
            world
            for world in service.worlds
            if not any(_holds_in(one, world.realisation.deviations) for one in counting)
        )
        others = again(replace(service, worlds=left))
        return next((one for one in others if one.identity == finding.identity and one.status != "mitigated"), None)

    def _note(self, acceptances: Iterable[Acceptance], fate: Fate) -> None:
        for one in acceptances:
            self._fates.setdefault(one.position, set()).add(fate)


def unknown_rules(configuration: Configuration, rules: Rules) -> Iterator[Problem]:
    """The acceptances of rules that are not there."""
    for one in configuration.accepted:
        if one.rule not in rules.ids:
            yield Problem(f"accepts nothing: no rule {one.rule[:80]!r}; {_near(one.rule, rules.ids)}", one.position)


def slugs_by_path(catalog: Catalog) -> dict[str, frozenset[str]]:
    """The slugs that the registry has for each compose."""
    found: dict[str, frozenset[str]] = {}
    for slug, paths in catalog.slugs.items():
        for path in paths:
            found[path] = found.get(path, frozenset()) | {slug}
    return found


def _is_place(one: Acceptance, path: str, slugs: frozenset[str], service: str | None = None) -> bool:
    """Whether an acceptance is about a compose, or about one service of it (None: any)."""
    if fits(path, one.where) or one.where in slugs:
        return True
    where, colon, name = one.where.rpartition(":")
    return bool(colon) and service in (None, name) and (fits(path, where) or where in slugs)


def _holds_in(one: Acceptance, world: Mapping[str, str]) -> bool:
    return all(world.get(name) == value for name, value in one.world.items())


def _pins(finding: Finding, service: ResolvedService | None) -> tuple[Pin, ...]:
    """The pins of the service in the finding's world."""
    worlds = service.worlds if service is not None else ()
    here = [world.pin for world in worlds if dict(world.realisation.deviations) == dict(finding.world.environment)]
    return tuple(dict.fromkeys(here or [world.pin for world in worlds if world.default]))


def _taken(finding: Finding, held: _Held) -> Finding:
    """The finding, folded, with the reason before its message."""
    told = held.told
    until = f" until {_listed(told.until)} {'are' if len(told.until) > 1 else 'is'} pinned" if told.until else ""
    by = f", {told.by}" if told.by else ""
    message = f"Accepted{until}: {told.reason} ({told.position.path}:{told.position.line}{by}). {finding.message}"
    return replace(finding, level="folded", message=message, accepted=told)


def _ended(finding: Finding, held: _Held) -> Finding:
    told = held.told
    where = f"{told.position.path}:{told.position.line}"
    message = f"{finding.message} The acceptance of this risk ({where}) has ended: {held.ended}."
    return replace(finding, message=message, accepted=told)


def _listed(references: Iterable[str]) -> str:
    return " and ".join(reference.removeprefix("vllm-project/") for reference in references)


def _near(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # only ever needed for an error

    near = get_close_matches(name, list(known), 1)
    return f"did you mean {near[0]!r}?" if near else f"the rules are {', '.join(sorted(known))}"
