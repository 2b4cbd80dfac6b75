"""Faults of a file of patches."""

from __future__ import annotations

import pytest

from bot.catalog import read_catalog
from bot.tree import MemoryTree


def _faults(text: str) -> list[str]:
    return [f"{fault.position.line}: {fault.message}" for fault in read_catalog(MemoryTree({"p.yml": text})).problems]


@pytest.mark.parametrize(
    "entry",
    [
        "{id: a, load_bearing_when: [{composes: null}]}",
        "{id: a, load_bearing_when: []}",
        "{id: a, load_bearing_when: null, delivery_spec: null, files: null}",
        "{id: a, load_bearing_when: [engine/dual], files: one.py}",
        "{id: a, load_bearing_when: [{composes: engine/dual}]}",
        "{id: a, delivery_spec: {mounted_at: /etc/x}}",
        "{id: a, delivery_mechanism: none, upstream: free text}",
    ],
)
def test_what_real_files_have_is_no_fault(entry: str) -> None:
    assert _faults(f"patches:\n  - {entry}\n") == []


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("{files: [a], load_bearing_when: []}", "without an `id`"),
        ("{id: a, load_bearing_when: {composes: [x]}}", "is a list of rows"),
        ("{id: a, load_bearing_when: [{compose: x}]}", "without `composes`"),
        ("{id: a, load_bearing_when: [{composes: [{x: y}]}]}", "slugs or paths"),
        ("{id: a, load_bearing_when: [[x]]}", "names composes"),
        ("{id: a, delivery_mechanism: [x]}", "is one word"),
        ("{id: a, delivery_spec: [x]}", "is a mapping"),
        ("{id: a, delivery_spec: {mounted_at: etc/x}}", "is an absolute path"),
        ("{id: a, load_bearing_when: [], files: {x: y}}", "paths in the repository"),
        ("{id: a, load_bearing_when: []}\n  - {id: a, load_bearing_when: []}", "a second patch"),
        ("{id: a, load_bearing_when: []}\n  - text", "is a mapping with an `id`"),
    ],
)
def test_a_fault_has_its_line(entry: str, fault: str) -> None:
    (found,) = _faults(f"patches:\n  - {entry}\n")
    assert fault in found
    assert found.startswith(f"{2 + entry.count(chr(10))}: ")


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        (
            "patches.yml",
            "patches:\n- id: a\n  load_bearing_wen: [x]\n",
            "3: unknown key 'load_bearing_wen': did you mean",
        ),
        (
            "x/patches.yaml",
            "- id: a\n  delivery-spec: {}\n",
            "2: unknown key 'delivery-spec': did you mean delivery_spec",
        ),
        ("profiles/models/a.yml", "num_hidden_layers: 4\n", "1: a profile without an `id`"),
    ],
)
def test_what_is_almost_a_part_of_the_catalog_is_told_once(path: str, text: str, fault: str) -> None:
    (problem,) = read_catalog(MemoryTree({path: text})).problems
    assert problem.position.path == path
    assert f"{problem.position.line}: {problem.message}".startswith(fault)


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
    assert read_catalog(MemoryTree({path: text})).problems == ()
