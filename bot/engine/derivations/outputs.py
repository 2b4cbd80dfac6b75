"""What a server is asked to give out beside the text, and what it refuses of that: reasoning, and routed experts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bot.engine.commandline import UNKNOWN, Setting
from bot.engine.derivations.context import Context
from bot.engine.derivations.model_kind import serves
from bot.engine.derivations.speculation import drafter

PARSERS: Final = "vllm/reasoning/__init__.py:_REASONING_PARSERS_TO_REGISTER"
"""The reasoning parsers of a release by name; the first release registers them otherwise, and nothing is said of it."""

CONNECTORS: Final = frozenset(
    {"MoRIIOConnector", "MooncakeConnector", "NixlConnector", "NixlPullConnector", "NixlPushConnector"}
)
"""KV connectors that do not carry routed experts."""


def check(context: Context, behaviour: Mapping[str, Any]) -> None:
    """Record what is refused."""
    _check_reasoning(context)
    asked = _asked_for_experts(context)
    if asked is not None and behaviour["routed_experts_checked"]:
        message = _no_experts(context)
        if message:
            context.refuse(asked, message)


def _check_reasoning(context: Context) -> None:
    """A reasoning parser that the release does not have, and that no plugin can bring."""
    setting = context.setting("reasoning_parser") or context.key("structured_outputs_config", "reasoning_parser")
    known = context.basis.facts.constants.get(PARSERS)
    if setting is None or not isinstance(setting.value, str) or not setting.value or not isinstance(known, dict):
        return
    plugin = context.setting("reasoning_parser_plugin") or context.key(
        "structured_outputs_config", "reasoning_parser_plugin"
    )
    tokenizer = context.setting("skip_tokenizer_init")
    if setting.value not in known and plugin is None and (tokenizer is None or tokenizer.value is False):
        context.refuse(setting, f"Reasoning parser {setting.value!r} not found")


def _asked_for_experts(context: Context) -> Setting | None:
    """The setting that asks for the experts that a token was routed to."""
    for setting in (
        context.setting("enable_return_routed_experts"),
        context.key("aux_output_config", "enable_return_routed_experts"),
    ):
        if setting is not None and setting.value is True:
            return setting
    return None


def _no_experts(context: Context) -> str:
    """Why routed experts cannot be given out; empty where nothing is known to be in their way."""
    second, caching, serving = context["v2_model_runner"], context["prefix_caching"], serves(context)
    if second.known and not second.value:
        return "AuxOutput Connector requires Model Runner V2; set VLLM_USE_V2_MODEL_RUNNER=1."
    if serving == "pooling":
        return "AuxOutput Connector only supports generate runners."
    if context.model.moe is False:
        return "AuxOutput Connector only supports MoE models."
    if caching.known and not caching.value:
        return "AuxOutput Connector requires prefix caching."
    found = drafter(context)
    if found.present and found.flag("enable_adaptive_verification"):
        return "--enable-return-routed-experts is incompatible with adaptive speculative verification."
    if _several(context, "pipeline_parallel_size"):
        return "--enable-return-routed-experts is incompatible with pipeline parallelism (PP > 1)."
    if _several(context, "decode_context_parallel_size") or _several(context, "prefill_context_parallel_size"):
        return "--enable-return-routed-experts is incompatible with context parallelism (DCP/PCP > 1)."
    connector = context.key("kv_transfer_config", "kv_connector")
    if connector is not None and connector.value is not UNKNOWN and connector.value in CONNECTORS:
        return f"--enable-return-routed-experts is incompatible with {connector.value}."
    return ""


def _several(context: Context, dest: str) -> bool:
    setting = context.setting(dest)
    return setting is not None and isinstance(setting.value, int) and setting.value > 1
