"""Combinations of settings that the configuration refuses before a worker starts."""

from __future__ import annotations

from collections.abc import Callable

from bot.engine.commandline import UNKNOWN, Setting
from bot.engine.derivations import caching, compilation, scheduling, speculation
from bot.engine.derivations.context import Context
from bot.engine.model import EngineError


def conflicts(context: Context) -> tuple[EngineError, ...]:
    """Everything that the configuration refuses. Only what is verified for the release is checked."""
    for check in _CHECKS:
        check(context)
    return tuple(dict.fromkeys(context.errors))


def _batches(context: Context) -> None:
    """`SchedulerConfig.verify_max_model_len`."""
    if context.behaviour("conflicts") is None:
        return
    tokens, length = context.setting("max_num_batched_tokens"), context.setting("max_model_len")
    requests, chunked = context.setting("max_num_seqs"), context["chunked_prefill"]
    if tokens is None or tokens.value is UNKNOWN:
        return
    too_long = _less(tokens, length)
    if too_long and chunked.known and chunked.value is False:
        context.refuse(tokens, f"max_num_batched_tokens ({tokens.value}) is smaller than max_model_len")
    if _less(tokens, requests):
        context.refuse(tokens, f"max_num_batched_tokens ({tokens.value}) must be greater than or equal to max_num_seqs")


def _less(one: Setting, other: Setting | None) -> bool:
    if other is None or not isinstance(one.value, int) or not isinstance(other.value, int):
        return False
    return 0 <= one.value < other.value


def _stochastic_rounding(context: Context) -> None:
    """Stochastic rounding of recurrent state needs half precision."""
    if context.behaviour("conflicts") is None:
        return
    flag = context.setting("enable_mamba_cache_stochastic_rounding")
    dtype = context.setting("mamba_ssm_cache_dtype")
    if flag is not None and flag.value is True and (dtype is None or dtype.value not in ("float16", UNKNOWN)):
        if dtype is None and context.model.architecture is None:
            return
        context.refuse(flag, "Stochastic rounding for Mamba cache requires the SSM cache to be float16.")


_CHECKS: tuple[Callable[[Context], None], ...] = (
    _batches,
    _stochastic_rounding,
    caching.check,
    compilation.check,
    speculation.check,
    scheduling.check,
)
