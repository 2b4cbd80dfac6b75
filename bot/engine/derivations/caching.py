"""Prefix caching, chunked prefill, and how recurrent state is cached."""

from __future__ import annotations

from bot.engine.commandline import UNKNOWN
from bot.engine.derivations.context import Context, assumption, explicit, missing, resting_on
from bot.engine.derivations.model_kind import is_attention_free, is_hybrid, serves
from bot.engine.model import Certainty, Property

ARGUMENTS = "vllm/engine/arg_utils.py:EngineArgs._set_default_chunked_prefill_and_prefix_caching_args"
SUPPORTED = "vllm/config/model.py:ModelConfig.is_prefix_caching_supported"
CHUNKED_SUPPORTED = "vllm/config/model.py:ModelConfig.is_chunked_prefill_supported"
MAMBA = "vllm/model_executor/models/config.py:MambaModelConfig.verify_and_update_config"
UNLIMITED_OCR = "vllm/model_executor/models/config.py:UnlimitedOCRForCausalLMConfig.verify_and_update_config"


def prefix_caching(context: Context) -> Property:
    """`prefix_caching`: whether the engine reuses the cache of equal prefixes."""
    behaviour = context.behaviour("prefix_caching")
    if behaviour is not None and context.model.architecture == "UnlimitedOCRForCausalLM":
        reason = context.because(UNLIMITED_OCR, "Unlimited-OCR turns prefix caching off")
        return resting_on(context.model_certainty, False, reason, *context.model_reasons("architecture"))
    setting = context.setting("enable_prefix_caching")
    if setting is not None:
        return explicit(setting)
    if behaviour is None:
        return context.unverified("prefix_caching")
    serving, hybrid, free = serves(context), is_hybrid(context), is_attention_free(context)
    if serving == "pooling":
        return _pooling(context, SUPPORTED)
    if serving == "encoder-decoder":
        return _by_model(context, False, SUPPORTED, "encoder-decoder models default to no prefix caching")
    if serving is None or hybrid is None or free is None:
        return missing("the default depends on the model: nothing says whether it has recurrent layers")
    if free:
        return _by_model(context, False, SUPPORTED, "models without attention default to no prefix caching")
    if hybrid:
        on = bool(behaviour["hybrid_prefix_caching"])
        text = "hybrid models default to prefix caching" if on else "hybrid models default to no prefix caching"
        return _by_model(context, on, ARGUMENTS, text)
    return _by_model(context, True, ARGUMENTS, "models that generate default to prefix caching")


def chunked_prefill(context: Context) -> Property:
    """`chunked_prefill`: whether a long prompt may be spread over several steps."""
    setting = context.setting("enable_chunked_prefill")
    if setting is not None:
        return explicit(setting)
    if context.behaviour("chunked_prefill") is None:
        return context.unverified("chunked_prefill")
    match serves(context):
        case None:
            return missing("the default depends on whether the model generates, which is not known")
        case "pooling":
            return _pooling(context, CHUNKED_SUPPORTED)
        case "encoder-decoder":
            return _by_model(context, False, CHUNKED_SUPPORTED, "encoder-decoder models have no chunked prefill")
        case _:
            return _by_model(context, True, ARGUMENTS, "models that generate default to chunked prefill")


def mamba_cache_mode(context: Context) -> Property:
    """`mamba_cache_mode`: "none", "align" or "all"."""
    setting = context.setting("mamba_cache_mode")
    wanted = context.literal("mamba_cache_mode") if setting is None else explicit(setting)
    behaviour = context.behaviour("mamba_cache_mode")
    hybrid, free = is_hybrid(context), is_attention_free(context)
    if hybrid is False and free is False:
        return wanted
    if behaviour is None:
        explicitly = setting is not None and setting.value != "none"
        return context.untested("mamba_cache_mode", wanted) if explicitly else context.unverified("mamba_cache_mode")
    caching = context["prefix_caching"]
    if not caching.known:
        return missing("the mode follows prefix caching, which is unknown")
    if not caching.value:
        return _without_caching(context, wanted, caching)
    if hybrid is None or (free is None and not hybrid):
        return missing("the mode depends on whether the model has recurrent layers, which is not known")
    return _with_caching(context, wanted, caching, bool(behaviour["mamba_all_by_default"]))


def _without_caching(context: Context, wanted: Property, caching: Property) -> Property:
    recurrent = is_hybrid(context) or is_attention_free(context)
    if wanted.known and wanted.value == "none":
        return Property(wanted.value, wanted.certainty, (*wanted.because, *caching.because))
    if not recurrent:
        return missing("nothing says whether the model has recurrent layers, where the mode would be dropped")
    reason = context.because(MAMBA, "without prefix caching the mamba cache mode is none")
    return resting_on(_weaker(context, caching), "none", reason, *caching.because)


def _with_caching(context: Context, wanted: Property, caching: Property, all_by_default: bool) -> Property:
    if not wanted.known:
        return wanted
    certainty = _weaker(context, caching)
    if wanted.value == "align":
        return resting_on(certainty, "align", *wanted.because, *caching.because)
    if wanted.value == "none" and not all_by_default:
        reason = context.because(MAMBA, "with prefix caching the mamba cache mode of a hybrid model is align")
        return resting_on(certainty, "align", reason, *caching.because)
    supports = context.traits.mamba_all
    if supports is None and context.model.recurrent == "gdn":
        supports = False
    if supports is None:
        return missing("the mode depends on whether the model's class supports caching all states")
    mode = "all" if supports else "align"
    reason = context.because(MAMBA, f"with prefix caching the mamba cache mode of this model is {mode}")
    return resting_on(certainty, mode, reason, *caching.because)


def check(context: Context) -> None:
    """Record what the configuration refuses."""
    mode, chunked = context["mamba_cache_mode"], context["chunked_prefill"]
    setting = context.setting("enable_chunked_prefill")
    recurrent = is_hybrid(context) or is_attention_free(context)
    caching = context["prefix_caching"]
    if not (recurrent and setting is not None and setting.value is not UNKNOWN):
        return
    if mode.known and mode.value == "align" and caching.known and caching.value and chunked.value is False:
        context.refuse(setting, "Chunked prefill is required for mamba cache mode 'align'.")


def _pooling(context: Context, definition: str) -> Property:
    """The default of a pooling model. Only one that is made of a plain decoder is known: it pools the last token."""
    converted = context.traits.kind == "generate" and is_hybrid(context) is False
    if not converted or context.setting("pooler_config") is not None:
        return missing("the default of a pooling model depends on its attention and pooling type")
    reason = context.because(definition, "a decoder that pools its last token has it by default")
    return resting_on("assumed", True, reason, assumption("the checkpoint asks for no other pooling"))


def _by_model(context: Context, value: bool, definition: str, text: str) -> Property:
    reasons = (context.because(definition, text), *context.model_reasons("recurrent", "architecture"))
    return resting_on(context.model_certainty, value, *reasons)


def _weaker(context: Context, other: Property) -> Certainty:
    return "assumed" if "assumed" in (context.model_certainty, other.certainty) else "certain"
