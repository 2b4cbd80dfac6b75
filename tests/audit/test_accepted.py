"""Risks that a repository takes knowingly, and when that ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from bot.audit import Report, audit
from bot.catalog import read_catalog
from bot.catalog.configuration import PATH
from bot.cli.audit import report_json
from bot.compose import Documents
from bot.engine import Pin
from bot.hazards import Finding, load_rules
from bot.resolution import Repository
from bot.tree import MemoryTree
from tests.schemas import violations

RULES = load_rules()
PAIR = "mtp-prefix-cache-hybrid"
FIX = "vllm-project/vllm#48375"
PROFILE = """
id: hare-9b
num_hidden_layers: 32
num_gdn_layers: 24
num_attn_layers: 8
weights: {fp8: {path: hare-9b}}
"""
REGISTRY = "hare/mtp: {compose: deploy/mtp.yml}\n"
MTP = """'{"method":"mtp","num_speculative_tokens":2}'"""


def _compose(cache: str, *, image: str = "vllm/vllm-openai:v0.25.1", more: str = "") -> str:
    return (
        f"services:\n  engine:\n    image: {image}\n"
        f"    command: [--model, /models/hare-9b, --speculative-config, {MTP}, {cache}{more}]\n"
    )


ON = _compose("--enable-prefix-caching")
SEAM = _compose("'${CACHE:---no-enable-prefix-caching}'")
TWO_SEAMS = _compose("'${CACHE:---no-enable-prefix-caching}'", more=", '${OTHER:---no-enable-prefix-caching}'")
OFF = _compose("--no-enable-prefix-caching")
OPT_IN = "world: CACHE=--enable-prefix-caching"


def _entry(*more: str, where: str = "deploy/*.yml", rule: str = PAIR, reason: str = "documented as opt-in") -> str:
    lines = [f"rule: {rule}", f"where: '{where}'", f"reason: {reason}", *more]
    return "accepted:\n  - " + "\n    ".join(lines) + "\n"


def _audit(
    compose: str, configuration: str, *, contains: Callable[[str, Pin], bool | None] | None = None, root: str = ""
) -> Report:
    files = {"models/hare.yml": PROFILE, "registry.yml": REGISTRY, "deploy/mtp.yml": compose, PATH: configuration}
    tree = MemoryTree(files | ({"compose.yml": root} if root else {}))
    report = audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES, contains=contains)
    assert violations("audit", report_json(report)) == []
    return report


def _pair(report: Report) -> Finding:
    (found,) = (finding for finding in report.findings if finding.rule == PAIR)
    return found


def _problems(report: Report) -> list[str]:
    return [problem.message for problem in report.problems]


# What an acceptance does ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "where", ["deploy/*.yml", "deploy/mtp.yml", "hare/mtp", "hare/mtp:engine", "deploy/mtp.yml:engine", "**/mtp.yml"]
)
def test_an_accepted_risk_is_folded_and_says_why(where: str) -> None:
    report = _audit(ON, _entry("until: vllm#48375", "by: the maintainers", where=where))
    found = _pair(report)
    assert (found.level, found.status) == ("folded", "active")
    assert found.message.startswith(
        f"Accepted until vllm#48375 is pinned: documented as opt-in ({PATH}:2, the maintainers). "
    )
    assert found.accepted is not None
    assert (found.accepted.until, found.accepted.ended) == ((FIX,), "")
    assert _problems(report) == []


@pytest.mark.parametrize("where", ["deploy/other.yml", "hare/other", "deploy/mtp.yml:other", "mtp.yml"])
def test_it_covers_no_other_place(where: str) -> None:
    found = _pair(_audit(ON, _entry(where=where)))
    assert (found.level, found.accepted) == ("error", None)


def test_it_covers_no_other_rule() -> None:
    report = _audit(ON, _entry(rule="gdn-spec-decode-wild-write"))
    assert _pair(report).level == "error"
    assert {finding.rule for finding in report.findings if finding.accepted} == {"gdn-spec-decode-wild-write"}


def test_a_service_is_the_same_where_its_file_is_included() -> None:
    report = _audit(ON, _entry(where="deploy/mtp.yml"), root="include: [deploy/mtp.yml]\n")
    assert {finding.level for finding in report.findings if finding.rule == PAIR} == {"folded"}


# One world -----------------------------------------------------------------------------------------------------------


def test_what_a_person_has_to_switch_on_may_be_accepted_alone() -> None:
    found = _pair(_audit(SEAM, _entry(OPT_IN)))
    assert (found.level, found.status) == ("folded", "reachable")


def test_that_does_not_cover_the_default() -> None:
    report = _audit(ON, _entry(OPT_IN))
    found = _pair(report)
    assert (found.level, found.status, found.accepted) == ("error", "active", None)
    assert _problems(report) == []


def test_nor_another_way_to_the_same() -> None:
    alone = _pair(_audit(TWO_SEAMS, ""))
    assert alone.status == "reachable"
    found = _pair(_audit(TWO_SEAMS, _entry(OPT_IN)))
    assert (found.status, found.accepted, list(found.world.environment)) == ("reachable", None, ["OTHER"])
    assert found.level == alone.level


# The end -------------------------------------------------------------------------------------------------------------


def _answer(answer: bool | None) -> Callable[[str, Pin], bool | None]:
    return lambda reference, pin: answer if (reference, pin.release) == (FIX, "0.25.1") else None


def test_it_ends_when_the_pin_has_the_fix() -> None:
    report = _audit(ON, _entry("until: vllm#48375"), contains=_answer(True))
    found = _pair(report)
    assert (found.level, found.status) == ("error", "active")
    ended = "vLLM 0.25.1, which is pinned here, has vllm#48375"
    assert found.message.endswith(f"The acceptance of this risk ({PATH}:2) has ended: {ended}.")
    assert found.accepted is not None
    assert found.accepted.ended == ended
    assert any("has ended: the pin has vllm#48375" in message for message in _problems(report))


@pytest.mark.parametrize("answer", [False, None])
def test_what_is_not_known_ends_nothing(answer: bool | None) -> None:
    assert _pair(_audit(ON, _entry("until: vllm#48375"), contains=_answer(answer))).level == "folded"


def test_it_ends_only_with_the_last_of_its_fixes() -> None:
    report = _audit(ON, _entry("until: [vllm#48375, vllm#46324]"), contains=_answer(True))
    assert _pair(report).level == "folded"


def test_without_a_clock_the_shipped_probes_and_declarations_count() -> None:
    declared = "images: {'vllm/vllm-openai:v0.25.1': {release: 0.25.1, contains: ['vllm#46324']}}\n"
    assert _pair(_audit(ON, _entry("until: vllm#48375"))).level == "folded"
    assert _pair(_audit(ON, _entry("until: vllm#46324") + declared)).level == "error"


# What is written for nothing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("compose", "entry", "message"),
    [
        (ON, partial(_entry, rule="mtp-prefix-cache-hybird"), "did you mean 'mtp-prefix-cache-hybrid'?"),
        (ON, partial(_entry, where="old/*.yml"), "fits no file of the repository and no slug"),
        (OFF, _entry, f"accepts nothing: {PAIR} does not stand there (deploy/*.yml); it can go"),
        (OFF, partial(_entry, OPT_IN), "does not stand there with CACHE=--enable-prefix-caching"),
    ],
)
def test_an_acceptance_that_does_nothing_is_told(compose: str, entry: Callable[[], str], message: str) -> None:
    (problem,) = _audit(compose, entry()).problems
    assert message in problem.message
    assert (problem.position.path, problem.position.line) == (PATH, 2)


def test_nothing_is_concluded_where_not_everything_was_looked_at() -> None:
    broken = "services: {engine: {image: x, extends: {file: gone.yml, service: y}}}\n"
    assert not [told for told in _problems(_audit(broken, _entry())) if "accepts nothing" in told]
    tree = MemoryTree({PATH: _entry(), "deploy/mtp.yml": OFF})
    some = audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES, only=lambda _: False)
    assert some.problems == ()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{rule: x, where: y}", "an accepted risk has no reason: it does not count"),
        ("{reason: z}", "has no rule and no where"),
        ("{rule: x, where: y, reason: z, until: soon}", "'soon' is no upstream reference"),
        ("{rule: x, where: y, reason: z, world: CACHE}", "is not written NAME=value"),
        ("{rule: x, where: y, reason: z, world: {CACHE: on}}", "is not written NAME=value"),
        ("{rule: x, where: y, reason: z, untill: vllm#48375}", "did you mean 'until'?"),
        ("{rule: x, where: y, reason: [z]}", "reason is not a text"),
        ("x", "an accepted risk is not a mapping"),
    ],
)
def test_an_entry_that_is_misread_accepts_nothing(entry: str, message: str) -> None:
    tree = MemoryTree({PATH: f"accepted:\n  - {entry}\n"})
    configuration = read_catalog(tree).configuration
    assert configuration.accepted == ()
    assert any(message in problem.message for problem in configuration.problems), configuration.problems
