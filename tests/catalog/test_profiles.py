from __future__ import annotations

import pytest

from bot.catalog import read_catalog
from bot.catalog.model import ModelProfile
from bot.catalog.profiles import capability, family_recurrent
from bot.tree import MemoryTree


def model(text: str) -> ModelProfile:
    catalog = read_catalog(MemoryTree({"any/where.yml": f"id: m\n{text}"}))
    assert not catalog.problems
    (profile,) = catalog.models
    return profile


@pytest.mark.parametrize(
    ("counts", "recurrent"),
    [
        ("num_hidden_layers: 64\nnum_gdn_layers: 48\nnum_attn_layers: 16", "gdn"),
        ("num_hidden_layers: 64\nnum_gdn_layers: 48", "gdn"),
        ("num_hidden_layers: 64\ngated_delta_net_layers: 48", "gdn"),
        ("num_hidden_layers: 88\nnum_mamba2_layers: 40\nnum_attn_layers: 8", "mamba"),
        ("num_hidden_layers: 24\nssm_layers: 24", "mamba"),
        ("num_hidden_layers: 32\nnum_attn_layers: 32", "none"),
        ("num_hidden_layers: 32\nnum_attn_layers: 32\nnum_gdn_layers: 0", "none"),
        ("num_hidden_layers: 60\nnum_full_attn_layers: 10\nnum_sliding_attn_layers: 50", "none"),
        ("layer_types: [full_attention, sliding_attention]", "none"),
        ("layer_types: [mamba, full_attention]", "mamba"),
        ("layer_types: [gdn, full_attention]", "gdn"),
        # what is not counted to the end is not known
        ("num_hidden_layers: 64", None),
        ("num_hidden_layers: 64\nnum_attn_layers: 16", None),
        ("num_hidden_layers: 64\nnum_gdn_layers: 0", None),
        ("num_hidden_layers: 64\nnum_gdn_layers: '?'", None),
        ("num_gdn_layers: 4\nnum_mamba_layers: 4", None),
        ("num_hidden_layers: 4\nnum_attn_layers: 4\nnum_gdn_layers: 2", None),
        ("layer_types: [linear_attention, full_attention]", None),
        ("layer_types: []", None),
    ],
)
def test_layers_decide_what_is_recurrent(counts: str, recurrent: str | None) -> None:
    profile = model(counts)
    assert profile.recurrent == recurrent
    assert "recurrent" not in profile.assumed
    assert bool(profile.because.get("recurrent")) == (recurrent is not None)


def test_counts_come_before_the_name_of_the_family() -> None:
    profile = model("family: some-gdn-free-dense\nnum_hidden_layers: 64\nnum_gdn_layers: 48\nnum_attn_layers: 16")
    (reason,) = profile.because["recurrent"]
    assert (reason.kind, reason.path, reason.line, reason.text) == ("catalog", "any/where.yml", 4, "num_gdn_layers: 48")


@pytest.mark.parametrize(
    ("family", "recurrent"),
    [
        ("qwen3-next-hybrid", "gdn"),
        ("qwen35-dense", "gdn"),
        ("qwen3.6", "gdn"),
        ("qwen3_5_moe", "gdn"),
        ("nemotron-h-puzzle-moe", "mamba"),
        ("gemma4-swa-dense", "none"),
        ("llama", "none"),
        ("qwen3-moe", "none"),
        ("dense", None),
        ("moe", None),
        ("hybrid", None),
        ("qwen3-50b", None),
        ("", None),
    ],
)
def test_a_family_is_an_assumption(family: str, recurrent: str | None) -> None:
    assert family_recurrent(family) == recurrent
    profile = model(f"family: '{family}'\nweights: {{}}")
    assert profile.recurrent == recurrent
    if recurrent:
        assert "recurrent" in profile.assumed
        assert profile.because["recurrent"][-1].kind == "assumption"


def test_contradicting_counts_are_not_overruled_by_the_family() -> None:
    assert model("family: qwen3-next\nnum_gdn_layers: 4\nnum_mamba_layers: 4").recurrent is None


def test_linear_attention_geometry_is_an_assumption() -> None:
    profile = model("num_hidden_layers: 64\nlinear_num_v_heads: 48")
    assert (profile.recurrent, profile.assumed) == ("gdn", frozenset({"recurrent"}))


@pytest.mark.parametrize(
    ("text", "moe", "assumed"),
    [
        ("num_layers: 2\nnum_experts: 128", True, False),
        ("num_layers: 2\nnum_local_experts: 8", True, False),
        ("num_layers: 2\nnum_experts: 1", False, False),
        ("num_layers: 2\nfamily: x-moe", True, True),
        ("num_layers: 2\nfamily: x-dense", False, True),
        ("num_layers: 2\nfamily: moebius", None, False),
        ("num_layers: 2\nnum_experts: null", None, False),
    ],
)
def test_experts(text: str, moe: bool | None, assumed: bool) -> None:
    profile = model(text)
    assert (profile.moe, "moe" in profile.assumed) == (moe, assumed)


@pytest.mark.parametrize(
    ("text", "architecture"),
    [
        ("architectures: [AbcForCausalLM]", "AbcForCausalLM"),
        ("architecture: AbcForConditionalGeneration", "AbcForConditionalGeneration"),
        ("architectures: [AbcForCausalLM, XyzForCausalLM]", None),
        ("architecture: dense", None),
        ("architecture: {name: AbcForCausalLM}", None),
    ],
)
def test_architecture(text: str, architecture: str | None) -> None:
    assert model(f"num_layers: 2\n{text}").architecture == architecture


def test_weights_of_the_served_model_longest_first() -> None:
    profile = model(
        "family: f\nweights:\n"
        "  a: {path: m-a, local_subdir: m-a-longer/, hf_repo: org/a, hf_repos: [org/a, org/b]}\n"
        "  b: {path: m-draft, kind: draft, hf_repo: org/draft}\n"
        "  c: null\n  d: [nothing]\n"
    )
    assert profile.weights == ("m-a-longer", "m-a")
    assert profile.repositories == ("org/a", "org/b")


@pytest.mark.parametrize(
    ("text", "image"),
    [
        ("{method: docker_image, spec: 'vllm/vllm-openai:v0.25.1'}", "vllm/vllm-openai:v0.25.1"),
        ("{spec: 'vllm/vllm-openai:v0.25.1'}", "vllm/vllm-openai:v0.25.1"),
        ("{method: pip, spec: 'vllm==0.20.2'}", None),
        ("{method: docker_image}", None),
        ("{spec: [a]}", None),
    ],
)
def test_engine_profiles(text: str, image: str | None) -> None:
    catalog = read_catalog(MemoryTree({"e.yaml": f"# note\nid: stable\ninstall: {text}\n"}))
    assert catalog.engines["stable"].image == image
    assert catalog.engines["stable"].position.path == "e.yaml"


@pytest.mark.parametrize(
    ("written", "sm"),
    [("12.0", 120), ("8.6", 86), ("9", 90), ("90", 90), ("120", 120), ("sm_121", 121), ("'?'", None), ("null", None)],
)
def test_hardware_profiles(written: str, sm: int | None) -> None:
    catalog = read_catalog(MemoryTree({"h.yml": f"id: card\nsm: {written}\n"}))
    assert catalog.hardware["card"].sm == sm


@pytest.mark.parametrize(
    ("text", "value"),
    [("8.0+", 80), ("sm_90a", 90), ("12.1", 121), ("7", None), ("", None), (None, None), ("999", None)],
)
def test_capabilities(text: str | None, value: int | None) -> None:
    assert capability(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "id: x\nspec_method: mtp\nmodel_compat: [m]\n",
        "id: x\nfamily: f\n",
        "family: f\nnum_layers: 3\n",
        "id: null\nnum_layers: 3\n",
        "services: {a: {image: x}}\nid: x\nsm: 12.0\n",
    ],
)
def test_other_files_are_no_profiles(text: str) -> None:
    catalog = read_catalog(MemoryTree({"x.yml": text}))
    assert (catalog.models, catalog.engines, catalog.hardware) == ((), {}, {})


def test_a_second_profile_of_one_id_is_a_problem() -> None:
    text = "id: a\ninstall: {spec: x}\n"
    catalog = read_catalog(MemoryTree({"1.yml": text, "2.yml": text}))
    assert catalog.engines["a"].position.path == "1.yml"
    assert [(problem.position.path, "second" in problem.message) for problem in catalog.problems] == [("2.yml", True)]
