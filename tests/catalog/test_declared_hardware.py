"""`hardware:` of the configuration: which GPUs a compose is meant for."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.catalog import Header, hardware_for, idle_globs, read_catalog
from bot.provenance import Position
from bot.tree import MemoryTree

PATH = ".github/seamguard.yml"
CARD = "id: my-card\nsm: '12.1'\ndisplay_name: Our Card 7777\n"
HEADER = Header({"hardware": ("RTX 3090", Position("x.yml", 1))})


def _sm(declaration: str, path: str = "deploy/x.yml", header: Header = HEADER) -> tuple[int, ...]:
    return hardware_for(read_catalog(MemoryTree({PATH: declaration, "cards/mine.yml": CARD})), header, path)


@pytest.mark.parametrize(
    ("written", "sm"),
    [
        ("RTX 5090", (120,)),
        ("sm_120", (120,)),
        ("'12.0'", (120,)),
        ("120", (120,)),
        ("H100", (90,)),
        ("my-card", (121,)),
        ("Our Card 7777", (121,)),
        ("[RTX 3090, sm_89]", (86, 89)),
    ],
)
def test_a_card_is_a_name_a_capability_or_a_profile(written: str, sm: tuple[int, ...]) -> None:
    assert _sm(f'hardware: {{"deploy/*.yml": {written}}}') == sm


def test_it_wins_over_the_header_and_the_first_glob_that_fits_counts() -> None:
    declaration = 'hardware: {"deploy/x.yml": sm_120, "**/*.yml": H100}'
    assert _sm(declaration) == (120,)
    assert _sm(declaration, "other.yml") == (90,)
    assert _sm('hardware: {"other/*": sm_120}') == (86,)


@pytest.mark.parametrize(
    ("declaration", "line", "words"),
    [
        ("hardware:\n  '*': RTX 9999\n", 2, "no card is known as 'RTX 9999': write its compute capability"),
        ("hardware:\n  '*': {sm: 120}\n", 2, "is no card"),
        ("hardware:\n  '*':\n", 2, "is no card"),
        ("hardware: RTX 5090\n", 1, "hardware is not a mapping"),
    ],
)
def test_what_is_no_card_is_a_problem_with_its_place(declaration: str, line: int, words: str) -> None:
    (problem,) = read_catalog(MemoryTree({PATH: declaration})).problems
    assert (problem.position.path, problem.position.line) == (PATH, line)
    assert words in problem.message


def test_globs_that_fit_nothing_are_told() -> None:
    tree = MemoryTree({PATH: "composes:\n- deploy/*.yml\n- deplyo/*.yml\nignore: ['old/*']\n", "deploy/a.yml": ""})
    problems = list(idle_globs(read_catalog(tree).configuration, tree.paths()))
    assert [(problem.position.line, problem.message) for problem in problems] == [
        (3, "the glob 'deplyo/*.yml' fits no file of the repository"),
        (4, "the glob 'old/*' fits no file of the repository"),
    ]


def test_the_documented_example_is_read_whole() -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
    example = page.partition("```yaml\n")[2].partition("```")[0]
    catalog = read_catalog(MemoryTree({PATH: example}))
    assert catalog.problems == ()
    read = catalog.configuration
    assert all((read.composes, read.ignore, read.hardware, read.images, read.seams))
