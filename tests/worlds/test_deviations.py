"""The values that worlds are made of, and where each was found."""

from __future__ import annotations

from itertools import product

import pytest

from bot.worlds.seams import MAX_DEVIATIONS
from tests.worlds.build import IMAGE, compose, surveyed


def _found(script: str, environment: list[str] | None = None, header: str = "") -> list[tuple[str, str, str]]:
    text = compose(script, ["A", "B"] if environment is None else environment, header=header)
    return [(deviation.name, deviation.value, deviation.source) for deviation in surveyed(text).deviations]


@pytest.mark.parametrize(
    ("test", "values"),
    [
        pytest.param('[ "$$A" = on ] && X=1', ["on"], id="="),
        pytest.param('[ "$$A" == on ] && X=1', ["on"], id="=="),
        pytest.param('[ "$$A" != on ] && X=1', ["on"], id="!="),
        pytest.param('[ on = "$$A" ] && X=1', ["on"], id="turned round"),
        pytest.param('[ "$${A:-x}" = on ] && X=1', ["on"], id="with a default"),
        pytest.param("[[ $$A == on || $$A == yes ]] && X=1", ["on", "yes"], id="[[ ]] with two"),
        pytest.param("[[ $$A == on* ]] && X=1", ["on"], id="glob in [[ ]]"),
        pytest.param('[ "$$A" -eq 2 ] && X=1', ["2"], id="-eq"),
        pytest.param("if (( A == 2 )); then X=1; fi", ["2"], id="(( ))"),
        pytest.param("case $$A in off|none) X=1;; esac", ["off", "none"], id="case"),
        pytest.param('case "$${A,,}" in off) X=1;; esac', ["off"], id="case, lowered"),
        pytest.param("case $$A in [1-9]) X=1;; esac", ["1"], id="class"),
        pytest.param("case $$A in no*) X=1;; esac", ["no"], id="glob"),
        pytest.param("case $$A in ''|*[!0-9]*) exit 2;; esac", None, id="anything but digits"),
        pytest.param('[ -n "$$A" ] && X=1', ["1"], id="-n"),
        pytest.param('[ -z "$$A" ] && X=1', ["1"], id="-z"),
        pytest.param('if [ "$$A" ]; then X=1; fi', ["1"], id="bare"),
    ],
)
def test_values_that_the_script_compares_with(test: str, values: list[str] | None) -> None:
    found = _found(f"{test}\nexec vllm serve m")
    assert {name for name, _, _ in found} == {"A"}
    if values is not None:
        assert [value for _, value, _ in found] == values


@pytest.mark.parametrize(
    ("argument", "found"),
    [
        pytest.param("$${A:-3}", [("A", "0", "number")], id="number"),
        pytest.param("$${A:-0}", [("A", "1", "number")], id="zero"),
        pytest.param("$${A-3}", [("A", "0", "number")], id="number, without colon"),
        pytest.param("$${A:-on}", [("A", "off", "switch")], id="on"),
        pytest.param("$${A:-False}", [("A", "True", "switch")], id="False"),
        pytest.param("$${A:-disabled}", [("A", "enabled", "switch")], id="disabled"),
        pytest.param("$${A:---enable-x}", [("A", "--no-enable-x", "twin")], id="flag"),
        pytest.param("$${A:---no-enable-x}", [("A", "--enable-x", "twin")], id="negated flag"),
        pytest.param("$${A:---seed 1}", [], id="flag with a value has no twin"),
        pytest.param("$${A:---seed=1}", [], id="flag with a value has no twin, ="),
        pytest.param("$${A:+--x}", [("A", "1", "presence")], id="presence"),
        pytest.param("$${A+--x}", [("A", "1", "presence")], id="presence, without colon"),
        pytest.param("$${A:-auto}", [], id="a word is no choice"),
        pytest.param("$${A:-0.9}", [], id="a fraction is no switch"),
        pytest.param("$${A:-}", [], id="empty default"),
        pytest.param("$${A}", [], id="no default"),
    ],
)
def test_values_that_a_default_suggests(argument: str, found: list[tuple[str, str, str]]) -> None:
    assert _found(f"exec vllm serve m {argument}") == found


@pytest.mark.parametrize(
    ("argument", "value", "source"),
    [
        ("${A:-3}", "0", "number"),
        ("${A:-on}", "off", "switch"),
        ("${A:---enable-x}", "--no-enable-x", "twin"),
        ("${A:+--x}", "1", "presence"),
    ],
)
def test_values_that_a_default_interpolated_into_the_script_suggests(argument: str, value: str, source: str) -> None:
    assert _found(f"exec vllm serve m {argument}", environment=[]) == [("A", value, source)]


@pytest.mark.parametrize(
    ("argument", "found"),
    [
        ("${A:---enable-x}", [("A", "--no-enable-x", "twin")]),
        ("${A:---no-enable-x}", [("A", "--enable-x", "twin")]),
        ("${A:-5}", []),
        ("${A:-on}", []),
        ("${A:+1}", [("A", "1", "presence")]),
        pytest.param(
            "${A:+--x}",
            [("A", "1", "presence")],
        ),
    ],
)
def test_values_of_variables_in_a_plain_command(argument: str, found: list[tuple[str, str, str]]) -> None:
    text = f"services:\n  engine:\n    image: {IMAGE}\n    command: [--model, m, '{argument}']\n"
    assert [(d.name, d.value, d.source) for d in surveyed(text).deviations] == found


@pytest.mark.parametrize(
    ("offer", "values"),
    [
        ("A=off disables the drafter", ["off"]),
        ("set A=off, or A=none.", ["off", "none"]),
        ("`A=off`", ["off"]),
        ("(A=off)", ["off"]),
        ('A="--enable-prefix-caching" docker compose up', ["--enable-prefix-caching"]),
        ("A=--enable-prefix-caching docker compose up", ["--enable-prefix-caching"]),
        ("A=off B=1 docker compose up", ["off"]),
        ("A=${B}", []),
        ("XA=off and a-A=off and $A=off", []),
        ("A = off", []),
        ("UNRELATED=1", []),
    ],
)
def test_values_that_comments_offer(offer: str, values: list[str]) -> None:
    found = _found("exec vllm serve m $$A", header=offer)
    assert [(value, source) for name, value, source in found if name == "A"] == [(v, "documented") for v in values]


def test_an_offer_in_a_comment_of_the_script_counts() -> None:
    assert _found("# A=off for greedy\nexec vllm serve m $$A") == [("A", "off", "documented")]


def test_an_offer_for_a_variable_that_nothing_reads_is_no_deviation() -> None:
    assert _found("exec vllm serve m", environment=[], header="A=off") == []


def test_a_value_is_found_once_and_its_first_source_counts() -> None:
    script = 'case "$${A:-3}" in 0|off) X=1;; esac\n[ "$$A" = off ] && Y=1\nexec vllm serve m $${A:-3}'
    assert _found(script, header="A=0 and A=off") == [("A", "0", "comparison"), ("A", "off", "comparison")]


def test_the_default_itself_is_no_deviation() -> None:
    text = f"# A=--enable-x is usual\nservices: {{engine: {{image: {IMAGE}, command: ['${{A:---enable-x}}']}}}}\n"
    assert [deviation.value for deviation in surveyed(text).deviations] == ["--no-enable-x"]


def test_deviations_are_of_host_variables() -> None:
    """What the script compares is a container variable: the world sets the host variable behind it."""
    text = f"""
services:
  engine:
    image: {IMAGE}
    environment: {{INSIDE: "${{OUTSIDE:-}}"}}
    entrypoint: [bash, -c, 'case $${{INSIDE}} in off) X=1;; esac; exec vllm serve m']
"""
    assert [(d.name, d.value) for d in surveyed(text).deviations] == [("OUTSIDE", "off")]


def test_a_variable_interpolated_into_the_script_is_compared_like_one_of_the_container() -> None:
    script = 'if [ "${A:-}" = off ]; then X=1; fi\ncase "${B:-1}" in 0) X=2;; esac\nexec vllm serve m'
    assert _found(script, environment=[]) == [("A", "off", "comparison"), ("B", "0", "comparison")]


def test_the_number_of_deviations_is_bounded() -> None:
    patterns = "|".join("".join(letters) for letters in product("abcdefghij", repeat=2))
    assert len(_found(f"case $$A in {patterns}) X=1;; esac\nexec vllm serve m")) == MAX_DEVIATIONS
