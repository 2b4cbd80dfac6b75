"""Plain YAML scalars, and how Go prints them."""

from __future__ import annotations

import pytest

from bot.compose.scalars import Timestamp, go_text, resolve
from tests.compose.oracle import ask_docker_compose, needs_docker_compose

_PRINTED = {
    "1.20": "1.2",
    "1e3": "1000",
    "1e10": "1e+10",
    "1234567.5": "1.2345675e+06",
    "123456.7": "123456.7",
    "1e-5": "1e-05",
    "0.0001": "0.0001",
    "017": "15",
    "0o17": "15",
    "08": "8",
    "0x1F": "31",
    "0b11": "3",
    "1_000": "1000",
    "-_1": "-1",
    "_1": "_1",
    ".1_0": "0.1",
    ".1__0": ".1__0",
    "12:30:45": "12:30:45",
    "yes": "yes",
    "on": "on",
    "True": "true",
    "tRUE": "tRUE",
    "-0": "0",
    "-0.0": "-0",
    "100000000000000000000": "1e+20",
    "18446744073709551615": "18446744073709551615",
    "18446744073709551616": "1.8446744073709552e+19",
    "0x10000000000000000": "0x10000000000000000",
    "1e400": "1e400",
    "+.inf": "+Inf",
    ".iNF": ".iNF",
    ".NAN": "NaN",
    "2001-02-30": "2001-02-30",
    "2001-01-01T10:00": "2001-01-01T10:00",
}


@pytest.mark.parametrize(("text", "printed"), _PRINTED.items())
def test_scalar_is_read_and_printed_as_compose_does(text: str, printed: str) -> None:
    assert go_text(resolve(text)) == printed


@pytest.mark.parametrize("text", ["2001-01-01", "2001-1-1", "2001-01-01T10:00:00Z", "2001-01-01 2:3:4"])
def test_date_is_no_string(text: str) -> None:
    assert resolve(text) == Timestamp(text)


@needs_docker_compose
def test_real_docker_compose_agrees() -> None:
    environment = "".join(f"      K{index}: {text}\n" for index, text in enumerate(_PRINTED))
    services = ask_docker_compose(
        {"compose.yml": f"services:\n  s:\n    image: i\n    environment:\n{environment}"}, ["-f", "compose.yml"]
    )
    assert isinstance(services, dict)
    assert list(services["s"]["environment"].values()) == [
        printed for _, printed in sorted(zip((f"K{n}" for n in range(len(_PRINTED))), _PRINTED.values(), strict=True))
    ]
