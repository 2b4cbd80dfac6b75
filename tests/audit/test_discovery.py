"""Which files of a repository are composes."""

from __future__ import annotations

import pytest

from bot.audit import discover
from bot.catalog import read_configuration
from bot.compose import Documents
from bot.tree import MemoryTree

COMPOSE = "services:\n  engine:\n    image: x\n"
OTHER = "model: x\ntensor_parallel_size: 2\n"


def _found(files: dict[str, str], configuration: str = "") -> tuple[list[tuple[str, ...]], dict[str, str]]:
    tree = MemoryTree({**files, **({".github/seamguard.yml": configuration} if configuration else {})})
    discovery = discover(tree, Documents(tree), read_configuration(tree))
    return [unit.files for unit in discovery.units], {item.path: item.reason for item in discovery.skipped}


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("compose.yml", COMPOSE, True),
        ("deploy/anything.yaml", COMPOSE, True),
        ("deploy/anything.yml", "name: x\n" + COMPOSE, True),
        ("deploy/values.yml", OTHER, False),
        ("deploy/list.yml", "[a, b]\n", False),
        ("deploy/text.yml", "text\n", False),
        ("deploy/empty.yml", "", False),
        ("deploy/compose.txt", COMPOSE, False),
        ("deploy/broken.yml", "services: [\n", False),
    ],
)
def test_without_configuration_content_decides(path: str, text: str, found: bool) -> None:
    units, skipped = _found({path: text})
    assert units == ([(path,)] if found else [])
    assert skipped == {}


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("compose.yml", OTHER, "services"),
        ("models/x/compose/deploy.yml", OTHER, "services"),
        ("docker-compose.gpu.yml", "- a\n", "services"),
        ("compose/list.yml", "services: [a]\n", "list"),
        ("compose/microservices.yml", "services: {a: {replicas: 2}}\n", "no field of a compose"),
        ("compose/broken.yml", "services:\n  a: [\n", "line 2"),
    ],
)
def test_a_file_that_looks_like_a_compose_by_its_name_is_left_out_with_a_reason(
    path: str, text: str, reason: str
) -> None:
    units, skipped = _found({path: text})
    assert units == []
    assert list(skipped) == [path]
    assert reason in skipped[path]


@pytest.mark.parametrize(
    ("configuration", "expected", "skipped"),
    [
        ("composes: ['deploy/*.yml']", ["deploy/a.yml", "deploy/sub/b.yml"], ["deploy/config.yml"]),
        ("composes: ['deploy/a.*', 'other/*']", ["deploy/a.yml", "other/c.yml"], []),
        ("ignore: ['deploy/*']", ["other/c.yml"], []),
        ("ignore: ['**/sub/**']", ["deploy/a.yml", "other/c.yml"], []),
        ("composes: ['deploy/*.yml']\nignore: ['*/sub/*', '*config*']", ["deploy/a.yml"], []),
        ("composes: ['nowhere/*']", [], []),
    ],
)
def test_globs_choose(configuration: str, expected: list[str], skipped: list[str]) -> None:
    files = {"deploy/a.yml": COMPOSE, "deploy/sub/b.yml": COMPOSE, "deploy/config.yml": OTHER, "other/c.yml": COMPOSE}
    units, left_out = _found(files, configuration)
    assert ([unit[0] for unit in units], list(left_out)) == (expected, skipped)


@pytest.mark.parametrize(
    ("names", "units"),
    [
        (["compose.yml", "compose.override.yml"], [("compose.yml", "compose.override.yml")]),
        (["compose.yaml", "compose.override.yaml"], [("compose.yaml", "compose.override.yaml")]),
        (["compose.yaml", "compose.override.yml"], [("compose.yaml", "compose.override.yml")]),
        (
            ["docker-compose.yml", "docker-compose.override.yml"],
            [("docker-compose.yml", "docker-compose.override.yml")],
        ),
        (
            ["compose.yml", "compose.override.yml", "compose.override.yaml"],
            [("compose.yml", "compose.override.yml")],
        ),
        (["compose.override.yml"], [("compose.override.yml",)]),
        (["compose.gpu.yml", "compose.gpu.override.yml"], [("compose.gpu.override.yml",), ("compose.gpu.yml",)]),
        (["a/compose.yml", "b/compose.override.yml"], [("a/compose.yml",), ("b/compose.override.yml",)]),
        (["compose.yml", "docker-compose.override.yml"], [("compose.yml",), ("docker-compose.override.yml",)]),
    ],
)
def test_an_override_runs_with_the_default_name_beside_it(names: list[str], units: list[tuple[str, ...]]) -> None:
    assert _found(dict.fromkeys(names, COMPOSE))[0] == units


def test_units_come_in_order_of_their_paths() -> None:
    names = ["z.yml", "a/z.yml", "a.yml", "b/a.yml"]
    assert [unit[0] for unit in _found(dict.fromkeys(names, COMPOSE))[0]] == sorted(names)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("include: [part.yaml]\n", True),
        ("include:\n  - path: part.yaml\n", True),
        ("include:\n  - path: [other.yaml, part.yaml]\n", True),
        ("include: [none.yaml]\n", False),
        ("include: [other.yaml]\n", False),
        ("include: part.yaml\n", False),
    ],
)
def test_a_file_that_only_includes_others_is_a_compose(text: str, found: bool) -> None:
    units, _ = _found({"deploy/all.yml": text, "deploy/part.yaml": COMPOSE, "deploy/other.yaml": OTHER})
    assert (("deploy/all.yml",) in units) is found
