"""Asynchronous scheduling, and which model runner the worker uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.engine.commandline import UNKNOWN
from bot.engine.derivations.compilation import compilation_name
from bot.engine.derivations.context import Context, assumption, certain, explicit, missing, resting_on, unknown
from bot.engine.derivations.model_kind import is_attention_free, is_hybrid, serves
from bot.engine.derivations.speculation import drafter
from bot.engine.model import EngineError, Property

POST_INIT = "vllm/config/vllm.py:VllmConfig.__post_init__"
USE_V2 = "vllm/config/vllm.py:VllmConfig.use_v2_model_runner"
DEFAULT_V2 = "vllm/config/vllm.py:VllmConfig._is_default_v2_model_runner_model"
UNSUPPORTED = "vllm/config/vllm.py:VllmConfig._get_v2_model_runner_unsupported_features"
ARCHITECTURES = "vllm/config/vllm.py:DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES"

ASYNC_EXECUTORS = frozenset({"mp", "uni", "external_launcher"})
V2_METHODS = frozenset({"eagle", "eagle3", "mtp", "dflash", "dspark"})
"""Drafting methods that the V2 runner implements."""
OWN_PARALLEL_DRAFTING = frozenset({"dflash", "dspark"})

V2_VARIABLE = "VLLM_USE_V2_MODEL_RUNNER"


def async_scheduling(context: Context) -> Property:
    """`async_scheduling`: whether the next step is scheduled before the last one has ended."""
    setting = context.setting("async_scheduling")
    if setting is not None:
        return explicit(setting)
    behaviour = context.behaviour("async_scheduling")
    if behaviour is None:
        return context.unverified("async_scheduling")
    serving = serves(context)
    if serving == "pooling":
        return certain(False, context.because(POST_INIT, "pooling models are not scheduled asynchronously"))
    found = drafter(context)
    if found.present is None:
        return missing("the default depends on the drafter, which is unknown")
    if found.present:
        off = _off_by_drafter(context, behaviour)
        if off is not None:
            return off
    executor = _executor_supports(context)
    if executor is None:
        return missing("the default depends on the executor, which is unknown")
    reason = context.because(POST_INIT, "asynchronous scheduling is on unless something does not support it")
    if not executor:
        return certain(False, context.because(POST_INIT, "this executor does not support asynchronous scheduling"))
    if serving is None:
        return resting_on("assumed", True, reason, assumption("the model generates"))
    certainty = found.method.certainty if found.present else "certain"
    return resting_on(certainty, True, reason, *(found.method.because if found.present else ()))


def _off_by_drafter(context: Context, behaviour: Mapping[str, Any]) -> Property | None:
    found = drafter(context)
    padded = found.flag("disable_padded_drafter_batch")
    if not found.method.known:
        return missing("the default depends on the drafting method, which is unknown")
    if found.method.value not in async_methods(context, draft_model=bool(behaviour["draft_model_async"])):
        text = f"drafting with {found.method.value} turns asynchronous scheduling off"
        return resting_on(found.method.certainty, False, context.because(POST_INIT, text), *found.method.because)
    if padded is None:
        return missing("the default depends on disable_padded_drafter_batch, which is unknown")
    if padded:
        setting = found.settings["disable_padded_drafter_batch"]
        text = "disable_padded_drafter_batch turns asynchronous scheduling off"
        return certain(False, context.because(POST_INIT, text), *setting.because)
    return None


def async_methods(context: Context, *, draft_model: bool) -> frozenset[str]:
    """The drafting methods that go with asynchronous scheduling."""
    facts = context.basis.facts
    methods = {*facts.choices("EagleModelTypes"), *facts.choices("NgramGPUTypes"), "dspark"}
    return frozenset(methods | {"draft_model"} if draft_model else methods)


def _executor_supports(context: Context) -> bool | None:
    setting = context.setting("distributed_executor_backend")
    if setting is None:
        backend = context.setting("data_parallel_backend")
        if backend is None or backend.value == "mp":
            return True
        return _ray_supports(context) if backend.value == "ray" else None
    if setting.value == "ray":
        return _ray_supports(context)
    return True if setting.value in ASYNC_EXECUTORS else None


def _ray_supports(context: Context) -> bool | None:
    word = context.variable("VLLM_USE_RAY_V2_EXECUTOR_BACKEND")
    if word is None:
        return True
    number = _whole(word.text) if word.known else None
    return None if number is None else bool(number)


def v2_model_runner(context: Context) -> Property:
    """`v2_model_runner`: whether the worker uses the second model runner."""
    word = context.variable(V2_VARIABLE)
    if word is not None:
        number = _whole(word.text) if word.known else None
        return unknown(*word.because) if number is None else certain(bool(number), *word.because)
    behaviour = context.behaviour("v2_model_runner")
    if behaviour is None:
        return context.unverified("v2_model_runner")
    return _forced(context, behaviour) or _by_model(context, behaviour)


def _forced(context: Context, behaviour: Mapping[str, Any]) -> Property | None:
    ranks = context.setting("prefill_context_parallel_size")
    if ranks is not None and behaviour["context_parallel_forces_v2"] and ranks.value != 1:
        reason = context.because(USE_V2, "prefill context parallelism needs the V2 runner")
        return unknown(*ranks.because) if ranks.value is UNKNOWN else certain(True, reason, *ranks.because)
    found = drafter(context)
    if found.present is not False and not found.method.known:
        return missing("the drafting method, which is unknown, may force the V2 runner")
    if found.present:
        if found.method.value == "dspark":
            return resting_on(
                found.method.certainty,
                True,
                context.because(USE_V2, "dspark needs the V2 runner"),
                *found.method.because,
            )
        if found.method.value == "dflash" and behaviour["dflash_may_force_v2"] and not _is_plain_default(context):
            return missing("some DFlash drafters force the V2 runner: their configuration says which")
    if serves(context) == "diffusion":
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
    lacking = _unsupported(context, behaviour)
    if lacking is None:
        return missing("the runner depends on a feature whose setting is unknown")
    if lacking:
        text = f"the V2 runner does not support {', '.join(lacking)}: the V1 runner is used"
        return resting_on(default.certainty, False, context.because(UNSUPPORTED, text), *default.because)
    method = drafter(context).method
    return resting_on("assumed" if method.certainty == "assumed" else default.certainty, True, *default.because)


def _default_for_model(context: Context, behaviour: Mapping[str, Any]) -> Property:
    serving, hybrid, free = serves(context), is_hybrid(context), is_attention_free(context)
    model = context.model
    listed = model.architecture in listed_architectures(context)
    reasons = context.model_reasons("architecture", "recurrent", "moe")
    if serving is None:
        return missing("the default depends on the model's architecture, which is not known")
    if serving == "pooling":
        return certain(False, context.because(DEFAULT_V2, "pooling models use the V1 runner"))
    if not (listed and behaviour["listed_hybrids_use_v2"]):
        if hybrid is None:
            return missing("the default depends on whether the model has recurrent layers, which is not known")
        if hybrid:
            if model.architecture is None and behaviour["listed_hybrids_use_v2"]:
                names = ", ".join(sorted(listed_architectures(context)))
                reasons = (*reasons, assumption(f"the model is none of {names}"))
                return resting_on("assumed", False, context.because(DEFAULT_V2, "hybrids use the V1 runner"), *reasons)
            text = "hybrid models use the V1 runner"
            return resting_on(model.certainty, False, context.because(DEFAULT_V2, text), *reasons)
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


def listed_architectures(context: Context) -> frozenset[str]:
    """The architectures that the release lists for the V2 runner."""
    return frozenset(context.basis.facts.constants.get(ARCHITECTURES) or ())


def _unsupported(context: Context, behaviour: Mapping[str, Any]) -> list[str] | None:
    """What keeps the V2 runner from being used; None when a setting that matters is unknown."""
    lacks = set(behaviour["v2_lacks"])
    found = _by_settings(context, lacks)
    by_drafter = _by_drafter(context, lacks)
    if found is None or by_drafter is None:
        return None
    return found + by_drafter


def _by_settings(context: Context, lacks: set[str]) -> list[str] | None:
    found: list[str] = []
    flags = {
        "enable_dbo": "dual batch overlap",
        "enable_elastic_ep": "elastic expert parallelism",
        "enable_prompt_embeds": "prompt embeds",
        "kv_sharing_fast_prefill": "KV sharing fast prefill",
        "logits_processors": "custom logits processors",
    }
    if "routed_experts" in lacks:
        flags["enable_return_routed_experts"] = "routed experts capture"
    if "encoder_cache_transfer" in lacks:
        flags["ec_transfer_config"] = "EC transfer"
    for dest, text in flags.items():
        setting = context.setting(dest)
        if setting is not None and setting.value is UNKNOWN:
            return None
        if setting is not None and setting.value:
            found.append(text)
    for setting, wrong, text in (
        (context.setting("prefill_context_parallel_size"), lambda n: n != 1, "prefill context parallelism"),
        (context.key("compilation_config", "mode"), _is_stock, "stock torch.compile"),
        (
            context.setting("logprobs_mode"),
            lambda mode: mode in ("raw_logits", "processed_logits"),
            "this logprobs mode",
        ),
    ):
        if setting is None or (text == "this logprobs mode" and "raw_logits" not in lacks):
            continue
        if setting.value is UNKNOWN:
            return None
        if wrong(setting.value) and not _allowed_parallel(context, text, lacks):
            found.append(text)
    parallel = _sequence_parallel(context)
    return None if parallel is None else found + parallel


def _allowed_parallel(context: Context, text: str, lacks: set[str]) -> bool:
    with_mla = text == "prefill context parallelism" and "context_parallel_without_mla" in lacks
    return with_mla and context.traits.attention == "mla"


def _is_stock(mode: object) -> bool:
    return compilation_name(mode) == "STOCK_TORCH_COMPILE"


def _sequence_parallel(context: Context) -> list[str] | None:
    size = context["tensor_parallel_size"]
    asked = [context.key("compilation_config", f"pass_config.{name}") for name in ("enable_sp", "fuse_gemm_comms")]
    if any(item is not None and item.value is UNKNOWN for item in asked) or not size.known:
        return None
    wanted = any(item is not None and item.value for item in asked)
    if not wanted or size.value == 1:
        launcher, stages = context.setting("distributed_executor_backend"), context["pipeline_parallel_size"]
        launched = launcher is not None and launcher.value == "external_launcher" and stages.value != 1
        return ["pipeline parallelism with external_launcher"] if launched else []
    return None


def _by_drafter(context: Context, lacks: set[str]) -> list[str] | None:
    found = drafter(context)
    if found.present is False:
        return []
    if found.present is None or not found.method.known:
        return None
    method = str(found.method.value)
    lacking = [] if method in V2_METHODS else [f"drafting with {method}"]
    parallel = found.flag("parallel_drafting")
    if parallel is None:
        return None
    if parallel and method not in OWN_PARALLEL_DRAFTING:
        lacking.append("parallel drafting")
    stages = context["pipeline_parallel_size"]
    if method == "eagle3" and stages.value != 1:
        lacking.append("EAGLE3 with pipeline parallelism")
    adaptive = "adaptive_verification" in lacks and found.flag("enable_adaptive_verification")
    eager = context["enforce_eager"].value is True
    if adaptive and (context.setting("enable_lora") is not None or stages.value != 1 or eager):
        lacking.append("adaptive verification with LoRA, pipeline parallelism or eager execution")
    return lacking


def check(context: Context) -> None:
    """Record what the configuration refuses."""
    _check_async(context)
    _check_v2(context)


def check_variable(context: Context) -> None:
    """Record a variable that chooses the runner and is not a number, in a release that reads it."""
    word = context.variable(V2_VARIABLE)
    known = context.basis.facts.environment.get(V2_VARIABLE) is not None
    if word is not None and word.known and known and _whole(word.text) is None:
        message = f"invalid literal for int() with base 10: {word.text!r}"
        context.errors.append(EngineError("invalid-value", f"{V2_VARIABLE}={word.text}", message, word.because))


def _check_async(context: Context) -> None:
    setting, found = context.setting("async_scheduling"), drafter(context)
    if setting is None or setting.value is not True:
        return
    if found.present and found.method.known and found.method.value not in async_methods(context, draft_model=True):
        context.refuse(setting, f"async scheduling does not support drafting with {found.method.value}")
    elif found.present and found.flag("disable_padded_drafter_batch"):
        context.refuse(setting, "Async scheduling is not compatible with disable_padded_drafter_batch=True.")
    if _executor_supports(context) is False:
        context.refuse(setting, "this executor does not support async scheduling yet.")


def _check_v2(context: Context) -> None:
    word, forced = context.variable(V2_VARIABLE), context["v2_model_runner"]
    readings = context.behaviour("v2_model_runner")
    if readings is None or not forced.known:
        return
    ranks = context.setting("prefill_context_parallel_size")
    if not forced.value:
        needs = ranks is not None and isinstance(ranks.value, int) and ranks.value > 1
        if needs and ranks is not None and readings["context_parallel_forces_v2"]:
            context.refuse(ranks, "Prefill context parallelism requires Model Runner V2.")
        return
    by_drafter = drafter(context).method.known and drafter(context).method.value == "dspark"
    if word is None and not by_drafter:
        return
    lacking = _unsupported(context, readings)
    if lacking:
        argument = f"{V2_VARIABLE}={word.text}" if word is not None else "--speculative-config"
        because = word.because if word is not None else drafter(context).method.because
        message = f"Model Runner V2 does not yet support: {', '.join(lacking)}"
        context.errors.append(EngineError("conflict", argument, message, because))


def _whole(text: str) -> int | None:
    """A word that Python reads as a whole number, None for another."""
    try:
        return int(text) if len(text) < 20 else None
    except ValueError:
        return None
