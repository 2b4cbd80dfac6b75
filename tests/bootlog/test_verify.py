"""`bot verify`: a log against a compose, from the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bot.cli.failure import Failure
from bot.cli.verify import verify_command
from tests.bootlog.test_reading import LOWERED, text
from tests.schemas import violations

COMPOSE = """\
# GPU: RTX 5090
services:
  vllm:
    image: vllm/vllm-openai:v0.25.1
    entrypoint: [bash, -c]
    command:
      - |
        exec vllm serve Qwen/Qwen3-Next-80B-A3B-Instruct --served-model-name next --max-model-len 32768 \\
          --tensor-parallel-size 2 --kv-cache-dtype fp8 --max-num-seqs 8 \\
          --speculative-config '{"method":"mtp","num_speculative_tokens":2}' $${PREFIX_CACHE_ARG:-}
    environment:
      # PREFIX_CACHE_ARG=--enable-prefix-caching
      - PREFIX_CACHE_ARG=${PREFIX_CACHE_ARG:-}
"""
OTHER = """\
  other:
    image: vllm/vllm-openai:v0.25.1
    command: [--model, facebook/opt-125m]
"""
CACHED = "PREFIX_CACHE_ARG=--enable-prefix-caching"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "c.yml").write_text(COMPOSE)
    (tmp_path / "boot.log").write_text(text("0.25.1-mtp"))
    return tmp_path


def verify(folder: Path, *arguments: str, subject: str = "c.yml", log: str | None = None) -> Result:
    given = [log or str(folder / "boot.log"), subject, "--repo", str(folder), *arguments]
    return CliRunner().invoke(verify_command, given, input=(folder / "boot.log").read_bytes())


def answer(result: Result) -> dict[str, object]:
    found: dict[str, object] = json.loads(result.stdout)
    assert violations("verify", found) == []
    return found


def test_a_log_of_another_world_names_it(folder: Path) -> None:
    result = verify(folder)
    assert result.exit_code == 1
    assert "the log contradicts prefix_caching, mamba_cache_mode" in result.stdout
    assert f"it fits {CACHED}" in result.stdout
    assert "sk-not-a-real-key" not in result.stdout


def test_markdown_is_the_answer_to_a_comment(folder: Path) -> None:
    result = verify(folder, "--format", "markdown")
    assert result.exit_code == 1
    assert result.stdout.startswith("#### `c.yml:3`, service `vllm`\n\n**The log contradicts")
    assert f"It fits with `{CACHED}` set on the host." in result.stdout
    assert isinstance(verify(folder, "--format", "markdown", "--env", CACHED).exception, Failure)
    (folder / "boot.log").write_text("hello")
    assert isinstance(verify(folder, "--format", "markdown").exception, Failure)
    (folder / "boot.log").write_text(text("0.25.1-mtp"))
    (folder / "c.yml").write_text(COMPOSE.replace("$${PREFIX_CACHE_ARG:-}", "--enable-prefix-caching"))
    assert verify(folder, "--format", "markdown").exit_code == 0
    (folder / "c.yml").write_text("services:\n" + OTHER + OTHER.replace("other:", "more:"))
    assert verify(folder, "--format", "markdown").exit_code == 2


def test_in_that_world_all_agrees(folder: Path) -> None:
    result = verify(folder, "--env", CACHED)
    assert result.exit_code == 0
    assert "agrees with all" in result.stdout


def test_a_log_from_standard_input(folder: Path) -> None:
    found = answer(verify(folder, "--format", "json", log="-"))
    assert found["verdict"] == "contradicts"
    assert found["fits"] == [{"PREFIX_CACHE_ARG": "--enable-prefix-caching"}]


def test_only_the_log_proves_what_the_worker_does(folder: Path) -> None:
    """Without a card in the files the effective mode is not known, and the hazard of full graphs is undecided."""
    (folder / "c.yml").write_text(COMPOSE.replace("# GPU: RTX 5090\n", "# GPU: RTX 5090, RTX 3090\n"))
    (folder / "boot.log").write_text(text("0.25.1-mtp") + LOWERED)
    result = verify(folder, "--env", CACHED)
    assert "the worker runs with CUDA graph mode PIECEWISE (line 21: the worker lowered the configured mode)" in (
        result.stdout
    )


def test_what_is_proved_ends_one_hazard_and_begins_the_other(folder: Path) -> None:
    compose = COMPOSE.replace("--kv-cache-dtype fp8", "--kv-cache-dtype auto")
    (folder / "c.yml").write_text(compose)
    log = text("0.25.1-mtp").replace("kv_cache_dtype=fp8", "kv_cache_dtype=auto") + LOWERED
    (folder / "boot.log").write_text(log)
    found = answer(verify(folder, "--env", CACHED, "--format", "json"))
    hazards = {item["rule"]: item for item in found["hazards"]}  # type: ignore[attr-defined]
    assert hazards["mtp-full-cudagraph-blackwell"]["after"] is None
    assert hazards["piecewise-spec-decode-misaligned"]["after"]["status"] == "active"


def test_the_service_is_found_by_its_model(folder: Path) -> None:
    (folder / "c.yml").write_text(COMPOSE + OTHER)
    assert answer(verify(folder, "--format", "json"))["service"] == "vllm"


def test_a_named_service_is_taken_at_its_word(folder: Path) -> None:
    (folder / "c.yml").write_text(COMPOSE + OTHER)
    found = answer(verify(folder, "--format", "json", subject="c.yml:other"))
    assert (found["service"], found["verdict"]) == ("other", "contradicts")


@pytest.mark.parametrize(
    ("log", "subject", "message"),
    [
        ("", "c.yml", "no line of a vLLM engine"),
        ("hello\n", "c.yml", "no line of a vLLM engine"),
        (None, "c.yml:nope", "no service 'nope'"),
        (None, "none.yml", "none.yml"),
    ],
)
def test_what_cannot_be_verified_is_told(folder: Path, log: str | None, subject: str, message: str) -> None:
    if log is not None:
        (folder / "boot.log").write_text(log)
    result = verify(folder, subject=subject)
    assert isinstance(result.exception, Failure)
    assert message in str(result.exception)


def test_two_services_that_the_log_cannot_tell_apart_are_asked_about(folder: Path) -> None:
    (folder / "c.yml").write_text(COMPOSE + COMPOSE.partition("services:\n")[2].replace("  vllm:", "  twin:", 1))
    result = verify(folder)
    assert "name one with FILE:SERVICE (vllm, twin)" in str(result.exception)


def _assumed(folder: Path) -> None:
    """Full graphs, as far as the files can tell, and a log of a worker that lowered them."""
    compose = COMPOSE.replace("--kv-cache-dtype fp8", "--kv-cache-dtype auto")
    (folder / "c.yml").write_text(compose.replace("$${PREFIX_CACHE_ARG:-}", "--enable-prefix-caching"))
    log = text("0.25.1-mtp").replace("kv_cache_dtype=fp8", "kv_cache_dtype=auto") + LOWERED
    (folder / "boot.log").write_text(log)


def test_what_the_files_only_let_assume_is_not_contradicted(folder: Path) -> None:
    """The status, the headline and the answer in Markdown judge alike: how the worker ends is known by a log alone."""
    _assumed(folder)
    result = verify(folder)
    assert result.exit_code == 0
    assert "the log contradicts" not in result.stdout
    assert "how the worker ends with the CUDA graphs could only be assumed from them, and is otherwise" in result.stdout
    assert re.search(r"cudagraph_mode_effective +assumed +files: \S+ +log: PIECEWISE", result.stdout)
    assert answer(verify(folder, "--format", "json"))["verdict"] == "agrees"
    assert verify(folder, "--format", "markdown").exit_code == 0


def test_hazards_by_the_log_stand_below_a_heading(folder: Path) -> None:
    _assumed(folder)
    lines = verify(folder).stdout.splitlines()
    heading = lines.index("by the log, these hazards are others than from the files alone:")
    assert all(line.startswith("  ") for line in lines[heading + 1 :] if line)
    assert any(line.endswith("is not there on this stack") for line in lines[heading + 1 :])


def test_swapped_arguments_are_told(folder: Path) -> None:
    result = verify(folder, log=str(folder / "c.yml"), subject="boot.log")
    assert "c.yml is a compose: the log comes first (seamguard verify boot.log " in str(result.exception)
