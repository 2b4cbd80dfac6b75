"""Derivations are applied only where their upstream functions are what was read."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from bot.engine import facts as facts_of
from bot.engine.derivations.basis import Basis, readings, unread, unverified, written
from bot.engine.facts import Facts
from bot.engine.model import Engine, Launch, Pin
from bot.engine.resolve import DERIVATIONS, in_release
from bot.rules import RULES
from tests.differential.anchors import extended
from tests.differential.verified import table
from tests.engine.launches import MODELS, word

PREFIX = "vllm/engine/arg_utils.py:EngineArgs._set_default_chunked_prefill_and_prefix_caching_args"


def changed(release: str, *definitions: str, version: str = "0.99.0") -> Facts:
    """A release in which some definitions are not what they were."""
    raw = copy.deepcopy(dict(facts_of.load(release).raw))
    raw["release"] = version
    for definition in definitions:
        path, _, name = definition.partition(":")
        raw["anchors"][path][name] = "0" * 16
    return Facts(version, raw)


def engine(facts: Facts, argv: str = "") -> Engine:
    words = tuple(word(text) for text in ["serve", "Qwen/X", *argv.split()])
    return in_release(Launch(words, {}, Pin("x", facts.version), MODELS["hybrid"]), facts)


def test_every_shipped_release_is_covered() -> None:
    """A release that nobody has read may be learnt at run time; one that is shipped has been read."""
    table = readings()
    assert set(facts_of.releases()) == set(table.releases)
    for release in facts_of.releases():
        assert unread(facts_of.load(release)) == (), release
        anchors = facts_of.load(release).anchors
        uncovered = [
            name for name, entry in anchors.items() if not table.agree(release, name, entry[0] if entry else None)
        ]
        assert uncovered == [], release


def test_every_definition_that_is_modelled_is_anchored_and_the_reverse() -> None:
    table = readings()
    modelled = {name for definitions in table.definitions.values() for name in definitions}
    assert modelled == set(table.fingerprints)
    assert all(table.fingerprints.values()), "a definition that no release has"


@pytest.mark.parametrize("release", ["0.11.0", "0.33.0"])
def test_writing_down_what_was_read_changes_nothing(release: str) -> None:
    assert extended(release) == (RULES / "vllm/anchors.json").read_text(encoding="utf-8")


def test_the_table_of_fingerprints_is_in_its_own_form() -> None:
    table = readings()
    text = (RULES / "vllm/anchors.json").read_text(encoding="utf-8")
    assert written(table.fingerprints, table.releases) == text
    assert set(json.loads(text)) == set(table.fingerprints)


def test_values_hold_until_the_next_one_that_is_named() -> None:
    hybrid = {release: keys["hybrid_default"] for release, keys in readings().behaviour["prefix_caching"].items()}
    assert (hybrid["0.11.0"], hybrid["0.27.1"], hybrid["0.28.0"], hybrid["0.33.0"]) == (False, False, True, True)


@pytest.mark.parametrize("subject", sorted(readings().verified))
def test_a_subject_is_derived_exactly_where_it_was_read(subject: str) -> None:
    table = readings()
    for release in facts_of.releases():
        found = Basis(facts_of.load(release), table).behaviour(subject)
        assert (found is not None) == (release in table.verified[subject]), release
        assert found is None or found is table.behaviour[subject][release]


def test_the_newest_releases_are_verified_for_everything() -> None:
    for release in ("0.25.1", "0.27.1", "0.28.0", "0.33.0"):
        assert unverified(facts_of.load(release)) == {}


def test_what_moved_and_what_it_costs() -> None:
    facts = changed("0.33.0", PREFIX)
    assert unread(facts) == (PREFIX,)
    assert unverified(facts) == {"prefix_caching": (PREFIX,), "chunked_prefill": (PREFIX,)}


def test_a_release_with_the_same_definitions_is_verified_by_them() -> None:
    found = engine(changed("0.27.1")).properties["prefix_caching"]
    assert (found.value, found.certainty) == (False, "certain")


def test_a_changed_definition_makes_the_default_unverified() -> None:
    found = engine(changed("0.27.1", PREFIX))
    assert not found.properties["prefix_caching"].known
    assert "unverified in 0.99.0" in found.properties["prefix_caching"].because[0].text
    assert "_set_default_chunked_prefill" in found.properties["prefix_caching"].because[0].text
    assert not found.properties["mamba_cache_mode"].known
    assert found.properties["cudagraph_mode"].known


def test_explicit_settings_stand_in_an_unverified_release() -> None:
    everything = list(readings().fingerprints)
    found = engine(changed("0.28.0", *everything), "--enable-prefix-caching --kv-cache-dtype fp8 --async-scheduling")
    assert {
        name: found.properties[name].value for name in ("prefix_caching", "kv_cache_dtype", "async_scheduling")
    } == {
        "prefix_caching": True,
        "kv_cache_dtype": "fp8",
        "async_scheduling": True,
    }
    for name in ("cudagraph_mode", "v2_model_runner", "mamba_cache_mode", "quantization", "attention_backend"):
        assert not found.properties[name].known, name
    assert found.properties["optimization_level"].value == 2


@pytest.mark.parametrize(
    ("argv", "name", "value"),
    [
        ("-cc.cudagraph_mode=PIECEWISE", "cudagraph_mode", "PIECEWISE"),
        ("-cc.cudagraph_mode=PIECEWISE -cc.mode=0", "cudagraph_mode", None),
        ("--spec-method qwen3_5_mtp --spec-tokens 3", "spec_decode.method", "mtp"),
        ("--spec-method qwen3_5_mtp --spec-tokens 3", "spec_decode.num_speculative_tokens", 3),
        ("--enable-prefix-caching --mamba-cache-mode align", "mamba_cache_mode", "align"),
        ("--enforce-eager", "cudagraph_mode", "NONE"),
    ],
)
def test_what_later_rules_might_change_is_assumed_in_an_unverified_release(argv: str, name: str, value: object) -> None:
    found = engine(changed("0.28.0", *readings().fingerprints), argv).properties[name]
    assert found.value == value
    certain = name == "spec_decode.num_speculative_tokens" or argv == "--enforce-eager"
    assert found.certainty == ("unknown" if value is None else "certain" if certain else "assumed")


def test_every_property_has_a_derivation() -> None:
    assert set(DERIVATIONS) == set(engine(facts_of.load("0.25.1")).properties)


def test_the_table_of_what_is_verified_is_current() -> None:
    page = Path(__file__).parents[2] / "docs" / "verified.md"
    assert page.read_text(encoding="utf-8") == table(), "python -m tests.differential.verified > docs/verified.md"
