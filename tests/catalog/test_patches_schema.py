"""Faults of a list of patches that its text alone shows."""

from __future__ import annotations

import time

import pytest

from bot.catalog import Fault, Problem, read_catalog
from bot.catalog.patches_keys import MAX_WORD, is_slip
from bot.catalog.patches_schema import MAX_FAULTS
from bot.tree import MemoryTree


def _faults(text: str) -> list[Fault]:
    return list(read_catalog(MemoryTree({"p.yml": text})).faults)


def _told(text: str) -> list[tuple[str, int, str, str]]:
    return [(fault.kind, fault.position.line, fault.key, fault.meant) for fault in _faults(text)]


@pytest.mark.parametrize(
    "entry",
    [
        "{id: a, load_bearing_when: [{composes: null}]}",
        "{id: a, load_bearing_when: []}",
        "{id: a, load_bearing_when: null, delivery_spec: null, files: null}",
        "{id: a, load_bearing_when: [engine/dual], files: one.py}",
        "{id: a, load_bearing_when: [{composes: engine/dual}]}",
        "{id: a, delivery_spec: {mounted_at: /etc/x}}",
        "{id: a, delivery_spec: {mounted_at: null, mount_mode: ro, wired_at: [volumes], overlay_files: [{src: a}]}}",
        "{id: a, delivery_mechanism: none, upstream: free text}",
        "{id: a, delivery_mechanism: by_hand, status: verified}",
        "{id: a, delivery_mechanism: none, upstream: {ref: local, status: open, drop_when: never, links: [a]}}",
        "{id: a, load_bearing_when: [{composes: [x], evidence: z}], delivery_gaps: [{composes: [x], issue: y}]}",
        "{id: a, load_bearing_when: [], genesis_env: X, foundational: true, capability: null, model: [m], owner: me}",
        "{id: a, deprecated_on: 2026-01-01, deprecation_reason: gone, load_bearing_when: [{composes: }]}",
        "{id: a, load_bearing_when: [], verified_on: '0.25.1', tested_on: RTX 3090, releases: ['>=0.25.0,<0.26.0']}",
        "{id: a, load_bearing_when: [], verified_on: 2026-07-17, drift_guard: {kind: boot, check: x}}",
        "{id: a, load_bearing_when: [], model: m, mode: ro, note: x, notes: y, files: [], file: b.py}",
    ],
)
def test_what_real_files_have_is_no_fault(entry: str) -> None:
    assert _told(f"patches:\n  - {entry}\n") == []


@pytest.mark.parametrize(
    ("entry", "kind", "key"),
    [
        ("{files: [a], load_bearing_when: []}", "no-id", ""),
        ("{id: a, load_bearing_when: {composes: [x]}}", "wrong-type", "load_bearing_when"),
        ("{id: a, load_bearing_when: [{reason: x}]}", "nameless-row", ""),
        ("{id: a, load_bearing_when: [{composes: [{x: y}]}]}", "wrong-type", "composes"),
        ("{id: a, load_bearing_when: [[x]]}", "wrong-type", "load_bearing_when"),
        ("{id: a, delivery_mechanism: [x]}", "wrong-type", "delivery_mechanism"),
        ("{id: a, delivery_mechanism: none, status: {x: y}}", "wrong-type", "status"),
        ("{id: a, delivery_spec: [x]}", "wrong-type", "delivery_spec"),
        ("{id: a, delivery_spec: {mounted_at: etc/x}}", "wrong-type", "mounted_at"),
        ("{id: a, delivery_spec: {invoke: [bash, x]}}", "wrong-type", "invoke"),
        ("{id: a, delivery_spec: {}, upstream: {drop_when: [merged, pinned]}}", "wrong-type", "drop_when"),
        ("{id: a, delivery_spec: {}, upstream: {ref: {pr: 1}}}", "wrong-type", "ref"),
        ("{id: a, load_bearing_when: [], files: {x: y}}", "wrong-type", "files"),
        ("{id: a, load_bearing_when: []}\n  - {id: a, load_bearing_when: []}", "second-id", ""),
        ("{id: a, load_bearing_when: []}\n  - text", "not-an-entry", ""),
        ("{id: a, load_bearing_when: [], files: [a], files: [b]}", "repeated-key", "files"),
        ("{id: a, load_bearing_when: [{composes: [x], composes: [y]}]}", "repeated-key", "composes"),
        ("{id: a, load_bearing_when: [{composes: [x, ./x]}]}", "named-twice", "x"),
        ("{id: a, load_bearing_when: [{composes: [x]}], delivery_mechanism: none}", "undelivered", ""),
        ("{id: a, load_bearing_when: [{composes: [x]}], deprecated_on: 2026}", "retired-named", ""),
        ("{id: a, load_bearing_when: [{composes: [x]}], status: dropped}", "retired-named", ""),
        ("{id: a, load_bearing_when: [], verified_on: '0,25'}", "unread-release", "verified_on: 0,25"),
        ("{id: a, load_bearing_when: [], drift_guard: {releases: ['>=25']}}", "unread-release", "releases: >=25"),
        (
            "{id: a, load_bearing_when: [], applies_to: '>=0.26.0,<0.25.0'}",
            "empty-range",
            "applies_to: >=0.26.0,<0.25.0",
        ),
        ("{id: a, delivery_mechanism: install-script}", "unknown-value", "delivery_mechanism: install-script"),
        ("{id: a, delivery_mechanism: pyhton_sidecar}", "unknown-value", "delivery_mechanism: pyhton_sidecar"),
    ],
)
def test_a_fault_has_its_line(entry: str, kind: str, key: str) -> None:
    (found,) = _faults(f"patches:\n  - {entry}\n")
    assert (found.kind, found.key) == (kind, key)
    assert found.position.line == 2 + entry.count("\n")


@pytest.mark.parametrize(
    ("entry", "key", "meant"),
    [
        ("{id: a, load_bearing_wen: [x], delivery_spec: {}}", "load_bearing_wen", "load_bearing_when"),
        ("{id: a, load-bearing-when: [x], delivery_spec: {}}", "load-bearing-when", "load_bearing_when"),
        ("{id: a, load_bearing_when: [{compose: [x]}]}", "compose", "composes"),
        ("{id: a, delivery_spec: {mountedAt: /x}}", "mountedAt", "mounted_at"),
        ("{id: a, delivery_spec: {scripts: x}}", "scripts", "script"),
        ("{id: a, delivery_spec: {}, upstream: {refs: [vllm#1]}}", "refs", "ref"),
        ("{id: a, delivery_spec: {}, upstream: {drop_wen: x}}", "drop_wen", "drop_when"),
        ("{id: a, delivery_spec: {}, upsteam: {ref: vllm#1}}", "upsteam", "upstream"),
        ("{id: a, delivery_spec: {}, deprected_on: 2026}", "deprected_on", "deprecated_on"),
        ("{id: a, delivery_spec: {}, verifed_on: 0.25.1}", "verifed_on", "verified_on"),
    ],
)
def test_a_slip_of_the_pen(entry: str, key: str, meant: str) -> None:
    (found,) = _faults(f"patches:\n  - {entry}\n")
    assert (found.kind, found.key, found.meant, found.minor) == ("unknown-key", key, meant, False)


@pytest.mark.parametrize(
    ("entry", "key", "home"),
    [
        ("{id: a, delivery_spec: {}, drop_when: merged}", "drop_when", "upstream"),
        ("{id: a, load_bearing_when: [], mounted_at: /x}", "mounted_at", "delivery_spec"),
        ("{id: a, delivery_spec: {upstream: vllm#1}}", "upstream", "the entry itself"),
        ("{id: a, delivery_mechanism: none, composes: [x]}", "composes", "load_bearing_when"),
    ],
)
def test_a_key_in_another_part(entry: str, key: str, home: str) -> None:
    (found,) = _faults(f"patches:\n  - {entry}\n")
    assert (found.kind, found.key, found.meant, found.minor) == ("misplaced-key", key, home, True)


def test_the_entries_establish_words_of_their_own() -> None:
    rows = "".join(f"  - {{id: p{n}, load_bearing_when: [], capability: x, drift: y}}\n" for n in range(3))
    last = "  - {id: last, load_bearing_when: [], capabilty: x}\n"
    assert _told(f"patches:\n{rows}{last}") == [("unknown-key", 5, "capabilty", "capability")]
    assert _faults(f"patches:\n{rows}{last}")[0].minor
    assert _told(f"patches:\n{rows}{last.replace('capabilty', 'somewhat')}") == []
    assert _told(f"patches:\n{rows}{last.replace('capabilty: x', 'capability: x, capabilty: y')}") == []


@pytest.mark.parametrize(
    ("written", "lost"),
    [
        ("ref: house/templates (v19 via #150/#157)", "#150/#157)"),
        ("drop_when: merged, and  #48375 is in the pin", "#48375 is in the pin"),
        ("ref: vllm#48375  # the fix", None),
        ("ref: 'house/templates (via #150)'", None),
        ("ref: vllm#48375 (bug), x/y#3", None),
    ],
)
def test_a_reference_behind_a_blank_is_a_comment_to_yaml(written: str, lost: str | None) -> None:
    found = _faults(f"patches:\n  - id: a\n    load_bearing_when: []\n    upstream:\n      {written}\n")
    assert [(fault.kind, fault.meant) for fault in found] == ([("cut-by-comment", lost)] if lost else [])


def test_what_an_anchor_shares_is_told_once() -> None:
    text = "patches:\n  - &a\n    id: a\n    load_bearing_when: []\n    upsteam: x\n"
    text += "".join(f"  - {{<<: *a, id: b{n}}}\n" for n in range(4))
    assert _told(text) == [("unknown-key", 5, "upsteam", "upstream")]


@pytest.mark.parametrize(
    ("written", "meant", "slip"),
    [
        ("upsteam", "upstream", True),
        ("uptsream", "upstream", True),
        ("file", "files", True),
        ("refs", "ref", True),
        ("mode", "model", False),
        ("state", "status", False),
        ("note", "notes", True),
        ("reason", "reasons", True),
        ("status_note", "status", False),
        ("released", "releases", True),
        ("upstream", "upstream", False),
        ("script", "scripts", True),
        ("kind", "find", False),
        ("", "ref", False),
    ],
)
def test_slips(written: str, meant: str, slip: bool) -> None:
    assert is_slip(written, meant) is slip


@pytest.mark.parametrize(
    ("path", "text", "line", "key", "meant"),
    [
        ("patches.yml", "patches:\n- id: a\n  load_bearing_wen: [x]\n", 3, "load_bearing_wen", "load_bearing_when"),
        ("x/patches.yaml", "- id: a\n  delivery-spec: {}\n", 2, "delivery-spec", "delivery_spec"),
    ],
)
def test_a_list_of_which_nothing_is_read(path: str, text: str, line: int, key: str, meant: str) -> None:
    (fault,) = read_catalog(MemoryTree({path: text})).faults
    assert (fault.kind, fault.position.path, fault.position.line) == ("not-read", path, line)
    assert (fault.key, fault.meant) == (key, meant)


def test_a_profile_without_an_id_is_a_problem_of_its_file() -> None:
    catalog = read_catalog(MemoryTree({"profiles/models/a.yml": "num_hidden_layers: 4\n"}))
    (problem,) = catalog.problems
    assert isinstance(problem, Problem)
    assert str(problem.position) == "profiles/models/a.yml:1"
    assert "without an `id`" in problem.message
    assert catalog.faults == ()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("patches.yml", "patches:\n- target: {kind: Deployment}\n  path: x.yml\n"),
        ("patches.yml", ""),
        ("profiles/compose.yml", "services: {a: {image: x}}\nsm: 4\n"),
        ("profiles/other.yml", "name: x\n"),
        ("other/a.yml", "num_hidden_layers: 4\n"),
    ],
)
def test_what_only_has_the_name_is_not(path: str, text: str) -> None:
    catalog = read_catalog(MemoryTree({path: text}))
    assert (catalog.problems, catalog.faults) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        "patches:\n" + "".join(f"  - {{id: a, load_bearing_when: [], k{n}: x, uptsream{n}: y}}\n" for n in range(2000)),
        "patches:\n  - id: a\n    load_bearing_when: []\n" + "".join(f"    key{n}: x\n" for n in range(20_000)),
        "patches:\n  - {id: a, load_bearing_when: [" + "{composes: [x, x]}, " * 5000 + "]}\n",
    ],
    ids=["many entries", "many keys", "many rows"],
)
def test_a_hostile_list_is_bounded(text: str) -> None:
    begun = time.process_time()
    found = _faults(text)
    assert len(found) <= MAX_FAULTS
    assert time.process_time() - begun < 2


def test_only_words_are_slips_of_each_other() -> None:
    short, long = "a" * MAX_WORD, "a" * (MAX_WORD + 1)
    assert is_slip(short, f"{short[:-1]}b")
    assert not is_slip(long, f"{long[:-1]}b")
