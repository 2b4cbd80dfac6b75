from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.engine import PROPERTIES
from bot.hazards import load_rules
from tests.cli.conftest import CORRUPT, ENGINE, PROFILE, Run

Folder = Callable[..., Path]


@pytest.fixture
def root(folder: Folder) -> Path:
    found: Path = folder({"compose.yml": ENGINE, "corrupt.yml": CORRUPT, "models/hare.yml": PROFILE})
    return found


@pytest.mark.parametrize("rule", sorted(load_rules().ids))
def test_every_rule_has_a_page(run: Run, rule: str) -> None:
    answer = run("explain", rule)
    assert (answer.status, answer.err) == (0, "")
    title, _, text = answer.out.partition("\n\n")
    assert title.startswith("# ")
    assert len(text) > 200
    assert f"`{rule}`, {load_rules().named[rule].level}" in text
    assert text.count("\n- ") >= len(load_rules().named[rule].evidence)


def test_a_chain_shows_each_link_with_its_place(run: Run, root: Path) -> None:
    answer = run("explain", "corrupt.yml", "prefix_caching", "--repo", root)
    assert answer.status == 0
    assert "\x1b" not in answer.out
    first, *links = answer.out.splitlines()
    assert first == "engine: prefix_caching = on (certain)"
    assert any("corrupt.yml:9" in link and "--enable-prefix-caching" in link for link in links)


def test_a_default_is_linked_to_the_releases_source(run: Run, root: Path) -> None:
    answer = run("explain", "corrupt.yml:engine", "enforce_eager", "--repo", root)
    assert "enforce_eager = off" in answer.out
    assert "https://github.com/vllm-project/vllm/blob/v0.25.1/vllm/" in answer.out
    assert "#L" in answer.out


def test_the_host_can_be_told_what_to_set(run: Run, root: Path) -> None:
    answer = run("explain", "compose.yml:engine", "enforce_eager", "--repo", root, "--env", "EAGER=1")
    assert "enforce_eager = on (certain)" in answer.out


def test_without_a_property_all_are_shown(run: Run, root: Path) -> None:
    answer = run("explain", "corrupt.yml", "--repo", root)
    assert [line.split()[1] for line in answer.out.splitlines() if line.startswith("engine: ")] == list(PROPERTIES)


def test_an_unknown_value_says_so(run: Run, root: Path) -> None:
    answer = run("explain", "compose.yml:engine", "model.architecture", "--repo", root)
    assert "model.architecture = unknown\n" in answer.out


def test_a_service_without_vllm_says_what_it_runs(run: Run, root: Path) -> None:
    answer = run("explain", "compose.yml:other", "prefix_caching", "--repo", root)
    assert (answer.status, answer.out) == (0, "")
    assert "compose.yml:other: no vLLM properties: it runs llama-server" in answer.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["corrupt.yml", "prefix_cacheing"], "prefix_caching"),
        (["corrupt.yml:engin", "prefix_caching"], "no service 'engin'"),
        (["none.yml", "prefix_caching"], "none.yml"),
        (["no-such-rule"], "no-such-rule"),
        ([], "FILE"),
        (["corrupt.yml", "prefix_caching", "--rev", "HEAD"], "git"),
    ],
)
def test_what_cannot_be_asked_ends_with_status_2_and_a_sentence(
    run: Run, root: Path, arguments: list[str], words: str
) -> None:
    answer = run("explain", *arguments, "--repo", root)
    assert (answer.status, answer.out) == (2, "")
    assert words in answer.err
    assert "Traceback" not in answer.err


def test_a_misspelt_rule_is_answered_with_the_right_one(run: Run, root: Path) -> None:
    answer = run("explain", "mtp-prefix-cache-hybird", "--repo", root)
    assert "mtp-prefix-cache-hybrid" in answer.err


def test_a_question_without_an_answer_is_no_success(run: Run, folder: Folder) -> None:
    text = "services: {e: {image: 'vllm/vllm-openai:v0.25.1', entrypoint: [bash, -c, 'coproc cat; vllm serve m']}}\n"
    done = run("explain", folder({"compose.yml": text}) / "compose.yml", "prefix_caching")
    assert (done.status, done.out) == (2, "")
    assert "coproc" in done.err
