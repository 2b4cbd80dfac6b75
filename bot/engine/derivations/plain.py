"""Properties that the configuration takes over as they are written, or leaves to the checkpoint or the worker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bot.engine.commandline import UNKNOWN
from bot.engine.derivations.context import (
    Context,
    Derivation,
    assumed,
    assumption,
    certain,
    explicit,
    missing,
    resting_on,
    unknown,
)
from bot.engine.derivations.model_kind import is_hybrid, model_name
from bot.engine.model import Property

ATTENTION = "vllm/engine/arg_utils.py:EngineArgs.create_engine_config#backend"
DEEPSEEK = "vllm/model_executor/models/config.py:DeepseekV32ForCausalLM.verify_and_update_config"
DEEPSEEK_V32 = "DeepseekV32ForCausalLM"
GEMMA4 = "vllm/model_executor/models/config.py:Gemma4Config.verify_and_update_config"
QUANTIZATION = "vllm/config/model.py:ModelConfig._verify_quantization"
DEPRECATED = "vllm/model_executor/layers/quantization/__init__.py:DEPRECATED_QUANTIZATION_METHODS"
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
    setting, behaviour = context.setting("kv_cache_dtype"), context.behaviour("kv_cache_dtype")
    if setting is not None and setting.value != "auto":
        return _explicit_format(context, explicit(setting), behaviour)
    because = context.literal("kv_cache_dtype").because if setting is None else setting.because
    if behaviour is None:
        return context.unverified("kv_cache_dtype")
    doubt = _other_than_auto(context, behaviour)
    if doubt is not None:
        return doubt
    if not behaviour["from_checkpoint"]:
        return (
            assumed("auto", *because, assumption(NOT_DEEPSEEK))
            if context.model.architecture is None
            else certain("auto", *because)
        )
    name, method = model_name(context), context.setting("quantization")
    named = method is not None and (method.value is UNKNOWN or str(method.value).startswith("modelopt"))
    if name is None or named or may_be_modelopt(name):
        return unknown(*because, assumption("a ModelOpt checkpoint may name the format itself"))
    reason = context.because(KV_AUTO, "auto stays auto unless a ModelOpt checkpoint names a format")
    return assumed("auto", *because, reason, assumption("the checkpoint is not one of ModelOpt"))


NOT_DEEPSEEK = "the model is not DeepSeek V3.2"


def _other_than_auto(context: Context, behaviour: Mapping[str, Any]) -> Property | None:
    """Architectures that take another format for auto."""
    architecture = context.model.architecture
    if architecture == DEEPSEEK_V32 and "auto" in behaviour["deepseek_own_format"]:
        reason = context.because(DEEPSEEK, "DeepSeek V3.2 takes its own format for auto")
        return resting_on(context.model_certainty, "fp8_ds_mla", reason, *context.model_reasons("architecture"))
    if architecture in behaviour["fp8_on_blackwell"]:
        families = {sm // 10 for sm in context.sm}
        if not families or 10 in families:
            return missing("this architecture takes FP8 for auto on sm_100, which depends on the GPU")
    return None


def _explicit_format(context: Context, held: Property, behaviour: Mapping[str, Any] | None) -> Property:
    """A format that is named: DeepSeek V3.2 replaces some."""
    own = () if behaviour is None else behaviour["deepseek_own_format"]
    replaced = held.value == "bfloat16" or ("fp8" in own and str(held.value).startswith("fp8"))
    if not held.known or not replaced or context.model.architecture not in (None, DEEPSEEK_V32):
        return held
    if context.model.architecture is None:
        if context.model.moe is False:
            return held
        return Property(held.value, "assumed", (*held.because, assumption(NOT_DEEPSEEK)))
    kept = "auto" if held.value == "bfloat16" else "fp8_ds_mla"
    return assumed(kept, context.because(DEEPSEEK, f"DeepSeek V3.2 takes {held.value} for {kept}"), *held.because)


def quantization(context: Context) -> Property:
    """`quantization` as the configuration holds it; None for a checkpoint that is not quantized."""
    setting = context.setting("quantization")
    if setting is not None:
        return _named(context, explicit(setting))
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


def _named(context: Context, held: Property) -> Property:
    """What a method that is named becomes: the release may know a newer one for the same kind of checkpoint."""
    if not isinstance(held.value, str) or not held.known:
        return held
    if held.value == "modelopt":
        why = assumption("the checkpoint's own algorithm decides which of the ModelOpt methods it is")
        return unknown(*held.because, why)
    if held.value in ("mxfp4", "fp8"):
        return Property(
            held.value, "assumed", (*held.because, assumption("the checkpoint needs no special form of it"))
        )
    behaviour = context.behaviour("quantization")
    if behaviour is None:
        doubtful = held.value in _EVER_RENAMED
        return unknown(*held.because, *context.unverified("quantization").because) if doubtful else held
    kept = behaviour["renamed"].get(held.value, held.value)
    if kept == held.value:
        return held
    reason = context.because(QUANTIZATION, f"a checkpoint of {held.value} is taken as {kept}")
    return assumed(kept, reason, *held.because, assumption(f"the checkpoint is one of {held.value}"))


_EVER_RENAMED = frozenset({"awq", "awq_marlin", "gptq", "gptq_marlin", "auto_round", "auto-round"})
"""Methods that some release takes for another."""


def check_cache(context: Context, behaviour: Mapping[str, Any]) -> None:
    """Record a format of the KV cache that the model cannot have."""
    setting = context.setting("kv_cache_dtype")
    named = setting is not None and str(setting.value).startswith("turboquant_")
    if setting is not None and named and behaviour["turboquant_without_hybrids"] and is_hybrid(context):
        context.refuse(setting, "TurboQuant KV cache is not supported for hybrid (attention + Mamba) models.")


def check(context: Context) -> None:
    """Record a quantization method that the release does not know, or no longer wants."""
    setting, behaviour = context.setting("quantization"), context.behaviour("quantization")
    if setting is None or behaviour is None or not isinstance(setting.value, str):
        return
    if setting.value not in (*behaviour["methods"], *behaviour["renamed"], "marlin"):
        context.refuse(setting, f"Unknown quantization method: {setting.value}.")
    allowed = context.setting("allow_deprecated_quantization")
    if setting.value in (context.basis.facts.constants.get(DEPRECATED) or ()) and allowed is None:
        context.refuse(setting, f"The quantization method {setting.value} is deprecated")


BACKENDS_OF_VARIABLE = frozenset(
    {
        "CUTLASS_MLA",
        "FLASHINFER",
        "FLASHINFER_MLA",
        "FLASHMLA",
        "FLASH_ATTN",
        "FLASH_ATTN_MLA",
        "FLEX_ATTENTION",
        "TREE_ATTN",
        "TRITON_ATTN",
        "TRITON_MLA",
    }
)
"""What `VLLM_ATTENTION_BACKEND` may hold in each of the releases that read it, spelt so."""


def attention_backend(context: Context) -> Property:
    """`attention_backend` as the configuration holds it; None where the worker chooses."""
    for setting in (context.setting("attention_backend"), context.key("attention_config", "backend")):
        if setting is None or (isinstance(setting.value, str) and setting.value.lower() == "auto"):
            continue
        held = explicit(setting)
        return Property(held.value.upper(), held.certainty, held.because) if isinstance(held.value, str) else held
    behaviour = context.behaviour("attention_backend")
    if behaviour is None:
        return context.unverified("attention_backend")
    word = context.variable("VLLM_ATTENTION_BACKEND") if behaviour["variable"] else None
    if word is not None:
        if word.known and word.text and word.text not in BACKENDS_OF_VARIABLE:
            return missing(f"not every release that reads VLLM_ATTENTION_BACKEND takes {word.text!r}: others stop")
        return certain(word.text, *word.because) if word.known and word.text else unknown(*word.because)
    return _own_backend(context, behaviour) or _no_backend(context)


def _own_backend(context: Context, behaviour: Mapping[str, Any]) -> Property | None:
    """A backend that the model's architecture or the platform sets."""
    architecture, families = context.model.architecture, {sm // 10 for sm in context.sm}
    may_be_mla = architecture is not None and context.traits.attention in ("mla", None)
    may_be_blackwell = not families or 10 in families
    if behaviour["mla_on_blackwell"] and may_be_blackwell and may_be_mla and context.model.moe is not False:
        return missing("the platform sets a backend for MLA models on sm_100, which depends on the GPU")
    if architecture in GEMMA4_ARCHITECTURES and behaviour["gemma4"] != "never":
        return _gemma4(context, everywhere=behaviour["gemma4"] == "always")
    if architecture in behaviour["choosing"]:
        return missing(f"{architecture} chooses its backend by itself")
    return None


def _no_backend(context: Context) -> Property:
    reason = context.because(ATTENTION, "no attention backend is set: the worker chooses")
    if context.model.architecture is None:
        return assumed(None, reason, assumption("the model's architecture sets none"))
    return certain(None, reason)


def _gemma4(context: Context, *, everywhere: bool) -> Property:
    families = {sm // 10 for sm in context.sm}
    if not everywhere and (not families or not families.isdisjoint(FA4_FAMILIES)):
        return missing("Gemma 4 sets a backend where FlashAttention 4 is not available, which depends on the GPU")
    where = "" if everywhere else " where FlashAttention 4 is not available"
    reason = context.because(GEMMA4, f"Gemma 4 takes TRITON_ATTN for all layers{where}")
    return assumed("TRITON_ATTN", reason, *context.model_reasons("architecture"))


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
