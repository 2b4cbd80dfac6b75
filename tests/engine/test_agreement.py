"""An engine whose release is not known."""

from __future__ import annotations

import pytest

from bot.engine.agreement import agree
from bot.engine.model import Pin
from tests.engine.launches import RELEASES, run, value

MTP = """--speculative-config '{"method":"mtp","num_speculative_tokens":3}'"""


def test_what_the_deployment_sets_is_certain() -> None:
    engine = run("--enable-prefix-caching --kv-cache-dtype fp8", None)
    assert engine.releases == RELEASES
    for name, expected in (("prefix_caching", True), ("kv_cache_dtype", "fp8")):
        found = engine.properties[name]
        assert (found.value, found.certainty) == (expected, "certain")


def test_a_default_that_all_releases_have_is_assumed_and_names_them() -> None:
    found = run("", None, "dense").properties["prefix_caching"]
    assert (found.value, found.certainty) == (True, "assumed")
    assert found.because[-1].kind == "assumption"
    assert "0.25.1, 0.27.1 and 0.28.0 agree" in found.because[-1].text


def test_a_default_in_which_releases_differ_is_unknown_and_says_where() -> None:
    found = run("", None).properties["prefix_caching"]
    assert not found.known
    assert found.because[0].text == "off in 0.25.1 and 0.27.1, on in 0.28.0"


@pytest.mark.parametrize("release", ["0.11.0", "0.26.0", "0.99.0"])
def test_a_release_without_facts_is_asked_of_the_others(release: str) -> None:
    engine = run("", release, "dense")
    assert engine.releases == RELEASES
    found = engine.properties["prefix_caching"]
    assert (found.value, found.certainty) == (True, "assumed")
    assert f"release {release} has no facts" in found.because[-1].text


def test_the_model_does_not_depend_on_the_release() -> None:
    assert run("", None).properties["model.recurrent"].certainty == "certain"


def test_errors_count_when_all_releases_have_them() -> None:
    assert [error.argument for error in run("--no-such-flag", None).errors] == ["--no-such-flag"]
    assert run("--calculate-kv-scales", None).errors == ()
    assert run("--calculate-kv-scales", "0.28.0").errors != ()


def test_an_ineffective_argument_counts_when_it_is_so_in_all_releases() -> None:
    kinds = {item.kind for item in run("--max-num-seqs 2 --max-num-seqs 3", None).ineffective}
    assert kinds == {"overridden"}


def test_the_settings_that_are_read_alike() -> None:
    assert run("--max-num-seqs 3", None).parsed["max_num_seqs"] == 3


def test_the_worker_differs_between_releases() -> None:
    engine = run(f"--kv-cache-dtype fp8 {MTP}", None, sm=(120,))
    assert value(engine, "cudagraph_mode_effective") == "unknown"
    text = engine.properties["cudagraph_mode_effective"].because[0].text
    assert text == "PIECEWISE in 0.25.1 and 0.27.1, FULL_AND_PIECEWISE in 0.28.0"


def test_without_any_release_nothing_is_known() -> None:
    assert agree(Pin("x", None), []).properties == {}
