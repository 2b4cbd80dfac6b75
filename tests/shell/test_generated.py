"""Generated words, tests, numbers, formats and reads, each asked of the real bash too."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import NonInteractiveExampleWarning
from hypothesis.strategies import SearchStrategy

from bot.cli.inspect_shell import answer
from tests.shell import generators
from tests.shell.ask import needs_bash
from tests.shell.generated_scripts import Scripts
from tests.shell.record import bash

BATCH = 60
KINDS: dict[str, tuple[SearchStrategy[str], str]] = {
    "word": (generators.words, 'out+=("<" {} ">")'),
    "arithmetic": (generators.expressions, 'i=3; j=5; sparse[2]=2; out+=("$(({}))" "$i" "$j")'),
    "test": (generators.bracket_tests, '[ {} ]; out+=("$?")'),
    "conditional": (generators.conditionals, 'BASH_REMATCH=(); [[ {} ]]; out+=("$?" "${{BASH_REMATCH[@]}}")'),
    "printf": (generators.printfs, '{}; out+=("$s" "$one")'),
    "read": (generators.reads, 'u=; v=; w=; {}; out+=("$?" "${{u[@]}}" "$v" "$w")'),
}


def samples(strategy: SearchStrategy[str], count: int, number: int) -> list[str]:
    """That many generated texts, the same ones each time."""
    found: dict[str, None] = {}

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(text: str) -> None:
        found.setdefault(text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonInteractiveExampleWarning)
        collect()
    return list(found)


def disagreements(lines: list[str]) -> tuple[list[str], int]:
    """The lines on which bash and the interpreter differ, and how many the interpreter leaves open."""
    script = f"{generators.SETUP}\n" + "\n".join(lines) + '\nvllm "${out[@]}"\n'
    result = answer({"script": script})
    real = bash(script)["argv"]
    if not result["unresolved"] and result["outcomes"][0]["argv"] == (real[1:] if real else None):
        return [], 0
    if len(lines) == 1:
        return ([], 1) if result["unresolved"] else (lines, 0)
    middle = len(lines) // 2
    left, right = disagreements(lines[:middle]), disagreements(lines[middle:])
    return left[0] + right[0], left[1] + right[1]


def check(kind: str, count: int, number: int) -> None:
    strategy, form = KINDS[kind]
    lines = [form.format(text) for text in samples(strategy, count, number)]
    wrong: list[str] = []
    open_ones = 0
    for at in range(0, len(lines), BATCH):
        found, unknown = disagreements(lines[at : at + BATCH])
        wrong += found
        open_ones += unknown
    assert wrong == []
    assert open_ones <= 0.05 * len(lines) + 3


@needs_bash
@pytest.mark.parametrize("kind", KINDS)
def test_generated_lines(kind: str) -> None:
    check(kind, 120, 1)


@needs_bash
@pytest.mark.soak
@pytest.mark.parametrize("number", range(2, 12))
@pytest.mark.parametrize("kind", KINDS)
def test_many_generated_lines(kind: str, number: int) -> None:
    check(kind, 2_000, number)


def check_scripts(number: int, count: int) -> None:
    source = Scripts(number)
    open_ones = 0
    for _ in range(count):
        script = source.one()
        real = bash(script, ["p", "q r"])
        result = answer({"script": script, "args": ["p", "q r"]})
        if result["unresolved"] or len(result["outcomes"]) != 1:
            open_ones += 1
            continue
        (outcome,) = result["outcomes"]
        argv = None if outcome["program"] is None else [outcome["program"], *outcome["argv"]]
        told = {"argv": argv, "exit": outcome["exit"], "env": outcome["env"]}
        assert told == real, script
    assert open_ones <= 0.05 * count + 2


@needs_bash
def test_generated_scripts() -> None:
    check_scripts(1, 40)


@needs_bash
@pytest.mark.soak
@pytest.mark.parametrize("number", range(2, 12))
def test_many_generated_scripts(number: int) -> None:
    check_scripts(number, 500)
