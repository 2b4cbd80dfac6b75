"""What a repository waits for: its upstream references, each with its clock, its pins and its caveat sites."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from bot.catalog import Catalog
from bot.references import UPSTREAM
from bot.upstream.clock import Clock, PinAnswer, read_clock
from bot.upstream.facts import Fact, Facts, Issue, Probe, Pull, collected
from bot.upstream.known import Known
from bot.upstream.mentions import Reader
from bot.upstream.overlays import lies_in
from bot.upstream.pins import version_of
from bot.upstream.repository_pins import RepositoryPin
from bot.upstream.sites import Site


@dataclass(frozen=True, slots=True)
class Watched:
    """One reference. `pins` has an answer for each pin of the repository; `by_rules` says that a hazard rule waits
    for it, `believed` what the repository's own documents say of its state, the latest first. `pull` or `issue` is the
    reference itself, where it was recorded, and `probes` are what was found in the sources of releases.
    """

    reference: str
    title: str | None
    clock: Clock
    pins: tuple[tuple[RepositoryPin, PinAnswer], ...]
    sites: tuple[Site, ...]
    by_rules: bool
    believed: tuple[str, ...]
    pull: Pull | None = None
    issue: Issue | None = None
    probes: tuple[Probe, ...] = ()


def watched_references(catalog: Catalog, sites: Iterable[Site], rules: Iterable[str]) -> tuple[str, ...]:
    """Every reference that carries weight: of patches, of declared images, of accepted risks and the policy of
    vendoring, of rules, and those of vLLM that a line of the repository waits for (it names a predicate, and is not
    struck through).

    A patch may hold more fixes than its note names: all that its own files name count, and all in `patches.yml`.
    """
    patches = (reference for patch in catalog.patches for reference in patch.upstream)
    declared = (reference for image in catalog.configuration.images.values() for reference in image.contains)
    configuration = catalog.configuration
    accepted = [reference for acceptance in configuration.accepted for reference in acceptance.until]
    accepted += configuration.inherit_only.fixes if configuration.inherit_only else ()
    own = _files_of_patches(catalog)
    told = (
        site.reference
        for site in sites
        if site.reference.startswith(f"{UPSTREAM}#") and (_waits(site) or lies_in(site.position.path, own))
    )
    return tuple(sorted({*patches, *declared, *accepted, *told, *rules}, key=_order))


def _files_of_patches(catalog: Catalog) -> frozenset[str]:
    """Where patches are listed, and their own files and folders."""
    listed = {patch.position.path for patch in catalog.patches}
    return frozenset(listed.union(file for patch in catalog.patches for file in patch.files))


def _waits(site: Site) -> bool:
    """Whether a line waits for its reference. In prose, a clause about one reference may stand beside another: there
    it has to name it.
    """
    if not site.predicate or site.struck:
        return False
    if site.role != "mentioned" or not site.position.path.endswith((".md", ".rst", ".txt")):
        return True
    return any(mention.reference == site.reference for mention in Reader().mentions(site.predicate))


def watch(
    references: Iterable[str],
    pins: tuple[RepositoryPin, ...],
    sites: Iterable[Site],
    *,
    known: Known = lambda _reference, _release: None,
    releases: Iterable[str] = (),
    titles: Mapping[str, str] | None = None,
    facts: Callable[[str], Facts] = lambda _: Facts(),
) -> tuple[Watched, ...]:
    """The clocks of references. Recorded `facts` come first; `known` is asked of the pins' releases and of `releases`.

    The pins are those of vLLM: a reference of another project has none.
    """
    by_reference: dict[str, list[Site]] = {}
    for site in sites:
        by_reference.setdefault(site.reference, []).append(site)
    asked = tuple(dict.fromkeys((*releases, *(pin.source for pin in pins if pin.source))))
    names = titles or {}
    return tuple(
        _watched(
            reference,
            pins,
            tuple(by_reference.get(reference, ())),
            with_known(facts(reference), known, reference, asked),
            names,
        )
        for reference in references
    )


def _watched(
    reference: str, pins: tuple[RepositoryPin, ...], sites: tuple[Site, ...], facts: Facts, titles: Mapping[str, str]
) -> Watched:
    if not reference.startswith(f"{UPSTREAM}#"):
        pins = ()
    clock = read_clock(reference, [pin.asked for pin in pins], facts)
    answers = tuple((pin, declared_or(reference, pin, clock.pins[pin.asked])) for pin in pins)
    believed = dict.fromkeys(
        f"{site.state}{f' {site.date}' if site.date else ''}"
        for site in sorted(sites, key=lambda site: site.date or "", reverse=True)
        if site.state
    )
    number = int(reference.rpartition("#")[2])
    return Watched(
        reference=reference,
        title=titles.get(reference),
        clock=clock,
        pins=answers,
        sites=sites,
        by_rules=reference in titles,
        believed=tuple(believed),
        # Of two records the merged one is the later.
        pull=max((p for p in facts.pulls if p.number == number), key=lambda p: p.state == "merged", default=None),
        issue=next((issue for issue in facts.issues if issue.number == number), None),
        probes=facts.probes,
    )


def declared_or(reference: str, pin: RepositoryPin, answer: PinAnswer) -> PinAnswer:
    """The repository's own word about an image counts, unless its source was looked at."""
    if reference not in pin.contains:
        if answer.state == "unknown" and pin.why and not pin.release and not any(pin.why in e for e in answer.evidence):
            return PinAnswer(answer.state, (pin.why, *answer.evidence), answer.conflict)
        return answer
    told = f"the repository declares that {pin.image} contains it"
    return PinAnswer("pinned", (told, *answer.evidence), answer.conflict)


def with_known(facts: Facts, known: Known, reference: str, releases: Iterable[str]) -> Facts:
    """Facts with what is known of released sources (of commits too), where no recorded probe says more."""
    probed = {probe.release.removeprefix("v") for probe in facts.probes}
    more: list[Fact] = [
        Probe(f"v{release}" if version_of(release) else release, *found)
        for release in releases
        if release not in probed and (found := known(reference, release)) is not None
    ]
    if not more:
        return facts
    parts = (facts.pulls, facts.issues, facts.commits, facts.tags, facts.branches, facts.contains, facts.probes)
    return collected((*(fact for part in parts for fact in part), *facts.supersedes, *more))


def _order(reference: str) -> tuple[str, int]:
    repository, _, number = reference.rpartition("#")
    return repository, int(number)
