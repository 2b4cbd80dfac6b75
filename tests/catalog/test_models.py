from __future__ import annotations

import pytest

from bot.catalog import model_for, read_catalog
from bot.tree import MemoryTree

CATALOG = read_catalog(
    MemoryTree(
        {
            "m/a.yml": "id: alpha-27b\nfamily: f-dense\nnum_hidden_layers: 4\nnum_gdn_layers: 3\nnum_attn_layers: 1\n"
            "weights: {x: {local_subdir: alpha-27b-int4, hf_repo: Org/Alpha-27B-INT4}, y: {path: alpha/sub}}\n",
            "m/b.yml": "id: beta-9b\nfamily: qwen35-dense\nweights: {x: {path: beta-9b, hf_repo: Org/Beta}}\n",
            "m/c.yml": "id: gamma\nfamily: dense\nnum_hidden_layers: 2\nnum_attn_layers: 2\nnum_experts: 1\n"
            "weights: {x: {path: shared}}\n",
            "m/d.yml": "id: delta\nnum_hidden_layers: 2\nnum_gdn_layers: 1\nweights: {x: {path: shared}}\n",
        }
    )
)


@pytest.mark.parametrize(
    ("argument", "path", "recurrent", "certainty"),
    [
        ("/root/.cache/huggingface/alpha-27b-int4", "c.yml", "gdn", "certain"),
        ("/models/alpha-27b-int4/", "c.yml", "gdn", "certain"),
        ("alpha-27b-int4/file.gguf", "c.yml", "gdn", "certain"),
        ("/models/alpha/sub", "c.yml", "gdn", "certain"),
        ("org/alpha-27b-int4", "c.yml", "gdn", "certain"),
        ("/root/.cache/huggingface/hub/models--Org--Alpha-27B-INT4/snapshots/0a", "c.yml", "gdn", "certain"),
        ("/models/beta-9b", "models/alpha-27b/c.yml", "gdn", "assumed"),
        (None, "models/alpha-27b/vllm/c.yml", "gdn", "assumed"),
        ("${MODEL}", "models/alpha-27b/vllm/c.yml", "gdn", "assumed"),
        ("Other/Alpha-27B-Instruct", "models/alpha-27b/c.yml", "gdn", "assumed"),
        ("Other/Thing", "models/alpha-27b/c.yml", None, "certain"),
        ("/models/alpha-27b-int4-more", "c.yml", None, "certain"),
        ("/models/shared", "c.yml", None, "certain"),
        (None, "models/unknown/c.yml", None, "certain"),
        (None, "deploy/alpha-27b.yml", None, "certain"),
        ("", "c.yml", None, "certain"),
    ],
)
def test_which_model(argument: str | None, path: str, recurrent: str | None, certainty: str) -> None:
    model = model_for(CATALOG, path, argument)
    assert (model.recurrent, model.certainty) == (recurrent, certainty)
    assert (model.hybrid, bool(model.because)) == ((True, True) if recurrent else (None, False))


def test_a_certain_model_says_which_of_its_fields_are_only_assumed() -> None:
    model = model_for(CATALOG, "c.yml", "/models/alpha-27b-int4")
    assert (model.moe, sorted(model.assumed)) == (False, ["moe"])
    assert [reason.kind for reason in model.because["recurrent"]] == ["catalog", "catalog"]
    assert model.because["recurrent"][1].text == "num_gdn_layers: 3"


def test_an_assumed_model_says_what_is_assumed() -> None:
    model = model_for(CATALOG, "c.yml", "/models/beta-9b")
    assert model.moe is False
    assert model.because["recurrent"][-1].kind == "assumption"


def test_an_empty_catalog_knows_no_model() -> None:
    assert model_for(read_catalog(MemoryTree({})), "models/a/c.yml", "/models/a").recurrent is None


@pytest.mark.parametrize(
    ("argument", "place"),
    [("/models/beta-9b", 5), ("/models/other", 4), ("org/beta", 6), ("Org/Gamma", 7)],
)
def test_a_profile_is_quoted_where_it_names_the_weights(argument: str, place: int) -> None:
    profile = """id: beta
family: qwen35-dense
weights:
  a: {path: other, hf_repo: Org/Other}
  b: {local_subdir: beta-9b, path: beta-9b,
      hf_repo: Org/Beta, hf_repos: [
        Org/Gamma]}
"""
    model = model_for(read_catalog(MemoryTree({"m.yml": profile})), "c.yml", argument)
    assert (model.because["recurrent"][0].path, model.because["recurrent"][0].line) == ("m.yml", place)
