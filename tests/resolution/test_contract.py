"""The JSON of `resolve`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from bot.compose import load_project
from bot.engine import PROPERTIES
from bot.resolution import resolve_service
from bot.resolution.contract import resolution_json
from tests.resolution.build import FILE, engine, repository
from tests.schemas import violations

SCRIPT = """
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    environment: [SPEC, FIXED=1]
    volumes: ['./install.sh:/etc/install.sh']
    entrypoint:
      - bash
      - -c
      - |
        bash /etc/install.sh || exit 1
        bash /etc/other.sh
        source /etc/absent.sh
        export ADDED=2 ALIKE=$${_N}
        exec vllm serve m --seed $${DEAD:-3} $${SPEC:+--enforce-eager}
"""


def _answer(files: Mapping[str, str] | str, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    given = {FILE: files} if isinstance(files, str) else files
    state = repository(given)
    project = load_project(state.documents, (FILE,), env or {})
    services = [
        resolve_service(state, (FILE,), name, environment=env, interplay=[frozenset({"enforce_eager"})])
        for name in project.services
    ]
    answer = resolution_json(FILE, [((FILE,), services)], project.errors, env or {})
    assert violations("resolve", answer) == []
    return answer


def _world(text: str, **env: str) -> dict[str, Any]:
    world: dict[str, Any] = _answer(text, env)["services"][0]["worlds"][0]
    return world


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(SCRIPT, id="script"),
        pytest.param(engine("command: [--model, m, --no-such-flag]"), id="a flag that the release does not have"),
        pytest.param(engine("command: [--model, m]", image="vllm/vllm-openai:latest"), id="floating"),
        pytest.param(engine("command: [--model, m]", image="example.com/mine@sha256:0a"), id="unknown image"),
        pytest.param(engine("entrypoint: [llama-server, -m, x]"), id="another server"),
        pytest.param(engine("entrypoint: [bash, -c, exit 3]"), id="ends"),
        pytest.param(engine("entrypoint: [bash, -c, 'eval $$(cat /x)']"), id="unresolved"),
        pytest.param(engine("entrypoint: [bash, -c, 'while true; do :; done']"), id="endless"),
        pytest.param("services: {engine: {image: '${A:?}'}}", id="refused"),
        pytest.param("services: {engine: {build: .}}", id="built"),
        pytest.param("services: {}", id="no services"),
        pytest.param("services: [", id="not YAML"),
        pytest.param("services: {engine: {imag: x}}", id="not a compose"),
        pytest.param("services: {a: {image: x, extends: {service: a}}}", id="cycle"),
    ],
)
def test_every_answer_keeps_to_the_schema(text: str) -> None:
    answer = _answer(text)
    assert (answer["schema"], answer["file"]) == (1, FILE)
    assert answer["services"] or answer["errors"]


def test_argv_is_what_follows_the_program_name() -> None:
    world = _world(engine("entrypoint: [vllm, serve, m]"))
    assert (world["argv"], world["exit"], world["symbols"]) == (["serve", "m"], None, {})
    assert list(world["properties"]) == list(PROPERTIES)


def test_exec_env_is_what_the_entrypoint_adds() -> None:
    world = _world(SCRIPT, SPEC="1")
    assert world["exec_env"] == {"ADDED": "2", "ALIKE": "${_N}"}
    assert world["env"] == {"SPEC": "1"}


def test_steps_say_whether_their_failure_stops_the_boot() -> None:
    steps = _world(SCRIPT)["steps"]
    assert [(step["run"], step["before_engine"], step["failure_stops_boot"]) for step in steps[:2]] == [
        (["bash", "/etc/install.sh"], True, True),
        (["bash", "/etc/other.sh"], True, False),
    ]


def test_an_argument_that_is_not_known_makes_a_template_and_a_reason() -> None:
    text = engine("entrypoint: [bash, -c, 'exec vllm serve m --seed $$(date +%s)']")
    world = _world(text)
    assert world["argv"] is None
    assert world["argv_template"][:3] == ["serve", "m", "--seed"]
    assert any("only the running container knows" in item["reason"] for item in world["unresolved"])
    assert all(item["line"] == 4 for item in world["unresolved"] if item["path"])


def test_an_unknown_property_has_no_value_and_a_known_one_may_be_null() -> None:
    properties = _world(engine("command: [--model, m]"))["properties"]
    assert "value" not in properties["model.recurrent"]
    assert properties["model.recurrent"]["certainty"] == "unknown"
    assert properties["spec_decode.method"]["value"] is None
    assert properties["spec_decode.num_speculative_tokens"]["value"] == 0


@pytest.mark.parametrize(
    ("name", "argument", "value"),
    [
        ("enforce_eager", "--enforce-eager", True),
        ("cudagraph_mode", "--enforce-eager", "NONE"),
        ("optimization_level", "-O1", 1),
        ("tensor_parallel_size", "-tp=4", 4),
        ("kv_cache_dtype", "--kv-cache-dtype=fp8", "fp8"),
        ("max_model_len", "--max-model-len=8k", 8000),
    ],
)
def test_a_property_that_an_argument_sets_leads_back_to_its_line(name: str, argument: str, value: object) -> None:
    text = f"services:\n  engine:\n    image: vllm/vllm-openai:v0.25.1\n    command:\n      - m\n      - {argument}\n"
    found = _world(text)["properties"][name]
    assert (found["value"], found["certainty"]) == (value, "certain")
    assert (FILE, 6) in {(reason["path"], reason["line"]) for reason in found["because"]}


def test_a_default_leads_to_the_releases_source() -> None:
    found = _world(engine("command: [--model, m]"))["properties"]["enforce_eager"]
    assert {reason["kind"] for reason in found["because"]} == {"engine-default"}
    assert all(reason["path"].startswith("vllm/") and reason["line"] for reason in found["because"])


def test_seams_are_told_with_their_place() -> None:
    seams = {seam["name"]: seam for seam in _answer(SCRIPT)["services"][0]["seams"]}
    assert seams["SPEC"] == {
        "name": "SPEC",
        "scope": "container",
        "forwarded": True,
        "default": None,
        "values": ["1"],
        "open": False,
        "path": FILE,
        "line": 15,
    }
    assert "DEAD" not in seams  # behind a script that is not here, which may set it


def test_a_refused_compose_has_its_reason_with_file_and_line() -> None:
    (error,) = _answer("services:\n  engine:\n    image: x\n    command: [1]\n")["errors"]
    assert (error["path"], error["line"]) == (FILE, 4)
