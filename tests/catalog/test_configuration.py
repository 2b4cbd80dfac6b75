from __future__ import annotations

import json

import pytest
import yaml

from bot.catalog import Configuration, read_catalog, read_configuration
from bot.catalog.configuration import _KEYS, HEADER_KEYS, MAX_ENTRIES, PATH
from bot.tree import MemoryTree
from tests.schemas import SCHEMAS, violations


def read(text: str) -> Configuration:
    return read_configuration(MemoryTree({PATH: text}))


def test_everything() -> None:
    configuration = read("""
composes: [deploy/**]
ignore: old/**
images:
  ghcr.io/x/y@sha256:00: {release: v0.25.1, contains: ["vllm#46324", 49891], adds: [nvfp4-kv-route]}
seams:
  LINK: {values: ["0", 1], set_by: launch.sh}
  SHORT: [a, b]
""")
    assert configuration.problems == ()
    assert (configuration.composes, configuration.ignore) == (("deploy/**",), ("old/**",))
    image = configuration.images["ghcr.io/x/y@sha256:00"]
    assert (image.release, image.adds) == ("0.25.1", ("nvfp4-kv-route",))
    assert image.contains == ("vllm-project/vllm#46324", "vllm-project/vllm#49891")
    assert [(seam.values, seam.set_by) for seam in configuration.seams.values()] == [
        (("0", "1"), "launch.sh"), (("a", "b"), None)
    ]  # fmt: skip


@pytest.mark.parametrize("text", [None, "", "# nothing\n", "null\n", "{}\n"])
def test_nothing(text: str | None) -> None:
    tree = MemoryTree({} if text is None else {PATH: text})
    configuration = read_configuration(tree)
    assert (configuration.composes, configuration.images) == ((), {})
    assert all("not a mapping" in problem.message for problem in configuration.problems)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\ncompose: [x]\n", 2, "did you mean 'composes'?"),
        ("a: 1\n", 1, "known are accepted, composes"),
        ("images:\n  x: {relase: 1}\n", 2, "did you mean 'release'?"),
        ("images:\n  x: {contains: [soon]}\n", 2, "'soon' is no upstream reference"),
        ("images: [x]\n", 1, "images is not a mapping"),
        ("images: {x: text}\n", 1, "the image x is not a mapping"),
        ("composes: [[x]]\n", 1, "composes is not a list of texts"),
        ("- x\n", 1, "the configuration is not a mapping"),
        ("a: [\n", 2, "not YAML"),
    ],
)
def test_problems_have_a_line_and_a_hint(text: str, line: int, message: str) -> None:
    problems = read(text).problems
    assert any(message in problem.message and problem.position.line == line for problem in problems), problems


def test_the_rest_counts_when_a_part_is_wrong() -> None:
    configuration = read("composess: 1\nignore: [a]\n")
    assert configuration.ignore == ("a",)
    assert len(configuration.problems) == 1


def test_the_problems_are_in_the_catalog() -> None:
    assert len(read_catalog(MemoryTree({PATH: "x: 1\n"})).problems) == 1


# The schema for editors ----------------------------------------------------------------------------------------------

EVERYTHING = """
composes: [deploy/**]
ignore: old/**
together: [[base.yml, gpu.yml], [base.yml, cpu.yml]]
profiles: ops/**
patches: [mods/*]
headers: {engine-profile: Stack, hardware: [Rig, Box]}
hardware: {"deploy/*": [sm_86, RTX 5090]}
images:
  you/engine:1: {release: "0.25.1", contains: [vllm#46324, 49891], adds: [nvfp4-kv-route]}
seams: {LINK: {values: ["0", 1], set_by: launch.sh}, SHORT: [a, b]}
accepted:
  - {rule: dead-seam, where: "deploy/*.yml:engine", world: [A=1, B=], until: [vllm#48375, 46324], reason: known, by: us}
policy: {vendoring: {mode: inherit-only, fixes: vllm#50021, reason: too much}}
"""


def test_the_schema_and_the_reader_agree() -> None:
    configuration = read(EVERYTHING)
    assert (configuration.problems, violations("configuration", yaml.safe_load(EVERYTHING))) == ((), [])
    assert configuration.together == (("base.yml", "gpu.yml"), ("base.yml", "cpu.yml"))
    assert configuration.headers == {"engine-profile": ("stack",), "hardware": ("rig", "box")}
    (accepted,) = configuration.accepted
    assert dict(accepted.world) == {"A": "1", "B": ""}
    assert accepted.until == ("vllm-project/vllm#48375", "vllm-project/vllm#46324")
    assert configuration.inherit_only is not None
    assert configuration.inherit_only.fixes == ("vllm-project/vllm#50021",)


def test_the_example_of_the_page_is_right() -> None:
    page = (SCHEMAS.parent / "configuration.md").read_text(encoding="utf-8")
    example = page.partition("```yaml\n")[2].partition("```")[0]
    assert (read(example).problems, violations("configuration", yaml.safe_load(example))) == ((), [])
    assert len(read(example).accepted) == 1


def test_the_schema_has_every_key() -> None:
    schema = json.loads((SCHEMAS / "configuration.schema.json").read_text())["properties"]
    assert set(schema) == set(_KEYS)
    assert set(schema["headers"]["properties"]) == set(HEADER_KEYS)


@pytest.mark.parametrize(
    "text",
    [
        "compose: [x]",
        "together: [[a.yml]]",
        "together: a.yml",
        "headers: {engine: X}",
        "policy: {vendoring: never}",
        "policy: {vendoring: {fixes: vllm#50021}}",
        "policy: {vendor: allowed}",
        "accepted: [{rule: x, where: y}]",
        "accepted: [{rule: x, where: y, reason: z, world: A}]",
        "accepted: [{rule: x, where: y, reason: z, because: q}]",
        "accepted: [x]",
    ],
)
def test_what_the_reader_complains_of_an_editor_does_too(text: str) -> None:
    assert read(text).problems
    assert violations("configuration", yaml.safe_load(text))


def test_a_flood_of_entries_is_cut() -> None:
    text = "accepted:\n" + "".join(f"  - {{rule: r{n}, where: w, reason: z}}\n" for n in range(MAX_ENTRIES + 2))
    configuration = read(text)
    assert len(configuration.accepted) == MAX_ENTRIES
    assert [problem.position.line for problem in configuration.problems] == [MAX_ENTRIES + 2]


def test_only_where_profiles_are_said_to_be() -> None:
    files = {
        "ops/a.yml": "id: a\ninstall: {spec: 'vllm/vllm-openai:v0.25.1'}\n",
        "tests/b.yml": "id: b\ninstall: {spec: 'vllm/vllm-openai:v0.24.0'}\n",
    }
    everywhere = read_catalog(MemoryTree(files))
    told = read_catalog(MemoryTree(files | {PATH: "profiles: [ops]\n"}))
    assert (set(everywhere.engines), set(told.engines)) == ({"a", "b"}, {"a"})
