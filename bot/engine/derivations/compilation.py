"""The optimisation level, and the CUDA graph mode that the configuration ends up with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bot.engine.commandline import UNKNOWN, Setting
from bot.engine.derivations.context import (
    Context,
    assumption,
    certain,
    explicit,
    is_true,
    missing,
    resting_on,
    unknown,
)
from bot.engine.derivations.model_kind import serves
from bot.engine.derivations.speculation import drafter
from bot.engine.model import Certainty, Property, Value
from bot.provenance import Reason

MODES: Final = ("NONE", "PIECEWISE", "FULL", "FULL_DECODE_ONLY", "FULL_AND_PIECEWISE")
FULL_MODES: Final = frozenset({"FULL", "FULL_DECODE_ONLY", "FULL_AND_PIECEWISE"})
"""Modes that capture whole steps, at least for decoding."""
PIECEWISE_MODES: Final = frozenset({"PIECEWISE", "FULL_AND_PIECEWISE"})
"""Modes that need compiled pieces."""
COMPILATIONS: Final = ("NONE", "STOCK_TORCH_COMPILE", "DYNAMO_TRACE_ONCE", "VLLM_COMPILE")

POST_INIT = "vllm/config/vllm.py:VllmConfig.__post_init__"
SPLITTING = "vllm/config/compilation.py:CompilationConfig.set_splitting_ops_for_v1"
DYNAMIC = "vllm/config/vllm.py:VllmConfig._maybe_override_dynamic_sd_cudagraph_mode"
LONGCAT = "vllm/model_executor/models/config.py:LongcatFlashNgramForCausalLMConfig.verify_and_update_config"

LAYERWISE_CONNECTORS: Final = frozenset({"LMCacheConnectorV1"})
"""KV connectors that work layer by layer when `use_layerwise` is set."""
WHOLE_CONNECTORS: Final = frozenset(
    {
        "DecodeBenchConnector",
        "ExampleConnector",
        "FlexKVConnectorV1",
        "HF3FSKVConnector",
        "LMCacheMPConnector",
        "MooncakeConnector",
        "MooncakeStoreConnector",
        "NixlConnector",
        "OffloadingConnector",
        "SimpleCPUOffloadConnector",
    }
)
"""KV connectors that leave the CUDA graph mode as it is."""


def optimization_level(context: Context) -> Property:
    """`optimization_level`, 0 to 3."""
    setting = context.setting("optimization_level")
    held = context.literal("optimization_level") if setting is None else explicit(setting)
    level = _level(held.value) if held.known else None
    return unknown(*held.because) if level is None else resting_on(held.certainty, level, *held.because)


def cudagraph_mode(context: Context) -> Property:
    """`cudagraph_mode`: what the configuration holds after start-up, before a worker looks at it."""
    return resolved(context).mode


class Resolved:
    """The mode on its way through the configuration.

    `compiled` says whether the pieces are compiled by vLLM, None where that is not known; `splits` whether attention
    is cut out of the compiled graph.
    """

    __slots__ = ("because", "breakable", "certainty", "compiled", "context", "mode", "splits", "value")

    def __init__(self, context: Context) -> None:
        self.context = context
        self.value = ""
        self.because: list[Reason] = []
        self.certainty: Certainty = "certain"
        self.compiled: bool | None = None
        self.breakable = False
        self.splits: bool | None = None
        self.mode: Property = unknown()

    def take(self, held: Property) -> None:
        """Begin with a value."""
        self.value = str(held.value)
        self.because = list(held.because)
        self.assume(held.certainty)

    def becomes(self, value: str, *because: Reason, certainty: Certainty = "certain") -> None:
        """Change the value, for a reason."""
        if value != self.value:
            self.value = value
            self.because[:0] = because
            self.assume(certainty)

    def assume(self, certainty: Certainty) -> None:
        """Be no surer than this."""
        if certainty != "certain":
            self.certainty = certainty

    def end(self) -> Resolved:
        """Fix the property."""
        self.mode = resting_on(self.certainty, self.value, *self.because)
        return self

    def fail(self, why: Property) -> Resolved:
        """Fix that the mode is unknown."""
        self.mode = unknown(*why.because, *self.because)
        return self


def resolved(context: Context) -> Resolved:
    """The mode, and what the worker needs to know of how it came about. Computed once."""
    found = context.memo.get("compilation")
    if found is None:
        found = context.memo["compilation"] = _resolve(context)
    assert isinstance(found, Resolved)
    return found


def _resolve(context: Context) -> Resolved:
    state = Resolved(context)
    behaviour = context.behaviour("cudagraph_mode")
    eager = context["enforce_eager"]
    if not eager.known:
        return state.fail(missing("the mode depends on eager execution, which is unknown"))
    if eager.value:
        return _eager(state, eager)
    if behaviour is None:
        return _unchecked(state)
    problem = _compilation(state, behaviour) or _initial(state, behaviour) or _adjust(state, behaviour)
    return state.fail(problem) if problem is not None else state.end()


def _unchecked(state: Resolved) -> Resolved:
    """An explicit mode stands where the rules that may lower it are not verified, unless compilation is set too."""
    context = state.context
    wanted, mode = (context.key("compilation_config", name) for name in ("cudagraph_mode", "mode"))
    name = mode_name(wanted.value) if wanted is not None and mode is None else None
    if wanted is None or name is None:
        return state.fail(context.unverified("cudagraph_mode"))
    state.take(context.untested("cudagraph_mode", certain(name, *wanted.because)))
    return state.end()


def _eager(state: Resolved, eager: Property) -> Resolved:
    state.take(eager)
    state.value = "NONE"
    state.because.insert(0, state.context.because(POST_INIT, "eager execution turns CUDA graphs off"))
    state.compiled = False
    return state.end()


def _compilation(state: Resolved, behaviour: Mapping[str, Any]) -> Property | None:
    """Decide whether vLLM compiles the model piece by piece."""
    context = state.context
    breakable, disabled = _breakable(context, behaviour), context.variable("TORCH_COMPILE_DISABLE")
    if breakable is None or (disabled is not None and not disabled.known):
        return missing("a variable that turns compilation off has an unknown value")
    state.breakable = breakable
    level = context["optimization_level"]
    wanted = context.key("compilation_config", "mode")
    if breakable or (disabled is not None and disabled.text == "1"):
        state.compiled = False
    elif wanted is not None:
        if wanted.value is UNKNOWN:
            return unknown(*wanted.because)
        name = compilation_name(wanted.value)
        if name is None:
            return unknown(*wanted.because)
        state.compiled = name == "VLLM_COMPILE"
    elif context.model.architecture in behaviour["full_graph_architectures"]:
        state.compiled = False
    elif not level.known:
        return missing("the mode follows the optimisation level, which is unknown")
    else:
        state.compiled = level.value != 0
    return None


def _breakable(context: Context, behaviour: Mapping[str, Any]) -> bool | None:
    """Whether graphs are captured in pieces without compilation."""
    word = context.variable("VLLM_USE_BREAKABLE_CUDAGRAPH")
    if word is not None:
        return word.text == "1" if word.known else None
    return context.model.architecture in behaviour["breakable_architectures"]


def _initial(state: Resolved, behaviour: Mapping[str, Any]) -> Property | None:
    """The explicit mode, or what the optimisation level sets."""
    context = state.context
    wanted = context.key("compilation_config", "cudagraph_mode")
    if wanted is not None:
        name = mode_name(wanted.value)
        if name is None:
            return unknown(*wanted.because)
        state.take(certain(name, *wanted.because))
        return None
    if context.model.architecture in behaviour["full_graph_architectures"]:
        reason = context.because(LONGCAT, "this architecture defaults to FULL without compilation")
        state.take(certain("FULL", reason, *context.model_reasons("architecture")))
        return None
    level = context["optimization_level"]
    if not level.known or not isinstance(level.value, int):
        return missing("the mode follows the optimisation level, which is unknown")
    fact = context.basis.graph_mode(level.value)
    name = None if fact is None or not fact.known else mode_name(fact.value)
    if fact is None or name is None:
        return missing(f"the table of optimisation level {level.value} does not say the mode")
    text = f"vLLM {context.release}: optimisation level {level.value} sets {name}"
    state.take(resting_on(level.certainty, name, Reason("engine-default", fact.path, fact.line, text), *level.because))
    return None


def _adjust(state: Resolved, behaviour: Mapping[str, Any]) -> Property | None:
    """The rules that lower a mode, in the order of the release."""
    return (
        _varying_draft(state, behaviour)
        or _without_pieces(state)
        or _by_serving(state)
        or _by_connector(state)
        or _by_splitting(state)
        or _by_all2all(state)
    )


def _varying_draft(state: Resolved, behaviour: Mapping[str, Any]) -> Property | None:
    context = state.context
    varying = drafter(context).key("num_speculative_tokens_per_batch_size")
    if varying is None or state.value not in FULL_MODES:
        return None
    ranks = context.setting("data_parallel_size")
    if behaviour["dynamic_drafting_single_rank"] and ranks is not None and ranks.value != 1:
        return unknown(*ranks.because) if ranks.value is UNKNOWN else None
    runner = context["v2_model_runner"]
    if not runner.known or varying.value is UNKNOWN:
        return missing("a draft length that varies lowers the mode unless the V2 runner is used, which is unknown")
    if not runner.value:
        reason = context.because(DYNAMIC, "a draft length that varies needs PIECEWISE on the V1 runner")
        state.becomes("PIECEWISE", reason, *varying.because, certainty=runner.certainty)
    return None


def _without_pieces(state: Resolved) -> Property | None:
    if state.value in PIECEWISE_MODES and not state.compiled and not state.breakable:
        reason = state.context.because(POST_INIT, f"{state.value} needs compilation by vLLM, so it becomes NONE")
        state.becomes("NONE", reason, *_compilation_reasons(state.context))
    return None


def _by_serving(state: Resolved) -> Property | None:
    context = state.context
    serving = serves(context)
    if serving == "pooling" and state.value in FULL_MODES:
        state.becomes("PIECEWISE", context.because(POST_INIT, "pooling models have no full CUDA graphs"))
    elif serving == "encoder-decoder" and state.value not in ("NONE", "FULL_DECODE_ONLY"):
        reason = context.because(POST_INIT, "encoder-decoder models capture decoding only")
        state.becomes("FULL_DECODE_ONLY", reason, certainty=context.model_certainty)
    elif serving is None and state.value != "NONE":
        state.assume("assumed")
        state.because.append(assumption("the model generates, and is no encoder-decoder"))
    return None


def _by_connector(state: Resolved) -> Property | None:
    context = state.context
    connector = context.key("kv_transfer_config", "kv_connector")
    role = context.key("kv_transfer_config", "kv_role")
    if connector is None or role is None or state.value not in FULL_MODES:
        return None
    if connector.value in WHOLE_CONNECTORS:
        return None
    layerwise = context.key("kv_transfer_config", "kv_connector_extra_config.use_layerwise")
    if connector.value not in LAYERWISE_CONNECTORS or (layerwise is not None and layerwise.value is UNKNOWN):
        return unknown(*connector.because, assumption("a KV connector may need PIECEWISE"))
    if layerwise is not None and layerwise.value:
        reason = context.because(POST_INIT, f"{connector.value} works layer by layer and needs PIECEWISE")
        state.becomes("PIECEWISE", reason, *layerwise.because)
    return None


def _by_splitting(state: Resolved) -> Property | None:
    """What is cut out of the compiled graph; without cuts there are no pieces."""
    if not state.compiled:
        state.splits = False
        return None
    context = state.context
    splitting = context.key("compilation_config", "splitting_ops")
    passes = [context.key("compilation_config", f"pass_config.{name}") for name in _FULL_GRAPH_PASSES]
    partition = context.key("compilation_config", "use_inductor_graph_partition")
    if any(item is not None and item.value is UNKNOWN for item in (splitting, partition, *passes)):
        return missing("an unknown option of the compilation may change what is captured")
    if partition is not None and partition.value:
        return _partitioned(state, splitting)
    attention_fusion, *parallel = passes
    if attention_fusion is not None and attention_fusion.value and splitting is None:
        if state.value in PIECEWISE_MODES:
            reason = context.because(SPLITTING, "fusing attention and quantization leaves no pieces: FULL")
            state.becomes("FULL", reason, *attention_fusion.because)
        state.splits = False
        return None
    if splitting is None:
        state.splits = True
    elif splitting.value == []:
        _unsplit(state, splitting)
    if any(item is not None and item.value for item in parallel):
        return _sequence_parallel(state)
    return None


_FULL_GRAPH_PASSES = ("fuse_attn_quant", "enable_sp", "fuse_gemm_comms")


def _partitioned(state: Resolved, splitting: Setting | None) -> Property | None:
    state.splits = True if splitting is None else None
    if splitting is not None and splitting.value == []:
        _unsplit(state, splitting)
    return None


def _unsplit(state: Resolved, splitting: Setting) -> None:
    lowered = {"PIECEWISE": "NONE", "FULL_AND_PIECEWISE": "FULL"}.get(state.value, state.value)
    reason = state.context.because(SPLITTING, f"without splitting operations {state.value} becomes {lowered}")
    state.becomes(lowered, reason, *splitting.because)
    state.splits = False


def _sequence_parallel(state: Resolved) -> Property | None:
    size = state.context["tensor_parallel_size"]
    if size.known and size.value == 1:
        return None
    if state.value in PIECEWISE_MODES:
        return missing("sequence parallelism makes the mode FULL where the model is large enough")
    state.splits = None
    return None


def _by_all2all(state: Resolved) -> Property | None:
    context = state.context
    backend, ranks = context.setting("all2all_backend"), context.setting("data_parallel_size")
    if backend is None or ranks is None or ranks.value == 1 or state.value == "NONE":
        return None
    if backend.value is UNKNOWN or ranks.value is UNKNOWN:
        return unknown(*backend.because, *ranks.because)
    if backend.value != "deepep_high_throughput":
        return None
    if context.model.moe is None:
        return missing("DeepEP's high-throughput kernels turn CUDA graphs off for MoE models")
    if context.model.moe:
        reason = context.because(SPLITTING, "DeepEP's high-throughput kernels turn CUDA graphs off")
        state.becomes("NONE", reason, *backend.because, certainty=context.model_certainty)
    return None


def check(context: Context) -> None:
    """Record what the configuration refuses: pieces to capture that nothing compiles."""
    state = resolved(context)
    if not state.mode.known or state.value not in PIECEWISE_MODES or state.compiled or state.breakable:
        return
    setting = context.key("compilation_config", "mode") or context.key("compilation_config", "cudagraph_mode")
    if setting is not None:
        context.refuse(setting, f"Compilation mode should be VLLM_COMPILE when cudagraph_mode is {state.value}")


def mode_name(value: object) -> str | None:
    """The name of a CUDA graph mode; None for what is none (or unknown)."""
    return value if isinstance(value, str) and value in MODES else None


def compilation_name(value: object) -> str | None:
    """The name of a compilation mode; None for what is none (or unknown)."""
    return value if isinstance(value, str) and value in COMPILATIONS else None


def _compilation_reasons(context: Context) -> tuple[Reason, ...]:
    wanted = context.key("compilation_config", "mode")
    if wanted is not None:
        return wanted.because
    word = context.variable("TORCH_COMPILE_DISABLE")
    return word.because if word is not None and is_true(word) else context["optimization_level"].because


def _level(value: Value) -> int | None:
    """The number of a level (`O2`), None for what is none."""
    text = value.removeprefix("O") if isinstance(value, str) else str(value)
    return int(text) if text in ("0", "1", "2", "3") else None
