"""One service in all its worlds."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.catalog import read_catalog
from bot.compose import Documents
from bot.engine import undoubted
from bot.memory import Reading
from bot.resolution import EngineWorld, Repository, resolve_service
from bot.shell import Run
from bot.tree import MemoryTree
from bot.worlds.deployment import Deployment
from bot.worlds.model import Realisation
from tests.resolution.build import FILE, engine, repository, resolved

TOGGLE = """
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    environment: [EAGER, SPEC]
    entrypoint:
      - bash
      - -c
      - |
        MTP='{"method":"mtp","num_speculative_tokens":2}'
        case $${SPEC:-on} in off) ;; *) set -- --speculative-config "$$MTP";; esac
        exec vllm serve m $${EAGER:+--enforce-eager} "$$@"
"""


def _shown(world: EngineWorld, name: str) -> object:
    assert world.engine is not None
    found = world.engine.properties[name]
    return found.value if found.known else "unknown"


def _reasons(world: EngineWorld) -> list[str]:
    return [item.reason for item in world.unresolved]


# Worlds --------------------------------------------------------------------------------------------------------------


def test_only_the_default_world_is_resolved_unless_rules_ask() -> None:
    service = resolved(TOGGLE)
    assert [dict(world.realisation.deviations) for world in service.worlds] == [{}]
    assert {deviation.name for deviation in service.survey.deviations} == {"SPEC", "EAGER"}


def test_deviations_become_worlds_with_their_own_properties() -> None:
    service = resolved(TOGGLE, interplay=[frozenset({"enforce_eager", "spec_decode.method"})])
    shown = {
        " ".join(f"{name}={value}" for name, value in world.realisation.deviations.items()): (
            _shown(world, "spec_decode.method"),
            _shown(world, "enforce_eager"),
        )
        for world in service.worlds
    }
    assert shown == {
        "": ("mtp", False),
        "SPEC=off": (None, False),
        "EAGER=1": ("mtp", True),
        "SPEC=off EAGER=1": (None, True),
    }
    assert [len(world.realisation.deviations) for world in service.worlds] == [0, 1, 1, 2]
    assert [world.default for world in service.worlds] == [True, False, False, False]


def test_every_fork_of_the_default_world_comes_first() -> None:
    script = 'source /absent; X=; [ "$$_N" = 1 ] && X=--enforce-eager; exec vllm serve m $$X $${EAGER:+-x}'
    text = engine("environment: [EAGER]", f"entrypoint: [bash, -c, '{script}']")
    service = resolved(text, interplay=[])
    assert [(world.default, dict(world.outcome.assumed)) for world in service.worlds if world.outcome] == [
        (True, {"_N": "1"}),
        (True, {"_N": "not 1"}),
        (False, {"_N": "1"}),
        (False, {"_N": "not 1"}),
    ]
    assert len(service.defaults) == 2
    assert [dict(world.realisation.deviations) for world in resolved(text, symbols={"_N": "0"}).worlds] == [{}]


def test_a_users_toggle_behind_an_absent_script_is_unset_rather_than_unknown() -> None:
    script = 'source /absent; X=; [ "$$EAGER" = 1 ] && X=--enforce-eager; exec vllm serve m $$X'
    text = engine(f"entrypoint: [bash, -c, '{script}']")
    assert [_shown(world, "enforce_eager") for world in resolved(text).worlds] == [True, False]
    assert [_shown(world, "enforce_eager") for world in resolved(f"# EAGER=1 is slower\n{text}").worlds] == [False]


def test_the_given_environment_is_where_every_world_starts() -> None:
    service = resolved(TOGGLE, environment={"SPEC": "off"}, interplay=[])
    assert _shown(service.worlds[0], "spec_decode.method") is None
    assert {world.realisation.environment["SPEC"] for world in service.worlds} == {"off"}


def test_a_service_without_a_server_has_its_default_world_alone() -> None:
    service = resolved(
        engine("environment: [A]", "entrypoint: [bash, -c, 'case $$A in x) exit 3;; esac; exit 4']"), interplay=[]
    )
    assert [(world.kind, world.outcome.exit if world.outcome else None) for world in service.worlds] == [(None, 4)]
    assert service.kind is None


def test_another_server_has_no_vllm_properties() -> None:
    (world,) = resolved(engine("entrypoint: [llama-server, -m, x.gguf]", image="ghcr.io/x/llama:1")).worlds
    assert (world.kind, world.engine) == ("llama-server", None)


def test_a_service_that_docker_compose_refuses_says_why() -> None:
    (world,) = resolved("services:\n  engine: {image: '${A:?is needed}'}\n").worlds
    assert world.outcome is None
    assert any("is needed" in reason for reason in _reasons(world))


def test_what_only_the_image_knows_is_unknown_at_the_services_line() -> None:
    (world,) = resolved(engine("command: [--model, m]", image="example.com/mine:1")).worlds
    assert (world.outcome, world.kind) == (None, None)
    (item,) = world.unresolved
    assert "ENTRYPOINT of example.com/mine:1" in item.reason
    assert str(item.position) == f"{FILE}:2"


# Scripts whose content is not known ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "status", "unseen"),
    [
        pytest.param("bash /opt/start.sh", None, "bash /opt/start.sh", id="a script of the image"),
        pytest.param("/opt/start", None, "/opt/start", id="a program of the image"),
        pytest.param("pip install x; bash /opt/start.sh", None, "bash /opt/start.sh", id="after an installer"),
        pytest.param("bash /opt/start.sh; pip install x", None, "bash /opt/start.sh", id="before an installer"),
        pytest.param("bash /opt/start.sh; exit 3", 3, None, id="ends with a failure of its own"),
        pytest.param("pip install x", 0, None, id="an installer alone"),
        pytest.param("exit 0", 0, None, id="nothing at all"),
        pytest.param("echo done", 0, None, id="only says something"),
    ],
)
def test_a_way_that_ends_behind_an_unknown_program_may_have_a_server(
    script: str, status: int | None, unseen: str | None
) -> None:
    (world,) = resolved(engine(f"entrypoint: [bash, -c, '{script}']")).worlds
    assert world.outcome is not None
    assert (world.kind, world.outcome.exit) == (None, status)
    assert [reason for reason in _reasons(world) if "is not known" in reason] == (
        [f"what {unseen} starts is not known: it is not in the repository"] if unseen else []
    )


@pytest.mark.parametrize(
    "entrypoint",
    [
        pytest.param(
            "[/opt/start.sh]",
        ),
        "[bash, /opt/start.sh]",
        "[bash, -c, /opt/start.sh]",
        pytest.param(
            "[bash, -c, exec /opt/start.sh]",
        ),
    ],
)
def test_an_unknown_script_as_the_main_process_is_no_failure(entrypoint: str) -> None:
    (world,) = resolved(engine(f"entrypoint: {entrypoint}")).worlds
    assert world.kind is None
    assert world.outcome is None or world.outcome.exit is None
    assert any("/opt/start.sh" in reason for reason in _reasons(world))


@pytest.mark.parametrize(
    "entrypoint",
    [
        "[bash, /opt/start.sh]",
        "[/opt/start.sh]",
        "[bash, -c, 'bash /opt/start.sh']",
    ],
)
def test_what_is_not_known_has_its_file_and_line(entrypoint: str) -> None:
    (world,) = resolved(engine(f"entrypoint: {entrypoint}")).worlds
    assert [str(item.position) for item in world.unresolved] == [f"{FILE}:4"]


def test_a_script_of_the_repository_is_followed() -> None:
    text = engine("entrypoint: [bash, /opt/start.sh, --seed, '3']", "volumes: ['./start.sh:/opt/start.sh']")
    (world,) = resolved({FILE: text, "start.sh": '#!/bin/bash\nexec vllm serve m "$@"\n'}).worlds
    assert world.outcome is not None
    assert [word.text for word in world.outcome.argv or ()] == ["serve", "m", "--seed", "3"]


def test_a_package_that_the_repository_lacks_is_assumed_empty_and_said_so() -> None:
    package = "/usr/lib/python3/dist-packages/extra"
    text = engine(
        f"volumes: ['./extra:{package}']",
        f"entrypoint: [bash, -c, '[ -f {package}/x.py ] || exit 4; exec vllm serve m']",
    )
    (world,) = resolved(text).worlds
    assert (world.kind, world.outcome and world.outcome.exit) == (None, 4)
    assert [reason for reason in _reasons(world) if "extra" in reason] == [
        "extra is not in the repository: it is assumed to be mounted as an empty folder"
    ]


# What the repository says --------------------------------------------------------------------------------------------

HARE = "id: hare-9b\nnum_hidden_layers: 32\nnum_gdn_layers: 24\nnum_attn_layers: 8\nweights: {x: {path: hare-9b}}\n"


@pytest.mark.parametrize(
    ("arguments", "recurrent"),
    [
        ("vllm serve --model /models/hare-9b", "gdn"),
        ("vllm serve --model=/models/hare-9b", "gdn"),
        ("vllm serve --model other/x --model /models/hare-9b", "unknown"),
        ("vllm serve --model /models/hare-9b --model /nowhere/unheard-of", "gdn"),
        ("vllm serve /models/hare-9b", "gdn"),
        ("python3 -m vllm.entrypoints.openai.api_server --model other/x --model /models/hare-9b", "gdn"),
        ("python3 -m vllm.entrypoints.openai.api_server /models/hare-9b", "none"),
    ],
)
def test_the_model_that_the_arguments_name_is_the_one_that_profiles_describe(arguments: str, recurrent: str) -> None:
    text = engine(f"entrypoint: [bash, -c, 'exec {arguments}']")
    (world,) = resolved({FILE: text, "profiles/models/hare-9b.yml": HARE}).worlds
    assert _shown(world, "model.recurrent") == recurrent


def test_a_service_knows_the_slug_and_the_hardware_of_its_header() -> None:
    service = resolved("#  bash launch.sh hare/single\n# Hardware: RTX 5090\n" + engine("command: [--model, m]"))
    assert (service.slugs, service.sm, str(service.position)) == (("hare/single",), (120,), f"{FILE}:4")


def test_on_several_cards_only_what_all_share_is_known() -> None:
    """Eager mode lowers the effective cudagraph mode everywhere; what a card decides is told for each."""
    service = resolved("# Hardware: RTX 5090 or RTX 3090\n" + engine("command: [--model, m, --enforce-eager]"))
    (world,) = service.worlds
    assert service.sm == tuple(sorted(world.on_card)) == (86, 120)
    assert _shown(world, "enforce_eager") is True
    assert {engine.properties["cudagraph_mode_effective"].value for engine in world.on_card.values()} == {"NONE"}


def test_the_first_file_is_where_a_service_of_several_files_stands() -> None:
    files = {"a.yml": engine("command: [--model, a]"), "b.yml": "services:\n  engine:\n    command: [--model, b]\n"}
    service = resolve_service(repository(files), ("a.yml", "b.yml"), "engine")
    assert service.path == "a.yml"
    (world,) = service.worlds
    assert world.outcome is not None
    assert [word.text for word in world.outcome.argv or ()][-2:] == ["--model", "b"]


def test_a_way_that_cannot_be_followed_is_a_world_of_its_own() -> None:
    script = "if grep -q x /y; then eval $$(cat /x); fi; exec vllm serve m"
    worlds = resolved(engine(f"entrypoint: [bash, -c, '{script}']")).worlds
    assert [(world.kind, world.resolved, bool(world.unresolved)) for world in worlds] == [
        ("vllm", True, False),
        (None, False, True),
    ]


# Assumptions ---------------------------------------------------------------------------------------------------------

BEHIND = """
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    environment: {{KV: fp8, SPEC: "on"}}
    entrypoint:
      - bash
      - -c
      - |
        {source}
        ARGS=()
        [ "$$SPEC" = on ] && ARGS+=(--no-enable-prefix-caching)
        exec vllm serve m --kv-cache-dtype "$$KV" --tensor-parallel-size 2 "$${{ARGS[@]}}" {toggle}
"""


def _certainties(source: str, toggle: str = "") -> dict[str, str]:
    (world,) = resolved(BEHIND.format(source=source, toggle=toggle)).worlds
    assert world.engine is not None
    for found in world.engine.properties.values():
        rests = any(reason.kind == "assumption" for reason in found.because)
        assert found.certainty != "certain" or not rests
    names = ("kv_cache_dtype", "prefix_caching", "tensor_parallel_size", "enforce_eager")
    return {name: world.engine.properties[name].certainty for name in names}


def test_what_an_unknown_script_could_have_changed_is_assumed() -> None:
    assert set(_certainties(":").values()) == {"certain"}
    assert _certainties("source /opt/detect.sh") == {
        "kv_cache_dtype": "assumed",
        "prefix_caching": "assumed",
        "tensor_parallel_size": "certain",
        "enforce_eager": "certain",
    }


def test_what_depends_on_a_variable_taken_to_be_unset_is_assumed() -> None:
    found = _certainties("source /opt/detect.sh", "$${EAGER:+--enforce-eager}")
    assert (found["enforce_eager"], found["tensor_parallel_size"]) == ("assumed", "certain")
    (world,) = resolved(BEHIND.format(source=". /opt/detect.sh", toggle="$${EAGER:+--enforce-eager}")).worlds
    assert world.engine is not None
    told = [reason.text for reason in world.engine.properties["enforce_eager"].because if reason.kind == "assumption"]
    assert told == ["EAGER is assumed not to be set by /opt/detect.sh"]


def test_doubts_change_no_value_and_are_followed_when_somebody_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[Mapping[str, str]] = []
    without = Deployment.without_assumptions

    def counted(deployment: Deployment, realisation: Realisation) -> Run | None:
        followed.append(realisation.deviations)
        return without(deployment, realisation)

    monkeypatch.setattr(Deployment, "without_assumptions", counted)
    compose = BEHIND.format(source="source /opt/detect.sh", toggle="$${EAGER:+--enforce-eager}")
    compose = compose.replace("environment: {", 'environment: {EAGER: "${EAGER:-}", ')
    service = resolved(compose, interplay=[frozenset({"prefix_caching"})])
    (other,) = [world for world in service.worlds if world.realisation.deviations == {"EAGER": "1"}]
    assert followed == [{}], "those of the default world alone: they are looked up later too"
    assert other.engine is not None
    plain = undoubted(other.engine.properties)
    shown = {name: (found.value, found.known) for name, found in plain.items()}
    assert (plain["prefix_caching"].certainty, followed) == ("certain", [{}])
    assert {name: (found.value, found.known) for name, found in other.engine.properties.items()} == shown
    assert other.engine.properties["prefix_caching"].certainty == "assumed"
    assert followed == [{}, {"EAGER": "1"}]


def test_doubts_about_the_default_world_read_nothing_late() -> None:
    source = 'source /opt/detect.sh; [ "$$KV" = other ] && source /ours/more.sh'
    compose = BEHIND.format(source=source, toggle="").replace(
        "    entrypoint:", "    volumes: [./more.sh:/ours/more.sh]\n    entrypoint:"
    )
    tree = Reading(MemoryTree({FILE: compose, "more.sh": "ARGS=(--enforce-eager)"}))
    found = resolve_service(Repository(tree, read_catalog(tree), Documents(tree)), (FILE,), "engine")
    tree.finish()
    (world,) = found.worlds
    assert world.engine is not None
    assert world.engine.properties["kv_cache_dtype"].certainty == "assumed"


@pytest.mark.parametrize(
    ("setting", "condition"),
    [
        pytest.param("", '[ "$$SPEC" = off ] && ARGS+=(--enforce-eager)', id="and"),
        pytest.param("", '[ "$$SPEC" = on ] || ARGS+=(--enforce-eager)', id="or"),
        pytest.param("", "if [[ $$SPEC == off ]]; then ARGS+=(--enforce-eager); fi", id="if"),
        pytest.param("", 'case "$$SPEC" in off) ARGS+=(--enforce-eager);; esac', id="case"),
        pytest.param("", '[ "$$SPEC" = off ] && [ "$$KV" = x ] && ARGS+=(--enforce-eager)', id="two"),
        pytest.param(
            "", "if [ $$SPEC = off ]; then if [ $$KV = x ]; then ARGS+=(--enforce-eager); fi; fi", id="nested"
        ),
        pytest.param("X=1", '[ "$$X" = 1 ] || ARGS+=(--enforce-eager)', id="the script's own"),
        pytest.param("", "while [ $$SPEC = off ]; do ARGS+=(--enforce-eager); break; done", id="while"),
        pytest.param("", "until [ $$SPEC = on ]; do ARGS+=(--enforce-eager); break; done", id="until"),
        pytest.param("N=0", "for ((i=0;i<N;i++)); do ARGS+=(--enforce-eager); break; done", id="counted"),
        pytest.param("L=", "for x in $$L; do ARGS+=(--enforce-eager); break; done", id="for"),
        pytest.param("off() { [ $$SPEC = off ]; }", "if off; then ARGS+=(--enforce-eager); fi", id="a function"),
        pytest.param("off() { [ $$1 = off ]; }", "off $$SPEC && ARGS+=(--enforce-eager)", id="its argument"),
        pytest.param(
            "off() { if [ $$SPEC = off ]; then return 0; fi; return 1; }",
            "! off || ARGS+=(--enforce-eager)",
            id="a function that branches",
        ),
        pytest.param(
            "a() { [ $$SPEC = off ]; }; b() { a; }", "while b; do ARGS+=(--enforce-eager); break; done", id="functions"
        ),
        pytest.param("", "[ $$SPEC = off ]; [ $$? = 0 ] && ARGS+=(--enforce-eager)", id="its status"),
        pytest.param("", "[ $$SPEC = off ]; S=$$?; if ((S == 0)); then ARGS+=(--enforce-eager); fi", id="kept status"),
        pytest.param("", "eval '[ $$SPEC = off ]' && ARGS+=(--enforce-eager)".replace("'", '"'), id="eval"),
        pytest.param("N=1", "M=$$((N+1)); [ $$M = 9 ] && ARGS+=(--enforce-eager)", id="a number"),
        pytest.param("N=1", "((M=N+1)); [ $$M = 9 ] && ARGS+=(--enforce-eager)", id="a number that is set"),
        pytest.param("", "case $$(echo $$SPEC) in off) ARGS+=(--enforce-eager);; esac", id="a substitution"),
    ],
)
def test_a_flag_left_out_because_of_what_an_unknown_script_is_assumed_to_keep(setting: str, condition: str) -> None:
    behind = BEHIND.replace("ARGS=()", f"ARGS=(); {condition}")
    (world,) = resolved(behind.format(source=f"{setting}\n        . /opt/detect.sh", toggle="")).worlds
    assert world.engine is not None
    found = world.engine.properties
    assert (found["enforce_eager"].value, found["enforce_eager"].certainty) == (False, "assumed")
    told = [reason.text for reason in found["enforce_eager"].because if reason.kind == "assumption"]
    assert told == ["/opt/detect.sh is assumed to change nothing that the entrypoint or the environment set"]
    assert found["tensor_parallel_size"].certainty == "certain"


@pytest.mark.parametrize(
    ("setting", "word", "value"),
    [
        ("", "$${SPEC:+--enforce-eager}", True),
        ("X=", "$${X:+--enforce-eager}", False),
        ("X=", '"$${X:---enforce-eager}"', True),
        ("X=", "$${X:=--enforce-eager}", True),
        ("X=1", "$${X+--enforce-eager}", True),
    ],
)
def test_a_word_that_stands_for_a_variable_rests_on_what_an_unknown_script_keeps(
    setting: str, word: str, value: bool
) -> None:
    text = BEHIND.format(source=f"{setting}\n        . /opt/detect.sh", toggle=word)
    (world,) = resolved(text).worlds
    assert world.engine is not None
    found = world.engine.properties
    assert (found["enforce_eager"].value, found["enforce_eager"].certainty) == (value, "assumed")
    assert found["tensor_parallel_size"].certainty == "certain"
    (world,) = resolved(text.replace(". /opt/detect.sh", "")).worlds
    assert world.engine is not None
    assert world.engine.properties["enforce_eager"].certainty == "certain"


def test_how_often_a_loop_runs_may_be_another_number_behind_an_unknown_script() -> None:
    behind = BEHIND.replace("ARGS=()", "ARGS=(); for i in $$N; do ARGS+=(--max-num-seqs $$((i+1))); done")
    (world,) = resolved(behind.format(source="N='3 4'\n        . /opt/detect.sh", toggle="")).worlds
    assert world.engine is not None
    found = world.engine.properties
    assert (found["max_num_seqs"].value, found["max_num_seqs"].certainty) == (5, "assumed")
    assert (found["enforce_eager"].value, found["enforce_eager"].certainty) == (False, "assumed")


# Environment files that are not committed -----------------------------------------------------------------------------

UNCOMMITTED = """
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    env_file: .env.local
    environment: {EAGER: "1"}
    entrypoint:
      - bash
      - -c
      - |
        [ "$$EAGER" = 1 ] && set -- --enforce-eager
        exec vllm serve m "$$@"
"""


def test_what_an_environment_file_that_is_not_there_could_set_is_not_known() -> None:
    service = resolved(UNCOMMITTED)
    (world,) = service.worlds
    assert world.engine is not None
    found = {name: (value.value, value.certainty) for name, value in world.engine.properties.items()}
    assert found["enforce_eager"] == (True, "certain")
    assert found["tensor_parallel_size"] == (1, "certain")  # no variable of vLLM's changes it
    (world,) = resolved(UNCOMMITTED.replace("serve m", "serve Qwen/Qwen3-8B")).worlds
    assert world.engine is not None
    runner = world.engine.properties["v2_model_runner"]
    assert (runner.value, runner.certainty) == (True, "assumed")
    assert any(".env.local" in item.reason and item.position and item.position.line == 5 for item in world.unresolved)
    assert service.survey.dead == ()


def test_a_branch_on_a_variable_of_such_a_file_takes_both_ways() -> None:
    script = 'if [ "$$FAST" = 1 ]; then set -- --enable-prefix-caching; fi; exec vllm serve m "$$@"'
    worlds = resolved(engine(f"entrypoint: [bash, -c, '{script}']", "env_file: .env.local")).worlds
    assert {world.outcome.assumed["FAST"] for world in worlds if world.outcome} == {"1", "not 1"}


@pytest.mark.parametrize(
    ("word", "found"),
    [("$${LENGTH:-8192}", (8192, "assumed")), ('"$$LENGTH"', (None, "unknown")), ("9", (9, "certain"))],
)
def test_a_default_speaks_for_a_variable_that_such_a_file_may_set(word: str, found: tuple[object, str]) -> None:
    (world,) = resolved(UNCOMMITTED.replace('m "$$@"', f"m --max-model-len {word}")).worlds
    assert world.engine is not None
    length = world.engine.properties["max_model_len"]
    assert (length.value, length.certainty) == found


def test_a_scripts_own_variable_is_assumed_not_to_come_from_such_a_file() -> None:
    script = '[ -n "$$a" ] || a=--enforce-eager; exec vllm serve m $$a'
    (world,) = resolved(engine(f"entrypoint: [bash, -c, '{script}']", "env_file: .env.local")).worlds
    assert world.engine is not None
    found = world.engine.properties["enforce_eager"]
    assert (found.value, found.certainty) == (True, "assumed")
    assert any("a is assumed not to be set" in item.reason for item in world.unresolved)


# Variables that nobody here has seen ---------------------------------------------------------------------------------

UNSEEN = """
services:
  engine:
    image: vllm/vllm-openai:v{release}
    environment: [{environment}]
    {field}
    entrypoint:
      - bash
      - -c
      - |
        {script}
        exec vllm serve /models/hare-9b {arguments}
"""


def _behind(
    script: str = "source /opt/detect.sh",
    arguments: str = "",
    *,
    environment: str = "",
    release: str = "0.25.1",
    field: str = "",
) -> dict[str, tuple[object, str]]:
    text = UNSEEN.format(script=script, arguments=arguments, environment=environment, release=release, field=field)
    (world,) = resolved({FILE: text, "profiles/models/hare-9b.yml": HARE}).worlds
    assert world.engine is not None
    return {name: (found.value, found.certainty) for name, found in world.engine.properties.items()}


VARIABLES = [
    pytest.param("0.25.1", "", "v2_model_runner", id="the runner"),
    pytest.param("0.25.1", "", "cudagraph_mode", id="compilation is turned off"),
    pytest.param("0.11.0", "", "prefix_caching", id="the older engine"),
    pytest.param(
        "0.25.1",
        '--compilation-config \'{"cudagraph_mode":"PIECEWISE"}\'',
        "cudagraph_mode",
        id="an explicit mode without its pieces",
    ),
]


@pytest.mark.parametrize(
    "unseen", [{"script": "source /opt/detect.sh"}, {"script": ":", "field": "env_file: .env.local"}]
)
@pytest.mark.parametrize(("release", "arguments", "name"), VARIABLES)
def test_a_variable_of_an_unseen_file_may_change_a_default(
    release: str, arguments: str, name: str, unseen: dict[str, str]
) -> None:
    value, certainty = _behind(":", arguments, release=release)[name]
    assert certainty == "certain"
    assert _behind(arguments=arguments, release=release, **unseen)[name] == (value, "assumed")


@pytest.mark.parametrize(
    "unseen", [{"script": "source /opt/detect.sh"}, {"script": ":", "field": "env_file: .env.local"}]
)
@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        ("", "enforce_eager", False),
        ("", "tensor_parallel_size", 1),
        ("", "prefix_caching", False),
        ("--max-num-seqs 4", "max_num_seqs", 4),
        ("--enforce-eager", "cudagraph_mode", "NONE"),
        ('--compilation-config \'{"cudagraph_mode":"NONE"}\'', "cudagraph_mode", "NONE"),
        ('--compilation-config \'{"cudagraph_mode":"FULL_DECODE_ONLY"}\'', "cudagraph_mode", "FULL_DECODE_ONLY"),
    ],
)
def test_what_no_variable_of_an_unseen_file_can_touch_stays_certain(
    arguments: str, name: str, value: object, unseen: dict[str, str]
) -> None:
    assert _behind(arguments=arguments, **unseen)[name] == (value, "certain")


@pytest.mark.parametrize(
    ("flag", "last"),
    [
        pytest.param("--enable-dbo", "/a.sh is not in the repository and may set other variables", id="taken back"),
        pytest.param("--enforce-eager=x", None, id="refused whatever is set"),
    ],
)
def test_a_refusal_that_a_variable_of_an_unseen_file_may_take_back_says_so(flag: str, last: str | None) -> None:
    text = engine(f"entrypoint: [bash, -c, '. /a.sh; exec vllm serve m {flag}']", image="vllm/vllm-openai:v0.11.0")
    (world,) = resolved(text).worlds
    assert world.engine is not None
    (error,) = world.engine.errors
    assert [one.text for one in error.because if one.kind == "assumption"] == ([last] if last else [])


@pytest.mark.parametrize(
    ("script", "certainty"),
    [
        pytest.param("source /opt/detect.sh; export VLLM_USE_V2_MODEL_RUNNER=0", "certain", id="set behind it"),
        pytest.param("export VLLM_USE_V2_MODEL_RUNNER=0; source /opt/detect.sh", "assumed", id="set before it"),
        pytest.param("(source /opt/detect.sh)", "certain", id="in a subshell"),
        pytest.param(
            "(source /opt/detect.sh; exec vllm serve /models/hare-9b); exit", "assumed", id="beside the engine"
        ),
        pytest.param("bash -c '. /opt/detect.sh'", "certain", id="in another shell"),
        pytest.param(". /opt/detect.sh; exec bash -c 'vllm serve /models/hare-9b'", "assumed", id="in a shell above"),
    ],
)
def test_only_what_the_engine_inherits_is_in_doubt(script: str, certainty: str) -> None:
    assert _behind(script)["v2_model_runner"][1] == certainty


def test_a_variable_of_an_unseen_file_that_may_change_a_default_is_told() -> None:
    (world,) = resolved(engine("entrypoint: [bash, -c, '. /a.sh; . /b.sh; exec vllm serve m']")).worlds
    assert world.engine is not None
    told = [reason.text for reason in world.engine.properties["cudagraph_mode"].because]
    assert told[-1] == "/a.sh, /b.sh are not in the repository and may set other variables"
