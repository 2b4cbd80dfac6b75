"""Combinations of settings that the configuration refuses before a worker starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot.engine.commandline import UNKNOWN, Setting
from bot.engine.derivations import caching, compilation, outputs, parallelism, plain, runner, scheduling, speculation
from bot.engine.derivations.context import Context
from bot.engine.derivations.model_kind import is_attention_free, is_hybrid
from bot.engine.derivations.speculation import Drafter, drafter
from bot.engine.model import EngineError

EXPANDABLE = "expandable_segments:True"
ALLOCATOR = "PYTORCH_CUDA_ALLOC_CONF"

READS_STATES = frozenset({"eagle", "eagle3", "mtp", "dflash", "dspark"})
"""Methods that draft from the target's hidden states, in every release that has them."""

Check = Callable[[Context, Mapping[str, Any]], None]


def conflicts(context: Context) -> tuple[EngineError, ...]:
    """Everything that the configuration refuses. Only what is verified for the release is checked."""
    behaviour = context.behaviour("conflicts")
    if behaviour is not None:
        for check in _CHECKS:
            check(context, behaviour)
    runner.check_variable(context)
    return tuple(dict.fromkeys(context.errors))


def _batches(context: Context, behaviour: Mapping[str, Any]) -> None:
    """Batches, requests and lengths that do not fit together."""
    tokens, length = context.setting("max_num_batched_tokens"), context.setting("max_model_len")
    chunked = context["chunked_prefill"]
    if tokens is not None and _less(tokens, length) and chunked.known and chunked.value is False:
        context.refuse(tokens, f"max_num_batched_tokens ({tokens.value}) is smaller than max_model_len")
    if tokens is not None and _less(tokens, context.setting("max_num_seqs")):
        context.refuse(tokens, f"max_num_batched_tokens ({tokens.value}) must be greater than or equal to max_num_seqs")
    threshold = context.setting("long_prefill_token_threshold")
    if behaviour["long_prefill_checked"] and threshold is not None and length is not None and _less(length, threshold):
        context.refuse(threshold, f"long_prefill_token_threshold ({threshold.value}) cannot exceed max_model_len")
    for dest in ("max_num_partial_prefills", "max_long_partial_prefills") if behaviour["partial_prefills"] else ():
        setting = context.setting(dest)
        if setting is not None and setting.value not in (1, UNKNOWN):
            context.refuse(setting, "Concurrent Partial Prefill is not supported.")


def _less(one: Setting, other: Setting | None) -> bool:
    """Whether both are numbers, and the first is smaller. -1 stands for a number that is found later."""
    if other is None or not isinstance(one.value, int) or not isinstance(other.value, int):
        return False
    return 0 <= one.value < other.value


def _draft_slots(context: Context, behaviour: Mapping[str, Any]) -> None:
    """A drafter needs token slots of its own in a batch."""
    tokens, requests = context.setting("max_num_batched_tokens"), context.setting("max_num_seqs")
    found = drafter(context)
    if tokens is None or requests is None or not found.present or not (found.method.known and found.tokens.known):
        return
    rule = behaviour["draft_slots"]
    each = _slots(found, rule)
    if each is None or not isinstance(tokens.value, int) or not isinstance(requests.value, int):
        return
    needed = each * requests.value if rule == "every-request" else each
    if needed and tokens.value <= needed:
        context.refuse(tokens, f"max_num_batched_tokens ({tokens.value}) leaves no token beside {needed} draft slots")


def _slots(found: Drafter, rule: str) -> int | None:
    """The slots that drafting adds; None when that is not known."""
    count, method = found.tokens.value, found.method.value
    if rule == "none" or not isinstance(count, int):
        return None
    if rule == "ahead":
        return {"mtp": count, "eagle": count, "eagle3": count, "draft_model": count, "dflash": count + 1}.get(
            str(method)
        )
    parallel = True if method in ("dflash", "dspark") else found.flag("parallel_drafting")
    if parallel is None:
        return None
    if rule == "every-request":
        return (count - 1 if parallel else 0) + (1 if method == "draft_model" else 0)
    if method == "dflash" or (parallel and method == "draft_model"):
        return count
    return count - 1 if parallel else int(method == "draft_model")


def _capture_sizes(context: Context, behaviour: Mapping[str, Any]) -> None:
    """Sizes to capture that cannot be captured."""
    mode = context["cudagraph_mode"]
    if not mode.known or mode.value == "NONE":
        return
    sizes, largest = _size(context, "cudagraph_capture_sizes"), _size(context, "max_cudagraph_capture_size")
    if largest is not None and isinstance(largest.value, int) and largest.value < 1:
        context.refuse(largest, "Maximum cudagraph size should be greater than or equal to 1 when using cuda graph.")
    if sizes is None or not isinstance(sizes.value, list):
        return
    if not sizes.value and behaviour["sizes_needed"]:
        context.refuse(sizes, "cudagraph_capture_sizes should contain at least one element when using cuda graph.")
    elif (
        sizes.value
        and largest is not None
        and isinstance(largest.value, int)
        and all(isinstance(size, int) for size in sizes.value)
    ):
        tokens = context.setting("max_num_batched_tokens")
        limit = tokens.value if tokens is not None and isinstance(tokens.value, int) else SMALLEST_DEFAULT_BATCH
        if max(sizes.value) <= limit and max(sizes.value) != largest.value:
            context.refuse(largest, "max_cudagraph_capture_size should be the largest of cudagraph_capture_sizes")


SMALLEST_DEFAULT_BATCH = 2048
"""The least number of tokens that a batch has by default on a GPU."""


def _size(context: Context, dest: str) -> Setting | None:
    return context.setting(dest) or context.key("compilation_config", dest)


def _connector(context: Context, behaviour: Mapping[str, Any]) -> None:
    """A KV connector needs a role, and memory that stays where it is."""
    connector, role = context.key("kv_transfer_config", "kv_connector"), context.key("kv_transfer_config", "kv_role")
    if connector is not None and role is None and connector.value is not UNKNOWN:
        context.refuse(connector, "Please specify kv_role when kv_connector is set")
    connector = connector or context.setting("kv_offloading_size")
    word = context.variable(ALLOCATOR)
    if connector is None or word is None or not word.known or EXPANDABLE not in word.text:
        return
    if not behaviour["expandable_segments"]:
        return
    pools = [context.setting(dest) for dest in ("enable_cumem_allocator", "enable_sleep_mode")]
    if not any(pool is not None and (pool.value is UNKNOWN or pool.value) for pool in pools):
        message = f"a KV connector is incompatible with {ALLOCATOR}={EXPANDABLE}"
        because = (*word.because, *connector.because)
        context.errors.append(EngineError("conflict", f"{ALLOCATOR}={word.text}", message, because))


def _data_parallel(context: Context, behaviour: Mapping[str, Any]) -> None:
    """Dense models have no external data parallelism."""
    ranks = context.setting("data_parallel_size")
    several = ranks is not None and isinstance(ranks.value, int) and ranks.value > 1
    if not behaviour["dense_external_ranks"]:
        return
    for dest in ("data_parallel_external_lb", "data_parallel_rank"):
        setting = context.setting(dest)
        if setting is None or setting.value is False or setting.value is UNKNOWN:
            continue
        if several and context.model.moe is False:
            context.refuse(setting, "Non-MoE models do not support external data parallel mode.")


def _stochastic_rounding(context: Context, _: Mapping[str, Any]) -> None:
    """Stochastic rounding of recurrent state needs half precision."""
    flag, dtype = context.setting("enable_mamba_cache_stochastic_rounding"), context.setting("mamba_ssm_cache_dtype")
    if flag is None or flag.value is not True or (dtype is not None and dtype.value in ("float16", "auto", UNKNOWN)):
        return
    if dtype is not None:
        context.refuse(flag, "Stochastic rounding for Mamba cache requires the SSM cache to be float16.")


def _mamba_blocks(context: Context, behaviour: Mapping[str, Any]) -> None:
    """Blocks of recurrent state are cached as prefixes, or not at all."""
    size, caching_ = context.setting("mamba_block_size"), context["prefix_caching"]
    recurrent = is_hybrid(context) or is_attention_free(context)
    if not behaviour["mamba_blocks_need_caching"] or size is None or size.value is UNKNOWN or not recurrent:
        return
    length = context.setting("max_model_len")
    if caching_.known and not caching_.value and (length is None or length.value != size.value):
        context.refuse(size, "--mamba-block-size can only be set with --enable-prefix-caching")


def _encoder_only(context: Context, behaviour: Mapping[str, Any]) -> None:
    """Blocks of recurrent state that are made for prefix caching, which is then turned off."""
    only, wanted = context.setting("mm_encoder_only"), context.setting("enable_prefix_caching")
    if not behaviour["encoder_only_too_late"] or only is None or only.value is not True or not is_hybrid(context):
        return
    reads_images = context.model.architecture is not None and not context.model.architecture.endswith("ForCausalLM")
    if reads_images and (wanted is None or wanted.value is True):
        context.refuse(only, "--mamba-block-size can only be set with --enable-prefix-caching")


def _fast_prefill(context: Context, _: Mapping[str, Any]) -> None:
    """Fast prefill of shared caches gives a drafter that reads the target's states wrong ones."""
    setting = context.setting("kv_sharing_fast_prefill")
    if setting is not None and setting.value is True and drafter(context).method.value in READS_STATES:
        context.refuse(setting, "Fast prefill optimization for KV sharing is not compatible with EAGLE.")


def _operators(context: Context, _: Mapping[str, Any]) -> None:
    """Custom operators are all on, or all off, but not both."""
    setting = context.key("compilation_config", "custom_ops")
    if setting is not None and isinstance(setting.value, list) and {"all", "none"} <= set(map(str, setting.value)):
        context.refuse(setting, "custom_ops can only have one of 'all' and 'none'")


def _length(context: Context, behaviour: Mapping[str, Any]) -> None:
    """A model without any length."""
    setting = context.setting("max_model_len")
    if behaviour["length_checked"] and setting is not None and setting.value == 0:
        context.refuse(setting, "max_model_len must be greater than 0")


def _memory(context: Context, _: Mapping[str, Any]) -> None:
    """More memory than there is."""
    setting = context.setting("gpu_memory_utilization")
    if setting is not None and isinstance(setting.value, int | float) and setting.value > 1:
        context.refuse(setting, f"GPU memory utilization must be less than 1.0. Got {setting.value}.")


def _environment(context: Context, _: Mapping[str, Any]) -> None:
    """With `--fail-on-environ-validation` an unknown variable stops the server."""
    strict = context.setting("fail_on_environ_validation")
    if strict is None or strict.value is not True:
        return
    known = context.basis.facts.environment
    for name in context.launch.environment:
        if name.startswith("VLLM_") and name not in known:
            context.refuse(strict, f"Unknown vLLM environment variable detected: {name}")


def _family(check: Callable[[Context], None]) -> Check:
    """A family's own check, which asks for the behaviour itself."""

    def checked(context: Context, _: Mapping[str, Any]) -> None:
        check(context)

    return checked


_CHECKS: tuple[Check, ...] = (
    _environment,
    _batches,
    _draft_slots,
    _capture_sizes,
    _connector,
    _data_parallel,
    parallelism.check,
    _mamba_blocks,
    _encoder_only,
    _fast_prefill,
    _operators,
    _length,
    _memory,
    _stochastic_rounding,
    _family(plain.check),
    plain.check_cache,
    _family(caching.check),
    _family(compilation.check),
    _family(speculation.check),
    _family(scheduling.check),
    runner.check,
    outputs.check,
)
