"""Which rules fire on repositories that never heard of Seamguard: every repository is audited as a whole, and each rule
that needs conventions of its own (`patches.yml`, profiles, a registry, headers, claims) has been judged by hand.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bot.audit import Report, audit
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import Finding, load_rules
from bot.repositories import DirectoryTree
from bot.resolution import Repository
from tests.corpus import needs_corpus
from tests.wild.summary import WILD

JUDGED = Path(__file__).parent / "rules.yml"
CONVENTIONS = {
    "do-not-vendor",
    "overlay-not-wired",
    "overlay-missing-attribution",
    "overlay-version-guard",
    "patch-list-fault",
    "patch-without-clock",
    "phantom-seam",
    "registry-drift",
    "retired-patch-mounted",
    "stale-claim",
    "vendoring-not-wanted",
}
"""Rules about what a repository says of itself in a form of its own."""

TRUTHS = ("right", "right, and of no use", "wrong")


@cache
def _judged() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(JUDGED.read_text(encoding="utf-8"))
    return found


@cache
def _audits() -> dict[str, Report]:
    rules = load_rules()
    found = {}
    for folder in sorted(path for path in WILD.iterdir() if path.is_dir()):
        tree = DirectoryTree(folder)
        found[folder.name] = audit(Repository(tree, read_catalog(tree), Documents(tree)), rules)
    return found


def _told() -> list[tuple[str, Finding]]:
    return [(name, found) for name, report in _audits().items() for found in report.findings if found.level != "folded"]


@needs_corpus
def test_how_often_each_rule_speaks() -> None:
    counted = Counter(finding.rule for _, finding in _told())
    assert dict(sorted(counted.items())) == _judged()["counts"]


@needs_corpus
def test_every_finding_that_needs_a_convention_was_judged() -> None:
    found = {
        f"{name} {finding.rule} {finding.path} {finding.service} {finding.cause}".strip()
        for name, finding in _told()
        if finding.rule in CONVENTIONS
    }
    assert found == {entry["finding"] for entry in _judged()["judged"]}


@needs_corpus
def test_no_convention_is_seen_where_there_is_none() -> None:
    """None of these repositories has a `patches.yml`, an engine profile or a registry."""
    for name in _audits():
        catalog = read_catalog(DirectoryTree(WILD / name))
        assert (catalog.patches, catalog.engines, catalog.slugs, catalog.problems) == ((), {}, {}, ()), name


@needs_corpus
def test_no_pin_is_held_against_a_profile() -> None:
    assert {finding.cause for _, finding in _told() if finding.rule == "pin-drift"} == {"release"}


def test_the_verdicts_are_complete() -> None:
    entries = _judged()["judged"]
    assert all(entry["verdict"] in TRUTHS and entry["because"] for entry in entries)
    assert not [entry for entry in entries if entry["verdict"] == "wrong"]


def test_no_rule_about_conventions_is_left_out() -> None:
    shipped = set(load_rules().named)
    about_the_engine = {
        "compose-broken", "dead-seam", "default-flip", "early-interpolation", "engine-refuses", "flag-without-effect",
        "gdn-spec-decode-wild-write", "mtp-full-cudagraph-blackwell", "mtp-prefix-cache-hybrid",
        "nvfp4-kv-stock-image", "piecewise-spec-decode-misaligned", "pin-drift", "unknown-flag", "seam-value-trap",
    }  # fmt: skip
    assert shipped - CONVENTIONS - about_the_engine == set()


def main() -> int:
    """Prints what there is to judge: `python -m tests.wild.test_rules`."""
    for name, finding in _told():
        if finding.rule in CONVENTIONS:
            place = f"{name} {finding.path}:{finding.line} {finding.service}"
            sys.stdout.write(f"{place} {finding.rule} {finding.cause} | {finding.message}\n")
    counted = Counter(finding.rule for _, finding in _told())
    sys.stdout.write("".join(f"  {rule}: {count}\n" for rule, count in sorted(counted.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
