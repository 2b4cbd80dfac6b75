"""The incident's table: seven arms on one RTX 5090, and the rows beside it."""

from __future__ import annotations

from typing import Any

import pytest

from bot.cli.inspect_hazards import answer

PAIR = "mtp-prefix-cache-hybrid"
FULL = "mtp-full-cudagraph-blackwell"
PIECEWISE = "piecewise-spec-decode-misaligned"
WRITE = "gdn-spec-decode-wild-write"

V_SCALE_FIX = "vllm#46329"
FASTER = "vllm-project/vllm#49891"
ALIGNED = "#46324"


def arm(
    patches: tuple[str, ...],
    *,
    prefix: bool = True,
    mode: str = "FULL_AND_PIECEWISE",
    method: str | None = "mtp",
    n: int = 3,
    eager: bool = False,
    kv: str = "nvfp4",
) -> dict[str, Any]:
    return {
        "release": "0.25.1",
        "sm": 120,
        "adds": ["nvfp4-kv-route"],
        "contains": [V_SCALE_FIX, *patches],
        "properties": {
            "kv_cache_dtype": kv,
            "model.recurrent": "gdn",
            "model.moe": False,
            "spec_decode.method": method,
            "spec_decode.num_speculative_tokens": n,
            "prefix_caching": prefix,
            "cudagraph_mode": mode,
            "enforce_eager": eager,
            "v2_model_runner": False,
            "max_model_len": 131072,
        },
    }


ARMS = {
    "A": arm(()),
    "C": arm((FASTER,)),
    "G": arm((FASTER, ALIGNED)),
    "I": arm((FASTER, ALIGNED)),
    "H": arm((FASTER, ALIGNED), prefix=False),
    "B": arm((), mode="PIECEWISE"),
    "F": arm((FASTER, ALIGNED), mode="PIECEWISE"),
    "MTP off": arm((), method=None, n=0),
    "eager": arm((), mode="NONE", eager=True),
}


def findings(request: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {finding["rule"]: finding for finding in answer(request)["findings"]}


def standing(request: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Status and level of everything that is not mitigated."""
    return {
        rule: (finding["status"], finding["level"])
        for rule, finding in findings(request).items()
        if finding["status"] != "mitigated"
    }


ERROR, WARNING = ("active", "error"), ("active", "warning")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("A", {PAIR: ERROR, FULL: ERROR, WRITE: WARNING}),
        ("C", {PAIR: ERROR, FULL: ERROR, WRITE: WARNING}),
        ("G", {PAIR: ERROR, FULL: ERROR, WRITE: WARNING}),
        ("I", {PAIR: ERROR, FULL: ERROR, WRITE: WARNING}),
        ("H", {FULL: ERROR, WRITE: WARNING}),
        ("B", {PAIR: ERROR, PIECEWISE: ERROR, WRITE: WARNING}),
        ("F", {PAIR: WARNING, WRITE: WARNING}),
        ("MTP off", {}),
        ("eager", {PAIR: WARNING, WRITE: WARNING}),
    ],
)
def test_arm(name: str, expected: dict[str, tuple[str, str]]) -> None:
    assert standing(ARMS[name]) == expected


@pytest.mark.parametrize("name", ["F", "eager"])
def test_a_clean_run_on_the_very_stack_contests_the_pair(name: str) -> None:
    found = findings(ARMS[name])[PAIR]
    assert found["evidence_grade"] == "contested"
    assert "contested" in found["message"]
    assert "recalled cleanly" in found["evidence"]


@pytest.mark.parametrize("name", ["F", "eager"])
@pytest.mark.parametrize(
    "other",
    [
        {"sm": 86},
        {"release": "0.24.0"},
        {"properties": {"kv_cache_dtype": "fp8"}},
        {"properties": {"model.recurrent": "mamba"}},
        {"sm": None},
    ],
    ids=str,
)
def test_on_any_other_stack_the_pair_stays_an_error(name: str, other: dict[str, Any]) -> None:
    request = {**ARMS[name], **other, "properties": {**ARMS[name]["properties"], **other.get("properties", {})}}
    assert standing(request)[PAIR] == ERROR


@pytest.mark.parametrize("name", ["A", "B", "C", "F", "G", "H", "I", "eager"])
def test_the_v_scale_fix_need_not_be_declared_for_the_table_to_hold(name: str) -> None:
    request = {**ARMS[name], "contains": [ref for ref in ARMS[name]["contains"] if ref != V_SCALE_FIX]}
    expected = {**standing(ARMS[name]), "nvfp4-kv-stock-image": WARNING}
    assert standing(request) == expected


@pytest.mark.parametrize("name", ["A", "C", "G", "I", "H"])
def test_the_runner_need_not_be_known(name: str) -> None:
    request = ARMS[name]
    without = {key: value for key, value in request["properties"].items() if key != "v2_model_runner"}
    assert standing({**request, "properties": without}) == standing(request)


def test_fp8_on_the_stock_image_is_contested() -> None:
    request = arm((), kv="fp8") | {"adds": [], "contains": [], "image": "vllm/vllm-openai:v0.25.1"}
    found = findings(request)
    assert (found[FULL]["evidence_grade"], found[FULL]["level"]) == ("contested", "warning")
    assert found[PAIR]["level"] == "error"


def remedies(name: str) -> dict[str, str]:
    return {rule: finding["remedy"] for rule, finding in findings(ARMS[name]).items()}


def test_remedies_lead_to_arms_that_were_clean() -> None:
    assert "--enforce-eager" in remedies("A")[FULL], "PIECEWISE without the fix is arm B"
    assert "PIECEWISE" in remedies("H")[FULL], "PIECEWISE with the fix is arm F"
    assert "--enforce-eager" in remedies("B")[PIECEWISE], "the default mode is arm A"
    assert "drafter out" in remedies("A")[PAIR], "prefix caching off is arm H"
    assert "--no-enable-prefix-caching" in remedies("F")[PAIR]


REMEDIES: dict[str, dict[str, Any]] = {
    "--no-enable-prefix-caching": {"prefix_caching": False},
    "Take the drafter out": {"spec_decode.method": None, "spec_decode.num_speculative_tokens": 0},
    "Pass `--enforce-eager`": {"enforce_eager": True, "cudagraph_mode": "NONE"},
    '{"cudagraph_mode":"PIECEWISE"}': {"cudagraph_mode": "PIECEWISE"},
    "FULL_AND_PIECEWISE": {"cudagraph_mode": "FULL_AND_PIECEWISE"},
}
"""What each remedy means for the properties, by words of it."""


def _standing(request: dict[str, Any]) -> set[str]:
    return {found["rule"] for found in answer(request)["findings"] if found["status"] != "mitigated"}


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("gpu", [120, 86, None], ids=["sm_120", "sm_86", "no GPU known"])
@pytest.mark.parametrize("kv", ["nvfp4", "fp8"])
def test_a_remedy_ends_its_hazard_and_brings_no_other(name: str, gpu: int | None, kv: str) -> None:
    request = {**ARMS[name], "sm": gpu}
    request["properties"] = {**request["properties"], "kv_cache_dtype": kv}
    before = _standing(request)
    for found in answer(request)["findings"]:
        meant = [effect for words, effect in REMEDIES.items() if words in found["remedy"].partition(":")[0]]
        meant = meant or [effect for words, effect in REMEDIES.items() if words in found["remedy"]]
        if found["remedy"]:
            after = _standing({**request, "properties": {**request["properties"], **meant[0]}})
            assert found["rule"] not in after
            assert after <= before
