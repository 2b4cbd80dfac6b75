"""Prefix caching, chunked prefill, and how recurrent state is cached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.engine.commandline import UNKNOWN
from bot.engine.derivations.context import Context, assumption, certain, explicit, missing, resting_on, unknown
from bot.engine.derivations.model_kind import is_attention_free, is_hybrid, may_pool, serves
from bot.engine.derivations.speculation import drafter
from bot.engine.model import Certainty, Property
from bot.provenance import Reason

ARGUMENTS = "vllm/engine/arg_utils.py:EngineArgs._set_default_chunked_prefill_and_prefix_caching_args"
OLD_ARGUMENTS = "vllm/engine/arg_utils.py:EngineArgs._set_default_args"
ENCODER_ONLY = "vllm/config/vllm.py:VllmConfig.__post_init__#enable_prefix_caching"
SUPPORTED = "vllm/config/model.py:ModelConfig.is_prefix_caching_supported"
CHUNKED_SUPPORTED = "vllm/config/model.py:ModelConfig.is_chunked_prefill_supported"
MAMBA = "vllm/model_executor/models/config.py:MambaModelConfig.verify_and_update_config"
UNLIMITED_OCR = "vllm/model_executor/models/config.py:UnlimitedOCRForCausalLMConfig.verify_and_update_config"


NO_MODES = "the release has no modes of caching recurrent states"


def prefix_caching(context: Context) -> Property:
    """`prefix_caching`: whether the engine reuses the cache of equal prefixes."""
    behaviour = context.behaviour("prefix_caching")
    setting = context.setting("enable_prefix_caching")
    if behaviour is None:
        return context.unverified("prefix_caching") if setting is None else explicit(setting)
    taken = _taken_away(context, behaviour, asked=setting is not None)
    if taken is not None:
        return taken
    if setting is not None:
        return explicit(setting)
    return _prefix_caching_default(context, behaviour)


def _taken_away(context: Context, behaviour: Mapping[str, Any], *, asked: bool) -> Property | None:
    """What decides before the flag is asked, or against it."""
    if behaviour["v1_is_a_choice"] and context.variable("VLLM_USE_V1") is not None:
        return missing("VLLM_USE_V1 may choose the engine before V1, which is not modelled")
    if context.model.architecture == "UnlimitedOCRForCausalLM":
        reason = context.because(UNLIMITED_OCR, "Unlimited-OCR turns prefix caching off")
        return resting_on(context.model_certainty, False, reason, *context.model_reasons("architecture"))
    wanted = context.setting("enable_prefix_caching")
    if wanted is not None and wanted.value is False:
        return explicit(wanted)
    if behaviour["prompt_embeds_without"]:
        embeds = context.setting("enable_prompt_embeds")
        if embeds is not None and embeds.value is not False:
            reason = context.because(OLD_ARGUMENTS, "prompt embeddings turn prefix caching off")
            return unknown(*embeds.because) if embeds.value is UNKNOWN else certain(False, reason, *embeds.because)
    if behaviour["encoder_only_without"]:
        only, transfer = context.setting("mm_encoder_only"), context.setting("ec_transfer_config")
        text_only = str(context.model.architecture).endswith("ForCausalLM")
        if only is not None and only.value is not False and not text_only:
            if context.model.architecture is None:
                return missing("an instance that only encodes images has no prefix caching, if the model reads images")
            reason = context.because(ENCODER_ONLY, "an instance that only encodes images has no prefix caching")
            return unknown(*only.because) if only.value is UNKNOWN else certain(False, reason, *only.because)
        if transfer is not None:
            return missing(
                "an instance that only encodes images has no prefix caching, which ec_transfer_config decides"
            )
    if asked and behaviour["encoder_decoder_without"] and serves(context) == "encoder-decoder":
        return _by_model(context, False, SUPPORTED, "encoder-decoder models have no prefix caching, asked for or not")
    if asked and not behaviour["pooling_read"] and _pools_somehow(context):
        return missing("the release may turn off what is asked for, by how the model pools")
    return _taken_from_recurrent(context, behaviour) if asked else None


def _pools_somehow(context: Context) -> bool:
    """Whether a model pools, may pool, or is told how."""
    return serves(context) == "pooling" or may_pool(context) or context.setting("pooler_config") is not None


def _taken_from_recurrent(context: Context, behaviour: Mapping[str, Any]) -> Property | None:
    """Releases that keep prefix caching from recurrent models even when it is asked for."""
    allowed = behaviour["recurrent_if_asked"]
    hybrid, free = is_hybrid(context), is_attention_free(context)
    if allowed == "always" or (hybrid is False and free is False):
        return None
    if hybrid is None or free is None:
        return missing("a recurrent model may not have prefix caching, and nothing says whether this one is")
    if allowed == "supported":
        supports = supports_all_states(context)
        if supports is None:
            return missing("prefix caching depends on whether the model's class supports it")
        if supports:
            return None
    reason = context.because(MAMBA, "this recurrent model cannot have prefix caching, though it is asked for")
    return resting_on(context.model_certainty, False, reason, *context.model_reasons("recurrent", "architecture"))


def _prefix_caching_default(context: Context, behaviour: Mapping[str, Any]) -> Property:
    serving, hybrid, free = serves(context), is_hybrid(context), is_attention_free(context)
    if behaviour["context_parallel_without"]:
        parallel = _without_by_context_parallelism(context, "prefix caching")
        if parallel is not None:
            return parallel
    if serving == "pooling":
        return _pooling(context, SUPPORTED, read=bool(behaviour["pooling_read"]))
    if serving == "encoder-decoder":
        return _by_model(context, False, SUPPORTED, "encoder-decoder models default to no prefix caching")
    if context.setting("pooler_config") is not None:
        return missing("the default follows how the model pools where --pooler-config says how, even if it generates")
    if serving is None or hybrid is None or free is None:
        return missing("the default depends on the model: nothing says whether it has recurrent layers")
    if free:
        return _by_model(context, False, SUPPORTED, "models without attention default to no prefix caching")
    if hybrid:
        on = bool(behaviour["hybrid_default"])
        text = "hybrid models default to prefix caching" if on else "hybrid models default to no prefix caching"
        return _by_model(context, on, _arguments(context), text)
    return _by_model(context, True, _arguments(context), "models that generate default to prefix caching")


def _arguments(context: Context) -> str:
    """The function that sets the defaults in this release."""
    return ARGUMENTS if context.basis.place(ARGUMENTS)[1] else OLD_ARGUMENTS


def _without_by_context_parallelism(context: Context, what: str) -> Property | None:
    ranks = context.setting("prefill_context_parallel_size")
    if ranks is None or ranks.value == 1:
        return None
    reason = context.because(_arguments(context), f"prefill context parallelism defaults to no {what}")
    return unknown(*ranks.because) if ranks.value is UNKNOWN else certain(False, reason, *ranks.because)


def chunked_prefill(context: Context) -> Property:
    """`chunked_prefill`: whether a long prompt may be spread over several steps."""
    setting, behaviour = context.setting("enable_chunked_prefill"), context.behaviour("chunked_prefill")
    if behaviour is None:
        return context.unverified("chunked_prefill") if setting is None else explicit(setting)
    if behaviour["v1_is_a_choice"] and context.variable("VLLM_USE_V1") is not None:
        return missing("VLLM_USE_V1 may choose the engine before V1, which is not modelled")
    serving = serves(context)
    if serving == "encoder-decoder":
        return _by_model(context, False, CHUNKED_SUPPORTED, "encoder-decoder models have no chunked prefill")
    if behaviour["forced"]:
        return _forced_chunks(context, serving)
    if setting is not None:
        if setting.value is not False and not behaviour["pooling_read"] and _pools_somehow(context):
            return missing("the release may turn off what is asked for, by how the model pools")
        return explicit(setting)
    if behaviour["context_parallel_without"]:
        parallel = _without_by_context_parallelism(context, "chunked prefill")
        if parallel is not None:
            return parallel
    if serving is None:
        return missing("the default depends on whether the model generates, which is not known")
    if serving == "pooling":
        return _pooling(context, CHUNKED_SUPPORTED, read=bool(behaviour["pooling_read"]))
    if context.setting("pooler_config") is not None:
        return missing("the default follows how the model pools where --pooler-config says how, even if it generates")
    return _by_model(context, True, _arguments(context), "models that generate default to chunked prefill")


def _forced_chunks(context: Context, serving: str | None) -> Property:
    """The first V1 engine chunks for every model that generates, whatever is asked for."""
    if serving in (None, "pooling") or context.setting("pooler_config") is not None:
        return missing("chunked prefill depends on whether the model generates, and how a pooling model pools")
    return _by_model(context, True, OLD_ARGUMENTS, "every model that generates has chunked prefill, asked for or not")


def mamba_cache_mode(context: Context) -> Property:
    """`mamba_cache_mode`: "none", "align" or "all"; None in a release that has no such modes."""
    if context.basis.facts.default("mamba_cache_mode") is None:
        return certain(None, Reason("engine-default", ARGUMENTS.partition(":")[0], None, NO_MODES))
    behaviour = context.behaviour("mamba_cache_mode")
    ignored = behaviour is not None and behaviour["flag_ignored"]
    setting = None if ignored else context.setting("mamba_cache_mode")
    wanted = _wanted_mode(context, ignored=ignored)
    hybrid, free = is_hybrid(context), is_attention_free(context)
    if hybrid is False and free is False:
        return wanted
    if behaviour is None:
        explicitly = setting is not None and setting.value != "none"
        return context.untested("mamba_cache_mode", wanted) if explicitly else context.unverified("mamba_cache_mode")
    if context.setting("mm_encoder_only") is not None:
        return missing("the mode of an instance that only encodes images is not modelled")
    caching = context["prefix_caching"]
    if not caching.known:
        return missing("the mode follows prefix caching, which is unknown")
    if not caching.value:
        return _without_caching(context, wanted, caching)
    if hybrid is None or (free is None and not hybrid):
        return missing("the mode depends on whether the model has recurrent layers, which is not known")
    return _with_caching(context, wanted, caching, behaviour)


def _wanted_mode(context: Context, *, ignored: bool) -> Property:
    """The mode that the configuration starts with."""
    setting = context.setting("mamba_cache_mode")
    if ignored:
        field = context.basis.facts.field("CacheConfig.mamba_cache_mode")
        if field is None or not field.default.known:
            return unknown()
        text = f"vLLM {context.release}: --mamba-cache-mode is ignored, and the mode starts as {field.default.value!r}"
        return certain(field.default.value, Reason("engine-default", field.default.path, field.default.line, text))
    return context.literal("mamba_cache_mode") if setting is None else explicit(setting)


def _without_caching(context: Context, wanted: Property, caching: Property) -> Property:
    recurrent = is_hybrid(context) or is_attention_free(context)
    if wanted.known and wanted.value == "none":
        return Property(wanted.value, wanted.certainty, (*wanted.because, *caching.because))
    if not recurrent:
        return missing("nothing says whether the model has recurrent layers, where the mode would be dropped")
    reason = context.because(MAMBA, "without prefix caching the mamba cache mode is none")
    return resting_on(_weaker(context, caching), "none", reason, *caching.because)


def _with_caching(context: Context, wanted: Property, caching: Property, behaviour: Mapping[str, Any]) -> Property:
    if not wanted.known:
        return wanted
    certainty = _weaker(context, caching)
    if wanted.value == "align":
        return resting_on(certainty, "align", *wanted.because, *caching.because)
    if wanted.value == "none" and not _all_by_default(context, behaviour):
        reason = context.because(MAMBA, "with prefix caching the mamba cache mode of a hybrid model is align")
        return resting_on(certainty, "align", reason, *caching.because)
    supports = supports_all_states(context)
    if supports is None:
        return missing("the mode depends on whether the model's class supports caching all states")
    if supports and wanted.value == "none" and behaviour["align_with_drafter"] and drafter(context).present is None:
        return missing("the mode depends on whether there is a drafter, which is not known")
    mode = "all" if supports else "align"
    reason = context.because(MAMBA, f"with prefix caching the mamba cache mode of this model is {mode}")
    return resting_on(certainty, mode, reason, *caching.because)


def _all_by_default(context: Context, behaviour: Mapping[str, Any]) -> bool:
    """Whether a model whose class supports it caches all states by default."""
    return bool(behaviour["all_by_default"]) and not (behaviour["align_with_drafter"] and drafter(context).present)


def supports_all_states(context: Context) -> bool | None:
    """Whether the model's class supports caching all its states; None when that is not known."""
    if context.traits.mamba_all is None and context.model.recurrent == "gdn":
        return False
    return context.traits.mamba_all


def check(context: Context) -> None:
    """Record what the configuration refuses."""
    mode, chunked = context["mamba_cache_mode"], context["chunked_prefill"]
    recurrent = is_hybrid(context) or is_attention_free(context)
    setting = context.setting("enable_chunked_prefill")
    caching = context["prefix_caching"]
    if not (recurrent and setting is not None and setting.value is not UNKNOWN):
        return
    if mode.known and mode.value == "align" and caching.known and caching.value and chunked.value is False:
        context.refuse(setting, "Chunked prefill is required for mamba cache mode 'align'.")


def _pooling(context: Context, definition: str, *, read: bool) -> Property:
    """The default of a pooling model. Only one that is made of a plain decoder is known: it pools the last token."""
    converted = context.traits.kind == "generate" and is_hybrid(context) is False
    if not read or not converted or context.setting("pooler_config") is not None:
        return missing("the default of a pooling model depends on its attention and pooling type")
    reason = context.because(definition, "a decoder that pools its last token has it by default")
    return resting_on("assumed", True, reason, assumption("the checkpoint asks for no other pooling"))


def _by_model(context: Context, value: bool, definition: str, text: str) -> Property:
    reasons = (context.because(definition, text), *context.model_reasons("recurrent", "architecture"))
    return resting_on(context.model_certainty, value, *reasons)


def _weaker(context: Context, other: Property) -> Certainty:
    return "assumed" if "assumed" in (context.model_certainty, other.certainty) else "certain"
