"""What pins mean, and the pins of a repository."""

from __future__ import annotations

import time

import pytest

from bot.catalog import read_catalog
from bot.provenance import Position
from bot.tree import MemoryTree
from bot.upstream.facts import Facts
from bot.upstream.pins import pinned_at
from bot.upstream.repository_pins import RepositoryPin, Use, pins_of
from bot.upstream.sites import sites_in
from bot.upstream.watch import watch, watched_references

SHA = "bf610c2f56764e1b30bc6065f4ceace3d6e59036"
V = "vllm-project/vllm#"


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("v0.27.1", "release", "0.27.1"),
        ("0.27.1", "release", "0.27.1"),
        ("v0.27.1rc2", "release", "0.27.1rc2"),
        ("v0.27.1.post1", "release", "0.27.1.post1"),
        ("v0.27.1-cu129", "release", "0.27.1"),
        ("v0.27.1+cu129", "release", "0.27.1"),
        ("vllm/vllm-openai:v0.27.1-x86_64", "release", "0.27.1"),
        ("docker.io/vllm/vllm-openai:v0.27.1", "release", "0.27.1"),
        (f"nightly-{SHA}", "commit", SHA),
        (f"vllm/vllm-openai:nightly-{SHA}", "commit", SHA),
        (SHA, "commit", SHA),
        ("latest", "unknown", "latest"),
        ("nightly", "unknown", "nightly"),
        ("vllm/vllm-openai@sha256:" + "a" * 64, "unknown", "vllm/vllm-openai@sha256:" + "a" * 64),
        ("ghcr.io/x/y:v0.27.1", "unknown", "ghcr.io/x/y:v0.27.1"),
        ("v0.27.1-patched", "unknown", "v0.27.1-patched"),
        ("v1." + "9" * 5000, "unknown", "v1." + "9" * 5000),
        ("", "unknown", ""),
    ],
)
def test_what_a_pin_means(text: str, kind: str, value: str) -> None:
    found = pinned_at(text)
    assert (found.kind, found.value) == (kind, value)
    assert (found.why == "") is (kind != "unknown")


def pins(files: dict[str, str], *images: str) -> tuple[RepositoryPin, ...]:
    uses = [Use(image, f"s{number}", Position("c.yml", number)) for number, image in enumerate(images, 1)]
    return pins_of(read_catalog(MemoryTree(files)), uses)


def profile(name: str, spec: str) -> str:
    return f"id: {name}\ninstall:\n  method: docker\n  spec: {spec}\n"


def test_pins_of_composes_and_profiles_come_together() -> None:
    files = {
        "engines/a.yml": profile("a", "vllm/vllm-openai:v0.25.1"),
        "engines/b.yml": profile("b", "ghcr.io/ggml-org/llama.cpp:b1"),
        "engines/c.yml": profile("c", f"vllm/vllm-openai:nightly-{SHA}"),
    }
    found = pins(files, "vllm/vllm-openai:v0.25.1", "vllm/vllm-openai:latest", "vllm/vllm-openai:v0.25.1")
    assert [(pin.image, pin.release, pin.commit, len(pin.uses)) for pin in found] == [
        ("vllm/vllm-openai:latest", None, None, 1),
        (f"vllm/vllm-openai:nightly-{SHA}", None, SHA, 1),
        ("vllm/vllm-openai:v0.25.1", "0.25.1", None, 3),
    ]
    assert found[0].why


@pytest.mark.parametrize(("image", "release"), [("vllm==0.20.2", "0.20.2"), ("vllm>=0.21.0rc0,<0.21.0", None)])
def test_requirements_of_pip(image: str, release: str | None) -> None:
    (found,) = pins({}, image)
    assert found.release == release
    assert bool(found.why) is (release is None)


CONFIGURATION = f"images:\n  ghcr.io/x/y:1: {{release: '0.25.1', contains: ['{V}48375']}}\n"


def test_a_caveat_clears_for_each_pin_alone() -> None:
    files = {".github/seamguard.yml": CONFIGURATION, "a.yml": "# drop when vllm#48375 (fix) merges"}
    tree = MemoryTree(files)
    catalog = read_catalog(tree)
    found = pins(files, "ghcr.io/x/y:1", "vllm/vllm-openai:v0.25.1", "vllm/vllm-openai:latest")
    sites = sites_in(tree, catalog)
    references = watched_references(catalog, sites, [f"{V}46324"])
    assert references == (f"{V}46324", f"{V}48375")
    _, item = watch(references, found, sites, known=lambda _reference, _release: (False, "read"))
    assert {pin.image: answer.state for pin, answer in item.pins} == {
        "ghcr.io/x/y:1": "pinned",
        "vllm/vllm-openai:v0.25.1": "not-pinned",
        "vllm/vllm-openai:latest": "unknown",
    }
    assert len(item.sites) == 2


def test_a_patch_may_hold_more_than_its_note_names() -> None:
    patches = (
        f"patches:\n  - id: x\n    files: [tools/x]\n    load_bearing_when: []\n    upstream: {{ref: '{V}48375'}}\n"
    )
    files = {
        "patches.yml": f"{patches}# with {V}46324\n",
        "tools/x/fix.py": "# also vllm#50021",
        "a.yml": "# vllm#40391",
    }
    tree = MemoryTree(files)
    catalog = read_catalog(tree)
    assert watched_references(catalog, sites_in(tree, catalog), ()) == (f"{V}46324", f"{V}48375", f"{V}50021")


def test_a_reference_of_another_project_has_no_pins() -> None:
    (item,) = watch(["sgl-project/sglang#12345"], pins({}, "vllm/vllm-openai:v0.25.1"), (), facts=lambda _: Facts())
    assert item.pins == ()


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        (f"0.27.1rc2.dev87+g{SHA[:9]}", "commit", SHA[:9]),
        (f"v0.27.1.dev3+g{SHA[:9]}.d20260701", "commit", SHA[:9]),
        (f"vllm==0.27.1rc2.dev87+g{SHA[:9]}.cu129", "commit", SHA[:9]),
        ("vllm==0.27.1", "release", "0.27.1"),
        ("vllm===0.27.1", "release", "0.27.1"),
        ("v0.27.1.dev3", "release", "0.27.1.dev3"),
        (f"cu129-nightly-{SHA}", "commit", SHA),
        (f"nightly-{SHA}-aarch64", "commit", SHA),
    ],
)
def test_builds_between_releases_and_requirements(text: str, kind: str, value: str) -> None:
    found = pinned_at(text)
    assert (found.kind, found.value) == (kind, value)


def test_an_endless_version_is_none() -> None:
    start = time.process_time()
    assert pinned_at("v0" + ".0" * 100_000).kind == "unknown"
    assert time.process_time() - start < 2
