"""Whether a model is served to generate or to pool, and what follows: rows read from the source of each release."""

from __future__ import annotations

import pytest

from tests.engine.launches import run, value

GENERATES = {"cudagraph_mode": "FULL_AND_PIECEWISE", "chunked_prefill": True, "prefix_caching": True}
POOLS = {"cudagraph_mode": "PIECEWISE", "v2_model_runner": False, "async_scheduling": False}
OPEN = dict.fromkeys(("cudagraph_mode", "chunked_prefill", "prefix_caching"), "unknown")
CLASSIFIER = """--hf-overrides '{"architectures":["Qwen3ForSequenceClassification"]}'"""
CLS = """--pooler-config '{"pooling_type":"CLS"}'"""


@pytest.mark.parametrize(
    ("argv", "release", "expected"),
    [
        ("--task embed", "0.11.0", POOLS),
        ("--task score", "0.12.0", POOLS),
        ("--task embed --runner generate", "0.12.0", POOLS),
        ("--task generate", "0.11.0", GENERATES),
        ("--task generate --runner pooling", "0.12.0", GENERATES),
        ("--task auto --runner pooling", "0.12.0", GENERATES),
        ("--task embed --enable-prefix-caching", "0.11.0", {"prefix_caching": "unknown"}),
        ("--runner pooling --enable-prefix-caching --enable-chunked-prefill", "0.11.2", {**OPEN, **POOLS}),
        ("--runner pooling --no-enable-prefix-caching", "0.11.0", {"prefix_caching": False}),
        ("--runner pooling --enable-prefix-caching", "0.13.0", {"prefix_caching": True}),
        ("--runner auto --convert embed", "0.25.1", POOLS),
        ("--runner generate", "0.25.1", GENERATES),
        (CLASSIFIER, "0.25.1", OPEN),
        (CLASSIFIER, "0.33.0", OPEN),
        (f"{CLASSIFIER} --runner pooling", "0.25.1", POOLS),
        ("""--hf-overrides '{"max_position_embeddings":8192}'""", "0.25.1", GENERATES),
        (CLS, "0.25.1", {**OPEN, "cudagraph_mode": "PIECEWISE", "async_scheduling": True, "v2_model_runner": True}),
        (CLS, "0.11.0", {"cudagraph_mode": "PIECEWISE", "chunked_prefill": "unknown"}),
    ],
)
def test_what_a_decoder_is_served_as(argv: str, release: str, expected: dict[str, object]) -> None:
    engine = run(argv, release, "dense")
    assert not engine.errors
    assert {name: value(engine, name) for name in expected} == expected


@pytest.mark.parametrize(
    "name", ["Qwen/Qwen3-Embedding-0.6B", "/models/e5-mistral-7b-instruct", "Qwen/Qwen3-Reranker-8B", "org/x-embed"]
)
@pytest.mark.parametrize("model", ["dense", "unknown"])
def test_a_name_that_embeds_may_bring_a_pooling_configuration(name: str, model: str) -> None:
    engine = run("", "0.25.1", model, name=name)
    assert {key: value(engine, key) for key in (*OPEN, "async_scheduling")} == {**OPEN, "async_scheduling": "unknown"}
    assert value(run("--runner pooling", "0.25.1", model, name=name), "cudagraph_mode") == "PIECEWISE"
    assert value(run("--runner generate", "0.25.1", model, name=name), "cudagraph_mode") == "FULL_AND_PIECEWISE"
    assert value(run("-cc.cudagraph_mode=NONE", "0.25.1", model, name=name), "cudagraph_mode") == "NONE"


@pytest.mark.parametrize(
    ("release", "kept"), [("0.11.0", False), ("0.11.2", False), ("0.12.0", True), ("0.33.0", True)]
)
def test_prefix_caching_that_is_asked_of_an_encoder_decoder(release: str, kept: bool) -> None:
    assert value(run("--enable-prefix-caching", release, "whisper"), "prefix_caching") is kept
