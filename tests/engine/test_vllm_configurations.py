"""The engine stage against what releases' own configurations made of command lines (see `tests/differential`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.cli.inspect_engine import answer

RECORDED = Path(__file__).with_name("vllm_configurations.jsonl")
LINES = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]
USUAL = {line["release"]: line["usual"] for line in LINES if "usual" in line}
"""What most command lines come to in a release; the others say what differs."""

RELEASES = tuple(USUAL)
NAMES = {
    "enable_prefix_caching": "prefix_caching",
    "enable_chunked_prefill": "chunked_prefill",
    "use_v2_model_runner": "v2_model_runner",
    "spec_method": "spec_decode.method",
    "num_speculative_tokens": "spec_decode.num_speculative_tokens",
}
LEAST_RESOLVED = 0.98


def _rows() -> Iterator[dict[str, Any]]:
    release = ""
    for line in LINES:
        release = line.get("release", release)
        if "usual" not in line:
            answers = {"resolved": {**USUAL[release], **line["resolved"]}} if "resolved" in line else {}
            yield {"release": release, "env": {}, "files": {}, **line, **answers}


ROWS = list(_rows())


def _expected(row: Mapping[str, Any]) -> dict[str, object]:
    found = {NAMES.get(name, name): value for name, value in row["resolved"].items()}
    level = found.get("optimization_level")
    return {**found, "optimization_level": level if level is None else int(str(level).removeprefix("O"))}


def _wrong(row: Mapping[str, Any]) -> tuple[dict[str, object], int, int]:
    """What differs, how many properties were asked, and how many of them were resolved."""
    found = answer(dict(row))
    if bool(found["errors"]) != ("error" in row):
        return {"errors": found["errors"]}, 0, 0
    if "error" in row:
        return {}, 0, 0
    expected = _expected(row)
    known = {name: found["properties"][name]["value"] for name in expected if "value" in found["properties"][name]}
    return {name: value for name, value in known.items() if value != expected[name]}, len(expected), len(known)


@pytest.mark.parametrize("release", RELEASES)
def test_no_value_is_wrong_and_nearly_all_are_known(release: str) -> None:
    asked = resolved = 0
    wrong = []
    for row in ROWS:
        if row["release"] == release:
            differing, some, known = _wrong(row)
            asked, resolved = asked + some, resolved + known
            wrong += [(row["argv"], row["env"], differing)] if differing else []
    assert not wrong
    assert resolved >= LEAST_RESOLVED * asked
