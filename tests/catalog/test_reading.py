from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.catalog import Catalog, hardware_for, model_for, read_catalog, read_header, reading, slugs_of
from bot.catalog.configuration import PATH
from bot.catalog.document import parse
from bot.repositories import RevisionTree
from bot.tree import MemoryTree
from tests.corpus import CORPUS, needs_corpus
from tests.repositories.conftest import created

REGISTRY = """
schema: 1
entries:
  engine/dual: {model: m, compose_path: ./deploy/dual.yml}
  engine/fast: {model: m, compose_path: deploy/dual.yml}
  engine/none: {model: m, compose_path: null}
"""
MODEL = "id: m\nfamily: f\nnum_hidden_layers: 4\nnum_gdn_layers: 3\nweights: {a: {path: m-a}}\n"
PATCHES = (
    "patches:\n  - id: p\n    files: [a]\n    load_bearing_when: [{composes: [a/b]}]\n    upstream: {ref: 'vllm#1'}\n"
)
CONFIGURATION = "composes: [a]\nimages: {x: {release: 1.2.3}}\nseams: {A: [b]}\n"
SHAPES = (REGISTRY, MODEL, PATCHES, CONFIGURATION, "id: e\ninstall: {spec: i}\n", "id: h\nsm: 12.0\n")


def read(files: dict[str, str]) -> Catalog:
    return read_catalog(MemoryTree(files))


@pytest.mark.parametrize(
    ("name", "text", "slugs"),
    [
        ("lib/registry.yaml", REGISTRY, {"engine/dual": ("deploy/dual.yml",), "engine/fast": ("deploy/dual.yml",)}),
        ("other.yml", REGISTRY, {"engine/dual": ("deploy/dual.yml",), "engine/fast": ("deploy/dual.yml",)}),
        ("registry.yml", "a/b: x.yml\na/c: {compose: y.yaml}\n", {"a/b": ("x.yml",), "a/c": ("y.yaml",)}),
        ("other.yml", "a/b: x.yml\na/c: {compose: y.yaml}\n", {"a/c": ("y.yaml",)}),
        ("r.yml", "all:\n  - {slug: a/b, compose: x.yml}\n  - {name: a/c}\n  - 3\n", {"a/b": ("x.yml",)}),
        ("r.yml", "- slug: a/b\n  compose: x.yml\n- slug: a/b\n  compose: y.yml\n", {"a/b": ("x.yml", "y.yml")}),
        ("registry.yml", "[1, [2], {a: b}]\n", {}),
    ],
)
def test_registries(name: str, text: str, slugs: dict[str, tuple[str, ...]]) -> None:
    assert read({name: text}).slugs == slugs


def test_an_empty_repository_has_an_empty_catalog() -> None:
    catalog = read({"README.md": "x", "docker-compose.yml": "services: {a: {image: b}}\n"})
    assert catalog.without_positions() == read({}).without_positions()
    assert catalog.problems == ()


def test_what_is_not_yaml_is_a_problem_with_its_line() -> None:
    (problem,) = read({"m.yml": "id: m\nfamily: f\nx: [\n"}).problems
    assert str(problem.position) == "m.yml:4"


def test_moved_lines_are_no_difference() -> None:
    files = {"m.yml": MODEL, "p.yml": PATCHES, PATH: CONFIGURATION}
    moved = {name: f"# a comment\n\n{text}" for name, text in files.items()}
    assert read(files).without_positions() == read(moved).without_positions()
    changed = files | {"m.yml": MODEL.replace("3", "2")}
    assert read(files).without_positions() != read(changed).without_positions()


def test_reading_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_PARSED_CHARACTERS", 100)
    catalog = read({f"{number}.yml": MODEL for number in range(9)})
    assert len(catalog.models) == 1
    assert ["too much YAML" in problem.message for problem in catalog.problems] == [True]


BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))


def merges(depth: int, width: int) -> str:
    """Mappings that merge the one before, `width` times each."""
    return "".join(f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * width)}]}}\n" for n in range(1, depth))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        "- " * 50_000,
        "id: &a [*a]\nsm: *a\n",
        "id: m\nfamily: f\nweights: &w {a: {path: x}, <<: *w}\n",
        f"{BOMB}id: m\nfamily: f\nweights: *a29\n",
        f"{BOMB}patches: *a29\nload_bearing_when: *a29\n",
        f"{BOMB}composes: *a29\nseams: {{a: *a29}}\nimages: *a29\n",
        f"{BOMB}registry: {{x: {{compose: a.yml}}}}\n",
        "id: m\nfamily: f\nnum_gdn_layers: " + "9" * 100_000 + "\n",
        f"m0: &m0 {{a: b}}\n{merges(30, 9)}id: m\nfamily: f\n<<: *m29\n",
        f"m0: &m0 {{a: b}}\n{merges(5000, 1)}id: m\nsm: 1\n<<: *m4999\n",
        "- {compose:" * 100_000,
        "# " + "x/" * 500_000 + "run.sh\n" + "# " + "a-" * 500_000 + ": b\n",
        "# Topology: " + "5090 " * 200_000 + "(" * 200_000 + "\n",
        "id: m\nfamily: f\n" + "_" * 1_000_000 + "layers\n",
        "\x00", "\ud800", "id: \x07\nsm: 1\n", "? [a]\n: b\nid: m\nsm: 12.0\n", "%YAML 9\n---\nid: m\nsm: 1\n",
    ],
)  # fmt: skip
def test_hostile_files_end(text: str) -> None:
    digest(text)


def test_merge_keys() -> None:
    root = parse(
        "base: &b {a: 1, b: 2}\nmore: &m {<<: *b, b: 3, c: 4}\nall: {c: 5, <<: [*m, {d: 6, a: 9}], c: 7}\n", "x.yml"
    )
    assert root is not None
    fields = {name: value.text for name, value in root.fields()["all"].fields().items()}
    assert fields == {"c": "7", "b": "3", "a": "1", "d": "6"}


def damaged(text: str, seed: int) -> str:
    """The text with some of its characters doubled, dropped or added."""
    chance = random.Random(seed)
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(text) + 1)
        to = min(len(text), at + chance.randrange(12))
        added = chance.choice(["", text[at:to] * 2, text[at:to] + chance.choice("\n:[]{}&*!|>'\"#- ~")])
        text = text[:at] + added + text[to:]
    return text


def digest(text: str) -> None:
    catalog = read({"a.yml": text, "registry.yml": text, PATH: text, "b.yml": f"# load_bearing_when\n{text}"})
    header = read_header("# " + text.replace("\n", "\n# "), "c.yml")
    hardware_for(catalog, header, "a/c.yml")
    model_for(catalog, "m/c.yml", text)
    slugs_of(catalog, "c.yml", header)
    catalog.without_positions()


KEYS = (
    *("id", "sm", "family", "weights", "files", "upstream", "ref", "delivery_spec", "load_bearing_when", "composes"),
    *("images", "seams", "compose", "num_gdn_layers", "layer_types", "install", "spec", "path", "rule"),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.sampled_from(SHAPES), st.integers(0, 2**32))
def test_damaged_files_never_crash(text: str, seed: int) -> None:
    digest(damaged(text, seed))


@given(VALUES)
def test_values_of_any_shape_never_crash(value: object) -> None:
    digest(repr(value).replace("None", "null"))


@given(st.text(max_size=200))
def test_garbage_never_crashes(text: str) -> None:
    digest(text)


@pytest.mark.soak
@settings(max_examples=20_000, deadline=None)
@given(st.sampled_from(SHAPES), st.integers(0, 2**32))
def test_many_damaged_files_never_crash(text: str, seed: int) -> None:
    digest(damaged(text, seed))


@needs_corpus
def test_the_catalog_of_a_real_repository(tmp_path: Path) -> None:
    place = created(tmp_path / "clone")
    unbundled = place.git("bundle", "unbundle", str(CORPUS / "club-history.bundle"))
    head = next(line.split()[0] for line in unbundled.splitlines() if line.endswith("refs/heads/main"))
    with RevisionTree(place.path, head) as tree:
        catalog = read_catalog(tree)
        composes = [path for path in tree.paths() if "/compose/" in path and "/vllm/" in path]
        headers = {path: read_header(tree.read(path) or "", path) for path in composes}
    assert catalog.problems == ()
    models = {profile.id: profile for profile in catalog.models}
    assert (models["qwen3.6-27b"].recurrent, models["qwen3.6-27b"].assumed) == ("gdn", frozenset())
    assert (models["gemma-4-31b"].recurrent, models["qwen3.6-35b-a3b"].moe) == ("none", True)
    assert models["tess-4-27b"].assumed >= {"recurrent"}
    assert catalog.engines["vllm-stable"].image == "vllm/vllm-openai:v0.25.1"
    assert (catalog.hardware["rtx-5090"].sm, catalog.hardware["dgx-spark"].sm) == (120, 121)
    (fix,) = [patch for patch in catalog.patches if "vllm-project/vllm#48375" in patch.upstream]
    assert "vllm/dual" in fix.load_bearing_when[0].composes
    sm = {path: hardware_for(catalog, header, path) for path, header in headers.items()}
    single = "models/qwen3.6-27b/vllm/compose/single/nvfp4/mtp.yml"
    assert sm[single] == (90, 120, 121)
    assert headers[single].slug == "vllm/qwen-27b-single-nvfp4"
    assert headers[single].get("engine-profile") in catalog.engines
    argument = "/root/.cache/huggingface/qwen3.6-27b-nvfp4"
    assert model_for(catalog, single, argument).certainty == "certain"
