"""Speculative decoding: which method drafts, and how many tokens.

vLLM reads the method from the configuration, else from the drafter's path as a string, else from the drafter's own
configuration, which only the checkpoint has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Final

from bot.engine.commandline import UNKNOWN, Setting
from bot.engine.derivations.context import Context, assumed, assumption, certain, missing, unknown
from bot.engine.derivations.model_kind import model_name
from bot.engine.model import Property
from bot.engine.models import drafter_kind, drafts_itself
from bot.provenance import Reason

POST_INIT = "vllm/config/speculative.py:SpeculativeConfig.__post_init__"
SUFFIX = "vllm/config/speculative.py:SpeculativeConfig._validate_suffix_decoding"

WITHOUT_DRAFTER: Final = frozenset({"ngram", "ngram_gpu", "suffix", "extract_hidden_states"})
"""Methods that need no `model`."""

ARCTIC: Final = "arctic-inference is installed, without which suffix decoding is refused: vLLM does not bring it"
"""What is in an image beside vLLM is not in the source."""

SUFFIX_LIMITS: Final = (
    ("suffix_decoding_max_tree_depth", 1, inf),
    ("suffix_decoding_max_cached_requests", 0, inf),
    ("suffix_decoding_max_spec_factor", 0, inf),
    ("suffix_decoding_min_token_prob", 0, 1),
)
"""The numbers of suffix decoding, with their least and greatest values."""

FROM_TARGET: Final = frozenset({"mtp", "dspark"})
"""Methods that may draft with the target's own checkpoint."""


@dataclass(slots=True)
class Drafter:
    """The drafter that the command line asks for.

    `present` is None when that is not known. `settings` are the keys of its configuration that are set.
    """

    present: bool | None
    method: Property
    tokens: Property
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def says(self) -> tuple[object, ...]:
        """What it says beyond its settings, which are those of the command line."""
        return self.present, self.method, self.tokens

    def key(self, name: str) -> Setting | None:
        """A key of the configuration, None where it is not set."""
        return self.settings.get(name)

    def flag(self, name: str) -> bool | None:
        """Whether a two-valued key is set; None when that is not known."""
        found = self.settings.get(name)
        if found is None:
            return False if self.present is not None else None
        return None if found.value is UNKNOWN else bool(found.value)


def method(context: Context) -> Property:
    """`spec_decode.method`: None without a drafter."""
    return drafter(context).method


def tokens(context: Context) -> Property:
    """`spec_decode.num_speculative_tokens`: 0 without a drafter."""
    return drafter(context).tokens


def drafter(context: Context) -> Drafter:
    """The drafter, read once."""
    return context.once("drafter", _read)


def _read(context: Context) -> Drafter:
    whole = context.line.settings.get("speculative_config")
    if whole is not None and whole.value is UNKNOWN:
        return Drafter(None, unknown(*whole.because), unknown(*whole.because))
    settings = _settings(context)
    if not settings and (whole is None or whole.value is None):
        return _absent(context)
    if context.behaviour("spec_decode") is None:
        return Drafter(True, *_unverified(context, settings), settings)
    return Drafter(True, _method(context, settings), _tokens(context, settings), settings)


def _settings(context: Context) -> dict[str, Setting]:
    """The keys of the drafter's configuration that are set; the parser has merged the short flags into it."""
    prefix = "speculative_config."
    return {
        name[len(prefix) :]: setting
        for name, setting in context.line.nested.items()
        if name.startswith(prefix) and setting.value is not None
    }


def _absent(context: Context) -> Drafter:
    name = model_name(context)
    if name is not None and "speculator" in name.lower():
        why = missing("a checkpoint in the speculators format brings its own drafter")
        return Drafter(None, why, why)
    (default,) = context.literal("speculative_config").because
    reason = replace(default, text=f"vLLM {context.release}: no drafter is set")
    return Drafter(False, certain(None, reason), certain(0, reason))


def _unverified(context: Context, settings: Mapping[str, Setting]) -> tuple[Property, Property]:
    """Explicit keys where nothing is verified: the number of tokens stands as it is written."""
    count = settings.get("num_speculative_tokens")
    held = _count(count) if count is not None else None
    tokens = certain(held, *count.because) if count is not None and held else context.unverified("spec_decode")
    named = settings.get("method")
    if named is None or named.value is UNKNOWN:
        return context.unverified("spec_decode"), tokens
    kind = "mtp" if named.value in context.basis.facts.choices("MTPModelTypes") else str(named.value)
    return context.untested("spec_decode", certain(kind, *named.because)), tokens


def _tokens(context: Context, settings: Mapping[str, Setting]) -> Property:
    count = settings.get("num_speculative_tokens")
    if count is not None:
        held = _count(count)
        return unknown(*count.because) if held is None else certain(held, *count.because)
    named = settings.get("method")
    if named is not None and named.value == "suffix":
        depth = settings.get("suffix_decoding_max_tree_depth")
        held = 24 if depth is None else _count(depth)
        reason = context.because(SUFFIX, "suffix decoding drafts at most its tree's depth")
        return unknown(*named.because) if held is None else certain(held, reason, *named.because)
    return missing("without num_speculative_tokens the drafter's own configuration decides")


def _count(setting: Setting) -> int | None:
    """A number of tokens, None where it is none (or unknown)."""
    value = setting.value
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _method(context: Context, settings: Mapping[str, Setting]) -> Property:
    behaviour: Mapping[str, Any] = context.behaviour("spec_decode") or {}
    named, model = settings.get("method"), settings.get("model")
    if any(item is not None and item.value is UNKNOWN for item in (named, model)):
        return unknown(*(named.because if named else ()), *(model.because if model else ()))
    because = tuple(reason for item in (named, model) if item is not None for reason in item.because)
    path = str(model.value) if model is not None else None
    first = str(named.value) if named is not None else None
    if path is not None and _is_class(path, str(behaviour["custom_proposer"]), named=first is not None):
        return certain("custom_class", context.because(POST_INIT, "a dotted name is a class"), *because)
    if first is None:
        first = "ngram" if path in ("ngram", "[ngram]") else "draft_model"
        if first == "draft_model" and not behaviour["draft_model_by_default"]:
            first = ""
    if first in mtp_names(context):
        first = "mtp"
    if first == "suffix":
        return assumed(first, *because, assumption(ARCTIC))
    if first == "custom_class" or first in WITHOUT_DRAFTER:
        return certain(first, *because)
    if path is None and first not in FROM_TARGET:
        return unknown(*because, assumption(f"{first} needs a drafter's checkpoint"))
    return _detected(context, first, path, because)


def mtp_names(context: Context) -> tuple[str, ...]:
    """The methods that all mean MTP in the release."""
    behaviour: Mapping[str, Any] = context.behaviour("spec_decode") or {}
    names: tuple[str, ...] = context.basis.facts.choices("MTPModelTypes")
    return names or tuple(behaviour.get("mtp_names", ()))


def path_marks(context: Context) -> tuple[tuple[str, str], ...]:
    """What a drafter's path says of its method, in the order in which it is asked."""
    behaviour: Mapping[str, Any] = context.behaviour("spec_decode") or {}
    return tuple((text, kind) for text, kind in behaviour.get("path_marks", ()))


def _is_class(model: str, rule: str, *, named: bool) -> bool:
    """Whether a drafter's name is taken for an import path (`package.Proposer`)."""
    if rule == "never" or "/" in model or "." not in model:
        return False
    if rule == "beats-method":
        return True
    return not named and all(part.isidentifier() for part in model.split("."))


def _detected(context: Context, first: str, path: str | None, because: tuple[Reason, ...]) -> Property:
    """What vLLM makes of a method and a drafter's path; `path` is None when the target drafts for itself."""
    marks = path_marks(context)
    if any(first == kind for _, kind in marks):
        return certain(first, *because)
    where = path if path is not None else model_name(context)
    if where is None:
        return missing("the method is read from the path of the target, which is not known")
    mark = next((kind for text, kind in marks if text in where.lower()), None)
    if mark is not None:
        return certain(mark, context.because(POST_INIT, f"the path {where!r} says {mark}"), *because)
    if path is None:
        return certain("mtp", *because)
    if first in ("mtp", "medusa", "mlp_speculator"):
        return assumed(first, *because, assumption(f"the drafter's own configuration is of the kind {first}"))
    return _of_checkpoint(context, path, first, because)


def _of_checkpoint(context: Context, path: str, first: str, because: tuple[Reason, ...]) -> Property:
    """`draft_model`, unless the checkpoint's own configuration says that it is another kind of drafter."""
    behaviour: Mapping[str, Any] = context.behaviour("spec_decode") or {}
    kind = drafter_kind(path)
    if kind is None:
        return unknown(*because, assumption("the method is read from the drafter's own configuration"))
    if kind == "draft_model" and not (first and behaviour["draft_model"]):
        return unknown(*because, assumption(f"vLLM {context.release} has no plain draft models, or wants the method"))
    return assumed(kind, *because, assumption(f"the name {path!r} stands for a checkpoint of the kind {kind}"))


def check(context: Context) -> None:
    """Record what the configuration refuses. The types of keys, and unknown ones, are the parser's errors."""
    found = drafter(context)
    whole = context.setting("speculative_config")
    if not found.present or whole is None:
        return
    settings = found.settings
    if any(item.value is UNKNOWN for item in settings.values()):
        return
    _check_tensor_parallel(context, settings)
    _check_count(context, settings, whole)
    _check_method(context, settings, whole)
    _check_synthetic(context, settings)


def _check_synthetic(context: Context, settings: Mapping[str, Setting]) -> None:
    """Made-up acceptance needs its rates, or its length."""
    rule = settings.get("rejection_sample_method")
    if rule is None or rule.value != "synthetic":
        return
    if context.basis.facts.field("SpeculativeConfig.synthetic_acceptance_length") is not None:
        given = [settings.get(f"synthetic_acceptance_{name}") for name in ("rates", "length")]
        if (given[0] is None) == (given[1] is None):
            context.refuse(rule, "rejection_sample_method='synthetic' requires exactly one of its rates and its length")


def _check_tensor_parallel(context: Context, settings: Mapping[str, Setting]) -> None:
    behaviour = context.behaviour("conflicts") or {}
    if "tensor_parallel_size" in settings and behaviour.get("tensor_parallel_key_refused"):
        message = "'tensor_parallel_size' is not a valid argument in the speculative_config"
        context.refuse(settings["tensor_parallel_size"], message)
    draft, size = settings.get("draft_tensor_parallel_size"), context["tensor_parallel_size"]
    if draft is not None and size.known and draft.value not in (1, size.value) and _loads_checkpoint(settings):
        context.refuse(draft, "draft_tensor_parallel_size cannot be other than 1 or the target's tensor_parallel_size")


def _loads_checkpoint(settings: Mapping[str, Setting]) -> bool:
    """Whether a drafter's checkpoint is loaded at all."""
    named = settings.get("method")
    return named is None or named.value not in WITHOUT_DRAFTER


def _check_count(context: Context, settings: Mapping[str, Setting], whole: Setting) -> None:
    if "num_speculative_tokens" in settings:
        return
    named, model = settings.get("method"), settings.get("model")
    if model is not None and drafter(context).method.value == "draft_model":
        context.refuse(model, "A speculative model was provided, but `num_speculative_tokens` was not provided")
        return
    own = named is not None and named.value == "suffix"
    if not own and (model is None or model.value in ("ngram", "[ngram]")):
        context.refuse(whole, "num_speculative_tokens must be provided with speculative model")


def _check_method(context: Context, settings: Mapping[str, Setting], whole: Setting) -> None:
    named, model = settings.get("method"), settings.get("model")
    name = named.value if named is not None else None
    kind = "mtp" if name in mtp_names(context) else name
    if model is None and "num_speculative_tokens" in settings:
        if kind == "custom_class" or (kind not in WITHOUT_DRAFTER and kind not in FROM_TARGET):
            context.refuse(named or whole, "num_speculative_tokens was provided but without speculative model.")
        elif kind == "mtp":
            _check_own_layers(context, named or whole)
    elif model is not None and isinstance(model.value, str):
        _check_checkpoint(context, named or model, kind, model.value)
    if kind in ("ngram", "ngram_gpu"):
        _check_lookup(context, settings)
    if kind == "suffix":
        _check_suffix(context, settings)


def _check_own_layers(context: Context, named: Setting) -> None:
    """A target without prediction layers cannot draft for itself."""
    where = model_name(context) or ""
    behaviour: Mapping[str, Any] = context.behaviour("spec_decode") or {}
    as_of = behaviour.get("mtp_as_of", "")
    if drafts_itself(context.model.architecture, as_of) is False and not any(
        text in where.lower() for text, _ in path_marks(context)
    ):
        context.refuse(named, "Unsupported speculative method: 'mtp'")


def _check_checkpoint(context: Context, argument: Setting, kind: object, path: str) -> None:
    """A plain model as a drafter, where the release has no such method or another one is asked for."""
    behaviour: Mapping[str, Any] = context.behaviour("spec_decode") or {}
    marked = any(text in path.lower() for text, _ in path_marks(context))
    if marked or kind in WITHOUT_DRAFTER or path in ("ngram", "[ngram]"):
        return
    plain = drafter_kind(path) == "draft_model"
    if kind == "mtp" and plain:
        context.refuse(argument, "Unsupported speculative method: 'mtp'")
    elif kind == "draft_model" and not behaviour.get("draft_model", True):
        context.refuse(argument, "Draft model speculative decoding is not supported yet.")
    elif kind is None and plain and not behaviour.get("draft_model_by_default", True):
        context.refuse(argument, "Unsupported speculative method: 'None'")


def _check_suffix(context: Context, settings: Mapping[str, Setting]) -> None:
    """Numbers that suffix decoding cannot have."""
    for name, least, most in SUFFIX_LIMITS:
        number = settings.get(name)
        if number is not None and isinstance(number.value, int | float) and not least <= number.value <= most:
            bounds = f">= {least}" if most == inf else f"in [{least}, {most}]"
            context.refuse(number, f"{name}={number.value} must be {bounds}")


def _check_lookup(context: Context, settings: Mapping[str, Setting]) -> None:
    low, high = settings.get("prompt_lookup_min"), settings.get("prompt_lookup_max")
    for bound in (low, high):
        if bound is not None and isinstance(bound.value, int) and bound.value < 1:
            context.refuse(bound, f"prompt_lookup_min and prompt_lookup_max must be > 0, not {bound.value}")
            return
    if low is None or high is None or not isinstance(low.value, int) or not isinstance(high.value, int):
        return
    if low.value > high.value:
        context.refuse(low, f"prompt_lookup_min={low.value} must be <= prompt_lookup_max={high.value}")
