"""Patches that are wanted no more, what patches wait for, and sentences that forbid to vendor."""

from __future__ import annotations

import pytest

from bot.audit import audit
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import Finding, load_rules
from bot.resolution import Repository
from bot.review import vendored
from bot.tree import MemoryTree

COMPOSE = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    volumes:
      - ../patches/pr49757/install.sh:/etc/pr49757/install.sh:ro
    entrypoint:
      - bash
      - -c
      - |
        bash /etc/pr49757/install.sh || exit 1
        exec vllm serve "$$@"
      - --
    command: ["--model", "/models/hare-9b"]
"""
SCRIPT = {"patches/pr49757/install.sh": "exit 0\n"}


def _repository(files: dict[str, str]) -> Repository:
    tree = MemoryTree(files)
    return Repository(tree, read_catalog(tree), Documents(tree))


def _findings(rule: str, files: dict[str, str]) -> list[Finding]:
    return list(audit(_repository({**SCRIPT, **files}), load_rules().only({rule})).findings)


def _list(entry: str) -> dict[str, str]:
    return {"ops/patches.yml": f"patches:\n  - {entry}\n"}


@pytest.mark.parametrize(
    "mark", ["deprecated_on: 2026-06-05", "status: dropped", "removed_on: 2026", "deprecated: true"]
)
def test_a_patch_that_is_wanted_no_more_and_still_runs(mark: str) -> None:
    entry = _list(f"{{id: a, files: [patches/pr49757], delivery_mechanism: install_script, {mark}}}")
    (found,) = _findings("retired-patch-mounted", {"engine/dual.yml": COMPOSE, **entry})
    assert (found.level, found.path, found.line, found.cause) == ("warning", "engine/dual.yml", 5, "a")
    assert "ops/patches.yml:2" in found.message


@pytest.mark.parametrize(
    ("path", "compose", "mark", "level"),
    [
        ("engine/_archive/dual.yml", COMPOSE, "deprecated_on: 2026", "folded"),
        (
            "engine/dual.yml",
            COMPOSE.replace("bash /etc/pr49757/install.sh || exit 1", "true"),
            "deprecated_on: 2026",
            "notice",
        ),
        ("engine/dual.yml", COMPOSE, "deprecated_on: false", None),
        ("engine/dual.yml", COMPOSE, "status: verified", None),
        ("engine/dual.yml", COMPOSE, "upstream: {ref: vllm#49757, status: dropped}", None),
        ("engine/dual.yml", COMPOSE.replace("pr49757", "other"), "deprecated_on: 2026", None),
    ],
)
def test_how_much_it_weighs(path: str, compose: str, mark: str, level: str | None) -> None:
    source = compose.replace("../patches", "../../patches") if "_archive" in path else compose
    entry = _list(f"{{id: a, files: [patches/pr49757], delivery_mechanism: install_script, {mark}}}")
    found = _findings("retired-patch-mounted", {path: source, **entry})
    assert [one.level for one in found] == ([level] if level else [])


@pytest.mark.parametrize(
    ("entry", "level", "told"),
    [
        ("upstream: {ref: house/x, drop_when: the parser is fixed}", "notice", "nothing in it was understood"),
        ("upstream: {ref: house/x, drop_when: merged and in the pin}", "notice", "a fix upstream, a pin that has it"),
        ("upstream: {ref: house/x, drop_when: 'the #710 probe is clean'}", "notice", "a check by hand"),
        ("upstream: {ref: house/x}", "notice", "no `drop_when`"),
        ("upstream: {ref: house/x, drop_when: when vllm#48375 lands}", "folded", "vllm-project/vllm#48375"),
        ("upstream: {ref: vllm#48375, drop_when: 'merged, and #710 is clean'}", "folded", "`vllm-project/vllm#48375`:"),
        ("upstream: {ref: vllm#48375}", None, ""),
        ("upstream: {ref: house/x}, deprecated_on: 2026", None, ""),
    ],
)
def test_what_a_patch_waits_for(entry: str, level: str | None, told: str) -> None:
    listed = _list(f"{{id: a, files: [patches/x.py], delivery_mechanism: install_script, {entry}}}")
    found = _findings("patch-without-clock", listed)
    assert [one.level for one in found] == ([level] if level else [])
    assert all(told in one.message and one.path == "ops/patches.yml" for one in found)


LINK = "[#49757](https://github.com/vllm-project/vllm/pull/49757)"
ROW = f"| Issue / PR | Status | Why |\n|---|---|---|\n| {LINK} | {{status}} | x #50021 |\n"


@pytest.mark.parametrize(
    "status",
    ["**DO NOT VENDOR**", "NOT vendored — we wait for the merge", "must not be vendored", "do not vendor on v0.25.1"],
)
def test_a_compose_that_has_what_is_forbidden(status: str) -> None:
    files = {"engine/dual.yml": COMPOSE, "docs/UPSTREAM.md": ROW.format(status=status)}
    found = {one.path: one for one in _findings("do-not-vendor", files)}
    assert found["engine/dual.yml"].level == "warning"
    assert found["engine/dual.yml"].line == 5
    assert "docs/UPSTREAM.md:3" in found["engine/dual.yml"].message


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ("docs/UPSTREAM.md", ROW.format(status="vendored since May")),
        ("docs/UPSTREAM.md", ROW.format(status="was: do not vendor")),
        ("docs/UPSTREAM.md", ROW.format(status="not vendored")),
        ("docs/UPSTREAM.md", ROW.format(status="do not vendor on v0.24.0")),
        ("docs/UPSTREAM.md", "Do not vendor anything without a test.\n"),
        ("docs/UPSTREAM.md", "Do not vendor vllm#49757 or vllm#50021 before the pin moves.\n"),
        ("docs/other.md", ROW.format(status="DO NOT VENDOR")),
    ],
)
def test_what_forbids_nothing_here(document: str, text: str) -> None:
    found = _findings("do-not-vendor", {"engine/dual.yml": COMPOSE, document: text})
    assert [one for one in found if one.path == "engine/dual.yml"] == []


def test_a_file_that_nothing_lists_or_mounts() -> None:
    (found,) = _findings("do-not-vendor", {"docs/UPSTREAM.md": ROW.format(status="DO NOT VENDOR")})
    assert (found.level, found.path, found.line) == ("notice", "docs/UPSTREAM.md", 3)
    assert "patches/pr49757/install.sh" in found.message


def test_an_entry_for_what_is_forbidden() -> None:
    entry = _list("{id: a, files: [patches/pr49757], delivery_mechanism: install_script, upstream: {ref: vllm#49757}}")
    (found,) = _findings("do-not-vendor", {**entry, "docs/UPSTREAM.md": ROW.format(status="DO NOT VENDOR")})
    assert (found.level, found.cause) == ("warning", "vllm-project/vllm#49757:a")


@pytest.mark.parametrize(
    ("policy", "enforced"),
    [
        ("", False),
        ("policy: {vendoring: inherit-only}\n", True),
        ("policy: {vendoring: {mode: inherit-only, fixes: [vllm#1]}}\n", False),
    ],
)
def test_a_sentence_that_nothing_enforces(policy: str, enforced: bool) -> None:
    files = {
        "docs/UPSTREAM.md": "| vllm#50021 | NOT vendored — we wait |\n",
        ".github/seamguard.yml": policy or "ignore: []\n",
    }
    found = _findings("do-not-vendor", files)
    assert [one.level for one in found] == ([] if enforced else ["notice"])


def test_an_entry_may_be_the_guard() -> None:
    entry = _list("{id: a, files: [], delivery_mechanism: none, upstream: {ref: vllm#49757}, do_not_vendor: true}")
    found = {one.path: one for one in _findings("do-not-vendor", {"engine/dual.yml": COMPOSE, **entry})}
    assert found["engine/dual.yml"].level == "warning"
    assert "the entry a" in found["engine/dual.yml"].message


@pytest.mark.parametrize(
    ("word", "told"), [("This slug does NOT vendor\n# pr49757 and will not.", True), ("pr49757 is vendored.", False)]
)
def test_a_compose_forbids_it_to_itself(word: str, told: bool) -> None:
    found = _findings("do-not-vendor", {"engine/dual.yml": f"# {word}\n{COMPOSE}"})
    assert [one.level for one in found] == (["warning"] if told else [])


POLICY = "policy: {vendoring: {mode: inherit-only, fixes: [vllm#49757]}}\n"


def _vendored(before: dict[str, str], after: dict[str, str]) -> list[str]:
    old, new = (
        _repository({".github/seamguard.yml": POLICY, **before}),
        _repository({".github/seamguard.yml": POLICY, **after}),
    )
    return [found.cause for found in vendored(old, new, audit(new, load_rules().only({"pin-drift"})))]


def test_new_files_of_a_patch_that_nothing_lists_or_mounts() -> None:
    more = {
        **SCRIPT,
        "patches/pr49757/z.py": "",
        "patches/pr50021/install.sh": "",
        "docs/pr49757.md": "",
        "src/a.py": "",
    }
    assert _vendored({}, more) == ["patches/pr49757/install.sh"]
    assert _vendored(SCRIPT, more) == []
    assert _vendored({"old/install.sh": ""}, SCRIPT) == []


def test_what_is_listed_or_mounted_is_told_once() -> None:
    entry = _list("{id: a, files: [patches/pr49757], delivery_mechanism: install_script, upstream: {ref: vllm#49757}}")
    assert _vendored({}, {**SCRIPT, **entry}) == ["a"]
    assert _vendored({}, {**SCRIPT, "engine/dual.yml": COMPOSE}) == ["patches/pr49757/install.sh"]
