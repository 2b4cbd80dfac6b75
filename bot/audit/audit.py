"""Asks every rule of every service."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.audit.accepted import Acceptances, Contains, shipped, slugs_by_path, unknown_rules
from bot.audit.cards import evaluate_on_cards
from bot.audit.claims import against_claims
from bot.audit.descriptions import of_descriptions
from bot.audit.discovery import Discovery, Skipped, Unit, discover, mentions_an_engine
from bot.audit.observations import of_compose_error, of_seams
from bot.audit.statements import against_statements
from bot.audit.subject import subject
from bot.audit.undecided import Undecided, undecided
from bot.catalog import Problem, idle_globs
from bot.compose import ComposeError, Project, load_project
from bot.engine import Pin
from bot.hazards import Finding, Observation, Rule, Rules, Situation, Subject, World, at_least, evaluate
from bot.memory import Itself
from bot.provenance import Reason
from bot.resolution import Repository, ResolvedService, resolve_service
from bot.shell import is_inference_server
from bot.tree import text_of
from bot.worlds.comments import Offer, comments

_SEVERITY = ("active", "reachable", "unknown", "mitigated")
"""Statuses, the worst first."""

_PLAIN_VARIABLE = re.compile(r"(?<!\$)\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_AROUND = 3
"""Lines of a comment, above and below the one that offers a variable, that are read as being about it."""

_WEIGHT = 30
"""Bytes that a character of a compose and its scripts takes when they are resolved in all worlds."""

_STAND_IN = "1"
"""A value that most fields accept, to see whether a refusal is only about variables that nobody set."""


@dataclass(frozen=True, slots=True)
class UnitReport:
    """One compose: what the rules found, and those of its services that run an inference server.

    `unresolved` are services of which it is not known what they run; `undecided` says why, of those that seem to run
    an inference server.
    """

    unit: Unit
    findings: tuple[Finding, ...]
    services: tuple[ResolvedService, ...]
    unresolved: frozenset[str]
    project: Project
    undecided: tuple[Undecided, ...] = ()

    def holds(self, path: str) -> bool:
        """Whether services of this file are services of the compose."""
        return path in self.unit.files or any(one.position.path == path for one in self.project.services.values())

    def resolves(self, service: str) -> bool:
        """Whether it is known what a service runs, or that there is none of this name."""
        if service in self.unresolved:
            return False
        return not self.project.errors or any(found.name == service for found in self.services)


@dataclass(frozen=True, slots=True)
class Report:
    """A repository: its findings in order of their place, what was left out and why, and what could not be read.

    `described` are the findings on files that describe the repository, and are no composes.
    """

    units: tuple[UnitReport, ...]
    skipped: tuple[Skipped, ...]
    problems: tuple[Problem, ...]
    acceptances: Acceptances | None = None
    described: tuple[Finding, ...] = ()

    def taken(self, finding: Finding, service: ResolvedService | None) -> Finding:
        """A finding that was made elsewhere, folded where the repository accepts its risk."""
        return self.acceptances.applied(finding, service) if self.acceptances is not None else finding

    @property
    def pins(self) -> Iterator[Pin]:
        """The pins of all vLLM engines."""
        return (pin for unit in self.units for service in unit.services for pin in service.pins)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, one for each identity."""
        found: dict[tuple[str, ...], Finding] = {}
        for finding in (*self.described, *(finding for unit in self.units for finding in unit.findings)):
            # A file that another one includes is looked at alone, and once more where it is included.
            known = found.setdefault(finding.identity, finding)
            if _SEVERITY.index(finding.status) < _SEVERITY.index(known.status):
                found[finding.identity] = finding
        return tuple(
            sorted(found.values(), key=lambda finding: (finding.path, finding.line, finding.rule, finding.cause))
        )

    @property
    def undecided(self) -> tuple[Undecided, ...]:
        """What could not be decided, each service once, in order of the files."""
        found = {(one.path, one.service): one for unit in self.units for one in unit.undecided}
        return tuple(found[key] for key in sorted(found))

    def resolves(self, path: str, service: str) -> bool:
        """Whether it is known what a service runs, or that it is not there."""
        if any(item.path == path and item.unread for item in self.skipped):
            return False
        return all(unit.resolves(service) for unit in self.units if unit.holds(path))


def audit(
    repository: Repository,
    rules: Rules,
    *,
    only: Callable[[Unit], bool] = lambda _: True,
    progress: Callable[[Unit, int], None] = lambda _unit, _total: None,
    contains: Contains | None = None,
) -> Report:
    """Every compose of the repository for which `only` holds. `progress` is told of each before it is resolved.

    `contains` says whether a pin has the fix that an accepted risk waits for; without it, what is shipped does.
    """
    discovery: Discovery = discover(repository.tree, repository.documents, repository.catalog.configuration)
    chosen = [unit for unit in discovery.units if only(unit)]
    reports: list[UnitReport] = []
    broken: list[Skipped] = []
    acceptances = Acceptances(repository.catalog, contains or shipped(rules))
    for unit in chosen:
        progress(unit, len(chosen))
        try:
            reports.append(_accepted(repository, audit_unit(repository, unit, rules), rules, acceptances))
        except Exception as error:  # a fault of ours with one file must not take the others with it
            reason = f"internal error, please report it: {type(error).__name__}: {error}"
            broken.append(Skipped(unit.path, reason, unread=True))
    skipped = (*discovery.skipped, *broken)
    complete = len(chosen) == len(discovery.units)
    described = tuple(acceptances.applied(finding, None) for finding in of_descriptions(repository, rules))
    problems = _problems(repository, rules, acceptances, reports, skipped, complete=complete)
    return Report(tuple(reports), skipped, tuple(problems), acceptances, described)


def _problems(
    repository: Repository,
    rules: Rules,
    acceptances: Acceptances,
    reports: Sequence[UnitReport],
    skipped: Sequence[Skipped],
    *,
    complete: bool,
) -> Iterator[Problem]:
    """What is wrong in what the repository says of itself, and what of its configuration does nothing."""
    configuration = repository.catalog.configuration
    yield from repository.catalog.problems
    if configuration.globs:
        yield from idle_globs(configuration, repository.tree.paths())
    yield from unknown_rules(configuration, rules)
    if configuration.accepted and complete:
        places = dict.fromkeys(repository.tree.paths(), frozenset[str]()) | slugs_by_path(repository.catalog)
        for service in (service for unit in reports for service in unit.services):
            places[service.path] = places.get(service.path, frozenset()) | frozenset(service.slugs)
        unsure = {path for unit in reports if unit.unresolved or unit.project.errors for path in unit.unit.files}
        unsure.update(item.path for item in skipped if item.unread)
        yield from acceptances.idle(rules, places, unsure.__contains__)


def _accepted(repository: Repository, report: UnitReport, rules: Rules, acceptances: Acceptances) -> UnitReport:
    """A compose with the risks marked that the repository takes."""
    if not repository.catalog.configuration.accepted:
        return report
    services = {service.name: service for service in report.services}

    def again(service: ResolvedService) -> Sequence[Finding]:
        return [_placed(one, report.unit) for one in _findings(repository, service, rules)]

    taken = (acceptances.applied(finding, services.get(finding.service), again) for finding in report.findings)
    return replace(report, findings=tuple(taken))


def _placed(finding: Finding, unit: Unit) -> Finding:
    """A finding that knows the files that run together."""
    return replace(finding, files=unit.files) if len(unit.files) > 1 else finding


def audit_unit(repository: Repository, unit: Unit, rules: Rules) -> UnitReport:
    """One compose, every service of it that runs an inference server."""
    documents = repository.documents
    question = ("audit", unit, Itself(rules), Itself(repository.catalog), documents.view)
    return documents.memory.answer(
        question, repository.tree, lambda tree: _audited(repository.over(tree), unit, rules), _WEIGHT
    )


def _audited(repository: Repository, unit: Unit, rules: Rules) -> UnitReport:
    project = load_project(repository.documents, unit.files, {})
    services: list[ResolvedService] = []
    findings: list[Finding] = []
    unresolved: set[str] = set()
    lost: list[Undecided] = []
    for name in project.services:
        service = resolve_service(repository, unit.files, name, interplay=rules.interplay, project=project)
        doubt = None if project.errors else undecided(service, repository.tree)
        if doubt is not None:
            lost.append(doubt)
        if is_inference_server(service.kind) or doubt is not None or _is_meant_to_serve(service):
            services.append(service)
            findings += _findings(repository, service, rules)
        if not all(world.resolved for world in service.defaults):
            unresolved.add(name)
    findings += against_statements(repository, unit.files, services, rules, findings)
    findings += against_claims(repository.tree, repository.catalog, unit, project, services, rules)
    findings += _refusals(repository, unit, project, rules)
    findings = [_placed(finding, unit) for finding in findings]
    _settle(services, rules)
    return UnitReport(unit, tuple(findings), tuple(services), frozenset(unresolved), project, tuple(lost))


def _settle(services: Iterable[ResolvedService], rules: Rules) -> None:
    """Finds of the patches what rules may still ask of them when nothing can be read any more."""
    for patch in (patch for service in services for world in service.worlds for patch in world.patches):
        if not rules.overlaid.isdisjoint(patch.upstream):
            _ = patch.wired


def _is_meant_to_serve(service: ResolvedService) -> bool:
    """Whether an entrypoint that ends without a server was written to start one."""
    described = service.worlds[0].realisation.service
    if described is None or all(world.outcome is None or world.outcome.exit is None for world in service.defaults):
        return False
    words = (*(described.entrypoint or ()), *(described.command or ()))
    return any(mentions_an_engine(word.text) for word in words)


def _findings(repository: Repository, service: ResolvedService, rules: Rules) -> tuple[Finding, ...]:
    if not any(world.engine is not None for world in service.defaults):
        return evaluate(_without_properties(rules), subject(service))
    plain = tuple(of_seams(service))
    findings = evaluate_on_cards(rules, service, plain)
    engine_rules = {rule.id for rule in rules.over_properties}
    standing = {found.rule for found in findings if found.status == "active" and at_least(found.level, "warning")}
    seams = tuple(_with_mitigations(repository, service, rules, seam, standing & engine_rules) for seam in plain)
    return findings if seams == plain else evaluate_on_cards(rules, service, seams)


def _without_properties(rules: Rules) -> Rules:
    """The rules that can be asked of a service without a vLLM engine, as far as their findings are wanted."""
    askable = {rule.id for rule in rules.over_observations}
    return rules.only(askable if rules.reported is None else askable & rules.reported)


def _with_mitigations(
    repository: Repository, service: ResolvedService, rules: Rules, seam: Observation, standing: set[str]
) -> Observation:
    """Adds to a documented dead seam the rules that it would silence if its value arrived, and which of them the
    comment that offers it is about.
    """
    if seam.kind != "dead-seam" or not seam.fields["documented"]:
        return seam
    offers = [offer for offer in service.survey.offers if offer.name == seam.cause]
    near = min(offers, key=lambda offer: abs(offer.position.line - seam.position.line))
    # Asked whether something stands or not: what is judged again later reads no file that was not read the first time.
    ends = _ended_by(service, rules, near) & standing
    about = [
        (offer, rule) for offer in offers for rule in sorted(ends) if _speaks_of(repository, offer, rules.named[rule])
    ]
    quoted = about[0][0] if about else near
    reason = Reason("compose", quoted.position.path, quoted.position.line, f"# {quoted.text}")
    named = tuple(dict.fromkeys(rule for _, rule in about))
    fields = {**seam.fields, "documented_as_mitigation_of": named, "would_end": tuple(sorted(ends))}
    return replace(seam, because=(seam.because[0], reason), fields=fields)


def _ended_by(service: ResolvedService, rules: Rules, offer: Offer) -> set[str]:
    """The rules that no longer stand by default when the offered value is in the container."""
    pretended = replace(service, worlds=service.inside({offer.name: offer.value}))
    if not any(world.engine is not None for world in pretended.defaults):
        return set()
    still = {found.rule for found in evaluate_on_cards(rules, pretended, ()) if found.status != "mitigated"}
    return set(rules.named) - still


def _speaks_of(repository: Repository, offer: Offer, rule: Rule) -> bool:
    """Whether the comment around an offer names a rule's hazard: the lines of comment above and below it."""
    path, line = offer.position.path, offer.position.line
    lines = {position.line: text for position, text in comments(path, text_of(repository.tree, path)).items()}
    around = [line]
    for step in (-1, 1):
        at = line + step
        while at in lines and abs(at - line) <= _AROUND:
            around.append(at)
            at += step
    return rule.is_named_in(" ".join(lines.get(at, offer.text) for at in sorted(around)))


def _refusals(repository: Repository, unit: Unit, project: Project, rules: Rules) -> Iterable[Finding]:
    """Findings on files that Docker Compose refuses, when they are about an inference server at all."""
    if not project.errors or not any(
        mentions_an_engine(text_of(repository.tree, path)) for path in _files(unit, project)
    ):
        return
    needs = _needs_of_the_files(repository, _files(unit, project))
    accepted = load_project(repository.documents, unit.files, dict.fromkeys(needs, _STAND_IN)) if needs else project
    lasting = {error.message for error in accepted.errors}
    by_service: dict[str, list[Observation]] = {}
    for error in _once(project.errors):
        incomplete = () if error.message in lasting else needs
        by_service.setdefault(error.service or "", []).append(of_compose_error(error, unit.path, incomplete))
    for name, observations in by_service.items():
        position = observations[0].position
        situation = Situation(World({}), {}, Pin("", None), (), (), (), tuple(observations), position)
        yield from evaluate(_without_properties(rules), Subject(unit.path, name, (), position, (situation,)))


def _once(errors: Iterable[ComposeError]) -> Iterable[ComposeError]:
    """Each fault once: one in a file that a service extends is known of the file and of the service."""
    known: dict[tuple[str, str, int | None], ComposeError] = {}
    for error in errors:
        place = (error.message, error.path, error.line)
        if place not in known or (known[place].service is None and error.service is not None):
            known[place] = error
    return known.values()


def _files(unit: Unit, project: Project) -> tuple[str, ...]:
    """The files of a compose, those that it extends or includes among them."""
    return tuple(dict.fromkeys((*unit.files, *project.files)))


def _needs_of_the_files(repository: Repository, files: tuple[str, ...]) -> tuple[str, ...]:
    """Variables that the files read without a default."""
    text = "\n".join(text_of(repository.tree, path) for path in files)
    return tuple(dict.fromkeys(match[1] or match[2] for match in _PLAIN_VARIABLE.finditer(text)))
