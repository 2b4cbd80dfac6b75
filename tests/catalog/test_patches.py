from __future__ import annotations

import pytest

from bot.catalog import load_bearing_for, read_catalog
from bot.catalog.model import Catalog, Patch
from bot.catalog.patches import references_in_path
from bot.tree import MemoryTree

ENTRY = """
schema: 1
patches:
  - id: eagle-block-fix
    files: [patches/pr48375/install.sh, patches/pr48375/fix.py]
    load_bearing_when:
      - composes: [engine/dual, deploy/other.yml]
        reason: corrupts otherwise
      - composes: null
        reason: nobody knows
      - composes: engine/solo
      - engine/plain
    delivery_mechanism: install_script
    delivery_spec: {script: patches/pr48375/install.sh, mounted_at: /etc/fix, invoke: bash /etc/fix/install.sh}
    upstream: {ref: 'vllm#43559 (bug) / vllm#48375 (the fix)', status: open, drop_when: it is pinned}
    status: verified
  - id: old
    deprecated_on: "2026-01-01"
    files: patches/old.py
    load_bearing_when: [{composes: [engine/dual]}]
"""


def catalog(text: str) -> Catalog:
    return read_catalog(MemoryTree({"lib/patches.yml": text}))


def entry(fields: str) -> Patch:
    (patch,) = catalog(f"patches:\n  - id: p\n    {fields}\n").patches
    return patch


def test_an_entry() -> None:
    patch, old = catalog(ENTRY).patches
    assert patch.files == ("patches/pr48375/install.sh", "patches/pr48375/fix.py")
    assert [row.composes for row in patch.load_bearing_when] == [
        ("engine/dual", "deploy/other.yml"), (), ("engine/solo",), ("engine/plain",)
    ]  # fmt: skip
    assert patch.load_bearing_when[0].position.line == 7
    assert (patch.mechanism, patch.mounted_at, patch.script) == (
        "install_script", "/etc/fix", "patches/pr48375/install.sh"
    )  # fmt: skip
    assert patch.upstream == ("vllm-project/vllm#43559", "vllm-project/vllm#48375")
    assert (patch.status, patch.drop_when, patch.deprecated) == ("open", "it is pinned", False)
    assert (str(patch.position), old.files, old.deprecated) == ("lib/patches.yml:4", ("patches/old.py",), True)


@pytest.mark.parametrize(
    ("path", "slugs", "needed"),
    [
        ("deploy/x.yml", ("engine/dual",), ["eagle-block-fix"]),
        ("deploy/other.yml", (), ["eagle-block-fix"]),
        ("deploy/x.yml", ("engine/solo", "engine/dual"), ["eagle-block-fix"] * 2),
        ("deploy/x.yml", (), []),
    ],
)
def test_which_patches_a_compose_needs(path: str, slugs: tuple[str, ...], needed: list[str]) -> None:
    assert [patch.id for patch, _ in load_bearing_for(catalog(ENTRY), path, slugs)] == needed


@pytest.mark.parametrize(
    ("fields", "upstream"),
    [
        ("{files: [a], upstream: {ref: 'vllm-project/vllm#40361'}}", ("vllm-project/vllm#40361",)),
        (
            "{files: [a], upstream: {ref: 'https://github.com/vllm-project/vllm/pull/1234'}}",
            ("vllm-project/vllm#1234",),
        ),
        ("{files: [a], upstream: 'vllm#1234'}", ("vllm-project/vllm#1234",)),
        (
            "{files: [a], upstream: {ref: ['vllm#1234', 'vllm#5678']}}",
            ("vllm-project/vllm#1234", "vllm-project/vllm#5678"),
        ),
        ("{files: [x/vllm-pr40391-v0.22.0]}", ("vllm-project/vllm#40391",)),
        ("{files: [x/sglang-pr40391]}", ()),
        ("{files: [a], upstream: {ref: somebody/else@v7.72.2}}", ()),
        ("{files: [a], upstream: {ref: 'other#72'}}", ()),
        ("{files: [a], upstream: null}", ()),
    ],
)
def test_upstream_references_in_any_form(fields: str, upstream: tuple[str, ...]) -> None:
    (patch,) = catalog(f"[{{id: p, load_bearing_when: [], {fields[1:-1]}}}]").patches
    assert patch.upstream == upstream


@pytest.mark.parametrize(
    ("path", "numbers"),
    [
        ("a/vllm-pr48375-name/install.sh", ["48375"]),
        ("/etc/x/pr48375", ["48375"]),
        ("a/PR_48375.patch", ["48375"]),
        ("a/pr-48375+pr-46324.diff", ["48375", "46324"]),
        ("a/spr48375", []),
        ("a/pr12", []),
        ("a/pr48375678", []),
        ("llama.cpp/pr23398", []),
    ],
)
def test_references_in_paths(path: str, numbers: list[str]) -> None:
    assert list(references_in_path(path)) == [f"vllm-project/vllm#{number}" for number in numbers]


@pytest.mark.parametrize(
    "fields",
    [
        "delivery_mechanism: null\n    files: null",
        "delivery_spec: [1, 2]\n    load_bearing_when: text",
        "delivery_spec: {script: [a]}\n    upstream: [a, b]",
        "load_bearing_when: {composes: [a]}",
        "files: {a: b}\n    load_bearing_when: [[a], {reason: [x]}, null]",
    ],
)
def test_entries_of_another_shape_are_read_as_far_as_they_go(fields: str) -> None:
    assert entry(fields).id == "p"


def test_entries_without_an_id_are_skipped() -> None:
    assert (
        catalog("patches: [{files: [a], load_bearing_when: []}, text, null, [1], {id: '', files: [b]}]").patches == ()
    )


def test_a_list_of_patches_may_stand_anywhere_in_the_file() -> None:
    found = catalog("- {id: a, delivery_mechanism: none}\n- {id: b, files: [x]}\n").patches
    assert [patch.id for patch in found] == ["a", "b"]
