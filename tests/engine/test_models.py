"""What a model's name and its architecture say."""

from __future__ import annotations

import pytest

from bot.engine.model import Model
from bot.engine.models import drafter_kind, filled, last_part, model_from_argv, sure, traits


@pytest.mark.parametrize(
    ("name", "recurrent", "moe", "architecture"),
    [
        ("Qwen/Qwen3.6-27B-FP8", "gdn", False, "Qwen3_5ForConditionalGeneration"),
        ("/root/.cache/huggingface/qwen3.6-35b-a3b-nvfp4", "gdn", True, "Qwen3_5MoeForConditionalGeneration"),
        ("Qwen/Qwen3.5-397B-A17B", "gdn", True, "Qwen3_5MoeForConditionalGeneration"),
        ("Qwen/Qwen3-Coder-Next", "gdn", True, "Qwen3NextForCausalLM"),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "gdn", True, "Qwen3NextForCausalLM"),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", "none", True, "Qwen3MoeForCausalLM"),
        ("Qwen/Qwen3-8B", "none", False, "Qwen3ForCausalLM"),
        ("Qwen/Qwen2.5-Coder-1.5B-Instruct", "none", False, "Qwen2ForCausalLM"),
        ("meta-llama/Llama-3.2-3B-Instruct", "none", False, "LlamaForCausalLM"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "none", False, "MistralForCausalLM"),
        ("google/gemma-3-12b-it", "none", False, "Gemma3ForConditionalGeneration"),
        ("gemma-4-26b-a4b-awq-4bit", "none", True, "Gemma4ForConditionalGeneration"),
        ("openai/gpt-oss-120b", "none", True, "GptOssForCausalLM"),
        ("deepseek-ai/DeepSeek-R1", "none", True, "DeepseekV3ForCausalLM"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "none", False, "LlamaForCausalLM"),
        ("nvidia/NVIDIA-Nemotron-Nano-9B-v2", "mamba", False, "NemotronHForCausalLM"),
        ("nvidia/Nemotron-H-8B-Base-8K", "mamba", False, "NemotronHForCausalLM"),
        ("tiiuae/Falcon-H1-34B-Instruct", "mamba", False, "FalconH1ForCausalLM"),
        ("ai21labs/AI21-Jamba-Mini-1.7", "mamba", None, "JambaForCausalLM"),
        ("ibm-granite/granite-4.0-h-tiny", "mamba", True, "GraniteMoeHybridForCausalLM"),
        ("ibm-granite/granite-4.0-micro", "none", False, "GraniteMoeHybridForCausalLM"),
        ("Zyphra/Zamba2-7B-Instruct", "mamba", False, "Zamba2ForCausalLM"),
        ("/hub/models--Qwen--Qwen3.5-27B/snapshots/0123456789abcdef", "gdn", False, "Qwen3_5ForConditionalGeneration"),
        ("/weights/Qwen3-8B/main/", "none", False, "Qwen3ForCausalLM"),
    ],
)
def test_names_that_say_what_a_model_is(name: str, recurrent: str, moe: bool | None, architecture: str) -> None:
    model = model_from_argv(name)
    assert (model.recurrent, model.moe, model.architecture) == (recurrent, moe, architecture)
    assert model.certainty == "assumed"
    assert all(reason.kind == "assumption" for reasons in model.because.values() for reason in reasons)


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        "/model",
        "some-org/our-model-dense",
        "thinkingcap-qwen3.6-27b-w4a16",
        "Qwen/Qwen3-Embedding-8B",
        "Qwen/Qwen3-Reranker-4B",
        "org/Qwen3-8B-DFlash",
        "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B",
        "meta-llama/Llama-3.2-11B-Vision-Instruct",
        "microsoft/Phi-4-mini-flash-reasoning",
        "BAAI/bge-m3",
        "gemma-4-31b-it-assistant",
        "nvidia/Llama-3_1-Nemotron-Nano-8B-v1",
        "q" * 5000,
    ],
)
def test_names_that_say_nothing_sure(name: str | None) -> None:
    model = model_from_argv(name)
    assert (model.recurrent, model.moe, model.architecture, model.hybrid) == (None, None, None, None)


def test_a_hybrid_whose_layers_are_of_another_kind() -> None:
    model = model_from_argv("LiquidAI/LFM2-1.2B")
    assert (model.recurrent, model.hybrid) == (None, True)


@pytest.mark.parametrize(
    ("architecture", "hybrid", "recurrent", "kind"),
    [
        ("Qwen3_5ForConditionalGeneration", True, "gdn", "generate"),
        ("NemotronHForCausalLM", True, "mamba", "generate"),
        ("Mamba2ForCausalLM", False, "mamba", "attention-free"),
        ("GraniteMoeHybridForCausalLM", None, None, "generate"),
        ("Lfm2ForCausalLM", True, None, "generate"),
        ("LlamaForCausalLM", False, "none", "generate"),
        ("NoSuchForCausalLM", None, None, None),
        (None, None, None, None),
    ],
)
def test_traits(architecture: str | None, hybrid: bool | None, recurrent: str | None, kind: str | None) -> None:
    found = traits(architecture)
    assert (found.hybrid, found.recurrent, found.kind) == (hybrid, recurrent, kind)


@pytest.mark.parametrize(
    ("stated", "name", "expected"),
    [
        (Model("mamba", hybrid=True), "org/Nemotron-H-8B", ("mamba", False, "NemotronHForCausalLM")),
        (Model("gdn", hybrid=True), "Qwen/Qwen3.5-27B", ("gdn", False, "Qwen3_5ForConditionalGeneration")),
        (Model("gdn", hybrid=True), "org/Nemotron-H-8B", ("gdn", None, None)),
        (Model("gdn", hybrid=True), "Qwen/Qwen3-8B", ("gdn", None, None)),
        (Model("gdn", True, hybrid=True), "Qwen/Qwen3.5-27B", ("gdn", True, None)),
        (Model(hybrid=True), "LiquidAI/LFM2-1.2B", (None, False, "Lfm2ForCausalLM")),
        (Model(hybrid=False), "LiquidAI/LFM2-1.2B", (None, None, None)),
        (Model(moe=True), "org/our-model", (None, True, None)),
        (Model(architecture="Qwen3NextForCausalLM"), "org/ours", ("gdn", True, "Qwen3NextForCausalLM")),
        (
            Model("none", False, "LlamaForCausalLM", hybrid=False),
            "Qwen/Qwen3.5-27B",
            ("none", False, "LlamaForCausalLM"),
        ),
    ],
)
def test_a_name_fills_what_nothing_states(
    stated: Model, name: str, expected: tuple[str | None, bool | None, str | None]
) -> None:
    model = filled(stated, name)
    assert (model.recurrent, model.moe, model.architecture) == expected


def test_what_is_only_assumed_is_left_out_of_what_is_sure() -> None:
    model = sure(Model("gdn", False, hybrid=True, assumed=frozenset({"moe"})))
    assert (model.recurrent, model.moe, model.assumed) == ("gdn", None, frozenset())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Qwen/Qwen3-0.6B", "draft_model"),
        ("/models/gemma-4-31b-it-assistant", "mtp"),
        ("Qwen/Qwen3.5-0.8B", "mtp"),
        ("/models/drafter", None),
        ("x" * 5000, None),
    ],
)
def test_drafters(name: str, kind: str | None) -> None:
    assert drafter_kind(name) == kind


def test_the_last_part_of_a_name() -> None:
    assert last_part("/a/B_c/main/") == "b-c"
    assert last_part("main") == "main"
