"""Which findings get an edit, and which do not, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from bot.audit import Report
from bot.hazards import Finding, Rules
from bot.remedies.case import Case
from bot.remedies.edits import EDITS
from bot.remedies.layout import Layout
from bot.remedies.model import Answer, Candidate, Changed, Identity, NoEdit, Offer, Refusal, applied
from bot.remedies.proof import Proved, prove
from bot.resolution import Repository, ResolvedService
from bot.tree import UnreadableFile

MAX_TRIES = 3
"""Ways to edit that are tried for one finding: each costs a proof."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What proofs may cost: how many are made, and how many composes each resolves again."""

    proofs: int = 1_000_000
    composes: int = 1_000_000


NO_LIMITS = Limits()


def remedies(
    repository: Repository,
    report: Report,
    findings: Iterable[Finding],
    rules: Rules,
    limits: Limits = NO_LIMITS,
) -> Iterator[Answer]:
    """An answer for each finding, on its own: each edit is proved on the repository as it is."""
    left = [limits.proofs]
    layouts: dict[str, Layout | NoEdit] = {}
    for finding in findings:
        case = Case(finding, _service(report, finding), repository.tree, repository.catalog, layouts)
        found = _answer(repository, case, rules, limits, left)
        yield found if isinstance(found, Refusal) else found[0]


def together(
    repository: Repository,
    report: Report,
    findings: Iterable[Finding],
    rules: Rules,
    told: Callable[[Answer], None] = lambda _: None,
) -> tuple[tuple[Changed, ...], tuple[Answer, ...]]:
    """All edits that can be made one after the other: each is proved on top of those before it. The files as they are
    and as they become, and an answer for each finding.
    """
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    answers: list[Answer] = []
    current: Mapping[Identity, Finding] = {finding.identity: finding for finding in report.findings}
    services = {(service.path, service.name): service for unit in report.units for service in unit.services}
    for asked in findings:
        finding = current.get(asked.identity)
        if finding is None:
            answer: Answer = Refusal(asked.identity, "an edit for another finding ends it as well")
        else:
            service = services.get((finding.path, finding.service))
            case = Case(finding, service, repository.tree, repository.catalog)
            found = _answer(repository, case, rules, NO_LIMITS, [NO_LIMITS.proofs])
            if isinstance(found, Refusal):
                answer = found
            else:
                answer, proved = found
                repository = proved.repository
                for file in answer.files:
                    before.setdefault(file.path, file.before)
                    after[file.path] = file.after
                renewed = {unit.unit.path for unit in proved.report.units}
                fresh = {one.identity: one for one in proved.report.findings}
                current = {k: fresh.get(k, one) for k, one in current.items() if k in fresh or one.path not in renewed}
                services |= {(s.path, s.name): s for unit in proved.report.units for s in unit.services}
        told(answer)
        answers.append(answer)
    files = tuple(Changed(path, text, after[path]) for path, text in before.items())
    return files, tuple(answers)


def _service(report: Report, finding: Finding) -> ResolvedService | None:
    found = (service for unit in report.units for service in unit.services)
    return next((s for s in found if (s.path, s.name) == (finding.path, finding.service)), None)


def _answer(
    repository: Repository, case: Case, rules: Rules, limits: Limits, left: list[int]
) -> tuple[Offer, Proved] | Refusal:
    """`left` holds the number of proofs that may still be made, and is counted down."""
    finding = case.finding
    if finding.status != "active":
        return Refusal(finding.identity, f"it is {finding.status}: nothing has to change for what runs by default")
    if finding.edit not in EDITS:
        return Refusal(finding.identity, "there is no small edit for this rule that is right everywhere")
    why = "no place for the edit was found"
    try:
        for tries, candidate in enumerate(EDITS[finding.edit](case)):
            if tries == MAX_TRIES:
                break
            if left[0] <= 0:
                return Refusal(finding.identity, "no more edits are proved in one go")
            left[0] -= 1
            files = _files(case, candidate)
            found = prove(
                repository, {file.path: file.after for file in files}, finding, candidate, rules, limits.composes
            )
            if isinstance(found, Proved):
                return Offer(finding.identity, files, candidate.does, _said(found, candidate)), found
            does = f"{candidate.does[0].lower()}{candidate.does[1:]}"
            why = f"the one that {does}, is not offered: {found}"
    except (NoEdit, UnreadableFile) as error:
        why = str(error)
    except Exception as error:  # a fault of ours with one edit must not take the review with it
        why = f"internal error, please report it: {type(error).__name__}: {error}"
    return Refusal(finding.identity, why)


def _files(case: Case, candidate: Candidate) -> tuple[Changed, ...]:
    found = []
    for path in candidate.paths:
        before = case.text(path)
        after = applied(before, [edit for edit in candidate.edits if edit.path == path])
        found.append(Changed(path, before, after))
    return tuple(found)


def _said(proved: Proved, candidate: Candidate) -> str:
    """What the proof showed, in one sentence."""
    many = f"{proved.composes} composes" if proved.composes != 1 else "the compose"
    gone = "the finding is gone"
    if proved.left is not None and proved.left.status == "reachable":
        sets = " ".join(f"{name}={value}" for name, value in proved.left.world.environment.items())
        gone = f"it no longer stands by default (only with `{sets}`)"
    meant = sorted(candidate.meant.properties)
    but = f" but {', '.join(f'`{name}`' for name in meant)}" if meant else ""
    where = " by default" if candidate.meant.elsewhere else ""
    rest = f"no other appears, and no property of an engine changes{where}{but}"
    return f"Proved by resolving {many} with the edit: {gone}, {rest}."
