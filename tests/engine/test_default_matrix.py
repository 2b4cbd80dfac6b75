"""Defaults of seventeen releases, as vLLM itself resolved them: its own parser and `create_engine_config()`, run on a
CPU with a faked CUDA platform (sm_120)."""

from __future__ import annotations

import pytest

from bot.engine import facts as facts_of
from bot.engine.derivations.basis import readings
from tests.engine.launches import run, value

MTP = """--speculative-config '{"method":"mtp","num_speculative_tokens":3}'"""
OLD_MTP = """--speculative-config '{"method":"qwen3_next_mtp","num_speculative_tokens":3}'"""
NGRAM = """--speculative-config '{"method":"ngram","num_speculative_tokens":4,"prompt_lookup_max":4}'"""

# release | hybrid: prefix caching, mamba cache mode, async, V2 | hybrid with MTP: async, V2 |
# dense: prefix caching, async, V2 | Llama: V2 | MoE: V2 | dense with ngram: async, V2.   "-": not asked
MATRIX = """
0.11.0 | F -     F - | F - | T F - | - | - | F -
0.14.1 | F -     T F | T F | T T F | F | F | F F
0.15.1 | F none  T F | T F | T T F | F | F | F F
0.18.0 | F none  T F | T F | T T F | F | F | F F
0.20.0 | F none  T F | T F | T T F | F | F | F F
0.21.0 | F none  T F | T F | T T F | F | F | F F
0.22.0 | F none  T F | T F | T T T | - | F | F F
0.24.0 | F none  T F | T F | T T T | T | F | F F
0.25.1 | F none  T F | T F | T T T | T | F | F F
0.26.0 | F none  T F | T F | T T T | T | F | F F
0.27.1 | F none  T F | T F | T T T | T | F | F F
0.28.0 | T align T F | T F | T T T | T | F | F F
0.29.0 | T align T T | T T | T T T | T | T | F F
0.30.0 | T align T T | T T | T T T | T | T | F F
0.31.0 | T align T T | T T | T T T | T | T | F F
0.32.0 | T align T T | T T | T T T | T | T | F T
0.33.0 | T align T T | T T | T T T | T | T | T T
"""

COLUMNS: list[tuple[str, str, tuple[str, ...]]] = [
    ("hybrid", "", ("prefix_caching", "mamba_cache_mode", "async_scheduling", "v2_model_runner")),
    ("hybrid", MTP, ("async_scheduling", "v2_model_runner")),
    ("dense", "", ("prefix_caching", "async_scheduling", "v2_model_runner")),
    ("llama", "", ("v2_model_runner",)),
    ("moe", "", ("v2_model_runner",)),
    ("dense", NGRAM, ("async_scheduling", "v2_model_runner")),
]

CELLS = [
    (row.split("|")[0].strip(), model, arguments, name, word)
    for row in MATRIX.strip().splitlines()
    for (model, arguments, names), cell in zip(COLUMNS, row.split("|")[1:], strict=True)
    for name, word in zip(names, cell.split(), strict=True)
    if word != "-"
]
WORDS: dict[str, object] = {"T": True, "F": False}


@pytest.mark.parametrize(("release", "model", "arguments", "name", "word"), CELLS)
def test_a_default(release: str, model: str, arguments: str, name: str, word: str) -> None:
    before = release in ("0.11.0", "0.14.1", "0.15.1") and model == "hybrid"
    engine = run(arguments, release, "hybrid-moe" if before else model, sm=(120,), name="Qwen/Qwen3-8B")
    assert value(engine, name) == WORDS.get(word, word)


@pytest.mark.parametrize("release", [row.split("|")[0].strip() for row in MATRIX.strip().splitlines()])
def test_the_spellings_of_a_mode(release: str) -> None:
    dotted_level = run("-O.cudagraph_mode=PIECEWISE", release, "dense")
    if release == "0.11.0":
        assert value(dotted_level, "cudagraph_mode") == "PIECEWISE"
        assert run("-cc.cudagraph_mode=PIECEWISE", release, "dense").errors
    else:
        assert dotted_level.errors
        assert value(run("-cc.cudagraph_mode=PIECEWISE", release, "dense"), "cudagraph_mode") == "PIECEWISE"
    assert bool(run("--disable-prefix-caching", release, "dense").errors) == (release != "0.33.0")


@pytest.mark.parametrize(
    ("release", "dotted_level", "short"),
    [
        ("0.11.1", True, False),
        ("0.11.2", True, False),
        ("0.12.0", True, True),
        ("0.13.0", False, True),
        ("0.14.0", False, True),
    ],
)
def test_where_the_spellings_of_a_mode_change(release: str, dotted_level: bool, short: bool) -> None:
    for argument, binds in (("-O.cudagraph_mode=PIECEWISE", dotted_level), ("-cc.cudagraph_mode=PIECEWISE", short)):
        engine = run(argument, release, "dense")
        assert bool(engine.errors) != binds
        assert not binds or value(engine, "cudagraph_mode") == "PIECEWISE"
    assert (
        value(run("--compilation-config.cudagraph_mode PIECEWISE", release, "dense"), "cudagraph_mode") == "PIECEWISE"
    )


ALL = readings().releases


def since(table: dict[str, object], release: str) -> object:
    """The value that holds in a release, of those that hold from one on."""
    order = {name: position for position, name in enumerate(ALL)}
    return [wanted for start, wanted in table.items() if order[start] <= order[release]][-1]


# What else was read, or said by a run of the release: arguments, model, property, and the values from a release on.
READ: list[tuple[str, str, str, dict[str, object]]] = [
    ("--enable-prefix-caching", "hybrid", "prefix_caching", {"0.11.0": False, "0.15.0": True}),
    ("--enable-prefix-caching", "mamba", "prefix_caching", {"0.11.0": False, "0.11.1": True}),
    ("--enable-prefix-caching", "dense", "prefix_caching", {"0.11.0": True}),
    ("", "pure-mamba", "prefix_caching", {"0.11.0": False}),
    ("", "whisper", "prefix_caching", {"0.11.0": False}),
    ("--no-enable-chunked-prefill", "dense", "chunked_prefill", {"0.11.0": True, "0.11.1": False}),
    ("--enable-prefix-caching", "hybrid", "mamba_cache_mode", {"0.11.0": None, "0.15.0": "align"}),
    ("--enable-prefix-caching", "mamba", "mamba_cache_mode", {"0.11.0": None, "0.15.0": "all", "0.28.0": "align"}),
    ("", "dense", "mamba_cache_mode", {"0.11.0": None, "0.15.0": "none"}),
    (
        f"--enable-prefix-caching {MTP}",
        "mamba",
        "mamba_cache_mode",
        {"0.11.0": None, "0.15.0": "all", "0.20.0": "align", "0.22.0": "all", "0.28.0": "align"},
    ),
    ("", "dense", "optimization_level", {"0.11.0": None, "0.12.0": 2}),
    ("--enforce-eager", "dense", "optimization_level", {"0.11.0": None, "0.12.0": 0, "0.17.0": 2}),
    ("", "dense", "cudagraph_mode", {"0.11.0": "FULL_AND_PIECEWISE"}),
    ("--enforce-eager", "dense", "cudagraph_mode", {"0.11.0": "NONE"}),
    ("""--compilation-config '{"cudagraph_mode":"FULL"}'""", "dense", "cudagraph_mode", {"0.11.0": "FULL"}),
    (
        """--compilation-config '{"mode":0}'""",
        "dense",
        "cudagraph_mode",
        {"0.11.0": "FULL_AND_PIECEWISE", "0.11.1": "NONE", "0.30.0": "FULL_DECODE_ONLY"},
    ),
    (
        """--compilation-config '{"mode":0,"cudagraph_mode":"FULL"}'""",
        "dense",
        "cudagraph_mode",
        {"0.11.0": "FULL", "0.12.0": "NONE", "0.13.0": "FULL"},
    ),
    ("", "whisper", "cudagraph_mode", {"0.11.0": "PIECEWISE", "0.13.0": "FULL_DECODE_ONLY"}),
    ("--runner pooling", "dense", "cudagraph_mode", {"0.11.0": "PIECEWISE"}),
    ("--runner pooling", "dense", "async_scheduling", {"0.11.0": False, "0.14.0": True, "0.20.0": False}),
    ("-pp 2", "dense", "async_scheduling", {"0.11.0": False, "0.15.0": True}),
    ("--distributed-executor-backend ray", "dense", "async_scheduling", {"0.11.0": False, "0.21.0": True}),
    (
        "--enable-prefix-caching",
        "hybrid",
        "async_scheduling",
        {"0.11.0": False, "0.14.0": True, "0.16.0": False, "0.17.0": True},
    ),
    (NGRAM, "dense", "async_scheduling", {"0.11.0": False, "0.33.0": True}),
    (f"{NGRAM} -pp 2", "hybrid", "v2_model_runner", {"0.11.0": False, "0.32.0": True}),
    ("--enable-dbo", "dense", "v2_model_runner", {"0.11.0": False}),
    ("--reasoning-parser qwen3", "dense", "v2_model_runner", {"0.11.0": False, "0.23.0": True}),
    ("", "deepseek-v4", "v2_model_runner", {"0.11.0": False, "0.28.0": True}),
    ("", "gemma4", "attention_backend", {"0.11.0": None, "0.19.0": "TRITON_ATTN"}),
    ("--quantization awq", "dense", "quantization", {"0.11.0": "awq", "0.24.0": "auto_awq"}),
    ("--quantization gptq", "dense", "quantization", {"0.11.0": "gptq", "0.22.0": "auto_gptq"}),
    ("--kv-cache-dtype fp8", "dense", "kv_cache_dtype", {"0.11.0": "fp8"}),
    ("", "dense", "kv_cache_dtype", {"0.11.0": "auto"}),
    ("", "dense", "spec_decode.method", {"0.11.0": None}),
    (NGRAM, "dense", "spec_decode.method", {"0.11.0": "ngram"}),
    ("", "deepseek", "cudagraph_mode_effective", {"0.11.0": "unknown", "0.22.0": "FULL_AND_PIECEWISE"}),
    ("--convert embed", "dense", "cudagraph_mode", {"0.11.0": "FULL_AND_PIECEWISE", "0.22.0": "PIECEWISE"}),
    ("--data-parallel-backend ray", "dense", "async_scheduling", {"0.11.0": False, "0.14.0": True}),
    (MTP, "hybrid", "spec_decode.method", {"0.11.0": "mtp"}),
    (MTP, "hybrid", "cudagraph_mode_effective", {"0.11.0": "FULL_AND_PIECEWISE"}),
    (
        f"--kv-cache-dtype fp8 {MTP}",
        "hybrid",
        "cudagraph_mode_effective",
        {"0.11.0": "FULL_AND_PIECEWISE", "0.11.1": "PIECEWISE", "0.28.0": "FULL_AND_PIECEWISE"},
    ),
]


@pytest.mark.parametrize(("arguments", "model", "name", "values"), READ)
def test_what_was_read(arguments: str, model: str, name: str, values: dict[str, object]) -> None:
    engines = {
        release: run(arguments, release, model, sm=(120,), name="Qwen/Qwen3-8B") for release in facts_of.releases()
    }
    found = {
        release: "refused" if any(error.kind != "conflict" for error in engine.errors) else value(engine, name)
        for release, engine in engines.items()
    }
    assert found == {release: since(values, release) for release in facts_of.releases()}
