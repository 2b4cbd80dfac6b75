"""What a repository waits for: its upstream references, its pins, and the lines that carry them. Pure; found in the
resolver's process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from bot.audit.images import images_of
from bot.engine.facts import releases
from bot.hazards.releases import Upstream
from bot.jobs.analysis import repository
from bot.provenance import Position
from bot.resolution import Repository
from bot.tree import Tree
from bot.upstream.facts import Facts
from bot.upstream.known import Known
from bot.upstream.repository_pins import RepositoryPin, Use, pins_of
from bot.upstream.sites import Site, sites_in
from bot.upstream.watch import Watched, watch, watched_references

MAX_REFERENCES = 200
"""Of one repository: the largest tracker that is known waits for fifty. Each is a request in every poll."""

MAX_SITES = 5_000
MAX_PINS = 200
MAX_USES = 20
"""Of one pin: who reads of it wants to know where to look."""

_REFERENCES, _PIN, _SITE = "references", "pin ", "site "
"""The names of what is stored."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Everything that clocks need of a repository. Where it runs no vLLM and has no patches, nothing is waited for."""

    references: tuple[str, ...] = ()
    pins: tuple[RepositoryPin, ...] = ()
    sites: tuple[Site, ...] = ()

    @property
    def asked(self) -> tuple[str, ...]:
        """What facts about its pins are looked for under."""
        return tuple(pin.asked for pin in self.pins)


@dataclass(frozen=True, slots=True)
class Waits:
    """Asks what a repository waits for; hazard rules wait for `rules` in every one."""

    rules: tuple[str, ...]

    def __call__(self, base: Tree, head: Tree) -> Waiting:  # noqa: ARG002 - there is one side
        """The answer."""
        return waiting_in(repository(head), self.rules)


def waiting_in(repository: Repository, rules: Iterable[str]) -> Waiting:
    """What a repository waits for."""
    catalog = repository.catalog
    pins = pins_of(catalog, (Use(*found) for found in images_of(repository)))
    if not pins and not catalog.patches:
        return Waiting()
    pins = tuple(replace(pin, uses=pin.uses[:MAX_USES]) for pin in pins[:MAX_PINS])
    sites = sites_in(repository.tree, catalog)
    ruling = set(rules)
    own = {reference for patch in catalog.patches for reference in patch.upstream}
    found = watched_references(catalog, sites, ruling)
    # Where there are too many, what rules and patches wait for comes first, then what is new.
    order = {one: (one not in ruling, one not in own, -place) for place, one in enumerate(found)}
    watched = set(sorted(found, key=order.__getitem__)[:MAX_REFERENCES])
    references = tuple(reference for reference in found if reference in watched)
    return Waiting(references, pins, tuple(site for site in sites if site.reference in watched)[:MAX_SITES])


def clocks_of(
    waiting: Waiting, upstream: Upstream, facts: Callable[[str], Facts], known: Known | None = None
) -> tuple[Watched, ...]:
    """The clocks of what is waited for. `known` says what was found in released sources, the rules without."""
    return watch(
        waiting.references,
        waiting.pins,
        waiting.sites,
        known=known or upstream.known,
        releases=releases(),
        titles={reference: fix.title for reference, fix in upstream.fixes.items()},
        facts=facts,
    )


def as_records(waiting: Waiting) -> dict[str, Any]:
    """As it is stored: the references, and each pin and each site by its number."""
    pins = {f"{_PIN}{number:06}": asdict(pin) for number, pin in enumerate(waiting.pins)}
    sites = {f"{_SITE}{number:06}": asdict(site) for number, site in enumerate(waiting.sites)}
    return {_REFERENCES: list(waiting.references), **pins, **sites}


def from_records(stored: Mapping[str, Any]) -> Waiting:
    """Back from where it was stored, beside whatever else."""
    names = sorted(stored)
    return Waiting(
        tuple(stored[_REFERENCES]),
        tuple(_pin(stored[name]) for name in names if name.startswith(_PIN)),
        tuple(_site(stored[name]) for name in names if name.startswith(_SITE)),
    )


def _pin(stored: Mapping[str, Any]) -> RepositoryPin:
    uses = tuple(Use(use["image"], use["name"], Position(**use["position"])) for use in stored["uses"])
    return RepositoryPin(**{**stored, "contains": tuple(stored["contains"]), "uses": uses})


def _site(stored: Mapping[str, Any]) -> Site:
    return Site(**{**stored, "position": Position(**stored["position"])})
