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
from bot.engine.derivations.model_kind import is_attention_free, is_hybrid, may_pool, serves
from bot.engine.derivations.speculation import drafter
from bot.engine.model import Certainty, Property, Value
from bot.provenance import Reason

MODES: Final = ("NONE", "PIECEWISE", "FULL", "FULL_DECODE_ONLY", "FULL_AND_PIECEWISE")
FULL_MODES: Final = frozenset({"FULL", "FULL_DECODE_ONLY", "FULL_AND_PIECEWISE"})
"""Modes that capture whole steps, at least for decoding."""
PIECEWISE_MODES: Final = frozenset({"PIECEWISE", "FULL_AND_PIECEWISE"})
"""Modes that need compiled pieces."""
COMPILATIONS: Final = ("NONE", "STOCK_TORCH_COMPILE", "DYNAMO_TRACE_ONCE", "VLLM_COMPILE")

POST_INIT = "vllm/config/vllm.py:VllmConfig.__post_init__#cudagraph_mode"
BREAKABLE = "vllm/config/vllm.py:DEFAULT_BREAKABLE_CUDAGRAPH_ARCHITECTURES"
SPLITTING = "vllm/config/compilation.py:CompilationConfig.set_splitting_ops_for_v1"
OLD_POST_INIT = "vllm/config/__init__.py:VllmConfig.__post_init__"
STOCK = "vllm/config/vllm.py:VllmConfig._disable_cudagraphs_for_v2_stock_torch_compile"
DYNAMIC = "vllm/config/vllm.py:VllmConfig._maybe_override_dynamic_sd_cudagraph_mode"
LONGCAT = "vllm/model_executor/models/config.py:LongcatFlashNgramForCausalLMConfig.verify_and_update_config"

MAMBA = "vllm/model_executor/models/config.py:MambaModelConfig.verify_and_update_config"
WITHOUT_FULL_GRAPHS: Final = frozenset({"Lfm2ForCausalLM", "MiniMaxText01ForCausalLM"})
"""Recurrent architectures that the first releases capture no full graphs of."""

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
    if setting is None and context.basis.facts.default("optimization_level") is None:
        text = f"vLLM {context.release}: there are no optimisation levels"
        return certain(None, Reason("engine-default", "vllm/engine/arg_utils.py", None, text))
    held = context.literal("optimization_level") if setting is None else explicit(setting)
    level = _level(held.value) if held.known else None
    if level is None:
        return unknown(*held.because)
    behaviour = context.behaviour("optimization_level")
    if level and behaviour is not None and behaviour["lowered_by_eager"]:
        eager = context["enforce_eager"]
        if not eager.known:
            return missing("eager execution, which is unknown, lowers the level to 0")
        if eager.value:
            return certain(0, context.because(POST_INIT, "eager execution lowers the level to 0"), *eager.because)
    return resting_on(held.certainty, level, *held.because)


def cudagraph_mode(context: Context) -> Property:
    """`cudagraph_mode`: what the configuration holds after start-up, before a worker looks at it."""
    return resolved(context).mode


class Resolved:
    """The mode on its way through the configuration.

    `compiled` says whether the pieces are compiled by vLLM, None where that is not known; `splits` whether attention
    is cut out of the compiled graph; `stock` whether torch.compile alone compiles it.
    """

    __slots__ = ("because", "breakable", "certainty", "compiled", "context", "mode", "splits", "stock", "value")

    def __init__(self, context: Context) -> None:
        self.context = context
        self.value = ""
        self.because: list[Reason] = []
        self.certainty: Certainty = "certain"
        self.compiled: bool | None = None
        self.breakable = False
        self.stock = False
        self.splits: bool | None = None
        self.mode: Property = unknown()

    @property
    def says(self) -> tuple[object, ...]:
        """What it says, once it is at its end."""
        return self.mode, self.value, self.certainty, self.compiled, self.breakable, self.stock, self.splits

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
    return context.once("compilation", _resolve)


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
    caching = context.behaviour("prefix_caching")
    if caching is not None and caching["v1_is_a_choice"] and context.variable("VLLM_USE_V1") is not None:
        return state.fail(missing("VLLM_USE_V1 may choose the engine before V1, which is not modelled"))
    for name in behaviour["other_keys"]:
        if context.key("compilation_config", name) is not None:
            return state.fail(missing(f"the mode is not modelled with compilation_config.{name}"))
    return _common([_followed(context, behaviour, *switches) for switches in _switches(context, behaviour)])


def _switches(context: Context, behaviour: Mapping[str, Any]) -> list[tuple[bool, bool]]:
    """What variables may say: whether graphs are captured in pieces anyhow, and whether nothing is compiled."""
    breakable = _breakable(context, behaviour)
    word = context.variable("TORCH_COMPILE_DISABLE") if behaviour["compile_variable"] else None
    disabled = None if word is not None and not word.known else word is not None and word.text == "1"
    both = (False, True)
    return [
        (pieces, nothing)
        for pieces in (both if breakable is None else (breakable,))
        for nothing in (both if disabled is None else (disabled,))
    ]


def _followed(context: Context, behaviour: Mapping[str, Any], breakable: bool, disabled: bool) -> Resolved:
    state = Resolved(context)
    state.breakable = breakable
    problem = _compilation(state, behaviour, disabled) or _initial(state, behaviour) or _adjust(state, behaviour)
    return state.fail(problem) if problem is not None else state.end()


def _common(states: list[Resolved]) -> Resolved:
    """What holds whatever the variables are that nobody knows."""
    first, *others = states
    for other in others:
        if not (first.mode.known and other.mode.known and first.value == other.value):
            return first.fail(missing("a variable that turns compilation off has an unknown value"))
        first.assume(other.certainty)
        first.compiled = first.compiled if first.compiled is other.compiled else None
        first.splits = first.splits if first.splits is other.splits else None
        first.breakable, first.stock = first.breakable or other.breakable, first.stock or other.stock
    return first.end() if others else first


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
    state.because.insert(0, state.context.because(POST_INIT, "eager execution turns CUDA graphs off", OLD_POST_INIT))
    state.compiled = False
    return state.end()


def _compilation(state: Resolved, behaviour: Mapping[str, Any], disabled: bool) -> Property | None:
    """Decide whether vLLM compiles the model piece by piece."""
    context = state.context
    wanted = wanted_compilation(context)
    if state.breakable or disabled:
        state.compiled = False
    elif wanted is not None:
        if wanted.value is UNKNOWN:
            return unknown(*wanted.because)
        name = compilation_name(wanted.value)
        if name is None:
            return unknown(*wanted.because)
        state.compiled = name == "VLLM_COMPILE"
        state.stock = name == "STOCK_TORCH_COMPILE"
    elif context.model.architecture in behaviour["full_graph_architectures"]:
        state.compiled = False
    elif not behaviour["levels"]:
        state.compiled = True
    else:
        level = context["optimization_level"]
        if not level.known:
            return missing("the mode follows the optimisation level, which is unknown")
        state.compiled = level.value != 0
    return None


def wanted_compilation(context: Context) -> Setting | None:
    """The compilation mode that is set; older releases have its number as `level`."""
    wanted = context.key("compilation_config", "mode")
    level = context.key("compilation_config", "level")
    if wanted is not None or level is None:
        return wanted
    number = level.value
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(COMPILATIONS):
        return Setting(COMPILATIONS[number], level.because, level.argument)
    return level


def _breakable(context: Context, behaviour: Mapping[str, Any]) -> bool | None:
    """Whether graphs are captured in pieces without compilation."""
    if not behaviour["breakable_variable"]:
        return False
    word = context.variable("VLLM_USE_BREAKABLE_CUDAGRAPH")
    if word is not None:
        return word.text == "1" if word.known else None
    if context.model.architecture in (context.basis.facts.constants.get(BREAKABLE) or ()):
        return True
    if context.model.architecture in behaviour["breakable_architectures"]:
        return True
    invariant = context.variable("VLLM_BATCH_INVARIANT") if behaviour["breakable_if_invariant"] else None
    return None if invariant is not None and not (invariant.known and invariant.text in ("", "0")) else False


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
    if not behaviour["levels"]:
        _without_levels(state, recurrent_too=bool(behaviour["recurrent_full_graphs"]))
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


def _without_levels(state: Resolved, *, recurrent_too: bool) -> None:
    """The default of a release without optimisation levels."""
    context = state.context
    text = (
        "a compiled model defaults to FULL_AND_PIECEWISE" if state.compiled else "nothing is compiled: no CUDA graphs"
    )
    definition = POST_INIT if context.basis.place(POST_INIT)[1] else OLD_POST_INIT
    recurrent = is_hybrid(context) or is_attention_free(context)
    if recurrent_too and recurrent and context.model.architecture not in WITHOUT_FULL_GRAPHS:
        reason = context.because(MAMBA, "a recurrent model defaults to FULL_AND_PIECEWISE, compiled or not")
        state.take(resting_on(context.model_certainty, "FULL_AND_PIECEWISE", reason))
        return
    state.take(certain("FULL_AND_PIECEWISE" if state.compiled else "NONE", context.because(definition, text)))


def _adjust(state: Resolved, behaviour: Mapping[str, Any]) -> Property | None:
    """The rules that lower a mode, in the order of the release."""
    return (
        _varying_draft(state, behaviour)
        or _without_pieces(state, behaviour)
        or _by_context_parallelism(state, behaviour)
        or _by_serving(state, behaviour)
        or _by_connector(state, behaviour)
        or _by_stock_compile(state, behaviour)
        or _by_splitting(state, behaviour)
        or _by_all2all(state, behaviour)
    )


def _varying_draft(state: Resolved, behaviour: Mapping[str, Any]) -> Property | None:
    context = state.context
    found = drafter(context)
    varying, pieces = found.key("num_speculative_tokens_per_batch_size"), behaviour["varying_draft_pieces"]
    if varying is None or state.value not in FULL_MODES or pieces == "never":
        return None
    ranks = context.setting("data_parallel_size")
    if behaviour["varying_draft_single_rank"] and ranks is not None and ranks.value != 1:
        return unknown(*ranks.because) if ranks.value is UNKNOWN else None
    runner = context["v2_model_runner"] if pieces == "v1" else certain(False)
    methods = behaviour["varying_draft_v1_methods"]
    if not runner.known or varying.value is UNKNOWN or (methods is not None and not found.method.known):
        return missing("a draft length that varies lowers the mode unless the V2 runner is used, which is unknown")
    if not runner.value and (methods is None or found.method.value in methods):
        reason = context.because(DYNAMIC, "a draft length that varies needs PIECEWISE")
        state.becomes("PIECEWISE", reason, *varying.because, certainty=runner.certainty)
    return None


def _without_pieces(state: Resolved, behaviour: Mapping[str, Any]) -> Property | None:
    lowered = _WITHOUT_PIECES[behaviour["without_pieces"]].get(state.value)
    if lowered is not None and not state.compiled and not state.breakable:
        reason = state.context.because(POST_INIT, f"nothing is compiled by vLLM, so {state.value} becomes {lowered}")
        state.becomes(lowered, reason, *_compilation_reasons(state.context))
    return None


_WITHOUT_PIECES: Final[Mapping[str, Mapping[str, str]]] = {
    "refused": {},
    "all-none": dict.fromkeys(MODES, "NONE"),
    "none": dict.fromkeys(PIECEWISE_MODES, "NONE"),
    "decode-only": {"PIECEWISE": "NONE", "FULL_AND_PIECEWISE": "FULL_DECODE_ONLY"},
}
"""What a mode becomes where vLLM compiles nothing, by the kind of the release's rule."""


def _by_context_parallelism(state: Resolved, behaviour: Mapping[str, Any]) -> Property | None:
    for dest in behaviour["context_parallel_pieces"]:
        ranks = state.context.setting(dest)
        if ranks is None or ranks.value == 1 or state.value not in FULL_MODES:
            continue
        if ranks.value is UNKNOWN:
            return unknown(*ranks.because)
        state.becomes("PIECEWISE", state.context.because(POST_INIT, f"{dest} needs PIECEWISE"), *ranks.because)
    return None


def _by_stock_compile(state: Resolved, behaviour: Mapping[str, Any]) -> Property | None:
    if not (behaviour["stock_captures_nothing"] and state.stock) or state.value == "NONE":
        return None
    runner = state.context["v2_model_runner"]
    if not runner.known:
        return missing("the V2 runner captures nothing under stock torch.compile, and the runner is unknown")
    if runner.value:
        reason = state.context.because(STOCK, "the V2 runner captures nothing under stock torch.compile")
        state.becomes("NONE", reason, certainty=runner.certainty)
    return None


def _by_serving(state: Resolved, behaviour: Mapping[str, Any]) -> Property | None:
    context = state.context
    serving, only = serves(context), behaviour["encoder_decoder_mode"]
    if not behaviour["serving_beats_explicit"] and context.key("compilation_config", "cudagraph_mode") is not None:
        return None
    pools = serving == "pooling" or context.setting("pooler_config") is not None
    if pools and state.value in FULL_MODES:
        state.becomes("PIECEWISE", context.because(POST_INIT, "pooling models have no full CUDA graphs"))
    elif serving == "encoder-decoder" and _exceeds(state.value, only):
        reason = context.because(POST_INIT, f"encoder-decoder models have {only} at most")
        state.becomes(only, reason, certainty=context.model_certainty)
    elif serving is None and state.value in FULL_MODES and may_pool(context):
        return missing("pooling models have no full CUDA graphs, and whether the model pools is not known")
    elif serving is None and state.value != "NONE":
        state.assume("assumed")
        state.because.append(assumption("the model generates, and is no encoder-decoder"))
    return None


def _exceeds(value: str, only: str) -> bool:
    """Whether a mode captures more than `only`: full graphs for PIECEWISE, anything else for FULL_DECODE_ONLY."""
    return value in FULL_MODES if only == "PIECEWISE" else value not in ("NONE", only)


def _by_connector(state: Resolved, behaviour: Mapping[str, Any]) -> Property | None:
    context = state.context
    if not behaviour["connectors"]:
        return None
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


def _by_splitting(state: Resolved, behaviour: Mapping[str, Any]) -> Property | None:
    """What is cut out of the compiled graph; without cuts there are no pieces."""
    if not state.compiled:
        state.splits = False
        return None
    context = state.context
    if not behaviour["splitting_read"]:
        return _unread_splitting(state)
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
    if behaviour["sequence_parallel_unsplits"] and any(item is not None and item.value for item in parallel):
        return _sequence_parallel(state)
    return None


def _unread_splitting(state: Resolved) -> Property | None:
    """Old releases: only what is cut by default is known."""
    state.splits = True
    for name in _SPLITTING_KEYS:
        if state.context.key("compilation_config", name) is not None:
            return missing(f"the mode is not modelled with compilation_config.{name}")
    return None


_SPLITTING_KEYS = (
    "splitting_ops",
    "use_inductor_graph_partition",
    "pass_config.fuse_attn_quant",
    "pass_config.enable_attn_fusion",
)
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


def _by_all2all(state: Resolved, behaviour: Mapping[str, Any]) -> Property | None:
    context = state.context
    ranks = context.setting("data_parallel_size")
    if ranks is None or ranks.value == 1 or state.value == "NONE":
        return None
    backend, word = context.setting("all2all_backend"), context.variable("VLLM_ALL2ALL_BACKEND")
    if backend is None and word is not None and behaviour["all2all_variable"]:
        return missing("VLLM_ALL2ALL_BACKEND may turn CUDA graphs off")
    if backend is None:
        return None
    if backend.value is UNKNOWN or ranks.value is UNKNOWN:
        return unknown(*backend.because, *ranks.because)
    if backend.value == "moonep" and behaviour["moonep_captures_nothing"]:
        return missing("MoonEP turns CUDA graphs off where experts are spread")
    if backend.value != "deepep_high_throughput":
        return None
    if context.model.moe is None and not behaviour["all2all_dense"]:
        return missing("DeepEP's high-throughput kernels turn CUDA graphs off for MoE models")
    if context.model.moe or behaviour["all2all_dense"]:
        reason = context.because(SPLITTING, "DeepEP's high-throughput kernels turn CUDA graphs off")
        certainty: Certainty = "certain" if behaviour["all2all_dense"] else context.model_certainty
        state.becomes("NONE", reason, *backend.because, certainty=certainty)
    return None


def check(context: Context) -> None:
    """Record what the configuration refuses: pieces to capture that nothing compiles."""
    state = resolved(context)
    if not state.mode.known or state.value not in PIECEWISE_MODES or state.compiled is not False or state.breakable:
        return
    setting = wanted_compilation(context) or context.key("compilation_config", "cudagraph_mode")
    if setting is not None:
        context.refuse(setting, f"Compilation mode should be VLLM_COMPILE when cudagraph_mode is {state.value}")


def mode_name(value: object) -> str | None:
    """The name of a CUDA graph mode; None for what is none (or unknown)."""
    return value if isinstance(value, str) and value in MODES else None


def compilation_name(value: object) -> str | None:
    """The name of a compilation mode; None for what is none (or unknown)."""
    return value if isinstance(value, str) and value in COMPILATIONS else None


def _compilation_reasons(context: Context) -> tuple[Reason, ...]:
    wanted = wanted_compilation(context)
    if wanted is not None:
        return wanted.because
    word = context.variable("TORCH_COMPILE_DISABLE")
    return word.because if word is not None and is_true(word) else context["optimization_level"].because


def _level(value: Value) -> int | None:
    """The number of a level (`O2`), None for what is none."""
    text = value.removeprefix("O") if isinstance(value, str) else str(value)
    return int(text) if text in ("0", "1", "2", "3") else None
