"""What a stranger wrote in a file, on the terminal of the person who looks at it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

Folder = Callable[..., Path]
HOSTILE = r"""
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    command: ["--m\e[2Jx", "a\rb", "c\x9bd", "e\n::error::f", "\u202eg"]
"""


@pytest.mark.parametrize("command", ["resolve", "audit"])
def test_control_characters_of_a_file_do_not_reach_the_terminal(run: Run, folder: Folder, command: str) -> None:
    root = folder({"compose.yml": HOSTILE})
    answer = run(command, root if command == "audit" else root / "compose.yml")
    assert not {character for character in answer.out if not character.isprintable()} - {"\n"}
    assert "\n::error::" not in answer.out


def test_json_escapes_control_characters(run: Run, folder: Folder) -> None:
    answer = run("resolve", folder({"compose.yml": HOSTILE}) / "compose.yml", "--format", "json")
    assert not {character for character in answer.out if not " " <= character <= "~"} - {"\n"}
    assert answer.json["services"][0]["worlds"][0]["argv"][1:3] == ["--m\x1b[2Jx", "a\rb"]


@pytest.mark.parametrize("text", ["[bold]x[/bold]", ":smile:", "[/]", "[link=http://x]y"])
def test_marks_of_the_terminal_library_are_only_text(run: Run, folder: Folder, text: str) -> None:
    root = folder({"compose.yml": f"services: {{e: {{image: i, entrypoint: [vllm, serve, '{text}']}}}}"})
    assert text in run("resolve", root / "compose.yml").out


def test_a_long_line_stays_one_line_in_a_pipe(run: Run, folder: Folder) -> None:
    words = " ".join(f"--served-model-name=name-{n}" for n in range(300))
    root = folder({"compose.yml": f"services: {{e: {{image: i, entrypoint: vllm serve m {words}}}}}"})
    assert f"vllm serve m {words}" in run("resolve", root / "compose.yml").out


@pytest.mark.parametrize(
    ("files", "arguments", "words"),
    [
        pytest.param(
            {"compose.yml": "services: {e: {image: i, entrypoint: [vllm, serve, m]}}", "x\x1b[2J.yml": "services: []"},
            ("explain", "x\x1b[2J.yml", "max_num_seqs"),
            r"x\x1b[2J.yml",
            id="a name of a file, in a failure",
        ),
        pytest.param(
            {"compose.yml": 'services: {"e\\e[2J": {image: i, imag: x}}'},
            ("explain", "compose.yml", "max_num_seqs"),
            r"\x1b[2J",
            id="a name of a service, in an error",
        ),
    ],
)
def test_control_characters_do_not_reach_standard_error(
    run: Run, folder: Folder, files: dict[str, str], arguments: tuple[str, ...], words: str
) -> None:
    answer = run(*arguments, "--repo", folder(files))
    assert words in answer.err
    assert "\x1b" not in answer.out + answer.err
