"""From the process that replaces the entrypoint to its inference server."""

from __future__ import annotations

import pytest

from bot.provenance import Word
from bot.resolution.program import server
from bot.shell import Outcome
from tests.resolution.build import engine, resolved


@pytest.mark.parametrize(
    ("line", "kind", "argv"),
    [
        ("vllm serve m", "vllm", "serve m"),
        ("/usr/local/bin/vllm serve m", "vllm", "serve m"),
        ("python3 -m vllm.entrypoints.openai.api_server --model m", "vllm", "--model m"),
        ("python -m vllm.entrypoints.cli.main serve m", "vllm", "serve m"),
        ("python3.12 -u -m vllm.entrypoints.openai.api_server", "vllm", ""),
        ("/opt/venv/bin/python -m sglang.launch_server --model-path m", "sglang", "--model-path m"),
        ("llama-server -m x.gguf", "llama-server", "-m x.gguf"),
        ("vllm bench serve", None, "bench serve"),
        ("vllm --version", None, "--version"),
        ("python3 -m vllm.benchmarks.serve --x", None, "--x"),
        ("nginx -g x", None, "-g x"),
        ("vllm serve m --omni", "vllm-omni", "serve m --omni"),
        ("python3 serve.py -m x", None, "serve.py -m x"),
        ("python3 -c pass", None, "-c pass"),
        ("python3 -m", None, "-m"),
        ("python3", None, ""),
    ],
)
def test_the_server_and_what_follows_its_name(line: str, kind: str | None, argv: str) -> None:
    program, *rest = (Word(word) for word in line.split())
    outcome = Outcome(program, tuple(rest), None, {}, {})
    found, words = server(outcome)
    assert (found, " ".join(word.text for word in words)) == (kind, argv)


def test_a_way_without_a_process_has_no_server() -> None:
    assert server(Outcome(None, None, 1, {}, {})) == (None, ())


@pytest.mark.parametrize(
    ("fields", "argv"),
    [
        (["command: [--model, m]"], ["--model", "m"]),
        (["command: --model m"], ["--model", "m"]),
        (["entrypoint: [vllm, serve, m]"], ["serve", "m"]),
        (["entrypoint: vllm serve m"], ["serve", "m"]),
        (["entrypoint: [python3, -m, vllm.entrypoints.openai.api_server]", "command: [--model, m]"], ["--model", "m"]),
        (
            ["entrypoint: [bash, -c, 'exec vllm serve \"$$@\"', --]", "command: [m, --seed, '1']"],
            ["serve", "m", "--seed", "1"],
        ),
        (["entrypoint: [sh, -c]", "command: ['vllm serve m']"], ["serve", "m"]),
        (["entrypoint: [numactl, -N, '0', vllm, serve, m]"], ["serve", "m"]),
        (["entrypoint: [env, A=1, vllm, serve, m]"], ["serve", "m"]),
        (["entrypoint: [tini, --, vllm, serve, m]"], ["serve", "m"]),
        (["entrypoint: [/bin/bash, -lc, 'cd /x && vllm serve m']"], ["serve", "m"]),
    ],
)
def test_every_way_to_start_a_server_ends_in_its_arguments(fields: list[str], argv: list[str]) -> None:
    service = resolved(engine(*fields))
    assert service.kind == "vllm"
    (world,) = service.worlds
    assert world.outcome is not None
    words = [word.text for word in server(world.outcome)[1]]
    assert words[-len(argv) :] == argv
    assert set(words[: -len(argv)]) <= {"serve"}
    assert world.engine is not None
    assert world.engine.properties["tensor_parallel_size"].value == 1
