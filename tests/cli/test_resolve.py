from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import ENGINE, Run
from tests.schemas import violations

Folder = Callable[..., Path]


@pytest.fixture
def compose(folder: Folder) -> Path:
    root: Path = folder({"compose.yml": ENGINE})
    return root / "compose.yml"


def _argv(answer: object) -> object:
    assert violations("resolve", answer) == []
    return answer["services"][0]["worlds"][0]["argv"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("options", "argv"),
    [
        ([], "serve m --tensor-parallel-size 2"),
        (["--env", "TP=4"], "serve m --tensor-parallel-size 4"),
        (["--env", "EAGER=1", "--env", "TP=8"], "serve m --enforce-eager --tensor-parallel-size 8"),
        (["--env", "TP=4", "--env", "TP=8"], "serve m --tensor-parallel-size 8"),
        (["--env", "TP="], "serve m --tensor-parallel-size 2"),
    ],
)
def test_json(run: Run, compose: Path, options: list[str], argv: str) -> None:
    answer = run("resolve", compose, "--format", "json", *options)
    assert (answer.status, answer.err) == (0, "")
    assert _argv(answer.json) == argv.split()


def test_services_and_worlds(run: Run, compose: Path) -> None:
    everything = run("resolve", compose, "--format", "json", "--worlds", "all").json["services"]
    assert [service["service"] for service in everything] == ["engine", "other"]
    assert [world["env"] for world in everything[0]["worlds"]] == [{}, {"EAGER": "1"}]
    one = run("resolve", compose, "--format", "json", "--service", "other").json["services"]
    assert [service["engine"] for service in one] == ["llama-server"]


def test_symbols(run: Run, folder: Folder) -> None:
    text = "services: {e: {image: x, entrypoint: [bash, -c, 'source /n; exec vllm serve $${_N}']}}"
    root = folder({"compose.yml": text})
    answer = run("resolve", root / "compose.yml", "--format", "json", "--symbol", "_N=3")
    assert _argv(answer.json) == ["serve", "3"]


def test_a_path_inside_a_named_repository(run: Run, folder: Folder) -> None:
    root = folder({"deploy/compose.yml": ENGINE})
    for file in ("deploy/compose.yml", root / "deploy" / "compose.yml"):
        answer = run("resolve", file, "--repo", root, "--format", "json")
        assert (answer.status, answer.json["file"]) == (0, "deploy/compose.yml")


def test_text_for_people(run: Run, compose: Path) -> None:
    answer = run("resolve", compose, "--worlds", "all")
    assert answer.status == 0
    assert "\x1b" not in answer.out
    for words in (
        "compose.yml: engine",
        "by default",
        "EAGER=1 docker compose -f compose.yml up engine",
        "vllm/vllm-openai:v0.25.1",
        "vllm serve m --tensor-parallel-size 2",
        "tensor_parallel_size",
        "seams",
        "compose.yml: other",
    ):
        assert words in answer.out
    assert all(line == line.rstrip() for line in answer.out.splitlines())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["resolve"], "FILE is missing"),
        (["resolve", "/no/such/folder/compose.yml"], "no such file"),
        (["resolve", "{file}", "--service", "engin"], "no service 'engin'; it has engine, other"),
        (["resolve", "{file}", "--env", "TP"], "not NAME=VALUE"),
        (["resolve", "{file}", "--env", "=1"], "not NAME=VALUE"),
        (["resolve", "{file}", "--worlds", "some"], "some"),
        (["resolve", "{file}", "--format", "xml"], "xml"),
        (["resolve", "{file}", "--rev", "HEAD"], "git"),
        (["resolve", "/elsewhere/compose.yml", "--repo", "{folder}"], "not inside the repository"),
        (["resolve", "compose.yml", "--repo", "/no/such/folder"], "no such folder"),
        (["resolve", "--batch", "/no/such/file"], "/no/such/file"),
    ],
)
def test_what_cannot_be_asked_ends_with_status_2_and_a_sentence(
    run: Run, compose: Path, arguments: list[str], words: str
) -> None:
    answer = run(*(argument.format(file=compose, folder=compose.parent) for argument in arguments))
    assert (answer.status, answer.out) == (2, "")
    assert words in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("services: [\n", "compose.yml:2", id="not YAML"),
        pytest.param("name: x\na: 1\n", "compose.yml:2", id="no compose"),
        pytest.param("services: {}\n", "compose.yml:1", id="no services"),
        pytest.param(None, "no such file", id="not there"),
    ],
)
def test_an_unreadable_compose_ends_with_status_2_and_its_place(
    run: Run, folder: Folder, text: str | None, words: str
) -> None:
    root = folder({"compose.yml": text} if text is not None else {})
    answer = run("resolve", root / "compose.yml")
    assert answer.status == 2
    assert words in answer.out + answer.err
    assert "compose.yml" in answer.out + answer.err


# --batch --------------------------------------------------------------------------------------------------------------


def test_batch_answers_in_order_whatever_fails(run: Run, compose: Path) -> None:
    repo = str(compose.parent)
    requests = [
        {"id": 1, "file": str(compose)},
        {"id": "two", "file": "compose.yml", "repo": repo, "service": "engine", "env": {"TP": "4"}, "worlds": "all"},
        {"id": 3, "file": "compose.yml", "repo": repo, "service": "nobody"},
        {"id": 4},
        "nonsense",
        {"id": 6, "file": "none.yml", "repo": repo},
        {"id": 7, "file": "compose.yml", "repo": "/no/such/folder"},
        {"id": 8, "file": "compose.yml", "repo": repo, "rev": "HEAD"},
        {"id": 9, "file": str(compose), "service": "other"},
    ]
    answer = run("resolve", "--batch", "-", requests=requests)
    assert answer.status == 0
    rows = answer.lines
    assert [row.get("id") for row in rows] == [1, "two", 3, 4, None, 6, 7, 8, 9]
    assert [bool(row.get("error")) for row in rows] == [False, False, True, True, True, False, True, True, False]
    assert [len(row.get("services", [])) for row in rows] == [2, 1, 0, 0, 0, 0, 0, 0, 1]
    assert rows[1]["services"][0]["worlds"][0]["argv"][-1] == "4"
    assert "no service 'nobody'; it has engine, other" in rows[2]["error"]
    assert rows[5]["errors"]
    for row in rows:
        assert "error" in row or violations("resolve", row) == []


def test_batch_from_a_file(run: Run, compose: Path, tmp_path: Path) -> None:
    batch = tmp_path / "requests.jsonl"
    batch.write_text(json.dumps({"file": "compose.yml", "repo": str(compose.parent)}) + "\n\n")
    answer = run("resolve", "--batch", batch)
    assert (answer.status, len(answer.lines)) == (0, 1)


def test_an_empty_batch_has_no_answers(run: Run) -> None:
    answer = run("resolve", "--batch", "-")
    assert (answer.status, answer.out) == (0, "")


def test_a_file_that_is_no_text_is_refused(run: Run) -> None:
    (row,) = run("resolve", "--batch", "-", requests=[{"file": 3}]).lines
    assert row["error"] == "`file` is a text, not 3"


@pytest.mark.parametrize(
    "request_",
    [
        {"file": "compose.yml", "env": "A=1"},
        {"file": "compose.yml", "env": ["A"]},
        {"file": "compose.yml", "symbols": 1},
        {"file": "compose.yml", "worlds": "some"},
        {"file": "compose.yml", "repo": 3},
        {"file": "compose.yml", "rev": 3},
        {"file": "compose.yml", "env": {"A": 1}},
    ],
)
def test_a_request_of_the_wrong_shape_says_what_is_wrong(
    run: Run, compose: Path, request_: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(compose.parent)
    (row,) = run("resolve", "--batch", "-", requests=[request_]).lines
    assert "error" in row
    assert "internal error" not in row["error"]


TOGETHER = {
    "base.yml": "services:\n  engine:\n    image: vllm/vllm-openai:v0.25.1\n    command: /models/hare-9b\n",
    "long.yml": "services:\n  engine:\n    command: /models/hare-9b --max-model-len 65536\n",
    "short.yml": "services:\n  engine:\n    command: /models/hare-9b --max-model-len 8192\n",
}


def test_files_that_are_always_given_together_are_resolved_together(run: Run, folder: Folder) -> None:
    root = folder({**TOGETHER, ".github/seamguard.yml": "together: [[base.yml, long.yml]]\n"})
    for file in ("base.yml", "long.yml"):
        answer = run("resolve", file, "--repo", root, "--format", "json").json
        assert violations("resolve", answer) == []
        (service,) = answer["services"]
        assert service["files"] == ["base.yml", "long.yml"]
        assert service["worlds"][0]["properties"]["max_model_len"]["value"] == 65536
        assert "engine: max_model_len = 65536 (certain)" in run("explain", file, "max_model_len", "--repo", root).out


def test_a_file_of_several_groups_is_resolved_in_each(run: Run, folder: Folder) -> None:
    groups = "together: [[base.yml, long.yml], [base.yml, short.yml], [base.yml, gone.yml]]\n"
    root = folder({**TOGETHER, ".github/seamguard.yml": groups})
    services = run("resolve", "base.yml", "--repo", root, "--format", "json").json["services"]
    assert [service["files"] for service in services] == [["base.yml", "long.yml"], ["base.yml", "short.yml"]]
    assert "base.yml with short.yml: engine" in run("resolve", "base.yml", "--repo", root).out
    explained = run("explain", "base.yml", "max_model_len", "--repo", root).out
    assert "max_model_len = 65536 (certain), as base.yml with long.yml" in explained
    assert "max_model_len = 8192 (certain), as base.yml with short.yml" in explained


def test_a_file_of_no_group_is_resolved_alone(run: Run, folder: Folder) -> None:
    root = folder({**TOGETHER, ".github/seamguard.yml": "together: [[base.yml, gone.yml]]\n"})
    (service,) = run("resolve", "base.yml", "--repo", root, "--format", "json").json["services"]
    assert "files" not in service


FORKED = """\
services:
  vllm:
    image: vllm/vllm-openai:v0.28.0
    entrypoint: [bash, -c]
    command:
      - |
        A=
        if [ -d /x ]; then A=--enforce-eager; fi
        exec vllm serve /models/llama $$A
"""


def test_what_only_the_container_decides_is_told_as_either_or(run: Run, folder: Folder) -> None:
    lines = run("resolve", "c.yml", "--repo", folder({"c.yml": FORKED})).out.splitlines()
    titles = [line for line in lines if line.startswith("by default")]
    assert titles == ["by default, either where -d /x is yes", "by default, or where -d /x is not yes"]
