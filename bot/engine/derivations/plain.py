"""Properties that the configuration takes over as they are written, or leaves to the checkpoint or the worker."""

from __future__ import annotations

import re

from bot.engine.derivations.context import (
    Context,
    Derivation,
    assumed,
    assumption,
    certain,
    explicit,
    missing,
    unknown,
)
from bot.engine.model import Property

ATTENTION = "vllm/engine/arg_utils.py:EngineArgs.create_engine_config"
GEMMA4 = "vllm/model_executor/models/config.py:Gemma4Config.verify_and_update_config"
QUANTIZATION = "vllm/config/model.py:ModelConfig._verify_quantization"
KV_AUTO = "vllm/utils/torch_utils.py:resolve_kv_cache_dtype_string"

GEMMA4_ARCHITECTURES = frozenset(
    {
        "Gemma4ForCausalLM",
        "Gemma4ForConditionalGeneration",
        "Gemma4UnifiedForConditionalGeneration",
        "DiffusionGemmaForBlockDiffusion",
    }
)
FA4_FAMILIES = frozenset({9, 10, 11})
"""Major compute capabilities on which FlashAttention 4 runs."""

_MARKER = re.compile(
    r"(?<![a-z])(?:awq|gptq|fp8|fp4|nvfp4|mxfp\d|int[48]|w\d+a\d+|bnb|nf4|[48]-?bits?|quant\w*|qat|autoround|gguf|exl\d|modelopt"
    r"|compressed-tensors|quark|torchao|marlin|hqq|aqlm|eetq|fbgemm|q[2-8]_\w+|w4|w8|mixed)(?![a-z])",
)
"""A word in a model's name that says that the checkpoint is quantized."""

_QUANTIZED_AT_HOME = ("gpt-oss", "deepseek-v3", "deepseek-r1", "deepseek-v4", "kimi-k2", "kimi-k3", "minimax-m2")
"""Families whose original checkpoints are quantized, though their names do not say so."""


def taken_over(dest: str) -> Derivation:
    """The derivation of a property that is its setting, or the parser's literal default."""

    def taken(context: Context) -> Property:
        setting = context.setting(dest)
        return explicit(setting) if setting is not None else context.literal(dest)

    return taken


def max_model_len(context: Context) -> Property:
    """`max_model_len`, in tokens. Without a setting, or with "auto" (-1), the checkpoint and the memory decide."""
    setting = context.setting("max_model_len")
    if setting is None:
        return missing("the default is in the model's configuration")
    if setting.value == -1:
        return missing("the length is fitted to the memory of the GPU")
    return explicit(setting)


def max_num_seqs(context: Context) -> Property:
    """`max_num_seqs`, in requests. The default depends on the GPU's memory."""
    setting = context.setting("max_num_seqs")
    return explicit(setting) if setting is not None else missing("the default depends on the memory of the GPU")


def kv_cache_dtype(context: Context) -> Property:
    """`kv_cache_dtype` as the configuration holds it: "auto" stays "auto" unless the checkpoint names a format."""
    setting = context.setting("kv_cache_dtype")
    if setting is not None:
        if setting.value == "bfloat16" and context.model.architecture in (None, "DeepseekV32ForCausalLM"):
            return _bfloat16(context, explicit(setting))
        if setting.value != "auto":
            return explicit(setting)
        because = setting.because
    else:
        because = context.literal("kv_cache_dtype").because
    if context.behaviour("kv_cache_dtype") is None:
        return context.unverified("kv_cache_dtype")
    name = model_name(context)
    if name is None or may_be_modelopt(name):
        return unknown(*because, assumption("a ModelOpt checkpoint may name the format itself"))
    reason = context.because(KV_AUTO, "auto stays auto unless a ModelOpt checkpoint names a format")
    return assumed("auto", *because, reason, assumption("the checkpoint is not one of ModelOpt"))


def _bfloat16(context: Context, held: Property) -> Property:
    if context.model.architecture is None and context.model.moe is not False:
        return Property(held.value, "assumed", (*held.because, assumption("the model is not DeepSeek V3.2")))
    if context.model.architecture is None:
        return held
    text = "DeepSeek V3.2 takes bfloat16 for auto"
    path = "vllm/model_executor/models/config.py"
    return assumed("auto", *held.because, assumption(f"{path}: {text}"))


def quantization(context: Context) -> Property:
    """`quantization` as the configuration holds it; None for a checkpoint that is not quantized."""
    setting = context.setting("quantization")
    if setting is not None:
        return _named(explicit(setting))
    if context.behaviour("quantization") is None:
        return context.unverified("quantization")
    name = model_name(context)
    if name is None:
        return missing("the checkpoint decides, and its name is not known")
    marker = quantization_marker(name)
    if marker is not None:
        return missing(f"the checkpoint decides: its name says {marker!r}")
    if "/" not in name or name.startswith(("/", ".", "~")):
        return missing("the checkpoint decides, and a local path need not say how it is quantized")
    reason = context.because(QUANTIZATION, "without the flag the checkpoint's own method is used, none if it has none")
    return assumed(None, reason, assumption(f"{name} is not quantized: its name has no mark of it"))


def _named(held: Property) -> Property:
    """A named method may be replaced by the one that the release prefers for the checkpoint."""
    if held.value not in _REPLACEABLE:
        return held
    kept = assumption("the release prefers no other method for this checkpoint")
    return Property(held.value, "assumed", (*held.because, kept))


_REPLACEABLE = frozenset({"gptq", "awq", "auto_gptq", "auto_awq", "auto-round", "modelopt", "mxfp4", "fp8"})


def attention_backend(context: Context) -> Property:
    """`attention_backend` as the configuration holds it; None where the worker chooses."""
    for setting in (context.setting("attention_backend"), context.key("attention_config", "backend")):
        if setting is None or (isinstance(setting.value, str) and setting.value.lower() == "auto"):
            continue
        held = explicit(setting)
        return Property(held.value.upper(), held.certainty, held.because) if isinstance(held.value, str) else held
    if context.behaviour("attention_backend") is None:
        return context.unverified("attention_backend")
    architecture = context.model.architecture
    if architecture in GEMMA4_ARCHITECTURES:
        return _gemma4(context)
    if architecture == "UnlimitedOCRForCausalLM":
        return missing("Unlimited-OCR chooses its backend by the GPU")
    reason = context.because(ATTENTION, "no attention backend is set: the worker chooses")
    if architecture is None:
        return assumed(None, reason, assumption("the model's architecture sets none"))
    return certain(None, reason)


def _gemma4(context: Context) -> Property:
    families = {sm // 10 for sm in context.launch.sm}
    if not families or not families.isdisjoint(FA4_FAMILIES):
        return missing("Gemma 4 sets a backend where FlashAttention 4 is not available, which depends on the GPU")
    reason = context.because(GEMMA4, "Gemma 4 takes TRITON_ATTN for all layers where FlashAttention 4 is not available")
    return assumed("TRITON_ATTN", reason, *context.model_reasons("architecture"))


def model_name(context: Context) -> str | None:
    """The model that the command line names; the parser's default when it names none, None when it is not known."""
    setting = context.setting("model")
    if setting is not None:
        return setting.value if isinstance(setting.value, str) else None
    default = context.basis.facts.default("model")
    return default.value if default is not None and isinstance(default.value, str) else None


def quantization_marker(name: str) -> str | None:
    """The part of a model's name that says that the checkpoint is quantized, None without one."""
    low = name.lower()
    found = _MARKER.search(low)
    if found:
        return found.group()
    return next((family for family in _QUANTIZED_AT_HOME if family in low), None)


def may_be_modelopt(name: str) -> bool:
    """Whether a model's name leaves open that ModelOpt made it, which may fix the KV cache's format."""
    low = name.lower()
    if "modelopt" in low or "fp4" in low or low.startswith("nvidia/"):
        return True
    return "fp8" in low and low.partition("/")[0] not in _FP8_WITHOUT_MODELOPT


_FP8_WITHOUT_MODELOPT = frozenset(
    {"qwen", "redhatai", "neuralmagic", "deepseek-ai", "mistralai", "meta-llama", "zai-org"}
)
