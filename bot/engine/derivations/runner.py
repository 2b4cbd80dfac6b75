"""Which model runner the worker uses: the first, or the second ("V2"), which has had more of the models every month."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from bot.engine.commandline import UNKNOWN, Setting
from bot.engine.derivations.compilation import wanted_compilation
from bot.engine.derivations.context import Context, assumption, certain, missing, resting_on, unknown
from bot.engine.derivations.model_kind import is_attention_free, is_hybrid, serves
from bot.engine.derivations.scheduling import whole
from bot.engine.derivations.speculation import drafter
from bot.engine.model import EngineError, Property
from bot.engine.models import traits
from bot.provenance import Reason

USE_V2 = "vllm/config/vllm.py:VllmConfig.use_v2_model_runner"
DEFAULT_V2 = "vllm/config/vllm.py:VllmConfig._is_default_v2_model_runner_model"
UNSUPPORTED = "vllm/config/vllm.py:VllmConfig._get_v2_model_runner_unsupported_features"
ARCHITECTURES = "vllm/config/vllm.py:DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES"
VARIABLES = "vllm/envs.py"

OWN_PARALLEL_DRAFTING: Final = frozenset({"dflash", "dspark"})
"""Methods that always draft in parallel, in a way that the V2 runner has."""

V2_VARIABLE: Final = "VLLM_USE_V2_MODEL_RUNNER"


def v2_model_runner(context: Context) -> Property:
    """`v2_model_runner`: whether the worker uses the second model runner."""
    behaviour, word = context.behaviour("v2_model_runner"), context.variable(V2_VARIABLE)
    if behaviour is None:
        return context.unverified("v2_model_runner") if word is None else _by_variable(context)
    if behaviour["default"] == "absent":
        reason = Reason("engine-default", VARIABLES, None, f"vLLM {context.release}: there is no second runner")
        return certain(False, reason)
    above = _above_variable(context, behaviour)
    if above is not None:
        return above
    if word is not None:
        return _by_variable(context)
    if behaviour["default"] == "variable":
        text = f"vLLM {context.release}: the second runner is used only where {V2_VARIABLE} asks for it"
        fact = context.basis.facts.environment.get(V2_VARIABLE)
        line = fact.line if fact is not None else None
        return certain(False, Reason("engine-default", VARIABLES, line, text))
    return _forced(context, behaviour) or _by_model(context, behaviour)


def _by_variable(context: Context) -> Property:
    word = context.variable(V2_VARIABLE)
    assert word is not None
    number = whole(word.text) if word.known else None
    return unknown(*word.because) if number is None else certain(bool(number), *word.because)


def _above_variable(context: Context, behaviour: Mapping[str, Any]) -> Property | None:
    """Features that use the V2 runner whatever the variable says."""
    wanted: list[Setting | None] = []
    if behaviour["watermark_forces"]:
        wanted.append(context.setting("watermark_config"))
    if behaviour["hisparse_forces"]:
        wanted.append(context.key("attention_config", "hisparse_config"))
        connector = context.key("kv_transfer_config", "kv_connector")
        if connector is not None and connector.value in ("HiSparseConnector", "MultiConnector", UNKNOWN):
            if connector.value != "HiSparseConnector":
                return missing("a connector that is not known may need the V2 runner")
            wanted.append(connector)
    for setting in wanted:
        if setting is not None:
            reason = context.because(USE_V2, f"{setting.argument} needs the V2 runner")
            return unknown(*setting.because) if setting.value is UNKNOWN else certain(True, reason, *setting.because)
    return None


def _forced(context: Context, behaviour: Mapping[str, Any]) -> Property | None:
    ranks = context.setting("prefill_context_parallel_size")
    if ranks is not None and behaviour["context_parallel_forces"] and ranks.value != 1:
        reason = context.because(USE_V2, "prefill context parallelism needs the V2 runner")
        return unknown(*ranks.because) if ranks.value is UNKNOWN else certain(True, reason, *ranks.because)
    found = drafter(context)
    if found.present is not False and not found.method.known:
        return missing("the drafting method, which is unknown, may decide the runner")
    if found.present:
        if found.method.value == "dspark" and behaviour["dspark_forces"]:
            reason = context.because(USE_V2, "dspark needs the V2 runner")
            return resting_on(found.method.certainty, True, reason, *found.method.because)
        if found.method.value == "dflash" and behaviour["dflash_may_force"] and not _is_plain_default(context):
            return missing("some DFlash drafters force the V2 runner: their configuration says which")
    if serves(context) == "diffusion" and behaviour["diffusion_forces"]:
        reason = context.because(USE_V2, "diffusion models need the V2 runner")
        return resting_on(context.model_certainty, True, reason, *context.model_reasons("architecture"))
    return None


def _is_plain_default(context: Context) -> bool:
    """Whether the V2 runner is the default for this model anyway."""
    return is_hybrid(context) is False and context.model.moe is False and serves(context) == "generate"


def _by_model(context: Context, behaviour: Mapping[str, Any]) -> Property:
    default = _default_for_model(context, behaviour)
    if not default.known or not default.value:
        return default
    lacking = unsupported(context, behaviour)
    if lacking is None:
        return missing("the runner depends on a feature whose setting is unknown")
    if lacking:
        text = f"the V2 runner does not support {', '.join(lacking)}: the V1 runner is used"
        return resting_on(default.certainty, False, context.because(UNSUPPORTED, text), *default.because)
    method = drafter(context).method
    return resting_on("assumed" if method.certainty == "assumed" else default.certainty, True, *default.because)


def _default_for_model(context: Context, behaviour: Mapping[str, Any]) -> Property:
    """Whether the V2 runner is the model's default, before the features that it lacks are asked."""
    if behaviour["default"] == "every":
        return certain(True, context.because(USE_V2, "the V2 runner is the default for every model"))
    if serves(context) is None:
        return missing("the default depends on the model's architecture, which is not known")
    if serves(context) == "pooling":
        return certain(False, context.because(DEFAULT_V2, "pooling models use the V1 runner"))
    if behaviour["default"] == "dense-or-listed":
        return _dense_or_listed(context, behaviour)
    return _listed(context, plain=behaviour["default"] == "listed-plain")


def _listed(context: Context, *, plain: bool) -> Property:
    """Only the architectures of a list; `plain` leaves out MoE models and quantized checkpoints."""
    model, listed = context.model, listed_architectures(context)
    reasons = context.model_reasons("architecture", "recurrent", "moe")
    if model.architecture is None:
        if is_hybrid(context) and not any(traits(name).hybrid for name in listed):
            reason = context.because(DEFAULT_V2, "no hybrid uses the V2 runner by default")
            return resting_on(model.certainty, False, reason, *reasons)
        return missing("the default depends on the model's architecture, which is not known")
    if model.architecture not in listed:
        reason = context.because(DEFAULT_V2, "this architecture uses the V1 runner")
        return resting_on(model.certainty, False, reason, *reasons)
    reason = context.because(DEFAULT_V2, "this architecture uses the V2 runner")
    if not plain:
        return resting_on(model.certainty, True, reason, *reasons)
    quantized = context["quantization"]
    if model.moe:
        reason = context.because(DEFAULT_V2, "MoE models use the V1 runner")
        return resting_on(model.certainty, False, reason, *reasons)
    if model.moe is None or not quantized.known or quantized.value is not None:
        return missing("the default depends on whether the checkpoint is quantized, which is not known")
    return resting_on("assumed", True, reason, *reasons, *quantized.because)


def _dense_or_listed(context: Context, behaviour: Mapping[str, Any]) -> Property:
    """Dense models without recurrent layers, and those of a list."""
    hybrid, free = is_hybrid(context), is_attention_free(context)
    model = context.model
    listed = model.architecture in listed_architectures(context)
    reasons = context.model_reasons("architecture", "recurrent", "moe")
    if not (listed and behaviour["listed_hybrids"]):
        if hybrid is None:
            return missing("the default depends on whether the model has recurrent layers, which is not known")
        if hybrid:
            return _hybrid(context, behaviour)
    if free:
        text = "models without attention use the V1 runner"
        return resting_on(model.certainty, False, context.because(DEFAULT_V2, text), *reasons)
    if free is None:
        return missing("the default depends on whether the model has attention, which is not known")
    if listed or model.moe is False:
        text = "this architecture uses the V2 runner" if listed else "dense models use the V2 runner"
        return resting_on(model.certainty, True, context.because(DEFAULT_V2, text), *reasons)
    if model.moe is None or model.architecture is None:
        return missing("the default depends on the model's architecture, which is not known")
    text = "MoE models use the V1 runner, but for a few architectures"
    return resting_on(model.certainty, False, context.because(DEFAULT_V2, text), *reasons)


def _hybrid(context: Context, behaviour: Mapping[str, Any]) -> Property:
    model, reasons = context.model, context.model_reasons("architecture", "recurrent", "moe")
    reason = context.because(DEFAULT_V2, "hybrid models use the V1 runner")
    if model.architecture is None and behaviour["listed_hybrids"]:
        names = ", ".join(sorted(listed_architectures(context)))
        return resting_on("assumed", False, reason, *reasons, assumption(f"the model is none of {names}"))
    return resting_on(model.certainty, False, reason, *reasons)


def listed_architectures(context: Context) -> frozenset[str]:
    """The architectures that the release lists for the V2 runner."""
    return frozenset(context.basis.facts.constants.get(ARCHITECTURES) or ())


def unsupported(context: Context, behaviour: Mapping[str, Any]) -> list[str] | None:
    """What keeps the V2 runner from being used; None when a setting that matters is unknown."""
    found: list[str] = []
    for name in behaviour["lacks"]:
        answer = _FEATURES[name](context)
        if answer is None:
            return None
        found += [_TEXTS[name]] if answer else []
    by_drafter = _by_drafter(context, behaviour["methods"])
    return None if by_drafter is None else found + by_drafter


def _by_drafter(context: Context, methods: list[str]) -> list[str] | None:
    found = drafter(context)
    if found.present is False:
        return []
    if found.present is None or not found.method.known:
        return None
    method = str(found.method.value)
    lacking = [] if method in methods else [f"drafting with {method}"]
    parallel = found.flag("parallel_drafting")
    if parallel is None:
        return None
    if parallel and method not in OWN_PARALLEL_DRAFTING:
        lacking.append("parallel drafting")
    return lacking


Feature = Callable[[Context], bool | None]
"""Whether a launch uses a feature; None when that is not known."""


def _set(dest: str) -> Feature:
    """A feature that is used where a setting is not empty, zero or false."""

    def used(context: Context) -> bool | None:
        setting = context.setting(dest)
        if setting is None:
            return False
        return None if setting.value is UNKNOWN else bool(setting.value)

    return used


def _either(*features: Feature) -> Feature:
    def used(context: Context) -> bool | None:
        answers = [feature(context) for feature in features]
        return True if True in answers else None if None in answers else False

    return used


def _more_than_one(dest: str) -> Feature:
    def used(context: Context) -> bool | None:
        setting = context.setting(dest)
        if setting is None:
            return False
        return setting.value not in (0, 1) if isinstance(setting.value, int) else None

    return used


def _context_parallel_without_mla(context: Context) -> bool | None:
    return False if context.traits.attention == "mla" else _FEATURES["context_parallel"](context)


def _stock_compile(context: Context) -> bool | None:
    mode = wanted_compilation(context)
    if mode is None:
        return False
    return None if mode.value is UNKNOWN else mode.value == "STOCK_TORCH_COMPILE"


def _sequence_parallel(context: Context) -> bool | None:
    """Small models lose the pass again, so that it is known only where it is not asked for, or on one rank."""
    size = context["tensor_parallel_size"]
    asked = [context.key("compilation_config", f"pass_config.{name}") for name in ("enable_sp", "fuse_gemm_comms")]
    if any(item is not None and item.value is UNKNOWN for item in asked) or not size.known:
        return None
    wanted = any(item is not None and item.value for item in asked)
    return None if wanted and size.value != 1 else False


def _launched_stages(context: Context) -> bool | None:
    launcher, stages = context.setting("distributed_executor_backend"), context["pipeline_parallel_size"]
    return launcher is not None and launcher.value == "external_launcher" and stages.value != 1


def _eagle3_stages(context: Context) -> bool | None:
    found = drafter(context)
    return bool(found.present and found.method.value == "eagle3" and context["pipeline_parallel_size"].value != 1)


def _adaptive_verification(context: Context) -> bool | None:
    found = drafter(context)
    adaptive = found.flag("enable_adaptive_verification") if found.present else False
    eager = context["enforce_eager"].value is True
    stages = context["pipeline_parallel_size"].value != 1
    return bool(adaptive and (context.setting("enable_lora") is not None or stages or eager))


def _logits(context: Context) -> bool | None:
    mode = context.setting("logprobs_mode")
    if mode is None:
        return False
    return None if mode.value is UNKNOWN else mode.value in ("raw_logits", "processed_logits")


def _mamba_all(context: Context) -> bool | None:
    if (
        is_hybrid(context) is False
        and is_attention_free(context) is False
        and context.setting("mamba_cache_mode") is None
    ):
        return False
    mode = context["mamba_cache_mode"]
    return mode.value == "all" if mode.known else None


def _inner_state(context: Context) -> bool | None:
    """Whether the model's class says that it has a state of its own; Qwen 3.5's with images do not say it."""
    if context.traits.recurrent == "gdn" and str(context.model.architecture).endswith("ForConditionalGeneration"):
        return False
    return is_hybrid(context) or is_attention_free(context)


_FEATURES: Final[Mapping[str, Feature]] = {
    "recurrent": _inner_state,
    "context_parallel": _more_than_one("prefill_context_parallel_size"),
    "context_parallel_without_mla": _context_parallel_without_mla,
    "stock_compile": _stock_compile,
    "sequence_parallel": _sequence_parallel,
    "launched_stages": _launched_stages,
    "varying_draft": lambda context: drafter(context).key("num_speculative_tokens_per_batch_size") is not None,
    "eagle3_stages": _eagle3_stages,
    "adaptive_verification": _adaptive_verification,
    "heterogeneous_vocabularies": lambda context: drafter(context).flag("use_heterogeneous_vocab"),
    "reasoning": _either(_set("reasoning_parser"), _set("reasoning_config")),
    "dual_batch": _set("enable_dbo"),
    "micro_batches": _either(_set("enable_dbo"), _more_than_one("ubatch_size")),
    "elastic_experts": _set("enable_elastic_ep"),
    "routed_experts": _set("enable_return_routed_experts"),
    "logits_processors": _set("logits_processors"),
    "prompt_embeds": _set("enable_prompt_embeds"),
    "raw_logits": _logits,
    "fast_prefill": _set("kv_sharing_fast_prefill"),
    "encoder_cache_transfer": _set("ec_transfer_config"),
    "mamba_all": _mamba_all,
}
"""What a release's V2 runner may lack, by the name that `rules/vllm/derivations.yml` uses."""

_TEXTS: Final[Mapping[str, str]] = {
    "recurrent": "recurrent models",
    "context_parallel": "prefill context parallelism",
    "context_parallel_without_mla": "prefill context parallelism",
    "stock_compile": "stock torch.compile",
    "sequence_parallel": "sequence parallelism",
    "launched_stages": "pipeline parallelism with external_launcher",
    "varying_draft": "a draft length that varies",
    "eagle3_stages": "EAGLE3 with pipeline parallelism",
    "adaptive_verification": "adaptive verification with LoRA, pipeline parallelism or eager execution",
    "heterogeneous_vocabularies": "drafters with another vocabulary",
    "reasoning": "reasoning budgets",
    "dual_batch": "dual batch overlap",
    "micro_batches": "dual batch overlap",
    "elastic_experts": "elastic expert parallelism",
    "routed_experts": "routed experts capture",
    "logits_processors": "custom logits processors",
    "prompt_embeds": "prompt embeds",
    "raw_logits": "this logprobs mode",
    "fast_prefill": "KV sharing fast prefill",
    "encoder_cache_transfer": "EC transfer",
    "mamba_all": "mamba cache mode 'all'",
}


def check_variable(context: Context) -> None:
    """Record a variable that chooses the runner and is not a number, in a release that reads it."""
    word = context.variable(V2_VARIABLE)
    known = context.basis.facts.environment.get(V2_VARIABLE) is not None
    if word is not None and word.known and known and whole(word.text) is None:
        message = f"invalid literal for int() with base 10: {word.text!r}"
        context.errors.append(EngineError("invalid-value", f"{V2_VARIABLE}={word.text}", message, word.because))


def check(context: Context, conflicts: Mapping[str, Any]) -> None:
    """Record what the configuration refuses: what the runner that is used does not have."""
    runner, behaviour = context["v2_model_runner"], context.behaviour("v2_model_runner")
    if behaviour is None or not runner.known or behaviour["default"] == "absent":
        return
    if runner.value:
        _check_second(context, behaviour)
    elif behaviour["default"] != "variable":
        _check_first(context, conflicts)


def _check_first(context: Context, conflicts: Mapping[str, Any]) -> None:
    ranks, found = context.setting("prefill_context_parallel_size"), drafter(context)
    if (
        ranks is not None
        and isinstance(ranks.value, int)
        and ranks.value > 1
        and conflicts["context_parallel_needs_v2"]
    ):
        context.refuse(ranks, "Prefill context parallelism requires Model Runner V2.")
    whole_config = context.setting("speculative_config")
    if whole_config is not None and found.method.value == "dspark" and conflicts["dspark_needs_v2"]:
        context.refuse(whole_config, "Model Runner V1 does not support: dspark speculative decoding")


def _check_second(context: Context, behaviour: Mapping[str, Any]) -> None:
    asked = _asked(context, behaviour)
    lacking = unsupported(context, behaviour) if asked is not None and behaviour["checked"] else None
    if asked is not None and lacking:
        message = f"Model Runner V2 does not yet support: {', '.join(lacking)}"
        context.errors.append(EngineError("conflict", asked[0], message, asked[1]))


def _asked(context: Context, behaviour: Mapping[str, Any]) -> tuple[str, tuple[Reason, ...]] | None:
    """What insists on the second runner, and where; by default it is only taken where it has everything."""
    word, found = context.variable(V2_VARIABLE), drafter(context)
    ranks = context.setting("prefill_context_parallel_size")
    if word is not None:
        return f"{V2_VARIABLE}={word.text}", word.because
    if ranks is not None and behaviour["context_parallel_forces"] and ranks.value != 1:
        return ranks.argument, ranks.because
    if found.method.value == "dspark" and behaviour["dspark_forces"]:
        return "--speculative-config", found.method.because
    return None
