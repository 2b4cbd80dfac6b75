"""The contract of `inspect engine`."""

from __future__ import annotations

from typing import Any

import pytest

from bot.cli.inspect_engine import answer
from bot.cli.request import BadRequest


def ask(**request: Any) -> dict[str, Any]:
    return answer({"release": "0.25.1", "argv": ["serve", "Qwen/X"], **request})


def test_the_form_of_an_answer() -> None:
    found = ask(argv=["serve", "Qwen/X", "--max-num-seqs", "8"], model_kind="dense", architecture="Qwen3ForCausalLM")
    assert found["release"] == "0.25.1"
    assert found["parsed"]["max_num_seqs"] == 8
    assert found["properties"]["prefix_caching"]["value"] is True
    assert found["properties"]["prefix_caching"]["certainty"] == "certain"
    assert set(found["properties"]["prefix_caching"]["because"][0]) == {"kind", "path", "line", "text"}
    assert "value" not in found["properties"]["max_model_len"]
    assert found["errors"] == []


@pytest.mark.parametrize(
    ("kind", "architecture", "recurrent", "moe", "caching"),
    [
        ("hybrid", "Qwen3_5ForConditionalGeneration", "gdn", False, False),
        ("hybrid", "NemotronHForCausalLM", "mamba", False, False),
        ("hybrid", "NoSuchForCausalLM", None, False, False),
        ("hybrid", None, None, False, False),
        ("hybrid-moe", "Qwen3NextForCausalLM", "gdn", True, False),
        ("moe", "Qwen3MoeForCausalLM", "none", True, True),
        ("dense", None, "none", False, True),
        (None, "Qwen3_5ForConditionalGeneration", "gdn", False, False),
    ],
)
def test_kinds_of_models(
    kind: str | None, architecture: str | None, recurrent: str | None, moe: bool, caching: bool
) -> None:
    properties = ask(model_kind=kind, architecture=architecture)["properties"]
    assert properties["model.recurrent"].get("value") == recurrent
    assert properties["model.moe"]["value"] is moe
    assert properties["prefix_caching"]["value"] is caching


def test_errors_and_files() -> None:
    assert ask(argv=["serve", "Qwen/X", "--nope"])["errors"][0]["kind"] == "unknown-flag"
    assert ask(argv=["serve", "Qwen/X", "--config", "f.yaml"], files={})["errors"]
    found = ask(argv=["serve", "Qwen/X", "--config", "f.yaml"], files={"f.yaml": "max-num-seqs: 8\n"})
    assert found["properties"]["max_num_seqs"]["value"] == 8


def test_without_a_release_every_release_is_asked() -> None:
    found = ask(release=None, model_kind="dense")
    assert len(found["releases"]) >= 3
    assert found["properties"]["prefix_caching"]["certainty"] == "assumed"


@pytest.mark.parametrize(
    "request_",
    [
        {"argv": "serve"},
        {"argv": [1]},
        {"model_kind": "sparse"},
        {"sm": "120"},
        {"env": {"A": 1}},
        {"release": 25},
    ],
)
def test_requests_that_ask_nothing_sensible(request_: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        ask(**request_)


def test_several_cards() -> None:
    mtp = '{"method":"mtp","num_speculative_tokens":3}'
    argv = ["serve", "Qwen/X", "--kv-cache-dtype", "fp8", "--speculative-config", mtp]
    found = ask(argv=argv, sm=[86, 120], model_kind="hybrid", architecture="Qwen3_5ForConditionalGeneration")
    assert found["properties"]["cudagraph_mode_effective"]["value"] == "PIECEWISE"
