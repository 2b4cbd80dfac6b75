"""What the configuration refuses before a worker starts."""

from __future__ import annotations

import pytest

from tests.engine.launches import RELEASES, run


def spec(text: str) -> str:
    return f"--speculative-config '{text}'"


NGRAM = spec('{"method":"ngram","num_speculative_tokens":3}')
MTP = spec('{"method":"mtp","num_speculative_tokens":3}')

# A row: arguments, model, environment, and the releases that refuse them.
ROWS: list[tuple[str, str, dict[str, str], tuple[str, ...]]] = [
    ("", "hybrid", {}, ()),
    ("--enable-expert-parallel", "dense", {}, RELEASES),
    ("--enable-expert-parallel", "moe", {}, ()),
    ("--enable-expert-parallel", "unknown", {}, ()),
    ("--enable-eplb -tp 2", "moe", {}, RELEASES),
    ("--enable-eplb --enable-expert-parallel", "moe", {}, RELEASES),
    ("--enable-eplb --enable-expert-parallel -tp 2", "moe", {}, ()),
    ("--enable-elastic-ep", "moe", {}, RELEASES),
    ("--enable-dbo", "moe", {}, RELEASES),
    ("--enable-dbo --all2all-backend deepep_low_latency", "moe", {}, ()),
    ("--ubatch-size 2", "moe", {}, RELEASES),
    ("--ubatch-size 2", "moe", {"VLLM_ALL2ALL_BACKEND": "deepep_high_throughput"}, RELEASES),
    ("--prefill-context-parallel-size 2", "dense", {}, ("0.27.1", "0.28.0")),
    ("--decode-context-parallel-size 2", "dense", {}, RELEASES),
    ("--decode-context-parallel-size 2 -tp 2", "dense", {}, ()),
    ("--data-parallel-rank 0", "dense", {}, RELEASES),
    ("--data-parallel-external-lb", "moe", {}, RELEASES),
    ("--data-parallel-hybrid-lb", "moe", {}, RELEASES),
    ("--mamba-block-size 64", "hybrid", {}, ("0.25.1", "0.27.1")),
    ("--mamba-block-size 64", "dense", {}, ()),
    (f"--kv-sharing-fast-prefill {MTP}", "hybrid", {}, RELEASES),
    (f"--kv-sharing-fast-prefill {NGRAM}", "dense", {}, ()),
    ("""-cc '{"custom_ops":["all","none"]}'""", "dense", {}, RELEASES),
    ("--max-model-len 0", "dense", {}, RELEASES),
    (spec('{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_min":0}'), "dense", {}, RELEASES),
    (spec('{"model":"Qwen/Qwen3-0.6B"}'), "dense", {}, RELEASES),
    (spec('{"model":"Qwen/Qwen3-0.6B","num_speculative_tokens":3}'), "dense", {}, ()),
    (spec('{"method":"mtp","model":"Qwen/Qwen3-0.6B","num_speculative_tokens":3}'), "dense", {}, RELEASES),
    (
        spec('{"method":"mtp","num_speculative_tokens":3,"rejection_sample_method":"synthetic"}'),
        "hybrid",
        {},
        RELEASES,
    ),
    (f"--async-scheduling {NGRAM}", "dense", {}, RELEASES),
    (f"--async-scheduling {MTP}", "hybrid", {}, ()),
    (
        "--async-scheduling " + spec('{"method":"mtp","num_speculative_tokens":3,"disable_padded_drafter_batch":true}'),
        "hybrid",
        {},
        RELEASES,
    ),
    ("--no-enable-chunked-prefill", "hybrid", {}, ("0.28.0",)),
    ("--no-enable-chunked-prefill --enable-prefix-caching", "hybrid", {}, RELEASES),
    ("--no-enable-chunked-prefill --enable-prefix-caching", "mamba", {}, ("0.28.0",)),
    ("--no-enable-chunked-prefill --enable-prefix-caching", "dense", {}, ()),
    ("--no-enable-chunked-prefill --max-num-batched-tokens 2048 --max-model-len 4096", "dense", {}, RELEASES),
    ("--max-num-batched-tokens 2048 --max-model-len 4096", "dense", {}, ()),
    ("--no-enable-chunked-prefill --max-num-batched-tokens 4096 --max-model-len 4096", "dense", {}, ()),
    ("--max-num-batched-tokens 64 --max-num-seqs 128", "dense", {}, RELEASES),
    ("--max-num-batched-tokens 64", "dense", {}, ()),
    ("--long-prefill-token-threshold 9000 --max-model-len 8192", "dense", {}, ("0.27.1", "0.28.0")),
    (spec("{}"), "hybrid", {}, RELEASES),
    (spec('{"num_speculative_tokens":3}'), "hybrid", {}, RELEASES),
    (spec('{"method":"mtp"}'), "hybrid", {}, RELEASES),
    (spec('{"method":"eagle3","num_speculative_tokens":3}'), "hybrid", {}, RELEASES),
    (spec('{"method":"draft_model","num_speculative_tokens":3}'), "hybrid", {}, RELEASES),
    (spec('{"method":"custom_class","num_speculative_tokens":3}'), "hybrid", {}, RELEASES),
    (spec('{"method":"MTP","num_speculative_tokens":3}'), "hybrid", {}, RELEASES),
    (spec('{"method":"mtp","num_speculative_tokens":0}'), "hybrid", {}, RELEASES),
    (spec('{"method":"mtp","num_speculative_tokens":3,"tensor_parallel_size":1}'), "hybrid", {}, RELEASES),
    (
        spec('{"method":"mtp","num_speculative_tokens":3,"draft_tensor_parallel_size":3}') + " -tp 2",
        "hybrid",
        {},
        RELEASES,
    ),
    (spec('{"method":"mtp","num_speculative_tokens":3,"draft_tensor_parallel_size":1}') + " -tp 2", "hybrid", {}, ()),
    (
        spec('{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_min":4,"prompt_lookup_max":2}'),
        "dense",
        {},
        RELEASES,
    ),
    (MTP, "dense", {}, RELEASES),
    (MTP, "moe", {}, RELEASES),
    (MTP, "mamba", {}, ()),
    (MTP, "unknown", {}, ()),
    ("--spec-method mtp " + MTP, "hybrid", {}, RELEASES),
    (
        spec('{"method":"dflash","model":"/m/d","num_speculative_tokens":8}')
        + " --max-num-batched-tokens 1024 --max-num-seqs 256",
        "hybrid",
        {},
        ("0.25.1", "0.27.1"),
    ),
    ("""-cc '{"cudagraph_capture_sizes":[]}'""", "dense", {}, RELEASES),
    ("""-cc '{"cudagraph_capture_sizes":[]}' --enforce-eager""", "dense", {}, ()),
    ("""-cc '{"cudagraph_capture_sizes":[1,2],"max_cudagraph_capture_size":4}'""", "dense", {}, RELEASES),
    ("""-cc '{"cudagraph_capture_sizes":[1,4],"max_cudagraph_capture_size":4}'""", "dense", {}, ()),
    ("""-cc '{"mode":0,"cudagraph_mode":"FULL"}' --runner pooling""", "dense", {}, RELEASES),
    ("--attention-backend FLASHINFER -ac.backend=FLASH_ATTN", "dense", {}, RELEASES),
    ("--quantization nonsense", "dense", {}, RELEASES),
    ("--quantization fp_quant", "dense", {}, RELEASES),
    ("--quantization fp_quant --allow-deprecated-quantization", "dense", {}, ()),
    ("--quantization bitsandbytes", "dense", {}, ("0.28.0",)),
    ("""--kv-transfer-config '{"kv_connector":"NixlConnector"}'""", "dense", {}, RELEASES),
    (
        """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'""",
        "dense",
        {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
        RELEASES,
    ),
    (
        """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}' --enable-sleep-mode""",
        "dense",
        {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
        (),
    ),
    ("", "dense", {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}, ()),
    ("--data-parallel-size 2 --data-parallel-rank 0", "dense", {}, RELEASES),
    ("--data-parallel-size 2", "dense", {}, ()),
    ("", "dense", {"VLLM_USE_V2_MODEL_RUNNER": "True"}, RELEASES),
    ("", "dense", {"VLLM_USE_V2_MODEL_RUNNER": ""}, RELEASES),
    (NGRAM, "dense", {"VLLM_USE_V2_MODEL_RUNNER": "1"}, RELEASES),
    (NGRAM, "dense", {"VLLM_USE_V2_MODEL_RUNNER": "0"}, ()),
    ("--fail-on-environ-validation", "dense", {"VLLM_NO_SUCH": "1"}, RELEASES),
    ("", "dense", {"VLLM_NO_SUCH": "1"}, ()),
    ("-O4", "dense", {}, RELEASES),
    ("-O.cudagraph_mode=PIECEWISE", "dense", {}, RELEASES),
]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("argv", "model", "env", "refusing"), ROWS)
def test_rows(argv: str, model: str, env: dict[str, str], refusing: tuple[str, ...], release: str) -> None:
    errors = run(argv, release, model, env=env).errors
    assert bool(errors) == (release in refusing), errors
    assert all(error.message and error.argument for error in errors)


@pytest.mark.parametrize(
    ("argv", "model", "release", "refused"),
    [
        (MTP, "hybrid", "0.16.0", True),
        (MTP, "hybrid", "0.17.0", False),
        (MTP, "hybrid-moe", "0.11.0", False),
        (MTP, "mamba", "0.16.0", True),
        (MTP, "deepseek-v4", "0.19.1", True),
        (MTP, "deepseek-v4", "0.20.0", False),
        (spec('{"model":"Qwen/Qwen3-0.6B","num_speculative_tokens":3}'), "dense", "0.14.1", True),
        (spec('{"model":"Qwen/Qwen3-0.6B","num_speculative_tokens":3}'), "dense", "0.17.0", False),
        ("--kv-cache-dtype turboquant_k8v4", "hybrid", "0.20.0", True),
        ("--kv-cache-dtype turboquant_k8v4", "hybrid", "0.21.0", False),
        ("-O0", "mamba", "0.11.0", True),
        ("-O0", "dense", "0.11.0", False),
    ],
)
def test_what_a_release_refuses(argv: str, model: str, release: str, refused: bool) -> None:
    assert bool(run(argv, release, model).errors) == refused


EXPERTS = "--enable-return-routed-experts"


@pytest.mark.parametrize(
    ("argv", "model", "release", "said"),
    [
        (EXPERTS, "dense", "0.31.0", "only supports MoE models"),
        (EXPERTS, "dense", "0.30.0", ""),
        (EXPERTS, "moe", "0.33.0", ""),
        ("--aux-output-config.enable_return_routed_experts true", "dense", "0.33.0", "only supports MoE models"),
        (f"{EXPERTS} --no-enable-prefix-caching", "moe", "0.33.0", "requires prefix caching"),
        (f"{EXPERTS} -pp 2", "moe", "0.33.0", "pipeline parallelism"),
        (f"{EXPERTS} --runner pooling", "moe", "0.33.0", "only supports generate runners"),
        (EXPERTS, "unknown", "0.33.0", ""),
        (f"{EXPERTS} --kv-transfer-config.kv_connector NixlConnector", "moe", "0.33.0", "kv_role"),
        ("--mm-encoder-only", "hybrid", "0.28.0", ""),
        ("--mm-encoder-only", "hybrid", "0.29.0", "--mamba-block-size can only be set"),
        ("--mm-encoder-only --no-enable-prefix-caching", "hybrid", "0.30.0", ""),
        ("--mm-encoder-only", "hybrid-moe", "0.30.0", ""),
        ("--mm-encoder-only", "hybrid", "0.31.0", ""),
        ("--reasoning-parser nosuch", "dense", "0.11.0", ""),
        ("--reasoning-parser nosuch", "dense", "0.11.1", "'nosuch' not found"),
        ("--reasoning-parser nosuch", "dense", "0.29.0", "'nosuch' not found"),
        ("--reasoning-parser qwen3", "dense", "0.29.0", ""),
        ("--reasoning-parser ''", "dense", "0.29.0", ""),
        ("--reasoning-parser None", "dense", "0.33.0", ""),
        ("--reasoning-parser mine --reasoning-parser-plugin mine.py", "dense", "0.29.0", ""),
        ("--reasoning-parser nosuch --skip-tokenizer-init", "dense", "0.29.0", ""),
        ("--structured-outputs-config.reasoning_parser nosuch", "dense", "0.20.0", "'nosuch' not found"),
        (spec('{"method":"suffix","suffix_decoding_max_tree_depth":0}'), "dense", "0.29.0", "must be >= 1"),
        (spec('{"method":"suffix","suffix_decoding_min_token_prob":1.5}'), "dense", "0.29.0", "must be in [0, 1]"),
        (spec('{"method":"suffix"}'), "dense", "0.29.0", ""),
        ("""-cc '{"custom_ops":["all","none"]}' -cc.cudagraph_mode=PIECEWISE""", "dense", "0.15.1", "'none' or 'all'"),
        ("""-cc '{"custom_ops":["all","all"]}'""", "dense", "0.26.0", "'none' or 'all'"),
        ("""-cc '{"custom_ops":["all","+rms_norm"]}'""", "dense", "0.26.0", ""),
        (spec('{"model":"Qwen/Qwen3-0.6B","num_speculative_tokens":3}'), "dense", "0.14.1", "method: 'None'"),
        (spec('{"model":"Qwen/Qwen3-0.6B","num_speculative_tokens":3}'), "dense", "0.15.0", "method: 'None'"),
        (spec('{"model":"Qwen/Qwen3-0.6B","num_speculative_tokens":3}'), "dense", "0.16.0", "method: 'None'"),
        (spec('{"model":"Qwen/Qwen3-0.6B","num_speculative_tokens":3}'), "dense", "0.17.0", ""),
    ],
)
def test_what_a_release_says_of_what_it_refuses(argv: str, model: str, release: str, said: str) -> None:
    errors = " | ".join(error.message for error in run(argv, release, model).errors)
    assert (said in errors) if said else not errors


def test_suffix_decoding_rests_on_what_the_image_has_beside_vllm() -> None:
    found = run(spec('{"method":"suffix"}'), "0.29.0", "dense").properties["spec_decode.method"]
    assert (found.value, found.certainty) == ("suffix", "assumed")
    assert "arctic-inference" in found.because[-1].text
