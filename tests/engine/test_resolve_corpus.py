"""The engine stage against the answers of real vLLM."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from bot.cli.inspect_engine import answer
from bot.engine import facts as facts_of
from tests.corpus import CORPUS, needs_corpus

NAMES = {
    "enable_prefix_caching": "prefix_caching",
    "enable_chunked_prefill": "chunked_prefill",
    "use_v2_model_runner": "v2_model_runner",
    "spec_method": "spec_decode.method",
    "num_speculative_tokens": "spec_decode.num_speculative_tokens",
}
BY_STAND_IN = ("max_model_len", "max_num_seqs")
"""Their defaults come from a stand-in model and a fixed GPU."""
LEAST_RESOLVED = 0.98


def cases() -> list[dict[str, Any]]:
    path = CORPUS / "engine_cases.jsonl"
    if not path.is_file():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["release"] in facts_of.releases()]


def expected(row: Mapping[str, Any]) -> dict[str, object]:
    found = {NAMES.get(name, name): value for name, value in row["expect"]["resolved"].items()}
    found["optimization_level"] = int(found["optimization_level"].removeprefix("O"))
    del found["compilation_mode"]
    return found


@needs_corpus
@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in cases()])
def test_no_value_is_wrong(row: dict[str, Any]) -> None:
    found = answer(row)
    assert bool(found["errors"]) == ("error" in row["expect"]), found["errors"]
    if "error" in row["expect"]:
        return
    wanted = expected(row)
    known = {name: entry["value"] for name, entry in found["properties"].items() if "value" in entry and name in wanted}
    assert known == {name: wanted[name] for name in known}


@needs_corpus
def test_nearly_every_property_is_resolved() -> None:
    asked = resolved = 0
    for row in cases():
        if "error" in row["expect"] or row["drafter_is_local"]:
            continue
        properties = answer(row)["properties"]
        for name in expected(row):
            known = "value" in properties[name]
            if known or name not in BY_STAND_IN:
                asked, resolved = asked + 1, resolved + known
    assert resolved >= LEAST_RESOLVED * asked
