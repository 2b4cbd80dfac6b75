"""What the worker makes of the CUDA graph mode, once it knows which attention backend runs.

The backend is chosen by the GPU, the KV cache's format and the model's heads: the answer is `assumed` at best. A mode
is lowered where the backend cannot capture it: mixed batches need a backend that captures anything, drafted decoding
one that captures equal batches of several tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Final

from bot.engine.commandline import UNKNOWN
from bot.engine.derivations.compilation import FULL_MODES, Resolved, resolved
from bot.engine.derivations.context import Context, assumed, assumption, missing, unknown
from bot.engine.derivations.model_kind import is_hybrid, serves
from bot.engine.derivations.speculation import drafter
from bot.engine.model import Property
from bot.provenance import Reason

RESOLVE = "vllm/config/compilation.py:CompilationConfig.resolve_cudagraph_mode_and_sizes"
OLD_RESOLVE = "vllm/v1/worker/gpu_model_runner.py:GPUModelRunner._check_and_update_cudagraph_mode"
FIRST_RESOLVE = "vllm/v1/worker/gpu_model_runner.py:GPUModelRunner.initialize_cudagraph_capture"
RESOLVES = (RESOLVE, OLD_RESOLVE, FIRST_RESOLVE)
"""What lowers the mode, of which each release has one."""
PRIORITIES = "vllm/platforms/cuda.py:_get_backend_priorities"
PLATFORM_RULES = "vllm/platforms/cuda.py:CudaPlatformBase.get_attn_backend_cls"
FLASHINFER = "vllm/v1/attention/backends/flashinfer.py:FlashInferMetadataBuilder.get_cudagraph_support"
FLASH_ATTN = "vllm/v1/attention/backends/flash_attn.py:FlashAttentionMetadataBuilder.get_cudagraph_support"
TRITON = "vllm/v1/attention/backends/triton_attn.py:TritonAttentionMetadataBuilder._cudagraph_support"
TRITON_MLA: Final = "TRITON_MLA"
TURBOQUANT = "vllm/v1/attention/backends/turboquant_attn.py:TurboQuantMetadataBuilder._cudagraph_support"


class Captures(IntEnum):
    """What a backend can capture, as vLLM orders it."""

    NOTHING = 0
    SINGLE_TOKENS = 1
    EQUAL_BATCHES = 2
    ANYTHING = 3


_WORDS: Final = {
    Captures.NOTHING: "captures nothing",
    Captures.SINGLE_TOKENS: "captures single-token decoding only",
    Captures.EQUAL_BATCHES: "captures decoding of equal batches",
    Captures.ANYTHING: "captures any batch",
}

UNQUANTIZED: Final = frozenset({"auto", "float16", "bfloat16"})
FP8: Final = frozenset({"fp8", "fp8_e4m3"})
ANY_FP8: Final = frozenset({*FP8, "fp8_e5m2"})
KNOWN_SM: Final = frozenset({80, 86, 87, 89, 90, 100, 103, 120, 121})
"""Compute capabilities for which the choice of backends was read."""
DRAFTS_LIKE_TARGET: Final = frozenset({"mtp", "eagle", "eagle3", "ngram", "ngram_gpu", "suffix", "draft_model"})
"""Methods whose drafter runs on the target's kind of attention, or without any."""
CAPTURING_FAMILIES: Final = frozenset({9, 10})
"""Families of cards that have backends for latent attention (MLA) besides Triton's."""
UNMODELLED_VARIABLES: Final = ("VLLM_FLASH_ATTN_VERSION", "VLLM_USE_TRTLLM_ATTENTION")
"""The same as variables, in the releases that read them."""
UNMODELLED: Final = ("flash_attn_version", "backend_per_kind")
"""Keys of the attention configuration that change the choice in ways that are not modelled."""


def cudagraph_mode_effective(context: Context) -> Property:
    """`cudagraph_mode_effective`: what the worker ends with."""
    state = resolved(context)
    if not state.mode.known:
        return unknown(*state.mode.because)
    if state.value not in FULL_MODES:
        return state.mode
    behaviour = context.behaviour("cudagraph_mode_effective")
    if behaviour is None:
        return context.unverified("cudagraph_mode_effective")
    found = drafter(context)
    drafts = found.present
    if drafts is None:
        return missing("the worker's mode depends on the drafter, which is unknown")
    doubt = _doubt(context)
    if doubt is not None:
        return doubt
    if state.value != "FULL" and not drafts:
        return _single_tokens(context, state, behaviour)
    chosen = _backend(context, behaviour)
    return chosen if isinstance(chosen, Property) else _lowered(context, state, *chosen, drafts=drafts)


def _doubt(context: Context) -> Property | None:
    """What makes the choice of a backend more than is modelled."""
    if serves(context) != "generate":
        return missing("the worker's mode is only modelled for models that generate")
    for dest in ("kv_transfer_config", "decode_context_parallel_size", "kv_offloading_size"):
        if context.setting(dest) is not None:
            return missing(f"the worker's mode is not modelled with {dest}")
    for name in UNMODELLED:
        if context.key("attention_config", name) is not None:
            return missing(f"the worker's mode is not modelled with attention_config.{name}")
    read = [name for name in UNMODELLED_VARIABLES if context.basis.facts.environment.get(name) is not None]
    if any(context.variable(name) is not None for name in read):
        return missing(f"the worker's mode is not modelled with {' or '.join(read)}")
    for name in ("VLLM_BATCH_INVARIANT", "VLLM_MLA_DISABLE"):
        word = context.variable(name)
        if word is not None and not (word.known and word.text in ("", "0")):
            return missing(f"the worker's mode is not modelled with {name}")
    found = drafter(context)
    if found.present and not found.method.known:
        return missing("the worker's mode depends on the drafting method, which is unknown")
    if found.present and found.method.value not in DRAFTS_LIKE_TARGET:
        return missing(f"the worker's mode is not modelled for drafting with {found.method.value}")
    if found.key("attention_backend") is not None or found.key("kv_cache_dtype") is not None:
        return missing("the worker's mode is not modelled for a drafter with its own attention")
    return None


def _single_tokens(context: Context, state: Resolved, behaviour: Mapping[str, Any]) -> Property:
    """Without a drafter CUDA backends capture decoding, but for some, and for one that cuts the context in chunks."""
    attention, backend, silent = attention_kind(context), context["attention_backend"], behaviour["capture_nothing"]
    if not backend.known:
        return missing("the worker's mode depends on the attention backend, which is unknown")
    if backend.value in silent:
        return missing(f"{backend.value} captures nothing")
    if attention == "mla" and backend.value is None and TRITON_MLA in silent and not _families(context):
        return missing(f"{TRITON_MLA}, which runs where the GPU has nothing better, captures nothing")
    if attention is None and is_hybrid(context) is not True:
        return missing("the worker's mode depends on the model's attention, which is not known")
    if attention == "chunked":
        return missing("chunked attention captures nothing unless the model has no chunked layers")
    text = "without a drafter decoding takes one token, which the backend captures"
    reason = context.because(RESOLVE, text, *RESOLVES[1:])
    return assumed(state.value, reason, *state.mode.because, assumption("the server runs on an NVIDIA GPU"))


def _families(context: Context) -> bool:
    """Whether all cards are known to have a backend for latent attention of their own."""
    return bool(context.launch.sm) and all(sm // 10 in CAPTURING_FAMILIES for sm in context.launch.sm)


def _backend(context: Context, behaviour: Mapping[str, Any]) -> Property | tuple[str, Captures, tuple[Reason, ...]]:
    """The backend's name, what it captures, and why; or why that is not known."""
    dtype = context["kv_cache_dtype"]
    if not dtype.known or not isinstance(dtype.value, str):
        return unknown(*dtype.because, assumption("the attention backend depends on the KV cache's format"))
    if not context.sm:
        return missing("the attention backend depends on the GPU, which is not known")
    sms = sorted(set(context.sm))
    if not KNOWN_SM.issuperset(sms):
        return missing(f"the choice of an attention backend is not modelled for sm_{sms[-1]}")
    answers = {_on(context, behaviour, sm, dtype.value) for sm in sms}
    if len(answers) > 1:
        texts = ", ".join(f"{_say(_on(context, behaviour, sm, dtype.value))} on sm_{sm}" for sm in sms)
        return missing(f"the attention backend differs between the GPUs: {texts}")
    answer = answers.pop()
    if isinstance(answer, str):
        return missing(answer)
    name, captures, definition = answer
    card = "/".join(f"sm_{sm}" for sm in sms)
    choice = context.because(PRIORITIES, f"{name} runs on {card} with KV cache format {dtype.value}", PLATFORM_RULES)
    able = context.because(definition, f"{name} on {card} {_WORDS[captures]}", *RESOLVES)
    notes = [assumption("the image has the kernels of a stock image"), *dtype.because]
    if dtype.value == "auto":
        notes.insert(1, assumption("the checkpoint does not quantize the KV cache itself"))
    if is_hybrid(context):
        if context.model.recurrent != "gdn" and not behaviour["recurrent_batches"]:
            return missing("what this model's recurrent layers capture is not modelled for this release")
        captures = min(captures, Captures.EQUAL_BATCHES)
    return name, captures, (able, choice, *notes)


Chosen = tuple[str, Captures, str]


def _say(answer: Chosen | str) -> str:
    return answer if isinstance(answer, str) else answer[0]


def _on(context: Context, behaviour: Mapping[str, Any], sm: int, dtype: str) -> Chosen | str:
    """The backend on one card, or why it is not known."""
    backend = context["attention_backend"]
    if not backend.known:
        return "the attention backend is unknown"
    if behaviour["platform_rules"] and dtype != "auto" and dtype not in ANY_FP8:
        return UNCHECKED
    if isinstance(backend.value, str):
        takes = _takes(behaviour, backend.value, dtype, sm)
        if not takes:
            return (
                f"{backend.value} does not take the KV cache format {dtype} on sm_{sm}" if takes is False else UNCHECKED
            )
        return _named(context, behaviour, backend.value, sm)
    if attention_kind(context) != "standard":
        return "the choice of a backend for this model's attention is not modelled"
    return _by_platform(context, behaviour, sm, dtype) or _chosen(context, behaviour, sm, dtype)


def attention_kind(context: Context) -> str | None:
    """The kind of attention that the architecture has; that of GDN hybrids is plain."""
    if context.model.architecture is None and context.model.recurrent == "gdn":
        return "standard"
    return context.traits.attention


UNCHECKED: Final = "this release does not check whether the backend can take the format of the KV cache"


def _takes(behaviour: Mapping[str, Any], backend: str, dtype: str, sm: int) -> bool | None:
    """Whether a backend takes the format of the KV cache on a card; None where it takes it without being able to."""
    match backend:
        case "FLASH_ATTN":
            return dtype in UNQUANTIZED or _flash_attn_quantized(behaviour, dtype, sm // 10)
        case "FLASHINFER":
            plain = dtype in UNQUANTIZED or dtype in ANY_FP8
            return plain or (dtype.startswith("nvfp4") and _nvfp4(behaviour["nvfp4"], dtype, sm // 10))
        case "TRITON_ATTN":
            plain = dtype in UNQUANTIZED or dtype in ANY_FP8
            return plain or dtype.endswith("_per_token_head")
        case _:
            return dtype.startswith("turboquant_") or backend != "TURBOQUANT"


def _flash_attn_quantized(behaviour: Mapping[str, Any], dtype: str, family: int) -> bool | None:
    if dtype in FP8:
        return family == 9 or (family == 10 and bool(behaviour["flash_attn_fp8_on_10"]))
    return None if family == 9 and behaviour["flash_attn_takes_all_on_9"] else False


def _nvfp4(rule: str, dtype: str, family: int) -> bool | None:
    """Whether FlashInfer takes an NVFP4 format on a family of cards."""
    if rule == "none":
        return False
    if family == 10:
        return True
    if rule == "unchecked":
        return None
    return rule == "flash-attn-2" and dtype == "nvfp4" and family in (8, 9, 12)


def _by_platform(context: Context, behaviour: Mapping[str, Any], sm: int, dtype: str) -> Chosen | str | None:
    """The backend in a release that has no order of them; None in the others."""
    if not behaviour["platform_rules"]:
        return None
    if sm == 100:
        return _named(context, behaviour, "FLASHINFER", sm)
    if dtype in ANY_FP8 and sm != 90:
        return _named(context, behaviour, "TRITON_ATTN", sm)
    return _named(context, behaviour, "FLASH_ATTN", sm) if _takes(behaviour, "FLASH_ATTN", dtype, sm) else UNCHECKED


def _chosen(context: Context, behaviour: Mapping[str, Any], sm: int, dtype: str) -> Chosen | str:
    """The first backend of the release's order that takes the format."""
    first = ("FLASHINFER", "FLASH_ATTN") if sm // 10 == 10 else ("FLASH_ATTN", "FLASHINFER")
    for name in (*first, "TRITON_ATTN", "TURBOQUANT"):
        takes = _takes(behaviour, name, dtype, sm)
        if takes is None:
            return UNCHECKED
        if takes:
            return _named(context, behaviour, name, sm)
    return f"no attention backend of vLLM {context.release} takes the KV cache format {dtype} on sm_{sm}"


def _named(context: Context, behaviour: Mapping[str, Any], name: str, sm: int) -> Chosen | str:
    """What a backend captures on a card."""
    match name:
        case "FLASH_ATTN":
            anything = sm // 10 in behaviour["flash_attn_anything"]
            return name, Captures.ANYTHING if anything else Captures.EQUAL_BATCHES, FLASH_ATTN
        case "FLASHINFER":
            if sm // 10 != 10 and str(context["kv_cache_dtype"].value).startswith("nvfp4"):
                return "what FlashInfer captures with NVFP4 outside sm_100 is not modelled"
            return name, _flashinfer(context, behaviour, sm), FLASHINFER
        case "TRITON_ATTN":
            return name, Captures.ANYTHING, TRITON
        case "TURBOQUANT":
            return name, Captures.EQUAL_BATCHES, TURBOQUANT
        case _:
            return f"what {name} captures is not modelled"


def _flashinfer(context: Context, behaviour: Mapping[str, Any], sm: int) -> Captures:
    """TRT-LLM's kernels (and XQA's, where the release uses them) capture drafted decoding, FlashInfer's own do not."""
    forced = context.key("attention_config", "use_trtllm_attention")
    if forced is not None and forced.value is not UNKNOWN and not forced.value and sm >= 90:
        return Captures.SINGLE_TOKENS
    if behaviour["flashinfer_sm_100_alone"] and sm != 100:
        return Captures.SINGLE_TOKENS
    return Captures.EQUAL_BATCHES if sm // 10 in behaviour["flashinfer_batches"] else Captures.SINGLE_TOKENS


def _lowered(
    context: Context, state: Resolved, name: str, captures: Captures, because: tuple[Reason, ...], *, drafts: bool
) -> Property:
    """The mode after the worker's checks."""
    value, splits = state.value, state.splits
    if splits is None:
        return missing("the worker's mode depends on what is cut out of the compiled graph, which is unknown")
    steps: list[Reason] = []
    if value == "FULL" and captures < Captures.ANYTHING:
        value = "FULL_AND_PIECEWISE" if splits else "FULL_DECODE_ONLY"
        text = f"FULL needs a backend that captures any batch: {value}"
        steps.insert(0, context.because(RESOLVE, text, *RESOLVES[1:]))
    if drafts and captures < Captures.EQUAL_BATCHES:
        value = "PIECEWISE" if splits else "NONE"
        text = f"{name} cannot capture drafted decoding here: the worker lowers the mode to {value}"
        steps.insert(0, context.because(RESOLVE, text, *RESOLVES[1:]))
    return assumed(value, *steps, *because, *state.mode.because, *context.model_reasons("architecture"))
