"""Asynchronous scheduling: whether the next step is scheduled before the last one has ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.engine.derivations.context import Context, assumption, certain, explicit, missing, resting_on
from bot.engine.derivations.model_kind import is_attention_free, is_hybrid, may_pool, serves
from bot.engine.derivations.speculation import drafter
from bot.engine.model import Certainty, Property
from bot.provenance import Reason

POST_INIT = "vllm/config/vllm.py:VllmConfig.__post_init__#async_scheduling"
ASYNC_EXECUTORS = frozenset({"mp", "uni", "external_launcher"})
RAY_VARIABLE = "VLLM_USE_RAY_V2_EXECUTOR_BACKEND"


def async_scheduling(context: Context) -> Property:
    """`async_scheduling`: on unless something does not support it."""
    setting, behaviour = context.setting("async_scheduling"), context.behaviour("async_scheduling")
    if setting is not None:
        return explicit(setting)
    if behaviour is None:
        return context.unverified("async_scheduling")
    if not behaviour["on_by_default"]:
        return context.literal("async_scheduling")
    if behaviour["pooling_without"] and serves(context) == "pooling":
        return certain(False, context.because(POST_INIT, "pooling models are not scheduled asynchronously"))
    for rule in (_by_runner, _by_executor, _by_mamba_cache):
        off = rule(context, behaviour)
        if off is not None:
            return off
    return _on(context, behaviour)


def _on(context: Context, behaviour: Mapping[str, Any]) -> Property:
    """Nothing speaks against it, as far as is known."""
    reason = context.because(POST_INIT, "asynchronous scheduling is on unless something does not support it")
    certainty: Certainty = "certain"
    because: tuple[Reason, ...] = ()
    if _limited_to_v1(behaviour):
        runner = context["v2_model_runner"]
        certainty, because = runner.certainty, runner.because
    found = drafter(context)
    if found.present and not (behaviour["drafter_on_v1_only"] and context["v2_model_runner"].value is True):
        certainty = "assumed" if "assumed" in (certainty, found.method.certainty) else certainty
        because += found.method.because
    if behaviour["pooling_without"] and serves(context) is None:
        if may_pool(context):
            return missing("pooling models are not scheduled asynchronously, and whether the model pools is not known")
        return resting_on("assumed", True, reason, *because, assumption("the model generates"))
    return resting_on(certainty, True, reason, *because)


def _limited_to_v1(behaviour: Mapping[str, Any]) -> bool:
    """Whether something speaks against it on the V1 runner only."""
    return bool(behaviour["drafter_on_v1_only"])


def _by_runner(context: Context, behaviour: Mapping[str, Any]) -> Property | None:
    """The drafter and the pipeline, which may matter on the V1 runner only."""
    drafting = None if drafter(context).present is False else _off_by_drafter(context, behaviour)
    staging = _off_by_stages(context, behaviour)
    v1_only = [
        off
        for off, limited in (
            (drafting, behaviour["drafter_on_v1_only"]),
            (staging, behaviour["stages_without"] == "v1"),
        )
        if off is not None and limited
    ]
    always = [off for off in (drafting, staging) if off is not None and off not in v1_only]
    if always:
        return always[0]
    if not v1_only:
        return None
    runner = context["v2_model_runner"]
    if not runner.known:
        return missing("the default depends on the model runner, which is unknown")
    if runner.value:
        return None
    off = v1_only[0]
    return off if not off.known else resting_on(_weaker(runner, off), False, *off.because, *runner.because)


def _weaker(one: Property, other: Property) -> Certainty:
    return "assumed" if "assumed" in (one.certainty, other.certainty) else "certain"


def _off_by_stages(context: Context, behaviour: Mapping[str, Any]) -> Property | None:
    stages = context["pipeline_parallel_size"]
    if behaviour["stages_without"] == "never" or stages.value == 1:
        return None
    if not stages.known:
        return missing("the default depends on the pipeline's stages, which are unknown")
    reason = context.because(POST_INIT, "pipeline parallelism turns asynchronous scheduling off")
    return certain(False, reason, *stages.because)


def _off_by_drafter(context: Context, behaviour: Mapping[str, Any]) -> Property | None:
    found = drafter(context)
    padded = found.flag("disable_padded_drafter_batch")
    if found.present is None:
        return missing("the default depends on the drafter, which is unknown")
    if not found.method.known:
        return missing("the default depends on the drafting method, which is unknown")
    if found.method.value not in async_methods(context, behaviour["methods"]):
        text = f"drafting with {found.method.value} turns asynchronous scheduling off"
        return resting_on(found.method.certainty, False, context.because(POST_INIT, text), *found.method.because)
    if padded is None:
        return missing("the default depends on disable_padded_drafter_batch, which is unknown")
    if padded:
        setting = found.settings["disable_padded_drafter_batch"]
        text = "disable_padded_drafter_batch turns asynchronous scheduling off"
        return certain(False, context.because(POST_INIT, text), *setting.because)
    return None


def async_methods(context: Context, extra: list[str]) -> frozenset[str]:
    """The drafting methods that go with asynchronous scheduling."""
    facts = context.basis.facts
    return frozenset({*facts.choices("EagleModelTypes"), *facts.choices("NgramGPUTypes"), *extra})


def _by_mamba_cache(context: Context, behaviour: Mapping[str, Any]) -> Property | None:
    """A release in which cached recurrent states do not go with it."""
    if not behaviour["mamba_cache_without"] or (is_hybrid(context) is False and is_attention_free(context) is False):
        return None
    mode = context["mamba_cache_mode"]
    if not mode.known:
        return missing("the default depends on the mamba cache mode, which is unknown")
    if mode.value == "none":
        return None
    reason = context.because(POST_INIT, "prefix caching of recurrent states turns asynchronous scheduling off")
    return resting_on(mode.certainty, False, reason, *mode.because)


def _by_executor(context: Context, behaviour: Mapping[str, Any]) -> Property | None:
    supports = executor_supports(context, behaviour)
    if supports is None:
        return missing("the default depends on the executor, which is unknown")
    if supports:
        return None
    return certain(False, context.because(POST_INIT, "this executor does not support asynchronous scheduling"))


def executor_supports(context: Context, behaviour: Mapping[str, Any]) -> bool | None:
    """Whether the executor goes with asynchronous scheduling; None when that is not known."""
    setting = context.setting("distributed_executor_backend")
    if setting is None:
        backend = context.setting("data_parallel_backend")
        if backend is None or backend.value == "mp" or _one_rank(context):
            return True
        return _ray_supports(context, behaviour) if backend.value == "ray" else None
    if setting.value == "ray":
        return _ray_supports(context, behaviour)
    return True if setting.value in ASYNC_EXECUTORS else None


def _one_rank(context: Context) -> bool:
    """Whether one process computes the model, whatever the backend of data parallelism is."""
    sizes = [context[name] for name in ("tensor_parallel_size", "pipeline_parallel_size")]
    ranks = context.setting("prefill_context_parallel_size")
    return all(size.value == 1 for size in sizes) and (ranks is None or ranks.value == 1)


def _ray_supports(context: Context, behaviour: Mapping[str, Any]) -> bool | None:
    rule = behaviour["ray"]
    if rule in ("yes", "no"):
        return bool(rule == "yes")
    word = context.variable(RAY_VARIABLE)
    if word is None:
        return bool(rule == "variable-on")
    number = whole(word.text) if word.known else None
    return None if number is None else bool(number)


def check(context: Context) -> None:
    """Record what the configuration refuses."""
    setting, behaviour = context.setting("async_scheduling"), context.behaviour("async_scheduling")
    if setting is None or setting.value is not True or behaviour is None:
        return
    runner = context["v2_model_runner"]
    if not behaviour["drafter_on_v1_only"] or runner.value is False:
        _check_drafter(context, behaviour)
    if executor_supports(context, behaviour) is False:
        context.refuse(setting, "this executor does not support async scheduling yet.")


def _check_drafter(context: Context, behaviour: Mapping[str, Any]) -> None:
    setting, found = context.setting("async_scheduling"), drafter(context)
    if setting is None or not found.present or not found.method.known:
        return
    if found.method.value not in async_methods(context, behaviour["methods_if_asked"]):
        context.refuse(setting, f"async scheduling does not support drafting with {found.method.value}")
    elif found.flag("disable_padded_drafter_batch"):
        context.refuse(setting, "Async scheduling is not compatible with disable_padded_drafter_batch=True.")


def whole(text: str) -> int | None:
    """A word that Python reads as a whole number, None for another."""
    try:
        return int(text) if len(text) < 20 else None
    except ValueError:
        return None
