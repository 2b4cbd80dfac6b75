from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.engine.model import PROPERTIES, Property
from bot.hazards.evaluation import evaluate
from bot.hazards.loader import load_rules
from bot.hazards.model import Finding, Situation
from bot.provenance import Reason
from tests.hazards.build import PAIR, PATH, RULE, UNKNOWN, known, observed, rules_with, situation, subject

RULES = load_rules()
CACHE = "mtp-prefix-cache-hybrid"
FIX = "vllm-project/vllm#48375"
OFF = {**PAIR, "prefix_caching": False}
VAGUE = {**PAIR, "prefix_caching": UNKNOWN}


def finding(*situations: Situation, rule: str = CACHE) -> Finding | None:
    found = [item for item in evaluate(RULES, subject(*situations)) if item.rule == rule]
    assert len(found) <= 1
    return found[0] if found else None


def case(name: str, situations: list[Situation], expected: tuple[str, str] | None) -> Any:
    return pytest.param(situations, expected, id=name)


@pytest.mark.parametrize(
    ("situations", "expected"),
    [
        case("true by default", [situation(PAIR)], ("active", "error")),
        case("false everywhere", [situation(OFF), situation(OFF, {"A": "1"})], None),
        case("true in another world", [situation(OFF), situation(PAIR, {"A": "1"})], ("reachable", "warning")),
        case(
            "true in every fork",
            [situation(PAIR, symbols={"S": "1"}), situation(PAIR, symbols={"S": "2"})],
            ("active", "error"),
        ),
        case(
            "true in one fork",
            [situation(OFF, symbols={"S": "1"}), situation(PAIR, symbols={"S": "2"})],
            ("unknown", "notice"),
        ),
        case(
            "true in one fork, and in another world",
            [situation(OFF, symbols={"S": "1"}), situation(PAIR, symbols={"S": "2"}), situation(PAIR, {"A": "1"})],
            ("reachable", "warning"),
        ),
        case(
            "true in one fork of another world",
            [
                situation(OFF),
                situation(OFF, {"A": "1"}, symbols={"S": "1"}),
                situation(PAIR, {"A": "1"}, symbols={"S": "2"}),
            ],
            ("unknown", "notice"),
        ),
        case("undecidable", [situation(VAGUE)], ("unknown", "notice")),
        case(
            "undecidable in another world only", [situation(OFF), situation(VAGUE, {"A": "1"})], ("unknown", "folded")
        ),
        case("nothing is known", [situation({})], ("unknown", "folded")),
        case("mitigated", [situation(PAIR, overlays=[(FIX, True)])], ("mitigated", "folded")),
        case("an overlay that is not wired", [situation(PAIR, overlays=[(FIX, False)])], ("active", "error")),
        case("an overlay of which nobody knows", [situation(PAIR, overlays=[(FIX, None)])], ("active", "error")),
        case(
            "mitigated by default, bare in another world",
            [situation(PAIR, overlays=[(FIX, True)]), situation(PAIR, {"NO_PATCH": "1"}, overlays=[(FIX, False)])],
            ("reachable", "warning"),
        ),
        case(
            "mitigated in one fork only",
            [situation(PAIR, symbols={"S": "1"}, overlays=[(FIX, True)]), situation(PAIR, symbols={"S": "2"})],
            ("unknown", "notice"),
        ),
        case(
            "undecidable, and mitigated in any case",
            [situation(VAGUE, overlays=[(FIX, True)])],
            ("mitigated", "folded"),
        ),
    ],
)
def test_status_and_level(situations: list[Situation], expected: tuple[str, str] | None) -> None:
    found = finding(*situations)
    assert (found and (found.status, found.level)) == expected


def test_an_unknown_part_decides_nothing_that_the_known_parts_have_decided() -> None:
    assert finding(situation({"prefix_caching": False})) is None


def test_the_world_with_the_fewest_deviations_is_named() -> None:
    found = finding(situation(OFF), situation(PAIR, {"A": "1", "B": "2"}), situation(PAIR, {"C": "on"}))
    assert found is not None
    assert found.world.environment == {"C": "on"}


def test_an_undecided_finding_says_what_is_missing() -> None:
    found = finding(situation(VAGUE))
    assert found is not None
    assert found.missing == ("whether prefix caching is on: nobody says",)
    assert found.message.startswith("Undecided: ")


def test_a_finding_in_one_fork_names_the_symbol() -> None:
    found = finding(situation(OFF, symbols={"_NVLINK": "1"}), situation(PAIR, symbols={"_NVLINK": "not 1"}))
    assert found is not None
    assert found.missing == ("what _NVLINK is: this is so when it is not 1",)


def test_a_mitigation_that_cannot_be_decided_is_named_and_clears_nothing() -> None:
    found = finding(situation(PAIR, overlays=[(FIX, None)]))
    assert found is not None
    assert found.status == "active"
    assert found.missing == (f"whether the overlay patch {FIX} is applied: its script is not here",)


def test_place_chain_and_identity() -> None:
    found = finding(situation(PAIR))
    assert found is not None
    assert (found.path, found.line, found.slug) == (PATH, 10, "stack/one")
    assert [reason.line for reason in found.chain] == [10, 11, 12]
    assert found.identity == (CACHE, PATH, "engine", "")
    assert set(found.properties) == set(PAIR)


@pytest.mark.parametrize(
    ("releases", "grade"),
    [(("0.24.0", "0.25.1"), "established"), (("0.26.0", "0.28.0"), "reported"), (("0.25.1", "0.28.0"), "reported")],
)
def test_a_pin_of_several_releases_is_graded_by_what_they_share(releases: tuple[str, ...], grade: str) -> None:
    found = finding(situation(PAIR, release=None, releases=releases))
    assert found is not None
    assert (found.status, found.level, found.evidence_grade) == ("active", "error", grade)


def test_releases_that_disagree_part_by_part_can_agree_on_the_whole(tmp_path: Path) -> None:
    split = RULE.replace("{property: prefix_caching, is: true}", "{any: [{release: '<0.26.0'}, {release: '>=0.26.0'}]}")
    rules = rules_with(tmp_path, sample=split)
    (found,) = evaluate(rules, subject(situation({}, release=None, releases=("0.25.1", "0.28.0"))))
    assert found.status == "active"


def test_a_pin_without_any_release_is_undecided_and_says_why() -> None:
    found = finding(
        situation({"cudagraph_mode": "PIECEWISE", "spec_decode.method": "mtp", "model.recurrent": "gdn"}, release=None),
        rule="piecewise-spec-decode-misaligned",
    )
    assert found is not None
    assert found.status == "unknown"
    assert "the engine's release: a floating tag" in found.missing


def test_the_remedy_by_seam_is_a_world_that_was_resolved() -> None:
    off = {**OFF, "spec_decode.method": None}
    found = finding(situation(OFF), situation(off, {"SPEC": "off"}), rule="gdn-spec-decode-wild-write")
    assert found is not None
    assert "SPEC=off" in found.remedy
    without = finding(situation(OFF), rule="gdn-spec-decode-wild-write")
    assert without is not None
    assert "--speculative-config" in without.remedy


def test_a_seam_that_brings_another_hazard_is_no_remedy() -> None:
    broken = {"kv_cache_dtype": "nvfp4", "spec_decode.method": None, "model.recurrent": "gdn", "prefix_caching": False}
    start = {**OFF, "kv_cache_dtype": "fp8"}
    found = finding(
        situation(start, sm=(120,)), situation(broken, {"SPEC": "off"}, sm=(120,)), rule="gdn-spec-decode-wild-write"
    )
    assert found is not None
    assert "SPEC=off" not in found.remedy.split("(")[0]


def test_observations_have_one_finding_per_cause() -> None:
    seen = (
        observed("dead-seam", "A", 7, name="A"),
        observed("dead-seam", "B", 9, name="B"),
        observed("dead-seam", "A", 8, name="A"),
    )
    found = evaluate(
        RULES, subject(situation({"spec_decode.method": None, "kv_cache_dtype": "auto"}, observations=seen))
    )
    assert [(item.cause, item.line, item.status) for item in found if item.rule == "dead-seam"] == [
        ("A", 7, "active"),
        ("B", 9, "active"),
    ]


def test_an_observation_of_another_world_is_reachable() -> None:
    error = observed("engine-error", "unknown-flag:--x", kind="unknown-flag", argument="--x", message="unrecognized")
    (found,) = [
        item
        for item in evaluate(RULES, subject(situation(OFF), situation(OFF, {"A": "1"}, observations=(error,))))
        if item.rule == "unknown-flag"
    ]
    assert (found.status, found.level, dict(found.world.environment)) == ("reachable", "warning", {"A": "1"})


def test_a_setting_matters_only_where_it_decides() -> None:
    lost = observed(
        "ineffective", "x", kind="overridden", argument="--x", setting="compilation_config.cudagraph_mode", message=""
    )
    values = {"cudagraph_mode": "FULL_AND_PIECEWISE", "spec_decode.method": "mtp", "v2_model_runner": False}

    def level(values: dict[str, Any], sm: tuple[int, ...]) -> str:
        found = evaluate(RULES, subject(situation(values, sm=sm, observations=(lost,))))
        return next(item.level for item in found if item.rule == "flag-without-effect")

    assert level(values, (120,)) == "error"
    assert level({**values, "spec_decode.method": None}, (120,)) == "warning"


def test_reporting_fewer_rules_changes_no_finding() -> None:
    seen = (observed("dead-seam", name="EAGER", documented_as_mitigation_of=[CACHE]),)
    there = subject(situation(PAIR, observations=seen))
    all_of_them = {item.rule: item for item in evaluate(RULES, there)}
    (only,) = evaluate(RULES.only(["dead-seam"]), there)
    assert only == all_of_them["dead-seam"]
    assert only.level == "error"


def test_hostile_values_stay_short_in_sentences() -> None:
    seen = (observed("dead-seam", name="A" * 100_000 + "\n{name}"),)
    found = next(
        item for item in evaluate(RULES, subject(situation({}, observations=seen))) if item.rule == "dead-seam"
    )
    assert len(found.message) < 1000
    assert "\n" not in found.message


def test_no_situation_no_finding() -> None:
    assert evaluate(RULES, subject()) == ()


def test_a_condition_is_not_the_line_of_a_finding() -> None:
    texts = {5: 'if [ "$SPEC" != off ]; then', 6: "case $SPEC in", 7: "on|true)", 8: "A=(--speculative-config x)"}
    because = tuple(Reason("shell", PATH, line, text) for line, text in texts.items())
    drafter = replace(
        situation(OFF), properties={**known(OFF), "spec_decode.method": Property("mtp", "certain", because)}
    )
    found = finding(drafter, rule="gdn-spec-decode-wild-write")
    assert found is not None
    assert found.line == 8


@pytest.mark.parametrize("text", ['[ "$SPEC" = off ] || A=(--x)', 'if [ "$SPEC" = on ]; then A=(--x); fi', "A=(--x)"])
def test_a_line_that_decides_and_does_is_the_line_of_a_finding(text: str) -> None:
    because = (Reason("shell", PATH, 5, text), Reason("compose", PATH, 9, "- SPEC=${SPEC:-on}"))
    drafter = replace(
        situation(OFF), properties={**known(OFF), "spec_decode.method": Property("mtp", "certain", because)}
    )
    found = finding(drafter, rule="gdn-spec-decode-wild-write")
    assert found is not None
    assert found.line == 5


def test_a_chain_ends_with_what_has_no_place() -> None:
    because = (
        Reason("assumption", "", None, "the model is none of A, B and C"),
        Reason("assumption", "", None, "it is assumed"),
        Reason("compose", PATH, 9, "- --x"),
    )
    drafter = replace(
        situation(OFF), properties={**known(OFF), "spec_decode.method": Property("mtp", "certain", because)}
    )
    found = finding(drafter, rule="gdn-spec-decode-wild-write")
    assert found is not None
    assert [reason.text for reason in found.chain][-2:] == ["it is assumed", "the model is none of A, B and C"]


def test_what_is_missing_is_asked_in_a_persons_words() -> None:
    nobody = Property(None, "unknown", (Reason("assumption", "", None, "nothing says what model.recurrent is"),))
    found = finding(replace(situation(PAIR), properties={**known(PAIR), "model.recurrent": nobody}))
    assert found is not None
    assert found.missing == ("whether the model has recurrent layers: no profile or known name says so",)
    assert "model.recurrent" not in " ".join((found.message, *found.missing, *(reason.text for reason in found.chain)))


def test_every_property_has_a_question() -> None:
    assert set(RULES.vocabulary.questions) == set(PROPERTIES)


def test_the_world_that_brings_a_hazard_is_its_remedy() -> None:
    found = finding(situation(OFF), situation(PAIR, {"CACHE": "on", "SPEC": "1"}))
    assert found is not None
    assert found.remedy.startswith("Leave CACHE and SPEC unset")


def test_a_contested_finding_says_its_evidence_once() -> None:
    values = {"spec_decode.method": "mtp", "cudagraph_mode": "FULL_AND_PIECEWISE", "kv_cache_dtype": "fp8"}
    found = finding(situation(values, sm=(120,)), rule="mtp-full-cudagraph-blackwell")
    assert found is not None
    assert found.evidence_grade == "contested"
    assert "contested" in found.message
    assert found.evidence not in found.message
