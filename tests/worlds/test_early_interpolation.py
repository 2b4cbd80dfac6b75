"""A script's own variable written with one dollar, so that Compose replaces it before the script runs."""

from __future__ import annotations

import pytest

from bot.provenance import Position
from tests.worlds.build import FILE, compose, surveyed

ABSENT = "source /etc/absent.sh\n"


def _early(script: str, environment: list[str] | None = None, header: str = "", **files: str) -> list[tuple[str, bool]]:
    text = compose(script, environment or [], ["./set.sh:/etc/set.sh"], header)
    found = surveyed(text, {f"deploy/{name}.sh": content for name, content in files.items()})
    return [(item.read.name, item.changes_arguments) for item in found.early]


@pytest.mark.parametrize(
    ("script", "changes"),
    [
        pytest.param("B=1\nexec vllm serve m ${B}", True, id="argument"),
        pytest.param("B=1\nexec vllm serve m $B", True, id="without braces"),
        pytest.param("B=1\nexec vllm serve m ${B:-0}", True, id="with a default"),
        pytest.param("B=--x\necho ${B}\nexec vllm serve m", False, id="only said"),
        pytest.param('B=1\n[ "${B}" = 1 ] && X=--x\nexec vllm serve m $$X', True, id="a branch"),
        pytest.param("for B in 1 2; do X=${B}; done\nexec vllm serve m $$X", True, id="loop variable"),
        pytest.param("f() { local B=1; X=${B}; }\nf\nexec vllm serve m $$X", True, id="local"),
        pytest.param("export B=1\nexec vllm serve m ${B}", True, id="export"),
        pytest.param("B=$$(nproc)\nexec vllm serve m --x ${B}", True, id="what a program says"),
        pytest.param("read -r B <<< 1\nexec vllm serve m --x ${B}", True, id="read"),
    ],
)
def test_a_variable_that_the_script_sets_before(script: str, changes: bool) -> None:
    assert _early(script) == [("B", changes)]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("exec vllm serve m ${B} ${C:-1} ${D:+--x}", id="the host's to set"),
        pytest.param('B="${B:-1}"\nexec vllm serve m $$B', id="a default taken over from the host"),
        pytest.param('B=${B}\n[ "$$B" = 1 ] && X=1\nexec vllm serve m $$X', id="taken over as it is"),
        pytest.param("exec vllm serve m ${B}\nB=1", id="set after"),
        pytest.param("B=1\nexec vllm serve m $$B $${B:-0}", id="the shell's own"),
    ],
)
def test_variables_that_are_meant_for_the_host(script: str) -> None:
    assert _early(script) == []


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("B=1\nexec vllm serve m ${B:+--x}", id="presence"),
        pytest.param('B="${B:-0}"\nexec vllm serve m --seed ${B}', id="default taken over, then misread"),
        pytest.param(f"{ABSENT}exec vllm serve m ${{_B:+--x}}", id="presence behind a sourced script"),
    ],
)
def test_early_interpolation_with_an_operator_changes_the_arguments(script: str) -> None:
    assert [changes for _, changes in _early(script)] == [True]


@pytest.mark.parametrize(
    ("script", "header", "changes"),
    [
        pytest.param(f"{ABSENT}exec vllm serve m --x ${{_B}}", "", [True], id="private"),
        pytest.param(f"{ABSENT}exec vllm serve m --x ${{b}}", "", [True], id="lower case"),
        pytest.param(f"{ABSENT}exec vllm serve m --x ${{B}}", "the script sets B", [True], id="named in a comment"),
        pytest.param(f"{ABSENT}exec vllm serve m --x ${{B}}", "", [], id="public and nowhere named"),
        pytest.param(f"{ABSENT}exec vllm serve m --x ${{_B:-0}}", "", [True], id="with a default"),
        pytest.param(f"{ABSENT}echo ${{_B}}\nexec vllm serve m", "", [False], id="only said"),
        pytest.param(f'{ABSENT}[ "${{_B}}" = 1 ] && X=--x\nexec vllm serve m $$X', "", [True], id="a branch"),
        pytest.param(f"echo ${{_B}}\n{ABSENT}exec vllm serve m", "", [], id="read before"),
    ],
)
def test_a_variable_that_an_absent_sourced_script_sets(script: str, header: str, changes: list[bool]) -> None:
    assert [changed for _, changed in _early(script, header=header)] == changes


@pytest.mark.parametrize("source", [ABSENT, ""])
@pytest.mark.parametrize(
    ("environment", "early"),
    [
        pytest.param("{_B: '${_B:-1}'}", [], id="the host's value is put into the container too"),
        pytest.param("[_B]", [], id="passed on from the host"),
        pytest.param("{_B: '1'}", ["_B"], id="a fixed value that only the container has"),
        pytest.param("[_B=1]", ["_B"], id="a fixed value, in a list"),
        pytest.param(
            "['_B=${_B:-1}']",
            [],
            id="the host's value, in a list",
        ),
    ],
)
def test_variables_that_environment_names(source: str, environment: str, early: list[str]) -> None:
    text = compose(f"{source}exec vllm serve m --x ${{_B:-1}}")
    text = text.replace("    entrypoint:", f"    environment: {environment}\n    entrypoint:")
    assert [item.read.name for item in surveyed(text).early] == early


def test_a_variable_that_a_sourced_script_of_the_repository_sets() -> None:
    script = "source /etc/set.sh\nexec vllm serve m --x ${_B}"
    assert _early(script, set="_B=1\n") == [("_B", True)]


def test_the_reads_position_and_the_script_that_sets_it_are_named() -> None:
    text = compose(f"{ABSENT}true\nexec vllm serve m --x ${{_B}} ${{_B}}")
    (item,) = surveyed(text).early
    assert (item.read.position, item.setter) == (Position(FILE, 10), "/etc/absent.sh sets it")
    assert item.read.field == "entrypoint.2"


def test_only_scripts_are_looked_at() -> None:
    text = "services:\n  engine:\n    image: x\n    entrypoint: [vllm, serve, '${_B}']\n"
    assert surveyed(text).early == ()
