"""Environment files."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.compose.dotenv import BadEnvironmentFile, parse, parse_raw
from tests.compose.oracle import SHELL, ask_docker_compose, needs_docker_compose

_ENVIRONMENT = {**SHELL, "E": "", "V": "v", "COMPOSE_PROJECT_NAME": "proj"}


def _parse(text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    parse(text, _ENVIRONMENT.get, values)
    return values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("A=1\nB=two words\n", {"A": "1", "B": "two words"}),
        ("\ufeffA=1", {"A": "1"}),
        ("# c\n\n  A=1 # c\nB=1#c\n", {"A": "1", "B": "1#c"}),
        ("export A=1\nexport  B : 2\n", {"A": "1", "B": "2"}),
        ("export \nA=1\nexport\nB=2\n", {"A": "1", "B": "2"}),
        ("A='x $V'\nB=\"x $V\"\nC=x $V\n", {"A": "x $V", "B": "x v", "C": "x v"}),
        ('A="l1\nl2"\nB="a\\nb\\t\\$V\\""\n', {"A": "l1\nl2", "B": 'a\nb\t$V"'}),
        ("A=1\nB=$A\nC=${NO:-d}\n", {"A": "1", "B": "1", "C": "d"}),
        ("V\nNO\n", {"V": "v"}),
        ("A=\nB=''\n", {"A": "", "B": ""}),
        ("A=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
        ("V=mine\nB=$V\n", {"V": "mine", "B": "v"}),
        ("A.B-C[0]=x\n", {"A.B-C[0]": "x"}),
        ('A="\\0101"\n', {"A": "A"}),
    ],
)
def test_values(text: str, values: dict[str, str]) -> None:
    assert _parse(text) == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A=1\nB C=2\n", "line 2: key cannot contain a space"),
        ("A%=1\n", 'line 1: unexpected character "%" in variable name "A%=1"'),
        ('A="x\n', 'unterminated quoted value "x'),
        ("A=${NO:?why}\n", "required variable NO is missing a value: why"),
        ("A=${!}\n", "Invalid template"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(BadEnvironmentFile) as caught:
        _parse(text)
    assert message in str(caught.value)


def test_lines_are_those_of_the_names() -> None:
    values: dict[str, str] = {}
    assert parse('# c\nA=1\nB="x\ny"\nC=2\n', _ENVIRONMENT.get, values) == {"A": 2, "B": 3, "C": 5}


def test_raw_format_takes_lines_as_they_are() -> None:
    values: dict[str, str] = {}
    parse_raw('A="q $V"\nB=1 # x\nNO\nV\n', values, _ENVIRONMENT.get)
    assert values == {"A": '"q $V"', "B": "1 # x", "V": "v"}


_TOKENS = 'A B K= A= B= = " \' \\ \\n \\$ \\" $A ${A:-x} ${B $$ # . - [ é % 1 \\0101 $V'
_SPACES = [" ", " #", ": ", "\n", "\n", "\n", "\t", "\r\n", "export ", "'c d'", 'A="$B"\n']
_PIECES = st.sampled_from([*_TOKENS.split(), *_SPACES])
_FILES = st.lists(_PIECES, max_size=14).map("".join)


def _agrees(texts: list[str]) -> None:
    good: dict[str, dict[str, str]] = {}
    for text in texts:
        try:
            good[text] = _parse(text)
        except BadEnvironmentFile:
            assert isinstance(_ask([text]), str)
    assert _ask(list(good)) == list(good.values())


def _ask(texts: list[str]) -> list[dict[str, str]] | str:
    entries = "".join(f"  s{index:04}: {{image: i, env_file: e{index}}}\n" for index in range(len(texts)))
    files = {f"e{index}": text for index, text in enumerate(texts)}
    files["compose.yml"] = f"services:\n  r: {{image: i}}\n{entries}"
    services = ask_docker_compose(files, ["-f", "compose.yml"], {"E": "", "V": "v"})
    if isinstance(services, str):
        return services
    return [service.get("environment", {}) for name, service in services.items() if name != "r"]


@needs_docker_compose
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_FILES, min_size=10, max_size=20))
def test_any_file_is_read_as_docker_compose_reads_it(texts: list[str]) -> None:
    _agrees(texts)


@pytest.mark.soak
@needs_docker_compose
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_FILES, min_size=40, max_size=80))
def test_any_file_is_read_as_docker_compose_reads_it_at_length(texts: list[str]) -> None:
    _agrees(texts)
