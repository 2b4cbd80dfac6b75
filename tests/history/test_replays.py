"""Labelled commits of the real history: what a reviewer at the level of properties should find before and after."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.audit import audit
from bot.cli.opening import repository
from bot.engine import Engine
from bot.hazards import Finding, load_rules
from bot.repositories import BlobCache, RevisionTree
from bot.tree import MemoryTree, Tree
from tests.corpus import CORPUS, needs_corpus
from tests.history.conftest import History

pytestmark = needs_corpus

RULES = load_rules()
CACHE = BlobCache()


@dataclass(frozen=True)
class Meaning:
    """What a label says of a compose. Empty parts accept any; `cause` is where the finding's begins, `path` is a place
    in the container that its chain speaks of.
    """

    rule: str
    status: str = ""
    cause: str = ""
    path: str = ""

    def finds(self, finding: Finding) -> bool:
        return (
            finding.rule == self.rule
            and self.status in ("", finding.status)
            and finding.cause.startswith(self.cause)
            and (not self.path or any(self.path in reason.text for reason in finding.chain))
        )


MEANINGS: Mapping[str, Meaning] = {
    "mtp_prefix_pair_unpatched": Meaning("mtp-prefix-cache-hybrid", "active"),
    "mtp_prefix_pair_latent_via_PREFIX_CACHE_ARG": Meaning("mtp-prefix-cache-hybrid", "reachable"),
    "mtp_gdn_vllm50021_exposed": Meaning("gdn-spec-decode-wild-write", "active"),
    "nvlink_gate_dead": Meaning("early-interpolation"),
    "duplicate_flags": Meaning("flag-without-effect", cause="overridden:"),
    "compose_error": Meaning("compose-broken"),
    "image_drift": Meaning("pin-drift", cause="profile"),
}
"""The rule of each label. `dead_seam:NAME` has a meaning for each name, `overlay_fail_open:PATH` and its like for each
path; labels of rules that are not there are left out."""

SEAM = {"PREFIX_CACHE_ARG": "--enable-prefix-caching"}
"""The world that the label of the latent pair speaks of."""

SILENT = {
    "prefix_flag_absent_engine_default_decides",
    "drafter_no_off_switch",
    "prefix_no_off_switch",
    "kv_fp8_e5m2",
    "default_does_not_reach_engine",
}
"""Labels about properties and switches, which no rule needs to name."""


def _replays() -> list[dict[str, Any]]:
    path = CORPUS / "replays.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


CASES = [
    pytest.param(replay, side, id=f"{replay['sha']}-{side}")
    for replay in _replays()
    for side in ("before", "after")
    if replay[f"expected_hazards_{side}"]
]


@contextmanager
def _state(history: History, replay: Mapping[str, Any], side: str) -> Iterator[Tree]:
    """The tree of a side; files of commits that the history has only inside a merge are laid over it."""
    revision = (history.parent if side == "before" else history.commit)(replay["bundle_commit"])
    with RevisionTree(history.root, revision, CACHE) as tree:
        if replay["in_bundle"]:
            yield tree
            return
        folder = CORPUS / "replay_files" / replay["sha"]
        here = _texts(folder / side)
        there = _texts(folder / ("after" if side == "before" else "before"))
        yield MemoryTree(here, tree, frozenset(there.keys() - here.keys()))


def _texts(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def _meaning(label: str) -> Meaning | None:
    name, _, detail = label.partition(":")
    name = name.partition("(")[0]
    if name == "dead_seam":
        return Meaning("dead-seam", cause=detail)
    if name.startswith("overlay_"):
        return Meaning("overlay-not-wired", "active", path=detail)
    if name in SILENT:
        return None
    found = MEANINGS[name]
    return found if found.rule in RULES.ids else None


def _asked(labels: Sequence[str]) -> set[Meaning]:
    return {meaning for label in labels if (meaning := _meaning(label)) is not None}


@pytest.mark.parametrize(("replay", "side"), CASES)
def test_what_is_found_is_what_is_labelled(history: History, replay: dict[str, Any], side: str) -> None:
    labelled: Mapping[str, Sequence[str]] = replay[f"expected_hazards_{side}"]
    with _state(history, replay, side) as tree:
        report = audit(repository(tree), RULES, only=lambda unit: unit.path in labelled)
    differences = []
    for path, labels in labelled.items():
        findings = [finding for finding in report.findings if finding.path == path]
        engines = [
            world.engine
            for unit in report.units
            for service in unit.services
            for world in service.defaults
            if unit.unit.path == path and world.engine is not None
        ]
        checks = (_unlike_the_labels, _unlike_the_seam, _errors_of_a_clean_one)
        told = [
            *(said for check in checks for said in check(labels, findings)),
            *_unlike_the_properties(labels, engines),
        ]
        differences += [f"{path}: {said}" for said in told]
    assert not differences, "\n".join(sorted(differences))


def _unlike_the_labels(labels: Sequence[str], findings: Sequence[Finding]) -> Iterator[str]:
    """Every label has its finding, and no finding of those rules is without its label."""
    expected = _asked(labels)
    possible = {meaning for meaning in MEANINGS.values() if meaning.rule in RULES.ids}
    possible |= {Meaning("dead-seam", cause=finding.cause) for finding in findings if finding.rule == "dead-seam"}
    found = {meaning for meaning in possible | expected if any(meaning.finds(finding) for finding in findings)}
    yield from (f"not found: {meaning}" for meaning in expected - found)
    yield from (f"found without a label: {meaning}" for meaning in found - expected)
    for finding in findings:
        if finding.rule == "overlay-not-wired" and not any(meaning.finds(finding) for meaning in expected):
            yield f"a patch without a label: {finding.message}"


def _unlike_the_seam(labels: Sequence[str], findings: Sequence[Finding]) -> Iterator[str]:
    """The latent pair is reached by the seam that the label names."""
    for finding in findings:
        if finding.rule == "mtp-prefix-cache-hybrid" and finding.status == "reachable":
            world = dict(finding.world.environment)
            if world != SEAM:
                yield f"reached by {world}"


def _errors_of_a_clean_one(labels: Sequence[str], findings: Sequence[Finding]) -> Iterator[str]:
    if all(label in SILENT for label in labels):
        yield from (f"an error without a label: {finding.message}" for finding in findings if finding.level == "error")


def _unlike_the_properties(labels: Sequence[str], engines: Sequence[Engine]) -> Iterator[str]:
    for engine in engines:
        if ("kv_fp8_e5m2" in labels) is not (engine.properties["kv_cache_dtype"].value == "fp8_e5m2"):
            yield "the KV cache's format is not as labelled"
        if "prefix_flag_absent_engine_default_decides" in labels:
            reasons = engine.properties["prefix_caching"].because
            if not {reason.kind for reason in reasons} & {"engine-default", "assumption"}:
                yield f"prefix caching is not said to be the engine's default: {reasons}"


def test_there_are_labels_of_every_rule_that_the_table_names() -> None:
    """A table that silently matches nothing would pass."""
    used = {meaning.rule for case in CASES for meaning in _all_meanings(case.values)}
    assert used >= {
        "mtp-prefix-cache-hybrid",
        "gdn-spec-decode-wild-write",
        "dead-seam",
        "early-interpolation",
        "compose-broken",
        "overlay-not-wired",
        "pin-drift",
    }
    assert len(_replays()) == 30


def _all_meanings(values: Sequence[Any]) -> set[Meaning]:
    replay, side = values
    return {meaning for labels in replay[f"expected_hazards_{side}"].values() for meaning in _asked(labels)}
