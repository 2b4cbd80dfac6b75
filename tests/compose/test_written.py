"""Compose files written by hand, against what the real Docker Compose made of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.compose.oracle import ask_docker_compose, difference_of, needs_docker_compose
from tests.compose.written import RECORDED, cases

ROWS = [json.loads(line) for line in RECORDED.read_text().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_agrees_with_recorded_docker_compose(row: dict[str, Any]) -> None:
    assert difference_of(row["expect"], row["files"], row["args"], row["env"]) is None


def test_every_case_is_recorded() -> None:
    wanted = [(case["id"], case["files"], case["args"], case["env"]) for case in cases()]
    assert [(row["id"], row["files"], row["args"], row["env"]) for row in ROWS] == wanted


@needs_docker_compose
@pytest.mark.parametrize("row", ROWS[::10], ids=lambda row: row["id"])
def test_records_are_still_true(row: dict[str, Any]) -> None:
    real = ask_docker_compose(row["files"], row["args"], row["env"])
    assert isinstance(real, str) if isinstance(row["expect"], str) else real == row["expect"]
