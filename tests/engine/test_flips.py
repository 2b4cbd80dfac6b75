"""What a move of the pin changes, though no argument does."""

from __future__ import annotations

import shlex

import pytest

from bot.engine import Launch, Pin
from bot.engine.flips import Flips, flips
from tests.engine.launches import MODELS, word

MTP = """--speculative-config '{"method":"mtp","num_speculative_tokens":3}'"""


def moved(
    old: str, new: str, arguments: str = "", model: str = "hybrid", env: dict[str, str] | None = None, sm: int = 120
) -> Flips:
    words = tuple(word(text) for text in ["serve", "Qwen/Qwen3-8B", *shlex.split(arguments)])
    environment = {name: word(text) for name, text in (env or {}).items()}
    launch = Launch(words, environment, Pin("x", None), MODELS[model], (sm,))
    return flips(launch, Pin(f"vllm/vllm-openai:v{old}", old), Pin(f"vllm/vllm-openai:v{new}", new))


def changed(found: Flips) -> dict[str, tuple[object, object]]:
    return {flip.name: (flip.before.value, flip.after.value) for flip in found.properties}


@pytest.mark.parametrize(
    ("old", "new", "arguments", "model", "expected"),
    [
        ("0.27.1", "0.28.0", "", "hybrid", {"prefix_caching": (False, True), "mamba_cache_mode": ("none", "align")}),
        ("0.28.0", "0.27.1", "", "hybrid", {"prefix_caching": (True, False), "mamba_cache_mode": ("align", "none")}),
        ("0.27.1", "0.28.0", "--no-enable-prefix-caching", "hybrid", {}),
        ("0.27.1", "0.28.0", "--enable-prefix-caching", "hybrid", {}),
        ("0.25.1", "0.27.1", "", "hybrid", {}),
        ("0.27.1", "0.28.0", "", "dense", {}),
        ("0.28.0", "0.29.0", "", "hybrid", {"v2_model_runner": (False, True)}),
        ("0.28.0", "0.29.0", "", "moe", {"v2_model_runner": (False, True)}),
        ("0.11.2", "0.14.0", "", "dense", {"async_scheduling": (False, True)}),
        (
            "0.27.1",
            "0.28.0",
            f"--kv-cache-dtype fp8 --no-enable-prefix-caching {MTP}",
            "hybrid",
            {"cudagraph_mode_effective": ("PIECEWISE", "FULL_AND_PIECEWISE")},
        ),
    ],
)
def test_properties(old: str, new: str, arguments: str, model: str, expected: dict[str, tuple[object, object]]) -> None:
    assert changed(moved(old, new, arguments, model)) == expected


def test_both_releases_say_where() -> None:
    found = moved("0.27.1", "0.28.0").properties[0]
    before, after = found.places
    assert before[0].path == after[0].path == "vllm/engine/arg_utils.py"
    assert before[0].line != after[0].line
    assert "0.27.1" in before[0].text
    assert "0.28.0" in after[0].text


def test_a_flag_that_vanishes() -> None:
    found = moved("0.27.1", "0.28.0", "--calculate-kv-scales")
    assert [error.argument for error in found.refused] == ["--calculate-kv-scales"]
    assert found.properties == ()
    assert moved("0.28.0", "0.27.1", "--calculate-kv-scales").refused == ()


def test_a_flag_that_means_something_else() -> None:
    found = moved("0.11.0", "0.13.0", "-O3", "dense")
    assert {item.setting for item in found.reread} >= {"compilation_config", "optimization_level"}


def test_a_variable_that_nothing_reads_any_more() -> None:
    env = {"VLLM_ATTENTION_BACKEND": "FLASHINFER"}
    found = moved("0.14.1", "0.16.0", "", "dense", env)
    assert [item.argument.partition("=")[0] for item in found.lost] == ["VLLM_ATTENTION_BACKEND"]
    assert changed(found)["attention_backend"] == ("FLASHINFER", None)


def test_nothing_changes_within_a_release() -> None:
    assert not moved("0.28.0", "0.28.0", f"--kv-cache-dtype fp8 {MTP}")
