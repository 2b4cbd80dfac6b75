"""An engine whose release is not known."""

from __future__ import annotations

import shlex

import pytest

from bot.engine.agreement import agree
from bot.engine.facts import releases
from bot.engine.model import Engine, Launch, Model, Pin, Property
from bot.engine.resolve import resolve
from bot.provenance import Reason
from tests.engine.launches import run, value, word

MTP = """--speculative-config '{"method":"mtp","num_speculative_tokens":3}'"""


def test_what_the_deployment_sets_is_certain() -> None:
    engine = run("--enable-prefix-caching --kv-cache-dtype fp8", None, "dense")
    assert engine.releases == releases()
    for name, expected in (("prefix_caching", True), ("kv_cache_dtype", "fp8")):
        found = engine.properties[name]
        assert (found.value, found.certainty) == (expected, "certain")


@pytest.mark.parametrize(
    ("argv", "name", "expected", "exception"),
    [
        ("--enable-prefix-caching", "prefix_caching", True, "releases up to 0.14.1 would not keep it: off"),
        ("--no-enable-chunked-prefill", "chunked_prefill", False, "releases up to 0.11.0 would not keep it: on"),
    ],
)
def test_what_the_newest_release_keeps_is_assumed_and_names_the_others(
    argv: str, name: str, expected: object, exception: str
) -> None:
    found = run(argv, None).properties[name]
    assert (found.value, found.certainty) == (expected, "assumed")
    assert found.because[-1].text == exception


def test_what_the_newest_release_would_not_keep_is_unknown() -> None:
    assert value(_agreed("kko"), "p") == "unknown"


def test_what_two_releases_read_differently_is_unknown() -> None:
    assert value(_agreed("lk"), "p") == "unknown"


@pytest.mark.parametrize(
    ("says", "text"),
    [
        ("okk", "releases up to 1 would not keep it: none"),
        ("kok", "release 2 would not keep it: none"),
        ("kook", "releases from 2 to 3 would not keep it: none"),
        (
            "ouok",
            "releases up to 1 would not keep it: none, release 2 would not keep it: not known, "
            "release 3 would not keep it: none",
        ),
    ],
)
def test_exceptions_are_said_in_spans(says: str, text: str) -> None:
    found = _agreed(says).properties["p"]
    assert (found.value, found.certainty) == ("k", "assumed")
    assert found.because[-1].text == text


def _agreed(says: str) -> Engine:
    """The agreement of releases that keep what is set (`k`, or read it as `l`), override it (`o`), don't know (`u`)."""
    written, own = Reason("compose", "c.yml", 3, "--p k"), Reason("engine-default", "", None, "no p")
    answers = {
        "k": Property("k", "certain", (written,)),
        "l": Property("l", "certain", (written,)),
        "o": Property(None, "certain", (own, written)),
        "u": Property(None, "unknown", (written,)),
    }
    engines = [Engine(Pin("x", None), (str(at),), {}, {"p": answers[said]}) for at, said in enumerate(says, start=1)]
    return agree(Pin("x", None), engines)


def test_a_release_that_has_no_option_for_the_model_is_not_asked() -> None:
    argv = (word("serve"), word("--model"), word("x"), *map(word, shlex.split(MTP)))
    engine = resolve(Launch(argv, {}, Pin("x", None), Model()))
    assert engine.releases == releases()[1:]
    assert value(engine, "spec_decode.method") == "mtp"
    assert not engine.refused


def test_a_default_that_all_releases_have_is_assumed_and_names_them() -> None:
    found = run("", None, "dense").properties["prefix_caching"]
    assert (found.value, found.certainty) == (True, "assumed")
    assert found.because[-1].kind == "assumption"
    assert "the same in all 35 releases with facts (0.11.0 … 0.33.0)" in found.because[-1].text


def test_a_default_in_which_releases_differ_is_unknown_and_says_where() -> None:
    found = run("", None).properties["prefix_caching"]
    assert not found.known
    assert found.because[0].text == "prefix_caching: off up to 0.27.1, on from 0.28.0"


@pytest.mark.parametrize("release", ["0.10.2", "0.15.2", "0.99.0"])
def test_a_release_without_facts_is_asked_of_the_others(release: str) -> None:
    engine = run("", release, "dense")
    assert engine.releases == releases()
    found = engine.properties["prefix_caching"]
    assert (found.value, found.certainty) == (True, "assumed")
    assert f"release {release} has no facts" in found.because[-1].text


def test_the_model_does_not_depend_on_the_release() -> None:
    assert run("", None).properties["model.recurrent"].certainty == "certain"


def test_errors_count_when_all_releases_have_them() -> None:
    assert [error.argument for error in run("--no-such-flag", None).errors] == ["--no-such-flag"]
    assert run("--calculate-kv-scales", None).errors == ()
    assert run("--calculate-kv-scales", "0.28.0").errors != ()


def test_releases_that_refuse_for_different_reasons_refuse_all_the_same() -> None:
    errors = run("--max-model-len abc --model m", None).errors
    assert [error.argument for error in errors] == ["Qwen/Some-Model", "--max-model-len abc"]
    for error in errors:
        assert error.because[-1].kind == "assumption"
        text = f"every release with facts refuses this launch, each for its own reason: {releases()[-1]} for this one"
        assert error.because[-1].text == text


def test_an_ineffective_argument_counts_when_it_is_so_in_all_releases() -> None:
    kinds = {item.kind for item in run("--max-num-seqs 2 --max-num-seqs 3", None).ineffective}
    assert kinds == {"overridden"}


def test_the_settings_that_are_read_alike() -> None:
    assert run("--max-num-seqs 3", None).parsed["max_num_seqs"] == 3


def test_the_worker_differs_between_releases() -> None:
    engine = run(f"--kv-cache-dtype fp8 {MTP}", None, sm=(120,))
    assert value(engine, "cudagraph_mode_effective") == "unknown"
    text = engine.properties["cudagraph_mode_effective"].because[0].text
    assert "PIECEWISE from 0.11.1 to 0.27.1, FULL_AND_PIECEWISE from 0.28.0" in text


def test_a_release_that_refuses_the_arguments_cannot_be_the_one_that_runs() -> None:
    engine = run("--spec-method mtp --spec-tokens 3", None, "dense")
    assert engine.releases == tuple(release for release in releases() if release >= "0.22.0")
    found = engine.properties["async_scheduling"]
    assert (found.value, found.certainty) == (True, "assumed")
    assert "the same in all 15 releases that take these arguments (0.22.0 … 0.33.0)" in found.because[-1].text


def test_all_are_asked_where_all_refuse() -> None:
    assert run("--no-such-flag", None).releases == releases()


@pytest.mark.parametrize(
    ("says", "text"),
    [
        ("aab", "a up to 2, b from 3"),
        ("abb", "a up to 1, b from 2"),
        ("aba", "a up to 1, b in 2, a from 3"),
        ("abbba", "a up to 1, b from 2 to 4, a from 5"),
    ],
)
def test_where_releases_differ_is_said_in_spans(says: str, text: str) -> None:
    engines = [
        Engine(Pin("x", None), (str(number),), {}, {"p": Property(said, "certain", ())})
        for number, said in enumerate(says, start=1)
    ]
    assert agree(Pin("x", None), engines).properties["p"].because[0].text == f"p: {text}"


def test_a_property_that_older_releases_lack_is_told_from_one_that_is_none() -> None:
    engines = [
        Engine(Pin("x", None), (str(number),), {}, {"p": Property(said, "certain", ())})
        for number, said in enumerate((None, "none", "none"), start=1)
    ]
    text = agree(Pin("x", None), engines).properties["p"].because[0].text
    assert text == "p: not there up to 1, none from 2"


def test_without_any_release_nothing_is_known() -> None:
    assert agree(Pin("x", None), []).properties == {}
