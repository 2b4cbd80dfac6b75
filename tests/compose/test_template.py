"""Interpolation."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.compose.template import InvalidTemplate, MissingVariable, Template, Variable, compile_template
from tests.compose.oracle import SHELL, ask_docker_compose, needs_docker_compose

_ENVIRONMENT = {**SHELL, "SET": "v", "EMPTY": "", "COMPOSE_PROJECT_NAME": "proj"}


def _fill(text: str) -> str:
    template = compile_template(text)
    return template.fill(_ENVIRONMENT) if isinstance(template, Template) else template


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("$SET", "v"),
        ("${SET}x", "vx"),
        ("$SET_x", ""),
        ("${NO:-d}", "d"),
        ("${EMPTY:-d}", "d"),
        ("${EMPTY-d}", ""),
        ("${SET:+r}", "r"),
        ("${EMPTY:+r}", ""),
        ("${EMPTY+r}", "r"),
        ("${SET:?why}", "v"),
        ("${EMPTY?why}", ""),
        ("${A:-${B:-${C:-deep}}}", "deep"),
        ("$$SET $${SET}", "$SET ${SET}"),
        ("$$$SET", "$v"),
        ("$(ls) $@ $1 $", "$(ls) $@ $1 $"),
        ('${NO:-{"a":1}}', '{"a":1}'),
        ('${NO:-{"a":{"b":1}}} ${NO:-x}', '{"a":{"b":1}} x'),
        ("${NO:-{}}", "{}"),
        ("${NO:-a}b}", "ab}"),
        ("${NO-a:-b}", "a:-b"),
        ("${NO:-{{a}}}", "{{a}}"),
        ("${SET:-{{a}}}", "v}"),
        ("${SET:-{a}b}c", "vc"),
        ("${\u017f}", ""),
    ],
)
def test_filled(text: str, filled: str) -> None:
    assert _fill(text) == filled


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("${NO!}", "${NO!}"),
        ("a ${NO", "a ${NO"),
        ("${}", "${}"),
        ("${1}", "${1}"),
        ("${NO:=d}", "${NO:=d}"),
        ("${NO:-a\nb}", "${NO:-a\nb}"),
        ("${NO:-${B!}}", "${B!}"),
        ("${SET:-${B!}}", "${B!}"),
        ("${SET:-a} ${B!} z}", " ${B!} z}"),
        ("${NO:-{}} ${B:-b}", "{}} ${B:-b"),
    ],
)
def test_invalid_template_quotes_what_compose_quotes(text: str, quoted: str) -> None:
    with pytest.raises(InvalidTemplate) as caught:
        _fill(text)
    assert caught.value.template == quoted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("${NO:?why}", "required variable NO is missing a value: why"),
        ("${NO?}", "required variable NO is missing a value"),
        ("${EMPTY:?${NO:-dear}}", "required variable EMPTY is missing a value: dear"),
        ("${SET:-${NO:?even so}}", "required variable NO is missing a value: even so"),
    ],
)
def test_missing_variable(text: str, message: str) -> None:
    with pytest.raises(MissingVariable, match=message):
        _fill(text)


def test_variables_are_listed_with_the_nested_ones() -> None:
    template = compile_template("a$A ${B:-x${C-y}} $$D")
    assert isinstance(template, Template)
    assert [(one.name, one.operator, one.argument, one.offset) for one in template.variables] == [
        ("A", "", "", 1),
        ("B", ":-", "x${C-y}", 4),
        ("C", "-", "y", 10),
    ]


def test_choice_is_told_of_what_was_used() -> None:
    template = compile_template("${NO:-${SET}} ${SET:-$NO}")
    assert isinstance(template, Template)
    told: list[tuple[str, bool]] = []

    def note(variable: Variable, own: bool) -> None:
        told.append((variable.name, own))

    template.fill(_ENVIRONMENT, note)
    assert told == [("SET", True), ("NO", False), ("SET", True)]


_TOKENS = "$ { } ${ NO SET EMPTY _ 1 : - + ? :- :+ ${NO:- ${SET:- ${EMPTY:+ ${EMPTY- $$ a b . ( ) }} ${NO} $NO é !"
_PIECES = st.sampled_from([*_TOKENS.split(), '"', " ", "\n", '{"a":1}'])
_TEXTS = st.lists(_PIECES, max_size=12).map("".join)


def _agrees(texts: list[str]) -> None:
    """Those that fill without a fault go to Docker Compose together, the others one by one."""
    good: dict[str, str] = {}
    for text in texts:
        try:
            good[text] = _fill(text)
        except (InvalidTemplate, MissingVariable):
            assert isinstance(_ask([text]), str)
    assert _ask(list(good)) == list(good.values())


def _ask(texts: list[str]) -> list[str] | str:
    fields = "".join(f"      K{index:04}: {json.dumps(text)}\n" for index, text in enumerate(texts))
    files = {"compose.yml": f"services:\n  s:\n    image: i\n    environment:\n      K: k\n{fields}"}
    services = ask_docker_compose(files, ["-f", "compose.yml"], {"SET": "v", "EMPTY": ""})
    return services if isinstance(services, str) else list(services["s"]["environment"].values())[1:]


@needs_docker_compose
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_TEXTS, min_size=10, max_size=20))
def test_any_text_is_filled_as_docker_compose_fills_it(texts: list[str]) -> None:
    _agrees(texts)


@pytest.mark.soak
@needs_docker_compose
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_TEXTS, min_size=40, max_size=80))
def test_any_text_is_filled_as_docker_compose_fills_it_at_length(texts: list[str]) -> None:
    _agrees(texts)
