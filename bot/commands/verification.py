"""The answer to `/verify`: a boot log held against the compose that it is of. Nothing of the log's text is in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.audit import Unit, discover
from bot.bootlog import BootLog, Comparison, Match, Row, Shift, compare, effects, matches, other_numbers
from bot.bootlog.comparison import EFFECTIVE
from bot.bootlog.wording import proof, setting, shifted, shown
from bot.commands.catalogue import VERIFY, Verify
from bot.commands.subjects import named, no_such
from bot.compose import Project, load_project
from bot.engine import Pin, Property, Value
from bot.hazards import Rules
from bot.markdown import cell, code, prose
from bot.resolution import Repository, ResolvedService, resolve_service
from bot.review.links import OFFLINE, Links
from bot.review.sections import Section, fitted, paragraph

MAX_BYTES = 60_000
"""Of an answer; GitHub takes 65,536 characters."""

MAX_ENGINES = 3
"""Engines of one log that are answered for, the first ones."""

MAX_TRIED = 12
"""Services that are looked at in all their worlds, to find out whose the log is."""

MAX_NAMED = 10
"""Services that are named to choose from."""

MAX_AGAINST = 4
"""Properties that are named of each."""

MAX_ERRORS = 3

NO_ENGINE = (
    "This log has no line of a vLLM engine: they carry a mark such as `[core.py:115]`, and the one that says most "
    "begins with `Initializing a V1 LLM engine`. What `docker compose logs` prints from "
    "the start of the container on has it."
)

_VERDICTS = ("contradicts", "log only", "agrees", "not said")
_WHY = "No compose was named; this is the one that it fits."
_HEAD = ("| | the files say | the log says |", "|---|---|---|")
_AGREED = ("| | both say | line of the log |", "|---|---|---|")


@dataclass(frozen=True, slots=True)
class Verification:
    """The answer, as Markdown. `settled` is False where a log could not be held against anything, `contradicts` True
    where one speaks against the files. `pins` are those of the engines that it is about.
    """

    answer: str
    settled: bool
    contradicts: bool = False
    pins: tuple[Pin, ...] = ()


@dataclass(frozen=True, slots=True)
class _Place:
    """An engine's service, and the files that it is resolved from."""

    unit: Unit
    project: Project
    service: ResolvedService


def verify(
    asked: Verify, logs: Sequence[BootLog], repository: Repository, rules: Rules, links: Links = OFFLINE
) -> Verification:
    """Hold logs against the service that is named, or against the one that each fits. `repository` is the state that
    `links` point at; there is a log at least.
    """
    units = discover(repository.tree, repository.documents, repository.catalog.configuration).units
    chosen = units if asked.subject is None else named(asked.subject, units, repository)
    if not chosen:
        known = [*(unit.path for unit in units), *repository.catalog.slugs]
        nothing = no_such("compose", asked.subject, known, VERIFY) if asked.subject else "There is no compose here."
        return Verification(nothing, False)
    places = [place for unit in chosen for place in _engines(unit, asked.service, repository)]
    if not places:
        return Verification(_no_engine(asked, chosen, repository, links), False)
    return _Verifying(asked, places, repository, rules, links).all(logs)


def _engines(unit: Unit, service: str | None, repository: Repository) -> Iterator[_Place]:
    """The services that run vLLM, in their default world."""
    project = load_project(repository.documents, unit.files, {})
    for name in project.services:
        if service in (None, name):
            found = resolve_service(repository, unit.files, name, project=project)
            if found.kind == "vllm":
                yield _Place(unit, project, found)


def _no_engine(asked: Verify, units: Sequence[Unit], repository: Repository, links: Links) -> str:
    """Why there is nothing to hold a log against."""
    if asked.subject is None:
        return "No compose of this repository is known to run a vLLM engine."
    unit = units[0]
    project = load_project(repository.documents, unit.files, {})
    if asked.service is not None and project.services and asked.service not in project.services:
        return no_such("service", asked.service, project.services, VERIFY)
    places = [(links.place(error.path or unit.path, error.line), error) for error in project.errors[:MAX_ERRORS]]
    errors = [f"Docker Compose refuses this file, at {place}: {prose(error.message)}" for place, error in places]
    return "\n\n".join(errors) or f"No service of {links.place(unit.path, None)} is known to run a vLLM engine."


class _Verifying:
    """One request: the services that the logs may be of, and how an answer is written."""

    def __init__(
        self, asked: Verify, places: Sequence[_Place], repository: Repository, rules: Rules, links: Links
    ) -> None:
        self._asked = asked
        self._places = places
        self._repository = repository
        self._rules = rules
        self._links = links

    def all(self, logs: Sequence[BootLog]) -> Verification:
        """The answer for each engine of the log: those first whose service is found."""
        by_name = self._asked.subject is not None and len(logs) == 1
        services = [place.service for place in self._places]
        found = [(log, self._decided(matches(log, services, named=by_name))) for log in logs[:MAX_ENGINES]]
        settled = [those[0] for _, those in found if len(those) == 1]
        compared = [(match, compare(match.log, match.service)) for match in settled]
        sections = [section for match, held in compared for section in self._answer(match, held)]
        for log, those in found:
            if len(those) > 1 or not (those or settled):
                sections += self._question(log, those, len(logs) > 1)
        if len(logs) > MAX_ENGINES:
            sections.append(
                paragraph(f"The log has the lines of {len(logs)} engines, of which {MAX_ENGINES} are answered for.")
            )
        pins = tuple(pin for match in settled for pin in match.service.pins)
        against = any(held.against for _, held in compared)
        return Verification(fitted(sections, MAX_BYTES), bool(settled), against, pins)

    def _decided(self, found: tuple[Match, ...]) -> tuple[Match, ...]:
        """The only service that the log is of. Where it fits none in the default world, it may fit one in another."""
        if len(found) == 1:
            return (replace(found[0], service=self._whole(found[0].service)),)
        if not found or not found[0].against or len(found) > MAX_TRIED:
            return found
        whole = [replace(match, service=self._whole(match.service)) for match in found]
        fitting = [match for match in whole if compare(match.log, match.service).fits]
        return tuple(fitting) if len(fitting) == 1 else found

    def _whole(self, service: ResolvedService) -> ResolvedService:
        """A service with all worlds that rules read."""
        place = self._place(service)
        return resolve_service(
            self._repository,
            place.unit.files,
            service.name,
            interplay=self._rules.interplay,
            project=place.project,
        )

    def _place(self, service: ResolvedService) -> _Place:
        return next(place for place in self._places if place.service is service)

    def _answer(self, match: Match, found: Comparison) -> Iterator[Section]:
        """What a log says of its service."""
        service, links = match.service, self._links
        rows = {verdict: [row for row in found.rows if row.verdict == verdict] for verdict in _VERDICTS}
        where = f"{links.place(service.path, service.position.line)}, service {code(service.name)}"
        yield paragraph(f"#### {where}")
        yield paragraph(_headline(found) + ("" if self._asked.subject else f" {_WHY}"))
        telling = [*rows["contradicts"], *(row for row in rows["log only"] if row.name != EFFECTIVE)]
        yield Section("", tuple(self._telling(row, service) for row in telling), _HEAD)
        others = [code(name) for name in other_numbers(match.log, service)]
        if others:
            yield paragraph(f"Arguments with another value in the log than in the files: {', '.join(others)}.")
        if found.against:
            yield paragraph(_fitting(found))
        yield from self._proved(found, effects(match.log, service, self._rules))
        agreed = tuple(_agreed(row) for row in rows["agrees"])
        yield Section(f"{len(agreed)} agree", agreed, _AGREED, folded=True)
        yield paragraph(_silent(rows["not said"]))

    def _telling(self, row: Row, service: ResolvedService) -> str:
        """A row of what the files say otherwise, or not at all."""
        told = f"**{_shown(row.said.value)}**, line {row.said.line}" if row.said else ""
        files = "not known" if row.resolved is None else f"{_resolved(row.resolved)}{self._reason(row, service)}"
        return f"| {code(row.name)} | {cell(files)} | {cell(told)} |"

    def _reason(self, row: Row, service: ResolvedService) -> str:
        """The line of the repository that a value comes from, if one does."""
        because = row.resolved.because if row.resolved else ()
        place = next((one for one in because if one.path and one.line and one.kind != "engine-default"), None)
        if place is None:
            return ""
        here = f"line {place.line}" if place.path == service.path else ""
        return f", {self._links.place(place.path, place.line, here)}"

    def _proved(self, found: Comparison, shifts: Sequence[Shift]) -> Iterator[Section]:
        """What nothing but a log tells, and the hazards that are others with it."""
        told = proof(found)
        if told is None:
            yield paragraph(
                f"The log does not say how the worker ends with the CUDA graphs ({code(EFFECTIVE)}), which nothing "
                "else can tell: the lines that do come with `Graph capturing finished`."
            )
        else:
            yield paragraph(f"**The log proves** ({code(EFFECTIVE)}): {told}.")
        lines = tuple(f"- {self._links.rule(shift.rule)} {shifted(shift)}" for shift in shifts)
        if lines:
            yield paragraph("With what the log says, these hazards differ from those of the files alone:")
            yield Section("", lines)
        elif told is not None:
            yield paragraph("What the log says changes no hazard.")

    def _question(self, log: BootLog, found: Sequence[Match], several: bool) -> Iterator[Section]:
        """Which service the log is of."""
        whose = f"The lines of {code(log.container)} " if several and log.container else "This log "
        if not found:
            where = "this compose" if self._asked.subject else "this repository"
            yield paragraph(
                f"{whose}{_fit(several, log)} no service of {where}: none runs an engine with its names (of the model, "
                "as it is served, of the container) and its port. A service that is named is held against it all the "
                f"same: {code(VERIFY.usage)}."
            )
            return
        told = (
            f"could be of {len(found)} services by its names, and contradicts each of them"
            if found[0].against
            else f"{_fit(several, log)} {len(found)} services alike"
        )
        yield paragraph(f"{whose}{told}. Which one is meant? Ask again with its name, above the same log:")
        yield Section("", tuple(self._choice(match) for match in found[:MAX_NAMED]))
        if len(found) > MAX_NAMED:
            yield paragraph(f"And {len(found) - MAX_NAMED} more.")

    def _choice(self, match: Match) -> str:
        service = match.service
        against = [code(name) for name in match.against[:MAX_AGAINST]]
        more = [f"{len(match.against) - MAX_AGAINST} more"] if len(match.against) > MAX_AGAINST else []
        told = f": it contradicts {', '.join([*against, *more])}" if against else ""
        name = f"{self._place(service).unit.path}:{service.name}"
        return f"- {self._links.place(service.path, service.position.line, code(f'/verify {name}'))}{told}"


def _fit(several: bool, log: BootLog) -> str:
    return "fit" if several and log.container else "fits"


def _headline(found: Comparison) -> str:
    agreed = sum(row.verdict == "agrees" for row in found.rows)
    where = f" (with {code(setting(found.world))})" if found.world else ""
    if found.against:
        against = ", ".join(map(code, found.against))
        return f"**The log contradicts what the files say{where}:** {against}. It agrees in {agreed} other values."
    if found.beyond:
        return (
            f"**The log agrees with the files{where}** in all {agreed} values that they decide. How the worker ends "
            "with the CUDA graphs could only be assumed from them, and is otherwise."
        )
    if found.verdict == "agrees":
        return f"**The log agrees with the files{where}** in all {agreed} values that both say."
    return "The log says nothing that the files also say."


def _fitting(found: Comparison) -> str:
    """The worlds that the log fits, where the default one is none of them."""
    worlds = (world.realisation.deviations for world in found.service.worlds if not world.default)
    others = len({tuple(deviations.items()) for deviations in worlds})
    if found.fits:
        ways = " or ".join(code(setting(fit)) for fit in found.fits)
        return f"It fits with {ways} set on the host."
    if others:
        return (
            f"It fits none of the other worlds either ({others} tried, with variables set on the host): "
            "another compose, image or commit may have run."
        )
    return "Nothing that is set on the host changes what runs here: another compose, image or commit may have run."


def _resolved(found: Property) -> str:
    return f"{_shown(found.value)}{' (assumed)' if found.certainty == 'assumed' else ''}"


def _shown(value: Value) -> str:
    return shown(value) if value is None or isinstance(value, bool) else code(shown(value))


def _agreed(row: Row) -> str:
    line = row.said.line if row.said else ""
    return f"| {code(row.name)} | {cell(_shown(row.said.value if row.said else None))} | {line} |"


def _silent(rows: Iterable[Row]) -> str:
    """What the log does not say."""
    told = [f"{code(row.name)} ({row.doubt})" if row.doubt else code(row.name) for row in rows if row.name != EFFECTIVE]
    return f"<sub>Not said: {', '.join(told)}.</sub>" if told else ""
