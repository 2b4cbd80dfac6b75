"""The model as the engine sees it: its kind of layers, and whether it generates."""

from __future__ import annotations

from bot.engine.commandline import UNKNOWN
from bot.engine.derivations.context import Context, missing
from bot.engine.model import Property, Value

POOLING_SUFFIXES = (
    "ForTextEncoding",
    "EmbeddingModel",
    "ForSequenceClassification",
    "ForTokenClassification",
    "ForAudioClassification",
    "ForImageClassification",
    "ForVideoClassification",
    "ClassificationModel",
    "ForRewardModeling",
    "RewardModel",
    "Model",
)
"""Endings of architectures that vLLM serves as pooling models."""


def recurrent(context: Context) -> Property:
    """`model.recurrent`: "gdn", "mamba" or "none"."""
    if context.model.recurrent is None and context.model.hybrid:
        return missing("the model is a hybrid, and the kind of its recurrent layers is not known")
    return _stated(context, "recurrent", context.model.recurrent)


def moe(context: Context) -> Property:
    """`model.moe`."""
    return _stated(context, "moe", context.model.moe)


def architecture(context: Context) -> Property:
    """`model.architecture`: the Hugging Face class name."""
    return _stated(context, "architecture", context.model.architecture)


def _stated(context: Context, name: str, value: Value) -> Property:
    if value is None:
        return missing(f"nothing says what model.{name} is")
    return Property(value, context.model.certainty, context.model.because.get(name, ()))


def is_hybrid(context: Context) -> bool | None:
    """Whether recurrent layers stand beside attention; None when it is not known."""
    model = context.model
    if context.traits.kind == "attention-free":
        return False
    if model.recurrent is not None:
        return model.recurrent != "none"
    return model.hybrid if model.hybrid is not None else context.traits.hybrid


def is_attention_free(context: Context) -> bool | None:
    """Whether the model has no attention at all (Mamba); None when it is not known."""
    if context.traits.kind is not None:
        return context.traits.kind == "attention-free"
    return None if context.model.recurrent == "mamba" else False


def serves(context: Context) -> str | None:
    """What the server does with the model: "generate", "pooling", "encoder-decoder", "diffusion"; None if unknown.

    An attention-free model that generates is "generate".
    """
    runner, convert = context.setting("runner"), context.setting("convert")
    for setting in (runner, convert):
        if setting is not None and setting.value is UNKNOWN:
            return None
    kind = context.traits.kind
    if runner is not None and runner.value == "pooling":
        return "pooling"
    if convert is not None and convert.value not in ("auto", "none") and runner is None:
        behaviour = context.behaviour("prefix_caching")
        if behaviour is None:
            return None
        if behaviour["convert_pools"]:
            return "pooling"
    if kind in ("encoder-decoder", "diffusion"):
        return kind
    generates = runner is not None and runner.value == "generate"
    if kind is not None:
        return "generate" if generates or kind != "pooling" else "pooling"
    name = context.model.architecture
    if name is not None and not generates:
        return "pooling" if name.endswith(POOLING_SUFFIXES) else "generate"
    known = generates or context.model.recurrent is not None or context.model.hybrid is not None
    return "generate" if known else None
