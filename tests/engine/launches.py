"""Launches to resolve, written shortly."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from bot.engine.model import Engine, Launch, Model, Pin
from bot.engine.resolve import resolve
from bot.provenance import Reason, Word

RELEASES = ("0.25.1", "0.27.1", "0.28.0")

MODELS = {
    "hybrid": Model("gdn", False, "Qwen3_5ForConditionalGeneration", hybrid=True),
    "hybrid-moe": Model("gdn", True, "Qwen3NextForCausalLM", hybrid=True),
    "mamba": Model("mamba", True, "NemotronHForCausalLM", hybrid=True),
    "pure-mamba": Model("mamba", False, "Mamba2ForCausalLM", hybrid=False),
    "dense": Model("none", False, "Qwen3ForCausalLM"),
    "llama": Model("none", False, "LlamaForCausalLM"),
    "moe": Model("none", True, "Qwen3MoeForCausalLM"),
    "listed-moe": Model("none", True, "Qwen2MoeForCausalLM"),
    "deepseek": Model("none", True, "DeepseekV3ForCausalLM"),
    "deepseek-v4": Model("none", True, "DeepseekV4ForCausalLM"),
    "gemma4": Model("none", False, "Gemma4ForConditionalGeneration"),
    "whisper": Model("none", False, "WhisperForConditionalGeneration"),
    "ocr": Model("none", True, "UnlimitedOCRForCausalLM"),
    "ngram-flash": Model("none", True, "LongcatFlashNgramForCausalLM"),
    "nameless-hybrid": Model(hybrid=True),
    "unknown": Model(),
}


def word(text: str, symbols: tuple[str, ...] = (), *, splits: bool = False) -> Word:
    """A word of a compose."""
    return Word(text, (Reason("compose", "compose.yml", 7, text),), symbols=symbols, splits=splits)


def run(
    argv: str | list[Word],
    release: str | None = "0.25.1",
    model: str = "hybrid",
    *,
    env: Mapping[str, str] | None = None,
    sm: tuple[int, ...] = (),
    name: str = "Qwen/Some-Model",
    image: str | None = None,
) -> Engine:
    """The engine of `vllm serve NAME ARGV`."""
    words = [word(text) for text in shlex.split(argv)] if isinstance(argv, str) else argv
    launch = Launch(
        argv=(word("serve"), word(name), *words),
        environment={key: word(value) for key, value in (env or {}).items()},
        pin=Pin(image or f"vllm/vllm-openai:v{release}", release, "" if release else "a tag"),
        model=MODELS[model],
        sm=sm,
    )
    return resolve(launch)


def value(engine: Engine, name: str) -> object:
    """A property's value, or "unknown"."""
    found = engine.properties[name]
    return found.value if found.known else "unknown"
