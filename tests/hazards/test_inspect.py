"""The batch function: what it accepts, and the form of its answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bot.cli.inspect_hazards import answer, subject_of
from bot.cli.request import BadRequest

CACHE = "mtp-prefix-cache-hybrid"
PAIR = {"spec_decode.method": "mtp", "prefix_caching": True, "model.recurrent": "gdn"}
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schema" / "audit.schema.json").read_text())


def statuses(request: dict[str, Any]) -> dict[str, str]:
    return {finding["rule"]: finding["status"] for finding in answer(request)["findings"]}


def test_an_answer_is_as_audit_gives_it() -> None:
    found = answer({"release": "0.25.1", "properties": PAIR, "slug": "a/b", "file": "x.yml", "service": "s"})
    report = json.loads(
        json.dumps({"schema": 1, "findings": found["findings"], "errors": [], "skipped": [], "undecided": []})
    )
    jsonschema.validate(report, SCHEMA)
    first = next(finding for finding in found["findings"] if finding["rule"] == CACHE)
    assert (first["path"], first["service"], first["slug"], first["world"]) == ("x.yml", "s", "a/b", {})
    assert first["properties"]["prefix_caching"] == {"value": True, "certainty": "certain", "because": []}


@pytest.mark.parametrize(
    "properties",
    [
        PAIR,
        {"spec_decode": {"method": "mtp"}, "prefix_caching": True, "model": {"recurrent": "gdn"}},
        {"spec_method": "qwen3_next_mtp", "enable_prefix_caching": True, "model.recurrent": "gdn"},
        {name: {"value": value, "certainty": "certain"} for name, value in PAIR.items()},
        {name: {"value": value, "certainty": "assumed", "because": ["said so"]} for name, value in PAIR.items()},
        {name: {"value": value} for name, value in PAIR.items()},
        {**PAIR, "something_else": 3},
    ],
)  # fmt: skip
def test_properties_by_any_of_their_names(properties: dict[str, Any]) -> None:
    assert statuses({"release": "v0.25.1", "properties": properties})[CACHE] == "active"


@pytest.mark.parametrize("value", [{"certainty": "unknown"}, {}, {"certainty": "unknown", "value": False}])
def test_a_property_can_be_unknown(value: dict[str, Any]) -> None:
    assert statuses({"release": "0.25.1", "properties": {**PAIR, "prefix_caching": value}})[CACHE] == "unknown"


@pytest.mark.parametrize(
    "reference", ["vllm#48375", "#48375", 48375, "https://github.com/vllm-project/vllm/pull/48375"]
)
def test_references_in_any_form(reference: Any) -> None:
    request = {"release": "0.25.1", "properties": PAIR}
    for given in (
        {"overlays": [reference]},
        {"overlays": reference},
        {"overlays": [{"ref": reference, "wired": True}]},
        {"overlays": [{"id": "patch", "upstream": [reference]}]},
        {"contains": [reference]},
        {"image": {"image": "x/y:1", "contains": [reference]}},
    ):
        assert statuses({**request, **given})[CACHE] == "mitigated", given
    assert statuses({**request, "overlays": [{"ref": reference, "wired": False}]})[CACHE] == "active"
    assert statuses({**request, "overlays": [{"ref": reference, "wired": None}]})[CACHE] == "active"


@pytest.mark.parametrize("sm", [120, [120], "120", "sm_120", "12.0", ["8.6", "sm_120a"]])
def test_compute_capabilities_in_any_form(sm: Any) -> None:
    request = {"release": "0.25.1", "sm": sm, "properties": {"kv_cache_dtype": "nvfp4"}}
    assert statuses(request)["nvfp4-kv-stock-image"] == "active"


@pytest.mark.parametrize(
    ("given", "stock"),
    [
        ({}, True),
        ({"image": "vllm/vllm-openai:v0.25.1"}, True),
        ({"image": "docker.io/vllm/vllm-openai@sha256:0123"}, True),
        ({"image": "ghcr.io/example/vllm:x"}, None),
        ({"overlays": ["#1"]}, True),
        ({"contains": ["#1"]}, False),
        ({"adds": ["nvfp4-kv-route"]}, False),
        ({"adds": "nvfp4-kv-route", "stock": True}, True),
        ({"image": {"image": "ghcr.io/example/vllm:x", "stock": False}}, False),
        ({"image": {"adds": ["x"]}}, False),
    ],
)
def test_an_image_is_stock_unless_something_says_otherwise(given: dict[str, Any], stock: bool | None) -> None:
    assert subject_of({"release": "0.25.1", **given}).situations[0].pin.stock is stock


@pytest.mark.parametrize(("release", "why"), [("nightly", "nightly is no release"), (None, "the request names none")])
def test_what_is_no_release_is_an_unknown_one(release: str | None, why: str) -> None:
    situation = subject_of({"release": release, "releases": ["0.25.1", "v0.28.0"]}).situations[0]
    assert (situation.pin.release, situation.pin.why, situation.releases) == (None, why, ("0.25.1", "0.28.0"))


def test_worlds_differ_from_the_request_in_what_they_say() -> None:
    off = {**PAIR, "prefix_caching": False}
    on = {"env": {"CACHE": 1}, "properties": {"prefix_caching": True}}
    (found,) = [
        f for f in answer({"release": "0.25.1", "properties": off, "worlds": [on]})["findings"] if f["rule"] == CACHE
    ]
    assert (found["status"], found["level"], found["world"]) == ("reachable", "warning", {"CACHE": "1"})


def test_forks_of_the_default_world() -> None:
    worlds = [{"symbols": {"S": str(n)}, "properties": {"prefix_caching": bool(n)}} for n in range(2)]
    (found,) = [
        f for f in answer({"release": "0.25.1", "properties": PAIR, "worlds": worlds})["findings"] if f["rule"] == CACHE
    ]
    assert (found["status"], found["symbols"]) == ("unknown", {"S": "1"})


def test_nothing_given_is_nothing_known() -> None:
    found = answer({})["findings"]
    assert {finding["status"] for finding in found} == {"unknown"}
    assert all(finding["folded"] and finding["missing"] for finding in found)


@pytest.mark.parametrize(
    "request_",
    [
        {"properties": [1]},
        {"properties": {"prefix_caching": [1]}},
        {"properties": {"prefix_caching": {"value": True, "certainty": "sure"}}},
        {"properties": {"prefix_caching": {"value": {"a": 1}, "certainty": "certain"}}},
        {"sm": "blackwell"},
        {"sm": [{}]},
        {"overlays": ["latest"]},
        {"overlays": [None]},
        {"contains": [["#1"]]},
        {"observations": ["dead-seam"]},
        {"observations": [{"kind": "dead-seam", "fields": [1]}]},
        {"observations": [{"kind": "dead-seam", "fields": {"name": {"a": 1}}}]},
        {"worlds": [3]},
        {"worlds": [{"env": []}, {"env": "X=1"}]},
    ],
)
def test_a_request_without_meaning_is_refused(request_: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        answer(request_)


def test_hostile_fields_do_not_break_out_of_a_sentence() -> None:
    fields = {"kind": "unknown-flag", "argument": "`--x`\n\n# Heading", "message": "", "documented_as_mitigation_of": 3}
    found = answer(
        {
            "release": "0.25.1",
            "observations": [{"kind": kind, "fields": fields} for kind in ("engine-error", "dead-seam")],
        }
    )
    (error,) = [finding for finding in found["findings"] if finding["rule"] == "unknown-flag"]
    assert "no flag `'--x'`." in error["message"]
