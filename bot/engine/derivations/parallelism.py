"""What the configuration refuses of parallelism: of ranks, experts and micro batches that do not go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bot.engine.commandline import UNKNOWN, Setting
from bot.engine.derivations.context import Context

MICRO_BATCH_KERNELS: Final = frozenset({"deepep_low_latency", "deepep_high_throughput", "nixl_ep"})
"""All-to-all kernels that micro batches need (a later release has the last one besides)."""


def check(context: Context, behaviour: Mapping[str, Any]) -> None:
    """Record what is refused."""
    _check_context(context)
    _check_experts(context)
    _check_micro_batches(context)
    _check_balancing(context, behaviour)


def _size(context: Context, dest: str) -> int | None:
    """The size of a group of ranks, 1 by default; None when it is not known."""
    setting = context.setting(dest)
    if setting is None:
        return 1
    return setting.value if isinstance(setting.value, int) and not isinstance(setting.value, bool) else None


def _asked(context: Context, dest: str) -> Setting | None:
    """A two-valued setting that is on."""
    setting = context.setting(dest)
    return setting if setting is not None and setting.value is True else None


def _is_off(context: Context, dest: str) -> bool:
    """Whether a two-valued setting is known to be off, as it is by default."""
    setting = context.setting(dest)
    return setting is None or setting.value is False


def _check_context(context: Context) -> None:
    ranks, tensors = context.setting("decode_context_parallel_size"), _size(context, "tensor_parallel_size")
    if ranks is None or tensors is None or not isinstance(ranks.value, int) or ranks.value < 1:
        return
    if _size(context, "prefill_context_parallel_size") != 1:
        return
    if tensors % ranks.value:
        context.refuse(ranks, f"tp_size={tensors} must be divisible by dcp_size={ranks.value}.")


def _check_experts(context: Context) -> None:
    experts, balancing = _asked(context, "enable_expert_parallel"), _asked(context, "enable_eplb")
    if experts is not None and context.model.moe is False:
        message = "Number of experts in the model must be greater than 0 when expert parallelism is enabled."
        context.refuse(experts, message)
    if balancing is not None and _is_off(context, "enable_expert_parallel"):
        context.refuse(balancing, "enable_expert_parallel must be True to use EPLB.")
    elif balancing is not None and {_size(context, dest) for dest in _SPREADING} == {1}:
        context.refuse(balancing, "EPLB requires tensor_parallel_size or data_parallel_size to be greater than 1")
    elastic = _asked(context, "enable_elastic_ep")
    if elastic is not None and _is_off(context, "enable_eplb"):
        context.refuse(elastic, "Elastic EP is only supported with enable_eplb=True.")


_SPREADING: Final = ("tensor_parallel_size", "data_parallel_size", "prefill_context_parallel_size")
"""Sizes of groups that experts are spread over."""


BACKEND_VARIABLE: Final = "VLLM_ALL2ALL_BACKEND"
"""Chooses the kernels in the releases that read it."""


def _check_micro_batches(context: Context) -> None:
    backend = context.setting("all2all_backend")
    read = context.basis.facts.environment.get(BACKEND_VARIABLE) is not None
    asked = _asked(context, "enable_dbo")
    count = context.setting("ubatch_size")
    if asked is None and count is not None and isinstance(count.value, int) and count.value > 1:
        asked = count
    if asked is None or (read and context.variable(BACKEND_VARIABLE) is not None):
        return
    if backend is not None and backend.value is UNKNOWN:
        return
    if backend is None or backend.value not in MICRO_BATCH_KERNELS:
        context.refuse(asked, "Microbatching currently only supports DeepEP's all2all backends.")


def _check_balancing(context: Context, behaviour: Mapping[str, Any]) -> None:
    rank, external = context.setting("data_parallel_rank"), _asked(context, "data_parallel_external_lb")
    hybrid, ranks = _asked(context, "data_parallel_hybrid_lb"), _size(context, "data_parallel_size")
    if rank is not None and isinstance(rank.value, int) and ranks == 1:
        context.refuse(rank, "data_parallel_external_lb can only be set when data_parallel_size > 1")
    if (
        external is not None
        and behaviour["external_needs_rank"]
        and not _any(context, "data_parallel_rank", "node_rank")
    ):
        context.refuse(external, "data_parallel_rank or node_rank must be specified for data_parallel_external_lb.")
    if hybrid is not None and external is None and not _any(context, *_LOCAL):
        context.refuse(hybrid, "data_parallel_size_local must be set to use data_parallel_hybrid_lb.")


_LOCAL: Final = ("data_parallel_size_local", "data_parallel_start_rank", "data_parallel_rank", "nnodes")
"""Settings of which one says what runs on this node."""


def _any(context: Context, *names: str) -> bool:
    return any(context.setting(dest) is not None for dest in names)
