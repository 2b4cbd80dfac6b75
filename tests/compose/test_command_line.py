"""Splitting a command that is one string."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.compose.command_line import BadCommandLine, split
from tests.compose.oracle import ask_docker_compose, needs_docker_compose


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("run me", ["run", "me"]),
        ("run \"me too\" 'and me'", ["run", "me too", "and me"]),
        ("run a\\ b", ["run", "a b"]),
        ('run ""', ["run", ""]),
        ("run a > b", ["run", "a"]),
        ("run 2>b", ["run"]),
        ("run a2>b", ["run", "a2"]),
        ("a && b", ["a"]),
        ("a; b", ["a"]),
        ("a $(b c) d", ["a", "$(b c)", "d"]),
        ("a `b c`", ["a", "`b c`"]),
        ("a $B", ["a", "$B"]),
        ("  ", []),
        ("--j '{\"k\":1}'", ["--j", '{"k":1}']),
        ("a\n  b", ["a", "b"]),
    ],
)
def test_split(line: str, words: list[str]) -> None:
    assert [word for word, _ in split(line)] == words


@pytest.mark.parametrize("line", ['a "b', "a 'b", "a \\", "a (b)", "a $(b", "a `b", "a)"])
def test_unclosed(line: str) -> None:
    with pytest.raises(BadCommandLine, match="invalid command line string"):
        split(line)


def test_words_know_where_they_begin() -> None:
    line = "serve --model 'a b'\n  \\--port 80"
    assert [(word, line[start : start + 2]) for word, start in split(line)] == [
        ("serve", "se"),
        ("--model", "--"),
        ("a b", "'a"),
        ("--port", "\\-"),
        ("80", "80"),
    ]


_PIECES = st.sampled_from([*"a1-= \t\n\"'\\`$();&|<>é#*", "$(", "2>", '"x y"', "'x y'", '""', "''", '{"a":1}', "  "])
_LINES = st.lists(_PIECES, max_size=10).map("".join)


def _agrees(lines: list[str]) -> None:
    good: dict[str, list[str]] = {}
    for line in lines:
        try:
            good[line] = [word for word, _ in split(line)]
        except BadCommandLine:
            assert "invalid command line string" in _ask([line])
    assert _ask(list(good)) == list(good.values())


def _ask(lines: list[str]) -> list[list[str]] | str:
    entries = "".join(
        f"  s{index:04}:\n    image: i\n    command: {json.dumps(line.replace('$', '$$'))}\n"
        for index, line in enumerate(lines)
    )
    services = ask_docker_compose({"compose.yml": f"services:\n  r: {{image: i}}\n{entries}"}, ["-f", "compose.yml"])
    if isinstance(services, str):
        return services
    return [service["command"] for name, service in services.items() if name != "r"]


@needs_docker_compose
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_LINES, min_size=10, max_size=20))
def test_any_line_is_split_as_docker_compose_splits_it(lines: list[str]) -> None:
    _agrees(lines)


@pytest.mark.soak
@needs_docker_compose
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_LINES, min_size=40, max_size=80))
def test_any_line_is_split_as_docker_compose_splits_it_at_length(lines: list[str]) -> None:
    _agrees(lines)
