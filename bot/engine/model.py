"""The engine's properties: the question to the engine stage and its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from bot.provenance import Reason, Word

Certainty = Literal["certain", "assumed", "unknown"]
Value = str | int | float | bool | None
ErrorKind = Literal["unknown-flag", "invalid-value", "missing-value", "ambiguous-flag", "conflict"]

PROPERTIES = (
    "model.recurrent",
    "model.moe",
    "model.architecture",
    "spec_decode.method",
    "spec_decode.num_speculative_tokens",
    "prefix_caching",
    "chunked_prefill",
    "cudagraph_mode",
    "cudagraph_mode_effective",
    "optimization_level",
    "enforce_eager",
    "kv_cache_dtype",
    "quantization",
    "attention_backend",
    "async_scheduling",
    "v2_model_runner",
    "mamba_cache_mode",
    "max_model_len",
    "max_num_seqs",
    "tensor_parallel_size",
    "pipeline_parallel_size",
)


@dataclass(frozen=True, slots=True)
class Property:
    """What the engine ends up with. `value` means nothing when `certainty` is "unknown"; None is "none"."""

    value: Value
    certainty: Certainty
    because: tuple[Reason, ...]

    @property
    def known(self) -> bool:
        """Whether `value` means something."""
        return self.certainty != "unknown"


class Properties(Mapping[str, Property]):
    """Properties by name, each found when somebody first looks at it: a rule reads few of them.

    `undoubted` are the same values with less doubt about them, where those cost something to find.
    """

    __slots__ = ("_find", "_found", "_names", "undoubted")

    def __init__(
        self,
        names: tuple[str, ...],
        find: Callable[[str], Property],
        undoubted: Mapping[str, Property] | None = None,
    ) -> None:
        self._names = names
        self._find = find
        self._found: dict[str, Property] = {}
        self.undoubted: Mapping[str, Property] = self if undoubted is None else undoubted

    def __getitem__(self, name: str) -> Property:
        found = self._found.get(name)
        if found is None:
            if name not in self._names:
                raise KeyError(name)
            found = self._found[name] = self._find(name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def undoubted(properties: Mapping[str, Property]) -> Mapping[str, Property]:
    """Properties for those who ask for values alone: a value and whether it is known are as they are; it may be less
    certain than is said, and for more reasons.
    """
    return properties.undoubted if isinstance(properties, Properties) else properties


@dataclass(frozen=True, slots=True)
class Pin:
    """The image that a service runs and the engine release that this means.

    `release` is None for a pin without a known release; `why` then says so ("a floating tag", "a digest").
    `stock` is True for an unmodified upstream image, False for one that is known to be changed, None when unknown.
    `contains` are upstream references (`vllm-project/vllm#46324`) that a declaration says the image has,
    `adds` are other declared additions ("nvfp4-kv-route"). `floating`: upstream moves the tag from build to build.
    """

    image: str
    release: str | None
    why: str = ""
    stock: bool | None = None
    contains: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()
    because: tuple[Reason, ...] = ()
    floating: bool = False


@dataclass(frozen=True, slots=True)
class Model:
    """What is known of the model that the server loads. A field is None when it is not known.

    `recurrent` is "gdn", "mamba" or "none". `architecture` is the Hugging Face class name
    (`Qwen3_5ForConditionalGeneration`). `because` explains each field that is known, by its name.
    `hybrid` says that recurrent layers stand beside attention, where the kind of them is not known.
    `assumed` are fields that are less sure than `certainty` says.
    """

    recurrent: str | None = None
    moe: bool | None = None
    architecture: str | None = None
    certainty: Certainty = "certain"
    because: Mapping[str, tuple[Reason, ...]] = field(default_factory=dict)
    hybrid: bool | None = None
    assumed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class EngineError:
    """Whatever stops the server before a worker starts: the parser's error or the configuration's.

    `alike` is False when other releases that were asked refuse the launch for another argument.
    """

    kind: ErrorKind
    argument: str
    message: str
    because: tuple[Reason, ...] = ()
    alike: bool = True


@dataclass(frozen=True, slots=True)
class Ineffective:
    """An argument or variable that was given and does not do what it says in this release.

    `kind`: "overridden" (a later one wins), "reinterpreted" (`-O.x=y` becomes a level), "ignored" (`--config=F`
    in one token), "unread-variable" (the release no longer reads it). `setting` is the property or option that is lost.
    """

    kind: Literal["overridden", "reinterpreted", "ignored", "unread-variable"]
    argument: str
    setting: str
    message: str
    because: tuple[Reason, ...] = ()


READ_BELOW = frozenset({"PYTORCH_CUDA_ALLOC_CONF", "TORCH_COMPILE_DISABLE"})
"""Variables of other libraries that a property or a refusal depends on."""


def may_read(variable: str) -> bool:
    """Whether an engine may depend on a variable: two launches that differ in others alone are the same one."""
    return variable.startswith("VLLM_") or variable in READ_BELOW


@dataclass(frozen=True, slots=True)
class Launch:
    """An engine process: what follows the program name, and the environment.

    `files` are configuration files that `--config` may name, by container path. `sm` are the compute
    capabilities (12.0 is 120) that the service is meant for; empty when unknown.
    """

    argv: tuple[Word, ...]
    environment: Mapping[str, Word]
    pin: Pin
    model: Model
    sm: tuple[int, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine that an argv means.

    `releases` are the releases that were asked (one, unless the pin has none). `refused` says that the parser did not
    take the command line, so that this release is not the one that runs; a refusal of the configuration rests on what
    is derived. `launch` is what was resolved.
    """

    pin: Pin
    releases: tuple[str, ...]
    parsed: Mapping[str, object]
    properties: Mapping[str, Property]
    errors: tuple[EngineError, ...] = ()
    ineffective: tuple[Ineffective, ...] = ()
    refused: bool = False
    launch: Launch | None = field(default=None, compare=False, repr=False)
