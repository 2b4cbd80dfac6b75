"""Command lines that ask much of a release's configuration: single settings, their pairs, and traps."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from packaging.version import Version

MODELS = {
    "Qwen/Qwen3-8B": ("Qwen3ForCausalLM", "dense"),
    "Qwen/Qwen3.5-27B": ("Qwen3_5ForConditionalGeneration", "hybrid"),
    "Qwen/Qwen3-30B-A3B": ("Qwen3MoeForCausalLM", "moe"),
    "Qwen/Qwen3.5-35B-A3B": ("Qwen3_5MoeForConditionalGeneration", "hybrid-moe"),
    "Qwen/Qwen3-Next-80B-A3B-Instruct": ("Qwen3NextForCausalLM", "hybrid-moe"),
    "meta-llama/Llama-3.1-8B-Instruct": ("LlamaForCausalLM", "dense"),
}
"""The models, with their architecture and kind. Their configurations are small ones of the same class."""

OTHER_MODELS = {
    "nvidia/NVIDIA-Nemotron-Nano-9B-v2": ("NemotronHForCausalLM", "hybrid"),
    "google/gemma-3-27b-it": ("Gemma3ForConditionalGeneration", "dense"),
    "google/gemma-4-31B-it": ("Gemma4ForConditionalGeneration", "dense"),
    "openai/gpt-oss-20b": ("GptOssForCausalLM", "moe"),
    "zai-org/GLM-4.5-Air": ("Glm4MoeForCausalLM", "moe"),
    "deepseek-ai/DeepSeek-V3": ("DeepseekV3ForCausalLM", "moe"),
    "openai/whisper-small": ("WhisperForConditionalGeneration", "dense"),
    "ai21labs/AI21-Jamba-Mini": ("JambaForCausalLM", "hybrid-moe"),
    "ibm-granite/granite-4.0-h-tiny": ("GraniteMoeHybridForCausalLM", "hybrid-moe"),
    "mistralai/Mistral-7B-Instruct-v0.3": ("MistralForCausalLM", "dense"),
}

NEXT = "Qwen/Qwen3-Next-80B-A3B-Instruct"


def _spec(**keys: Any) -> list[str]:
    return ["--speculative-config", json.dumps(keys)]


def _compile(**keys: Any) -> list[str]:
    return ["--compilation-config", json.dumps(keys)]


def _words(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


MTP = _spec(method="mtp", num_speculative_tokens=3)
NGRAM = _spec(method="ngram", num_speculative_tokens=4, prompt_lookup_max=4)

SETTINGS: list[list[str]] = [
    [],
    *_words(
        """
        --enable-prefix-caching
        --no-enable-prefix-caching
        --no-enable-chunked-prefill
        --enable-chunked-prefill
        --mamba-cache-mode align
        --mamba-cache-mode all
        --mamba-cache-mode none
        --enforce-eager
        --no-enforce-eager
        --async-scheduling
        --no-async-scheduling
        -O0
        -O1
        -O2
        -O3
        -O 1
        -O=3
        -O4
        --optimization-level 0
        --optimization-level 3
        -O.cudagraph_mode=PIECEWISE
        -O.cudagraph_mode PIECEWISE
        -O.mode=0
        -O.level=0
        -cc.cudagraph_mode=NONE
        -cc.cudagraph_mode=FULL
        -cc.cudagraph_mode=FULL_DECODE_ONLY
        -cc.cudagraph_mode=PIECEWISE
        -cc.mode=0
        -cc.mode=1
        -cc.level=0
        --kv-cache-dtype fp8
        --kv-cache-dtype fp8_e5m2
        --kv-cache-dtype fp8_e4m3
        --kv-cache-dtype bfloat16
        --kv-cache-dtype turboquant_k8v4
        --kv-cache-dtype turboquant_3bit_nc
        --kv-cache-dtype nvfp4
        --kv-cache-dtype int8_per_token_head
        --kv-cache-dtype fp8_inc
        --kv-cache-dtype fp8_ds_mla
        --attention-backend FLASHINFER
        --attention-backend TRITON_ATTN
        --attention-backend auto
        --attention-config.backend FLASH_ATTN
        --tensor-parallel-size 2
        -tp 4
        -tp 16
        -tp 3
        -pp 2
        -dp 2
        --data-parallel-size 2
        --max-num-seqs 1
        --max-num-seqs 0
        --max-num-seqs 8192
        --max-num-batched-tokens 64
        --max-num-batched-tokens 4096
        --max-model-len 8192
        --max-model-len 16k
        --max-model-len auto
        --max-model-len 1000000
        --max-model-len -1
        --max-model-len 0
        --gpu-memory-utilization 0.95
        --gpu-memory-utilization 1.5
        --gpu-memory-utilization 0
        --block-size 16
        --block-size 7
        --block-size 256
        --runner pooling
        --runner generate
        --convert embed
        --quantization fp8
        --quantization awq
        --quantization gptq_marlin
        --quantization bitsandbytes
        --quantization nosuch
        --dtype float16
        --dtype half
        --dtype float32
        --dtype nosuch
        --performance-mode throughput
        --performance-mode interactivity
        --language-model-only
        --disable-cascade-attn
        --distributed-executor-backend mp
        --distributed-executor-backend uni
        --distributed-executor-backend external_launcher
        --enable-prompt-embeds
        --enable-lora
        --enable-expert-parallel
        --scheduling-policy priority
        --decode-context-parallel-size 2
        --prefill-context-parallel-size 2
        --logprobs-mode raw_logits
        --kv-sharing-fast-prefill
        --enable-dbo
        --enable-eplb
        --enable-eplb --enable-expert-parallel -tp 2
        --decode-context-parallel-size 2 -tp 4
        --prefill-context-parallel-size 2 -tp 2
        --data-parallel-size 2 --enable-expert-parallel
        --data-parallel-size 2 --data-parallel-rank 1
        --data-parallel-size 2 --data-parallel-external-lb
        --distributed-executor-backend ray
        --distributed-executor-backend ray -tp 2
        --enable-sleep-mode
        --skip-tokenizer-init
        --disable-hybrid-kv-cache-manager
        --no-disable-hybrid-kv-cache-manager
        --swap-space 4
        --cpu-offload-gb 4
        --kv-offloading-size 4
        --calculate-kv-scales
        --mamba-block-size 64
        --mamba-ssm-cache-dtype float32
        --mamba-cache-dtype float32
        --disable-sliding-window
        --enable-return-routed-experts
        --max-num-partial-prefills 2
        --long-prefill-token-threshold 100
        --max-cudagraph-capture-size 64
        --cudagraph-capture-sizes 1 2 4
        --cuda-graph-sizes 1 2 4
        --disable-chunked-mm-input
        --async-scheduling --no-async-scheduling
        --api-server-count 2
        --data-parallel-rank 0
        --data-parallel-external-lb
        --data-parallel-hybrid-lb
        --data-parallel-backend ray
        --data-parallel-size-local 1
        --num-gpu-blocks-override 100
        --enable-elastic-ep
        --all2all-backend naive
        --all2all-backend deepep_high_throughput
        --hf-overrides {}
        --load-format dummy
        --load-format fastsafetensors
        --load-format nosuch
        --tokenizer-mode slow
        --tokenizer-mode mistral
        --reasoning-parser qwen3
        --reasoning-parser nosuch
        --tool-call-parser hermes
        --enable-auto-tool-choice
        --trust-remote-code
        --generation-config vllm
        --seed 1
        --seed none
        --served-model-name a b
        --limit-mm-per-prompt {"image":0}
        --mm-encoder-only
        --mm-processor-cache-gb 0
        --mm-encoder-tp-mode data
        --enable-tokenizer-info-endpoint
        --stream-interval 0
        --stream-interval 5
        --disable-log-stats
        --max-logprobs -1
        --max-logprobs 5
        --kv-cache-memory-bytes 1G
        --kv-cache-memory 1000
        --kv-transfer-config {"kv_connector":"NixlConnector","kv_role":"kv_both"}
        --kv-transfer-config {"kv_connector":"NixlConnector"}
        --spec-method mtp --spec-tokens 2
        --spec-tokens 2
        --no-scheduler-reserve-full-isl
        --enable-layerwise-nvtx-tracing
        --cudagraph-metrics
        --ubatch-size 2
        --enable-flashinfer-autotune
        --disable-prefix-caching
        --enable-prefix-caching true
        --enable-prefix
        --max-model 4096
        --kv-cache fp8
        --foo bar
        extra
        """
    ),
    MTP,
    NGRAM,
    _spec(method="mtp", num_speculative_tokens=0),
    _spec(method="mtp", num_speculative_tokens=-1),
    _spec(method="mtp", num_speculative_tokens=1),
    _spec(method="mtp"),
    _spec(num_speculative_tokens=3),
    _spec(method="MTP", num_speculative_tokens=3),
    _spec(method="qwen3_next_mtp", num_speculative_tokens=2),
    _spec(method="qwen3_5_mtp", num_speculative_tokens=2),
    _spec(method="deepseek_mtp", num_speculative_tokens=2),
    _spec(method="mtp", num_speculative_tokens=3, disable_padded_drafter_batch=True),
    _spec(method="mtp", num_speculative_tokens="3"),
    _spec(method="mtp", num_speculative_tokens=3, foo=1),
    _spec(method="mtp", num_speculative_tokens=3, parallel_drafting=True),
    _spec(method="mtp", num_speculative_tokens=3, draft_tensor_parallel_size=1),
    _spec(method="mtp", num_speculative_tokens=3, draft_tensor_parallel_size=2),
    _spec(method="mtp", num_speculative_tokens=3, tensor_parallel_size=1),
    _spec(method="mtp", num_speculative_tokens=3, max_model_len=4096),
    _spec(method="mtp", num_speculative_tokens=3, disable_by_batch_size=1),
    _spec(method="mtp", num_speculative_tokens=3, disable_by_batch_size=8),
    _spec(method="mtp", num_speculative_tokens=3, enforce_eager=True),
    _spec(method="mtp", num_speculative_tokens=3, rejection_sample_method="strict"),
    _spec(method="mtp", num_speculative_tokens=3, rejection_sample_method="synthetic"),
    _spec(method="mtp", num_speculative_tokens=3, attention_backend="FLASH_ATTN"),
    _spec(method="mtp", num_speculative_tokens=3, quantization="fp8"),
    _spec(method="mtp", num_speculative_tokens=3, model="Qwen/Qwen3-8B"),
    _spec(method="ngram", num_speculative_tokens=4),
    _spec(method="ngram", num_speculative_tokens=4, prompt_lookup_min=5, prompt_lookup_max=3),
    _spec(method="ngram", num_speculative_tokens=4, prompt_lookup_min=2),
    _spec(method="ngram", num_speculative_tokens=4, prompt_lookup_max=0),
    _spec(method="ngram", num_speculative_tokens=4, prompt_lookup_min=0),
    _spec(method="ngram"),
    _spec(method="ngram_gpu", num_speculative_tokens=4),
    _spec(method="suffix", num_speculative_tokens=4),
    _spec(method="suffix"),
    _spec(method="eagle3", num_speculative_tokens=3),
    _spec(method="draft_model", num_speculative_tokens=3),
    _spec(method="draft_model", model="Qwen/Qwen3-0.6B", num_speculative_tokens=3),
    _spec(model="Qwen/Qwen3-0.6B", num_speculative_tokens=3),
    _spec(model="Qwen/Qwen3-0.6B"),
    _spec(model="Qwen/Qwen3-0.6B", num_speculative_tokens=3, parallel_drafting=True),
    _spec(model="ngram", num_speculative_tokens=3),
    _spec(model="[ngram]", num_speculative_tokens=3),
    _spec(model="ngram"),
    _spec(method="medusa", num_speculative_tokens=3),
    _spec(method="extract_hidden_states", num_speculative_tokens=1),
    _spec(method="extract_hidden_states", num_speculative_tokens=3),
    _spec(method="custom_class", num_speculative_tokens=3),
    _spec(model="my.Proposer", num_speculative_tokens=3),
    _spec(method="dflash", num_speculative_tokens=3),
    _spec(method="dspark", num_speculative_tokens=3),
    _spec(),
    ["--speculative-config", "null"],
    ["--speculative-config.method", "mtp", "--speculative-config.num_speculative_tokens", "3"],
    ["--speculative-config.method=mtp", "--speculative-config.num-speculative-tokens=3"],
    ["--speculative_config", '{"method":"mtp","num_speculative_tokens":3}'],
    ["-sc", '{"method":"mtp","num_speculative_tokens":3}'],
    ["-sc.method=mtp", "-sc.num_speculative_tokens=3"],
    [*MTP, "--speculative-config.num_speculative_tokens", "5"],
    *(
        _compile(cudagraph_mode=mode)
        for mode in ("NONE", "PIECEWISE", "FULL", "FULL_DECODE_ONLY", "FULL_AND_PIECEWISE")
    ),
    _compile(cudagraph_mode="piecewise"),
    _compile(cudagraph_mode=2),
    _compile(cudagraph_mode="BAD"),
    _compile(mode=0),
    _compile(mode=1),
    _compile(mode=2),
    _compile(mode=3),
    _compile(mode="VLLM_COMPILE"),
    _compile(mode="NONE"),
    _compile(mode=7),
    _compile(level=0),
    _compile(level=3),
    _compile(mode=0, cudagraph_mode="FULL"),
    _compile(mode=0, cudagraph_mode="FULL_DECODE_ONLY"),
    _compile(mode=0, cudagraph_mode="PIECEWISE"),
    _compile(mode=0, cudagraph_mode="FULL_AND_PIECEWISE"),
    _compile(level=0, cudagraph_mode="FULL"),
    _compile(splitting_ops=[]),
    _compile(splitting_ops=[], cudagraph_mode="PIECEWISE"),
    _compile(splitting_ops=["vllm::unified_attention"]),
    _compile(cudagraph_capture_sizes=[1, 2, 4]),
    _compile(cudagraph_capture_sizes=[]),
    _compile(cudagraph_capture_sizes=[16, 8], max_cudagraph_capture_size=8),
    _compile(max_cudagraph_capture_size=0),
    _compile(use_inductor=False),
    _compile(use_inductor_graph_partition=True),
    _compile(pass_config={"fuse_attn_quant": True}),
    _compile(pass_config={"enable_attn_fusion": True}),
    _compile(pass_config={"enable_sp": True}),
    _compile(pass_config={"fuse_norm_quant": True}),
    _compile(custom_ops=["none"]),
    _compile(custom_ops=["all", "none"]),
    _compile(backend="eager"),
    _compile(backend=""),
    _compile(full_cuda_graph=True),
    _compile(use_cudagraph=False),
    _compile(foo=1),
    _compile(cudagraph_num_of_warmups=1),
    _compile(compile_sizes=[1, "cudagraph_capture_sizes"]),
    ["-cc", '{"cudagraph_mode":"PIECEWISE"}'],
    ["-O", '{"cudagraph_mode":"PIECEWISE"}'],
    ["-O3", "-cc.cudagraph_mode=FULL"],
    ["-O0", "-cc.cudagraph_mode=FULL"],
    ["-O0", "-cc.cudagraph_mode=PIECEWISE"],
    ["--enforce-eager", "-cc.cudagraph_mode=FULL"],
]

ENVIRONMENTS: list[dict[str, str]] = [
    {"VLLM_USE_V2_MODEL_RUNNER": "1"},
    {"VLLM_USE_V2_MODEL_RUNNER": "0"},
    {"VLLM_USE_V2_MODEL_RUNNER": "true"},
    {"VLLM_USE_V2_MODEL_RUNNER": ""},
    {"VLLM_ATTENTION_BACKEND": "FLASHINFER"},
    {"VLLM_ATTENTION_BACKEND": "NOSUCH"},
    {"VLLM_USE_V1": "1"},
    {"VLLM_USE_V1": "0"},
    {"TORCH_COMPILE_DISABLE": "1"},
    {"VLLM_BATCH_INVARIANT": "1"},
    {"VLLM_USE_BREAKABLE_CUDAGRAPH": "1"},
    {"VLLM_BOGUS": "1"},
    {"VLLM_DISABLE_COMPILE_CACHE": "1"},
    {"VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1"},
    {"VLLM_USE_AOT_COMPILE": "1"},
    {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"},
    {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
    {"CUDA_VISIBLE_DEVICES": "0"},
    {"VLLM_KV_CACHE_LAYOUT": "HND"},
    {"VLLM_ALL2ALL_BACKEND": "deepep_high_throughput"},
    {"VLLM_FLASH_ATTN_VERSION": "2"},
    {"VLLM_LOGGING_LEVEL": "DEBUG"},
    {"VLLM_MLA_DISABLE": "1"},
    {"VLLM_SLEEP_WHEN_IDLE": "1"},
]

FILES: list[tuple[str, list[str]]] = [
    ("max-num-seqs: 8\n", []),
    ("enable-prefix-caching: false\n", []),
    ("no-enable-prefix-caching: true\n", []),
    ("enable_prefix_caching: true\n", []),
    ("speculative-config:\n  method: mtp\n  num_speculative_tokens: 3\n", []),
    ("compilation-config:\n  cudagraph_mode: PIECEWISE\n", []),
    ("enforce-eager: true\n", []),
    ("max-num-seqs: 8\n", ["--max-num-seqs", "4"]),
    ("cudagraph-capture-sizes: [1, 2, 4]\n", []),
    ("kv-cache-dtype: fp8\nmax-model-len: 4096\n", []),
    ("", []),
    ("- a\n", []),
    ("max-model-len: null\n", []),
    ("nosuch-flag: 1\n", []),
    ("O: 1\n", []),
    ("optimization-level: 0\n", []),
]


def _two(release: str) -> tuple[str, str]:
    """A dense model and a hybrid one that the release has."""
    return "Qwen/Qwen3-8B", "Qwen/Qwen3.5-27B" if Version(release) >= Version("0.17") else NEXT


def singles(release: str) -> Iterator[dict[str, Any]]:
    """Each setting alone, for a dense model and a hybrid one."""
    for model in _two(release):
        for setting in SETTINGS:
            yield _request(model, setting)


def sample(release: str) -> Iterator[dict[str, Any]]:
    """A third of all single settings and variables, for a first look."""
    yield from [*singles(release), *environments(release)][:: len(_two(release)) + 1]


def environments(release: str) -> Iterator[dict[str, Any]]:
    """Each variable alone, and with a drafter."""
    for model in _two(release):
        for env in ENVIRONMENTS:
            yield _request(model, [], env=env)
            yield _request(model, MTP, env=env)
            yield _request(model, NGRAM, env=env)


def files(release: str) -> Iterator[dict[str, Any]]:
    """Configuration files."""
    for model in _two(release):
        for text, more in FILES:
            yield _request(model, ["--config", "f.yaml", *more], files={"f.yaml": text})
    yield _request("Qwen/Qwen3-8B", ["--config=f.yaml"], files={"f.yaml": "max-num-seqs: 8\n"})
    yield _request("Qwen/Qwen3-8B", ["--config", "missing.yaml"])


def others(_: str) -> Iterator[dict[str, Any]]:
    """Other architectures, with the settings that architectures decide."""
    for model in OTHER_MODELS:
        for setting in ([], MTP, NGRAM, ["--enable-prefix-caching"], ["--enforce-eager"], ["-O0"],
                        ["--kv-cache-dtype", "fp8"], ["--no-enable-chunked-prefill"], ["--async-scheduling"],
                        ["--mamba-cache-mode", "all"], ["--quantization", "fp8"],
                        ["-cc.cudagraph_mode=PIECEWISE"]):  # fmt: skip
            yield _request(model, setting)


def pairs(release: str, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Two or three settings together, and now and then a variable."""
    random_ = random.Random(seed)
    old = Version(release) < Version("0.17")
    models = [model for model in MODELS if not (old and "3.5" in model)]
    for _ in range(count):
        chosen = [word for part in random_.sample(SETTINGS, random_.choice((2, 2, 3))) for word in part]
        env = random_.choice(ENVIRONMENTS) if random_.random() < 0.15 else {}
        yield _request(random_.choice(models), chosen, env=env)


def _request(
    model: str, words: list[str], *, env: dict[str, str] | None = None, files: dict[str, str] | None = None
) -> dict[str, Any]:
    architecture, kind = {**MODELS, **OTHER_MODELS}[model]
    return {
        "argv": ["serve", model, *words],
        "architecture": architecture,
        "model_kind": kind,
        "env": env or {},
        "files": files or {},
    }
