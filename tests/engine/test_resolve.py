"""Properties against rows read from the source of each release."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.engine import PROPERTIES, source_link
from bot.engine.model import Launch, Model, Pin
from bot.engine.resolve import resolve
from bot.provenance import Reason
from tests.engine.launches import MODELS, RELEASES, run, value, word

MTP = """--speculative-config '{"method":"mtp","num_speculative_tokens":3}'"""


def spec(text: str) -> str:
    return f"--speculative-config '{text}'"


# A row: arguments, model, and properties. A tuple has one value for each of 0.25.1, 0.27.1 and 0.28.0.
ROWS: list[tuple[str, str, dict[str, object]]] = [
    # Prefix caching: hybrids from 0.28.0 on, by default
    ("", "hybrid", {"prefix_caching": (False, False, True), "mamba_cache_mode": ("none", "none", "align")}),
    ("", "hybrid-moe", {"prefix_caching": (False, False, True), "mamba_cache_mode": ("none", "none", "align")}),
    ("", "mamba", {"prefix_caching": (False, False, True), "mamba_cache_mode": ("none", "none", "align")}),
    ("", "nameless-hybrid", {"prefix_caching": (False, False, True), "model.recurrent": "unknown"}),
    ("", "pure-mamba", {"prefix_caching": False, "mamba_cache_mode": "none"}),
    ("", "dense", {"prefix_caching": True, "mamba_cache_mode": "none", "chunked_prefill": True}),
    ("", "moe", {"prefix_caching": True, "chunked_prefill": True}),
    ("", "whisper", {"prefix_caching": False, "chunked_prefill": False, "cudagraph_mode": "FULL_DECODE_ONLY"}),
    ("--enable-prefix-caching", "ocr", {"prefix_caching": False}),
    ("", "unknown", {"prefix_caching": "unknown", "chunked_prefill": "unknown", "mamba_cache_mode": "unknown"}),
    ("--enable-prefix-caching", "unknown", {"prefix_caching": True, "mamba_cache_mode": "unknown"}),
    ("--no-enable-prefix-caching", "unknown", {"prefix_caching": False, "mamba_cache_mode": "none"}),
    ("--enable-prefix-caching", "hybrid", {"prefix_caching": True, "mamba_cache_mode": "align"}),
    ("--no-enable-prefix-caching", "hybrid", {"prefix_caching": False, "mamba_cache_mode": "none"}),
    ("--enable-prefix-caching", "mamba", {"mamba_cache_mode": ("all", "all", "align")}),
    ("--enable-prefix-caching", "pure-mamba", {"mamba_cache_mode": ("all", "all", "align")}),
    ("--enable-prefix-caching --no-enable-prefix-caching", "hybrid", {"prefix_caching": False}),
    ("--mamba-cache-mode align", "hybrid", {"mamba_cache_mode": ("none", "none", "align")}),
    ("--mamba-cache-mode align", "dense", {"mamba_cache_mode": "align"}),
    ("--mamba-cache-mode align --no-enable-prefix-caching", "unknown", {"mamba_cache_mode": "unknown"}),
    ("--mamba-cache-mode all --enable-prefix-caching", "hybrid", {"mamba_cache_mode": "align"}),
    ("--mamba-cache-mode all --enable-prefix-caching", "mamba", {"mamba_cache_mode": "all"}),
    ("--mamba-cache-mode align --enable-prefix-caching", "nameless-hybrid", {"mamba_cache_mode": "align"}),
    ("--enable-prefix-caching", "nameless-hybrid", {"mamba_cache_mode": ("unknown", "unknown", "align")}),
    # Chunked prefill, pooling
    ("--no-enable-chunked-prefill", "dense", {"chunked_prefill": False}),
    ("--enable-chunked-prefill", "unknown", {"chunked_prefill": True}),
    ("--runner generate", "unknown", {"chunked_prefill": True}),
    (
        "--runner pooling",
        "dense",
        {"cudagraph_mode": "PIECEWISE", "async_scheduling": False, "v2_model_runner": False, "prefix_caching": True},
    ),
    ("--convert embed", "hybrid", {"cudagraph_mode": "PIECEWISE", "prefix_caching": "unknown"}),
    # Optimisation level and CUDA graphs
    ("", "hybrid", {"optimization_level": 2, "cudagraph_mode": "FULL_AND_PIECEWISE", "enforce_eager": False}),
    ("-O0", "dense", {"optimization_level": 0, "cudagraph_mode": "NONE"}),
    ("-O1", "dense", {"optimization_level": 1, "cudagraph_mode": "PIECEWISE"}),
    ("-O 2", "dense", {"optimization_level": 2, "cudagraph_mode": "FULL_AND_PIECEWISE"}),
    ("--optimization-level 3", "dense", {"optimization_level": 3, "cudagraph_mode": "FULL_AND_PIECEWISE"}),
    ("--enforce-eager", "hybrid", {"cudagraph_mode": "NONE", "enforce_eager": True}),
    ("--enforce-eager -cc.cudagraph_mode=FULL", "hybrid", {"cudagraph_mode": "NONE"}),
    ("--enforce-eager --no-enforce-eager", "hybrid", {"cudagraph_mode": "FULL_AND_PIECEWISE"}),
    ("-cc.cudagraph_mode=PIECEWISE", "hybrid", {"cudagraph_mode": "PIECEWISE"}),
    ("-cc.cudagraph_mode piecewise", "hybrid", {"cudagraph_mode": "PIECEWISE"}),
    ("""-cc '{"cudagraph_mode":"FULL_DECODE_ONLY"}'""", "hybrid", {"cudagraph_mode": "FULL_DECODE_ONLY"}),
    ("""-cc '{"cudagraph_mode":0}'""", "hybrid", {"cudagraph_mode": "NONE"}),
    ("""-cc '{"cudagraph_mode":2}'""", "hybrid", {"cudagraph_mode": "FULL"}),
    ("""-cc '{"cudagraph_mode":null}'""", "hybrid", {"cudagraph_mode": "FULL_AND_PIECEWISE"}),
    ("""-cc '{"mode":0}'""", "dense", {"cudagraph_mode": "NONE"}),
    ("""-cc '{"mode":"none","cudagraph_mode":"FULL"}'""", "dense", {"cudagraph_mode": "FULL"}),
    ("""-cc '{"mode":0,"cudagraph_mode":"FULL_DECODE_ONLY"}'""", "dense", {"cudagraph_mode": "FULL_DECODE_ONLY"}),
    ("""-cc '{"mode":0,"cudagraph_mode":"FULL_AND_PIECEWISE"}'""", "dense", {"cudagraph_mode": "NONE"}),
    ("-O0 -cc.cudagraph_mode=PIECEWISE", "dense", {"cudagraph_mode": "NONE"}),
    ("-O0 -cc.cudagraph_mode=FULL", "dense", {"cudagraph_mode": "FULL"}),
    ("-O0 -cc.mode=3", "dense", {"cudagraph_mode": "NONE"}),
    ("-O1 -cc.mode=3 -cc.cudagraph_mode=FULL_AND_PIECEWISE", "dense", {"cudagraph_mode": "FULL_AND_PIECEWISE"}),
    ("""-cc '{"splitting_ops":[]}'""", "dense", {"cudagraph_mode": "FULL"}),
    ("""-cc '{"splitting_ops":[],"cudagraph_mode":"PIECEWISE"}'""", "dense", {"cudagraph_mode": "NONE"}),
    (
        """-cc '{"splitting_ops":[],"cudagraph_mode":"FULL_DECODE_ONLY"}'""",
        "dense",
        {"cudagraph_mode": "FULL_DECODE_ONLY"},
    ),
    ("""-cc '{"pass_config":{"fuse_attn_quant":true}}'""", "dense", {"cudagraph_mode": "FULL"}),
    ("""-cc '{"pass_config":{"enable_sp":true}}'""", "dense", {"cudagraph_mode": "FULL_AND_PIECEWISE"}),
    ("""-cc '{"pass_config":{"enable_sp":true}}' -tp 2""", "dense", {"cudagraph_mode": "unknown"}),
    ("", "ngram-flash", {"cudagraph_mode": ("FULL_AND_PIECEWISE", "FULL", "FULL")}),
    ("", "deepseek-v4", {"cudagraph_mode": "FULL_AND_PIECEWISE", "v2_model_runner": (False, False, True)}),
    (
        """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'""",
        "dense",
        {"cudagraph_mode": "FULL_AND_PIECEWISE"},
    ),
    (
        "--kv-transfer-config '{"
        '"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both","kv_connector_extra_config":{"use_layerwise":true}}\'',
        "dense",
        {"cudagraph_mode": "PIECEWISE"},
    ),
    ("""--kv-transfer-config '{"kv_connector":"Own","kv_role":"kv_both"}'""", "dense", {"cudagraph_mode": "unknown"}),
    (
        """--kv-transfer-config '{"kv_connector":"Own","kv_role":"kv_both"}' -O1""",
        "dense",
        {"cudagraph_mode": "PIECEWISE"},
    ),
    ("--all2all-backend deepep_high_throughput --data-parallel-size 2", "moe", {"cudagraph_mode": "NONE"}),
    (
        "--all2all-backend deepep_high_throughput --data-parallel-size 2",
        "dense",
        {"cudagraph_mode": "FULL_AND_PIECEWISE"},
    ),
    # Drafting
    ("", "dense", {"spec_decode.method": None, "spec_decode.num_speculative_tokens": 0}),
    ("--speculative-config null", "dense", {"spec_decode.method": None, "spec_decode.num_speculative_tokens": 0}),
    (
        MTP,
        "hybrid",
        {
            "spec_decode.method": "mtp",
            "spec_decode.num_speculative_tokens": 3,
            "async_scheduling": True,
            "v2_model_runner": False,
        },
    ),
    (MTP, "deepseek", {"spec_decode.method": "mtp", "v2_model_runner": False}),
    (MTP, "unknown", {"spec_decode.method": "mtp"}),
    (spec('{"method":"qwen3_5_mtp","num_speculative_tokens":"2"}'), "hybrid", {"spec_decode.method": "mtp"}),
    ("--spec-method mtp --spec-tokens 2", "hybrid", {"spec_decode.method": "mtp"}),
    ("--spec-method mtp --spec-tokens 2", "hybrid", {"spec_decode.num_speculative_tokens": 2}),
    (
        spec('{"method":"ngram","num_speculative_tokens":4}'),
        "dense",
        {"spec_decode.method": "ngram", "async_scheduling": False, "v2_model_runner": False},
    ),
    (spec('{"model":"[ngram]","num_speculative_tokens":4}'), "dense", {"spec_decode.method": "ngram"}),
    (
        spec('{"method":"ngram_gpu","num_speculative_tokens":4}'),
        "dense",
        {"async_scheduling": True, "v2_model_runner": False},
    ),
    (
        spec('{"method":"suffix"}'),
        "dense",
        {"spec_decode.method": "suffix", "spec_decode.num_speculative_tokens": 24, "async_scheduling": False},
    ),
    (
        spec('{"method":"suffix","suffix_decoding_max_tree_depth":9}'),
        "dense",
        {"spec_decode.num_speculative_tokens": 9},
    ),
    (
        spec('{"method":"eagle3","model":"org/head","num_speculative_tokens":2}'),
        "llama",
        {"spec_decode.method": "eagle3", "async_scheduling": True, "v2_model_runner": True},
    ),
    (
        spec('{"method":"eagle3","model":"org/head","num_speculative_tokens":2}') + " -pp 2",
        "llama",
        {"v2_model_runner": False},
    ),
    (spec('{"model":"org/EAGLE-llama","num_speculative_tokens":2}'), "llama", {"spec_decode.method": "eagle"}),
    (spec('{"model":"/models/x_eagle3","num_speculative_tokens":2}'), "llama", {"spec_decode.method": "eagle3"}),
    (spec('{"model":"/models/qwen-dflash","num_speculative_tokens":2}'), "hybrid", {"spec_decode.method": "dflash"}),
    (
        spec('{"method":"dflash","model":"/models/d","num_speculative_tokens":2}'),
        "hybrid",
        {"async_scheduling": True, "v2_model_runner": (False, "unknown", "unknown")},
    ),
    (
        spec('{"method":"dspark","model":"/models/d","num_speculative_tokens":5}'),
        "hybrid",
        {"v2_model_runner": True, "async_scheduling": True},
    ),
    (
        spec('{"method":"eagle3","model":"/models/my-dflash","num_speculative_tokens":2}'),
        "llama",
        {"spec_decode.method": "eagle3"},
    ),
    (
        spec('{"method":"draft_model","model":"/models/my-dflash","num_speculative_tokens":2}'),
        "llama",
        {"spec_decode.method": "dflash"},
    ),
    (
        spec('{"model":"Qwen/Qwen3-0.6B","num_speculative_tokens":2}'),
        "dense",
        {"spec_decode.method": "draft_model", "async_scheduling": (False, False, True), "v2_model_runner": False},
    ),
    (
        spec('{"model":"/models/drafter","num_speculative_tokens":2}'),
        "dense",
        {"spec_decode.method": "unknown", "async_scheduling": "unknown", "spec_decode.num_speculative_tokens": 2},
    ),
    (spec('{"model":"/models/drafter","num_speculative_tokens":2}'), "hybrid", {"v2_model_runner": ("unknown",) * 3}),
    (
        spec('{"model":"/m/gemma-4-31b-it-assistant","num_speculative_tokens":4}'),
        "gemma4",
        {"spec_decode.method": "mtp"},
    ),
    (spec('{"model":"/models/drafter"}'), "dense", {"spec_decode.num_speculative_tokens": "unknown"}),
    (spec('{"model":"own.Proposer","num_speculative_tokens":2}'), "dense", {"spec_decode.method": "custom_class"}),
    (
        spec('{"method":"eagle","model":"own.Proposer","num_speculative_tokens":2}'),
        "dense",
        {"spec_decode.method": ("custom_class", "eagle", "eagle")},
    ),
    (
        spec('{"method":"mtp","num_speculative_tokens":3,"disable_padded_drafter_batch":true}'),
        "hybrid",
        {"async_scheduling": False},
    ),
    # Scheduling and the model runner
    ("", "dense", {"async_scheduling": True, "v2_model_runner": True}),
    ("", "moe", {"v2_model_runner": False}),
    ("", "listed-moe", {"v2_model_runner": True}),
    ("", "pure-mamba", {"v2_model_runner": False}),
    ("", "unknown", {"v2_model_runner": "unknown", "async_scheduling": True}),
    ("", "nameless-hybrid", {"v2_model_runner": False}),
    ("--no-async-scheduling", "dense", {"async_scheduling": False}),
    ("--distributed-executor-backend ray", "dense", {"async_scheduling": True}),
    ("--distributed-executor-backend own.Executor", "dense", {"async_scheduling": "unknown"}),
    ("--enable-prompt-embeds", "dense", {"v2_model_runner": False}),
    ("--kv-sharing-fast-prefill", "dense", {"v2_model_runner": False}),
    ("--logprobs-mode raw_logits", "dense", {"v2_model_runner": (False, True, True)}),
    ("--enable-return-routed-experts", "listed-moe", {"v2_model_runner": (False, False, True)}),
    ("-cc.mode=1", "dense", {"v2_model_runner": False}),
    # Taken over as they are written
    ("-tp 2 -pp 3", "dense", {"tensor_parallel_size": 2, "pipeline_parallel_size": 3}),
    ("", "dense", {"tensor_parallel_size": 1, "pipeline_parallel_size": 1}),
    ("--max-model-len 16K --max-num-seqs 8", "dense", {"max_model_len": 16384, "max_num_seqs": 8}),
    ("", "dense", {"max_model_len": "unknown", "max_num_seqs": "unknown"}),
    ("--max-model-len auto", "dense", {"max_model_len": "unknown"}),
    ("--kv-cache-dtype fp8_e5m2", "dense", {"kv_cache_dtype": "fp8_e5m2"}),
    ("", "dense", {"kv_cache_dtype": "auto", "quantization": None, "attention_backend": None}),
    ("--quantization modelopt", "dense", {"kv_cache_dtype": "unknown", "quantization": "unknown"}),
    ("--quantization auto_round", "dense", {"quantization": "inc"}),
    ("--quantization compressed-tensors", "dense", {"quantization": "compressed-tensors"}),
    ("--quantization gptq_marlin", "dense", {"quantization": "auto_gptq"}),
    ("--attention-backend flashinfer", "dense", {"attention_backend": "FLASHINFER"}),
    ("-ac.backend=FLASH_ATTN", "dense", {"attention_backend": "FLASH_ATTN"}),
    ("--attention-backend auto", "dense", {"attention_backend": None}),
    ("", "gemma4", {"attention_backend": "unknown"}),
]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("argv", "model", "expected"), ROWS)
def test_rows(argv: str, model: str, expected: dict[str, object], release: str) -> None:
    engine = run(argv, release, model)
    wanted = {
        name: want[RELEASES.index(release)] if isinstance(want, tuple) else want for name, want in expected.items()
    }
    assert {name: value(engine, name) for name in wanted} == wanted
    assert engine.errors == ()


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("model", ["hybrid", "dense", "unknown"])
def test_every_property_has_a_reason(release: str, model: str) -> None:
    engine = run(MTP, release, model)
    assert tuple(engine.properties) == PROPERTIES
    silent = [name for name, found in engine.properties.items() if not found.because and not name.startswith("model.")]
    assert silent == []
    for found in engine.properties.values():
        if found.certainty == "assumed" and not any(reason.kind == "catalog" for reason in found.because):
            assert any(reason.kind == "assumption" for reason in found.because)


def test_a_reason_can_be_looked_up_in_the_source() -> None:
    address = "https://github.com/vllm-project/vllm/blob/v0.25.1/vllm/envs.py"
    assert source_link("0.25.1", "vllm/envs.py", 12) == f"{address}#L12"
    assert source_link("0.25.1", "vllm/envs.py", None) == address


def test_an_explicit_setting_has_the_reasons_of_its_words() -> None:
    found = run("--enable-prefix-caching").properties["prefix_caching"]
    assert [(reason.kind, reason.path, reason.line) for reason in found.because] == [("compose", "compose.yml", 7)]


def test_a_default_names_the_line_of_the_source_that_decides() -> None:
    reason = run("").properties["prefix_caching"].because[0]
    assert reason.kind == "engine-default"
    assert reason.path == "vllm/engine/arg_utils.py"
    assert reason.line is not None
    assert reason.text == "vLLM 0.25.1: hybrid models default to no prefix caching"


@pytest.mark.parametrize("release", ["0.11.0", "0.13.0", "0.14.1"])
@pytest.mark.parametrize(
    ("word", "backend"),
    [("TRITON_ATTN", "TRITON_ATTN"), ("flashinfer", "unknown"), ("FLASH_ATTN_VLLM_V1", "unknown"), ("NO", "unknown")],
)
def test_a_backend_that_a_variable_names(release: str, word: str, backend: str) -> None:
    assert value(run("", release, "dense", env={"VLLM_ATTENTION_BACKEND": word}), "attention_backend") == backend


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"VLLM_USE_V2_MODEL_RUNNER": "1"}, {"v2_model_runner": True}),
        ({"VLLM_USE_V2_MODEL_RUNNER": "0"}, {"v2_model_runner": False}),
        ({"TORCH_COMPILE_DISABLE": "1"}, {"cudagraph_mode": "NONE"}),
        ({"TORCH_COMPILE_DISABLE": "0"}, {"cudagraph_mode": "FULL_AND_PIECEWISE"}),
        ({"VLLM_USE_BREAKABLE_CUDAGRAPH": "1"}, {"cudagraph_mode": "FULL_AND_PIECEWISE"}),
        ({"VLLM_ATTENTION_BACKEND": "FLASHINFER"}, {"attention_backend": None}),
    ],
)
def test_variables(env: dict[str, str], expected: dict[str, object]) -> None:
    engine = run("", model="hybrid", env=env)
    assert {name: value(engine, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("argv", "unknown", "known"),
    [
        ("--enable-prefix-caching ${X}", (), ()),
        ("--kv-cache-dtype ${X}", ("kv_cache_dtype",), ("prefix_caching", "cudagraph_mode")),
        ("--speculative-config ${X}", ("spec_decode.method", "async_scheduling"), ("prefix_caching",)),
        ("--compilation-config ${X}", ("cudagraph_mode",), ("optimization_level",)),
        ("--tensor-parallel-size ${X}", ("tensor_parallel_size",), ("cudagraph_mode",)),
    ],
)
def test_a_symbol_makes_unknown_what_it_decides(argv: str, unknown: tuple[str, ...], known: tuple[str, ...]) -> None:
    words = [word(text, ("X",) if "${X}" in text else ()) for text in argv.split()]
    engine = run(words, sm=(120,))
    assert [name for name in unknown if engine.properties[name].known] == []
    assert [name for name in known if not engine.properties[name].known] == []


def test_unknown_words_leave_no_default_standing() -> None:
    engine = run([word("--enforce-eager"), word("${EXTRA}", ("EXTRA",), splits=True)])
    assert not engine.properties["prefix_caching"].known
    assert not engine.properties["cudagraph_mode"].known
    assert engine.properties["model.recurrent"].known


@pytest.mark.parametrize("image", ["vllm/vllm-openai-rocm:v0.25.1", "vllm/vllm-openai-cpu:v0.25.1", "x/vllm-gfx1151:1"])
def test_other_platforms_have_other_defaults(image: str) -> None:
    engine = run("--kv-cache-dtype fp8", model="dense", image=image)
    for name in ("cudagraph_mode", "v2_model_runner", "attention_backend", "async_scheduling"):
        assert not engine.properties[name].known
        assert "the image is for" in engine.properties[name].because[0].text
    assert value(engine, "kv_cache_dtype") == "fp8"
    assert value(engine, "prefix_caching") is True
    assert value(run("--enforce-eager", image=image), "cudagraph_mode") == "NONE"


def test_a_refused_setting_is_not_at_its_default() -> None:
    engine = run("-cc.cudagraph_mode=HALF --kv-cache-dtype FP8")
    assert {error.kind for error in engine.errors} == {"invalid-value"}
    assert value(engine, "cudagraph_mode") == "unknown"
    assert value(engine, "kv_cache_dtype") == "unknown"


@pytest.mark.parametrize(
    ("name", "dtype", "quantization"),
    [
        ("Qwen/Qwen3-8B", "auto", None),
        ("Qwen/Qwen3-8B-AWQ", "auto", "unknown"),
        ("Qwen/Qwen3-8B-FP8", "auto", "unknown"),
        ("nvidia/Qwen3-8B-FP8", "unknown", "unknown"),
        ("/models/some-nvfp4", "unknown", "unknown"),
        ("/models/plain", "auto", "unknown"),
        ("openai/gpt-oss-20b", "auto", "unknown"),
    ],
)
def test_what_a_checkpoint_may_decide(name: str, dtype: str, quantization: object) -> None:
    engine = run("", model="dense", name=name)
    assert value(engine, "kv_cache_dtype") == dtype
    assert value(engine, "quantization") == quantization


def test_a_model_is_known_by_its_name_where_nothing_else_is_said() -> None:
    engine = run("", model="unknown", name="Qwen/Qwen3.6-27B")
    assert value(engine, "model.recurrent") == "gdn"
    assert engine.properties["prefix_caching"].certainty == "assumed"


WORDS = sorted({text for argv, _, _ in ROWS for text in shlex.split(argv)})


def check_any(words: list[str], release: str | None, model: str, sm: tuple[int, ...], holes: set[int]) -> None:
    """Whatever the words are, there is an answer of the right form."""
    argv = [word("${X}", ("X",), splits=at % 2 == 0) if at in holes else word(text) for at, text in enumerate(words)]
    engine = run(argv, release, model, sm=sm)
    assert tuple(engine.properties) == PROPERTIES
    for found in engine.properties.values():
        assert found.known or found.value is None
    if engine.properties["cudagraph_mode"].value == "NONE":
        assert value(engine, "cudagraph_mode_effective") == "NONE"


anything = given(
    words=st.lists(st.sampled_from(WORDS), max_size=8),
    release=st.sampled_from([*RELEASES, None]),
    model=st.sampled_from(sorted(MODELS)),
    sm=st.sampled_from([(), (86,), (90,), (120,), (86, 120)]),
    holes=st.sets(st.integers(0, 7), max_size=1),
)


@anything
@settings(max_examples=100, deadline=None)
def test_any_words(words: list[str], release: str | None, model: str, sm: tuple[int, ...], holes: set[int]) -> None:
    check_any(words, release, model, sm, holes)


@pytest.mark.soak
@anything
@settings(max_examples=20_000, deadline=None)
def test_any_words_for_long(
    words: list[str], release: str | None, model: str, sm: tuple[int, ...], holes: set[int]
) -> None:
    check_any(words, release, model, sm, holes)


PROFILED = Model("mamba", hybrid=True, because={"recurrent": (Reason("catalog", "models/a.yml", 3, "layers"),)})


@pytest.mark.parametrize(
    ("name", "model", "expected"),
    [
        ("model.recurrent", "nvidia/Nemotron-H-8B-Base-8K", ("mamba", "certain")),
        ("prefix_caching", "nvidia/Nemotron-H-8B-Base-8K", (False, "assumed")),
        ("model.architecture", "nvidia/Nemotron-H-8B-Base-8K", ("NemotronHForCausalLM", "assumed")),
        ("cudagraph_mode_effective", "nvidia/Nemotron-H-8B-Base-8K", ("FULL_AND_PIECEWISE", "assumed")),
        ("model.architecture", "Qwen/Qwen3.5-27B", (None, "unknown")),
        ("model.architecture", "org/ours", (None, "unknown")),
    ],
)
def test_a_name_adds_to_what_a_profile_states(name: str, model: str, expected: tuple[str, str]) -> None:
    pin = Pin("vllm/vllm-openai:v0.25.1", "0.25.1")
    found = resolve(Launch((word("serve"), word(model)), {}, pin, PROFILED, sm=(120,))).properties[name]
    assert (found.value, found.certainty) == expected
