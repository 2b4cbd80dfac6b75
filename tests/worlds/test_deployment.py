"""One service asked what runs in a given world."""

from __future__ import annotations

from dataclasses import replace

from bot.worlds.deployment import Deployment
from bot.worlds.model import Realisation
from tests.worlds.build import FILE, compose, deployment


def _argv(realisation: Realisation) -> list[list[str]]:
    assert realisation.run is not None
    return [[word.text for word in outcome.argv or ()] for outcome in realisation.run.outcomes]


def _deployment(script: str, environment: tuple[str, ...] = ("A",)) -> Deployment:
    return deployment(compose(script, environment), environment={"BASE": "b"})


def test_a_deviation_is_set_on_the_host_beside_the_base_environment() -> None:
    found = _deployment("exec vllm serve ${BASE} ${H:-h} $${A:-a}")
    assert _argv(found.realise()) == [["serve", "b", "h", "a"]]
    assert _argv(found.realise({"H": "1", "A": "2"})) == [["serve", "b", "1", "2"]]
    assert _argv(found.realise({"BASE": "other"})) == [["serve", "other", "h", "a"]]


def test_what_a_world_sets_is_told_apart_from_what_every_world_starts_from() -> None:
    realisation = _deployment("exec vllm serve").realise({"H": "1"})
    assert (realisation.environment, realisation.deviations) == ({"BASE": "b", "H": "1"}, {"H": "1"})


def test_a_dead_seam_can_be_put_into_the_container_to_see_what_it_would_do() -> None:
    found = _deployment("exec vllm serve $${DEAD:-off}")
    assert _argv(found.realise({"DEAD": "on"})) == [["serve", "off"]]
    assert _argv(found.realise(inside={"DEAD": "on"})) == [["serve", "on"]]


def test_a_symbol_can_be_fixed() -> None:
    text = compose('source /etc/absent.sh\nX=\n[ "$${_N}" = 1 ] && X=--x\nexec vllm serve $$X')
    found = deployment(text)
    assert sorted(_argv(found.realise())) == [["serve"], ["serve", "--x"]]
    assert _argv(replace(found, symbols={"_N": "1"}).realise()) == [["serve", "--x"]]


def test_a_variable_that_no_sourced_script_sets_is_unset() -> None:
    text = compose('source /etc/absent.sh\nX=\n[ "$${N}" = 1 ] && X=--x\nexec vllm serve $$X')
    assert _argv(replace(deployment(text), unset=frozenset({"N"})).realise()) == [["serve"]]


def test_a_service_that_is_not_there_has_nothing_to_run() -> None:
    realisation = replace(_deployment("exec vllm serve"), service="other").realise()
    assert (realisation.service, realisation.start, realisation.run) == (None, None, None)


def test_a_file_that_is_not_there_has_no_text() -> None:
    found = _deployment("exec vllm serve")
    assert (found.text("none.yml"), found.text(FILE) != "") == ("", True)
