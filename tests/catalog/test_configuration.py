from __future__ import annotations

import pytest

from bot.catalog import Configuration, read_catalog, read_configuration
from bot.catalog.configuration import PATH
from bot.tree import MemoryTree


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
