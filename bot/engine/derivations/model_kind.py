"""The model as the engine sees it: its kind of layers, and whether it generates."""

from __future__ import annotations

from bot.engine.commandline import UNKNOWN
from bot.engine.derivations.context import Context, missing
from bot.engine.model import Property, Value
from bot.engine.models import named_for_pooling

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

TASKS = {
    "pooling": ("embedding", "embed", "classify", "score", "reward"),
    "generate": ("generate", "transcription"),
}
"""The runner that a task stands for, in the releases that have `--task`; any other leaves it open."""


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


def model_name(context: Context) -> str | None:
    """The model that the command line names; the parser's default when it names none, None when it is not known."""
    setting = context.setting("model")
    if setting is not None:
        return setting.value if isinstance(setting.value, str) else None
    default = context.basis.facts.default("model")
    return default.value if default is not None and isinstance(default.value, str) else None


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
    runner, convert = _runner_and_convert(context)
    if UNKNOWN in (runner, convert):
        return None
    kind = context.traits.kind
    if runner == "pooling":
        return "pooling"
    if convert not in ("auto", "none") and runner == "auto":
        behaviour = context.behaviour("prefix_caching")
        if behaviour is None:
            return None
        if behaviour["convert_pools"]:
            return "pooling"
    if kind in ("encoder-decoder", "diffusion"):
        return kind
    generates = runner == "generate"
    if not generates and may_pool(context):
        return None
    if kind is not None:
        return "generate" if generates or kind != "pooling" else "pooling"
    name = context.model.architecture
    if name is not None and not generates:
        return "pooling" if name.endswith(POOLING_SUFFIXES) else "generate"
    known = generates or context.model.recurrent is not None or context.model.hybrid is not None
    return "generate" if known else None


def _runner_and_convert(context: Context) -> tuple[object, object]:
    """The runner and the conversion that are asked for, "auto" where none is.

    `--task`, where a release still takes it, replaces both.
    """
    task = context.setting("task")
    if task is not None:
        if task.value is UNKNOWN:
            return UNKNOWN, UNKNOWN
        return next((runner for runner, tasks in TASKS.items() if task.value in tasks), "auto"), "auto"
    runner, convert = context.setting("runner"), context.setting("convert")
    return ("auto" if runner is None else runner.value), ("auto" if convert is None else convert.value)


def may_pool(context: Context) -> bool:
    """Whether a model that looks like one that generates may be served as one that pools.

    Its checkpoint may hold a pooling configuration, as those of embedding models do and their names tell, or the
    command line gives it another architecture.
    """
    runner, _ = _runner_and_convert(context)
    if runner not in ("auto", UNKNOWN):
        return False
    if context.key("hf_overrides", "architectures") is not None:
        return True
    pools_by_itself = context.traits.kind == "pooling" or (context.model.architecture or "").endswith(POOLING_SUFFIXES)
    name = model_name(context)
    return not pools_by_itself and name is not None and named_for_pooling(name)
