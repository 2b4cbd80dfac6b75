"""Which variables change what runs, and which of them no host value reaches."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.provenance import Position
from bot.worlds.model import Seam
from bot.worlds.seams import Survey
from tests.worlds.build import FILE, IMAGE, compose, surveyed

HELPER = "./helper.sh:/etc/helper.sh:ro"


def _seams(text: str, files: Mapping[str, str] | None = None) -> dict[str, Seam]:
    return {seam.name: seam for seam in surveyed(text, files).seams}


def _dead(text: str, files: Mapping[str, str] | None = None) -> list[str]:
    return [read.name for read in surveyed(text, files).dead]


@pytest.mark.parametrize(
    ("argument", "default"),
    [
        ("${A:-b}", "b"),
        ("${A-b}", "b"),
        ("${A:-}", ""),
        ("${A:-${B}}", "${B}"),
        ("${A}", None),
        ("$A", None),
        ("${A:+b}", None),
    ],
)
def test_a_variable_that_compose_interpolates_is_a_host_seam(argument: str, default: str | None) -> None:
    seam = _seams(compose(f"exec vllm serve m {argument}"))["A"]
    assert (seam.scope, seam.forwarded, seam.default) == ("host", True, default)
    assert seam.position.path == FILE


@pytest.mark.parametrize("operator", ["", ":-b", "-b", ":+b", "+b", ":?b", "#x", "%%x", "/x/y", ":0:1", "^^"])
@pytest.mark.parametrize(("environment", "dead"), [(["A"], False), (["A=${A:-}"], False), (["A="], False), ([], True)])
def test_a_variable_that_the_entrypoint_reads_is_dead_unless_the_container_has_it(
    operator: str, environment: list[str], dead: bool
) -> None:
    assert _dead(compose(f"exec vllm serve m $${{A{operator}}}", environment)) == ["A"] * dead


@pytest.mark.parametrize(
    ("script", "dead"),
    [
        pytest.param("A=1\nexec vllm serve $$A", [], id="set before"),
        pytest.param("for A in 1 2; do echo $$A; done\nexec vllm serve", [], id="loop variable"),
        pytest.param("read -r A\nexec vllm serve $$A", [], id="read from input"),
        pytest.param("f() { local A=1; echo $$A; }\nf\nexec vllm serve", [], id="local"),
        pytest.param("if [ -e /x ]; then echo $$A; fi\nexec vllm serve", ["A"], id="on any branch"),
        pytest.param("exec vllm serve $$HOME $$PATH $$1 $$# $$@ $$?", [], id="the shell's own"),
        pytest.param("[[ -n $$A && $$B = 1 ]]\nexec vllm serve", ["A", "B"], id="behind a test that is false"),
        pytest.param("exec env A=1 vllm serve $$A", ["A"], id="an assignment for the program comes too late"),
        pytest.param("echo '$$A'\nexec vllm serve", [], id="single quotes"),
        pytest.param("# $$A\nexec vllm serve", [], id="comment"),
        pytest.param("exec vllm serve $$(( A + 1 ))", ["A"], id="arithmetic"),
    ],
)
def test_only_what_is_read_before_it_is_set_can_be_dead(script: str, dead: list[str]) -> None:
    assert _dead(compose(script)) == dead


@pytest.mark.parametrize("setting", ["N=$${N:-3}", ": $${N:=3}", 'export N="$${N:-3}"'])
def test_a_documented_toggle_is_dead_although_the_script_gives_it_a_default(setting: str) -> None:
    text = compose(f"{setting}\nexec vllm serve m --max-num-seqs $$N", header="N=8 for a larger batch")
    assert _dead(text) == ["N"]


def test_a_dead_seam_is_named_once_at_its_first_read() -> None:
    text = compose("echo $$A\nexec vllm serve $${A:-b} $${C}")
    found = surveyed(text)
    assert [(read.name, read.position) for read in found.dead] == [("A", Position(FILE, 8)), ("C", Position(FILE, 9))]
    assert [(seam.name, seam.forwarded, seam.values) for seam in found.seams] == [("A", False, ()), ("C", False, ())]


def test_a_container_seam_carries_the_values_of_the_host_variable_behind_it() -> None:
    text = f"""
services:
  engine:
    image: {IMAGE}
    environment:
      MODE: ${{HOST_MODE:-fast}}
      INNER: ${{OUTER:-${{DEEP:-}}}}
      FIXED: "1"
    entrypoint:
      - bash
      - -c
      - |
        [ "$${{MODE}}" = slow ] && S=--enforce-eager
        [ "$${{INNER}}" = on ] && T=--x
        [ "$${{FIXED}}" = 0 ] && U=--y
        exec vllm serve m $$S $$T $$U
"""
    found = surveyed(text)
    seams = {seam.name: seam for seam in found.seams}
    assert (seams["MODE"].scope, seams["MODE"].values) == ("container", ("slow",))
    assert (seams["INNER"].scope, seams["INNER"].values) == ("container", ("on",))
    assert "FIXED" not in seams
    assert [(d.name, d.value) for d in found.deviations] == [("HOST_MODE", "slow"), ("OUTER", "on")]
    assert not found.dead


def test_environment_lists_carry_host_variables_like_mappings() -> None:
    text = compose('[ "$${MODE}" = slow ] && S=--enforce-eager\nexec vllm serve m $$S', ["MODE=${HOST_MODE:-fast}"])
    found = surveyed(text)
    assert {seam.name: seam.scope for seam in found.seams}["MODE"] == "container"
    assert [(d.name, d.value, d.source) for d in found.deviations] == [("HOST_MODE", "slow", "comparison")]


@pytest.mark.parametrize(
    ("script", "free"),
    [
        ("exec vllm serve m $${A}", True),
        ("exec vllm serve m $${A:-}", True),
        ("exec vllm serve m ${A}", True),
        ("exec vllm serve m ${A:-}", True),
        ("exec vllm serve m $${A:-8}", False),
        ("exec vllm serve m ${A:-8}", False),
        ('[ "$${A}" = on ]\nexec vllm serve m $${A}', False),
    ],
)
def test_a_seam_without_default_or_candidates_is_open(script: str, free: bool) -> None:
    assert _seams(compose(script, ["A"]))["A"].open is free


def test_an_offered_value_closes_an_open_seam() -> None:
    text = compose("exec vllm serve m ${EXTRA:-}", header="EXTRA=--enforce-eager for debugging")
    seam = _seams(text)["EXTRA"]
    assert (seam.open, seam.values) == (False, ("--enforce-eager",))


@pytest.mark.parametrize(
    ("key", "value", "is_seam"),
    [
        ("image", "vllm/vllm-openai:${A:-v0.25.1}", True),
        ("environment", "{X: '${A:-}'}", True),
        ("volumes", "['${A:-.}/x:/x']", True),
        ("env_file", "['${A:-x}.env']", True),
        ("ports", "['${A:-8000}:8000']", False),
        ("container_name", "${A:-engine}", False),
        ("shm_size", "${A:-16gb}", False),
    ],
)
def test_only_variables_that_can_reach_the_engine_are_seams(key: str, value: str, is_seam: bool) -> None:
    text = f"services:\n  engine:\n    image: {IMAGE}\n    {key}: {value}\n    command: [--model, m]\n"
    text = text.replace(f"    image: {IMAGE}\n", "", 1) if key == "image" else text
    assert ("A" in _seams(text, {"deploy/x.env": ""})) is is_seam


@pytest.mark.parametrize(
    ("env_file", "content", "dead"),
    [
        pytest.param("x.env", "A=1\n", [], id="sets it"),
        pytest.param("x.env", "B=1\n", ["A"], id="sets another"),
        pytest.param(
            "{path: x.env, required: false}",
            None,
            [],
            id="is not committed",
        ),
    ],
)
def test_an_env_file_may_bring_a_variable(env_file: str, content: str | None, dead: list[str]) -> None:
    text = compose("exec vllm serve m $${A}").replace("    entrypoint:", f"    env_file: [{env_file}]\n    entrypoint:")
    assert _dead(text, {"deploy/x.env": content} if content is not None else None) == dead


# Scripts that the entrypoint sources --------------------------------------------------------------------------------

SOURCED = "source /etc/helper.sh\nexec vllm serve m $${A:-} $${_NVLINK} $${B:+--x}"


def test_a_sourced_script_of_the_repository_is_read() -> None:
    text = compose(SOURCED, volumes=[HELPER])
    assert _dead(text, {"deploy/helper.sh": "_NVLINK=1\nA=1\n"}) == ["B"]


def test_a_sourced_script_of_the_repository_excuses_only_what_it_sets() -> None:
    assert _dead(compose(SOURCED, volumes=[HELPER]), {"deploy/helper.sh": "A=1\n"}) == ["_NVLINK", "B"]


def test_a_read_inside_a_sourced_script_is_a_read_of_the_entrypoint() -> None:
    text = compose("source /etc/helper.sh\nexec vllm serve m", volumes=[HELPER])
    found = surveyed(text, {"deploy/helper.sh": "#!/bin/bash\necho ${SEEN}\n"})
    assert [(read.name, read.position) for read in found.dead] == [("SEEN", Position("deploy/helper.sh", 2))]


@pytest.mark.parametrize(
    ("read", "header", "ours"),
    [
        pytest.param("$${_NVLINK}", "", False, id="private"),
        pytest.param("$${nvlink:+--x}", "", False, id="lower case is private"),
        pytest.param("$${_NVLINK:+--x}", "", False, id="private, presence"),
        pytest.param("$${A:-}", "", False, id="may be the script's"),
        pytest.param("$${EAGER:+--enforce-eager}", "", True, id="presence"),
        pytest.param("$${EAGER+--enforce-eager}", "", True, id="presence without colon"),
        pytest.param("$${A:-}", "A=1 switches it", True, id="offered"),
        pytest.param("$${CACHE_SIZE:-}", "CACHE_DIR=/x keeps it", True, id="family of an offered one"),
        pytest.param("$${CACHE:-}", "CACHE_DIR=/x keeps it", False, id="not of the family"),
        pytest.param("$${_CACHE_SIZE:-}", "_CACHE_DIR=/x keeps it", False, id="private names have no family"),
    ],
)
def test_reads_behind_an_absent_script_are_the_users_only_when_something_says_so(
    read: str, header: str, ours: bool
) -> None:
    text = compose(f"source /etc/absent.sh\nexec vllm serve m {read}", header=header)
    assert bool(_dead(text)) is ours


@pytest.mark.parametrize("order", ["echo $${A}\nsource /etc/absent.sh", "source /etc/absent.sh || true\necho $${A}"])
def test_only_reads_behind_the_absent_script_are_excused(order: str) -> None:
    assert bool(_dead(compose(f"{order}\nexec vllm serve m"))) is order.startswith("echo")


# Variables that a service needs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "environment", "needs"),
    [
        ("${A}", {}, ("A",)),
        ("$A ${A} ${B}", {}, ("A", "B")),
        ("${A}", {"A": "1"}, ()),
        ("${A:-}", {}, ()),
        ("${A:+x}", {}, ()),
    ],
)
def test_a_service_needs_what_it_asks_for_without_a_default(
    argument: str, environment: dict[str, str], needs: tuple[str, ...]
) -> None:
    assert surveyed(compose(f"exec vllm serve m {argument}"), environment=environment).needs == needs


def test_a_misread_script_variable_is_not_something_that_the_service_needs() -> None:
    assert surveyed(compose("B=1\nexec vllm serve m ${B} ${A}")).needs == ("A",)


# Environment files ----------------------------------------------------------------------------------------------------

_TOGGLED = 'case "$$SPEC" in off) ;; *) set -- --enforce-eager ;; esac; exec vllm serve m "$$@"'


def _with_env_file(content: str, environment: str = "") -> Survey:
    text = compose(_TOGGLED, [environment] if environment else [])
    return surveyed(text.replace("    entrypoint:", "    env_file: x.env\n    entrypoint:"), {"deploy/x.env": content})


@pytest.mark.parametrize("content", ["SPEC=${SPEC:-on}\n", "SPEC=${SPEC-}\n", "SPEC\n", 'SPEC="$SPEC"\n'])
def test_a_host_variable_reaches_the_container_through_an_env_file(content: str) -> None:
    found = _with_env_file(content)
    assert [(seam.name, seam.scope, seam.forwarded, seam.values) for seam in found.seams] == [
        ("SPEC", "container", True, ("off",))
    ]
    assert [(one.name, one.value) for one in found.deviations] == [("SPEC", "off")]
    assert found.dead == ()


def test_what_environment_sets_hides_the_env_file() -> None:
    assert _with_env_file("SPEC=${MODE:-on}\n", "SPEC=off").deviations == ()


def test_a_variable_that_an_env_file_states_is_a_seam_of_that_file() -> None:
    found = _with_env_file("# how to speculate\nSPEC=on\n")
    (seam,) = found.seams
    assert (seam.name, seam.default, seam.values, seam.forwarded) == ("SPEC", "on", ("off",), True)
    assert seam.position == Position("deploy/x.env", 2)
    assert found.deviations == ()


def test_values_beyond_the_bound_leave_their_seams_open() -> None:
    patterns = "|".join(f"v{number}" for number in range(100))
    found = surveyed(compose(f"case $$A in {patterns}) X=1;; esac\nexec vllm serve m", ["A"]))
    assert len(found.untried) == 100 - len(found.deviations)
    assert [seam.open for seam in found.seams] == [True]
