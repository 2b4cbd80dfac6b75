from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

Folder = Callable[..., Path]
COMPOSE = "services: {a: {image: 'x:${TAG:-1}', command: [$$A]}}\n"


# compose --------------------------------------------------------------------------------------------------------------


def test_compose_of_one_file(run: Run, folder: Folder) -> None:
    answer = run("inspect", "compose", folder({"compose.yml": COMPOSE}) / "compose.yml", "--env", "TAG=2")
    assert answer.status == 0
    assert answer.json["errors"] == []
    assert (answer.json["services"]["a"]["image"], answer.json["services"]["a"]["command"]) == ("x:2", ["$A"])


def test_compose_of_several_files_in_order(run: Run, folder: Folder) -> None:
    root = folder({"a.yml": COMPOSE, "b.yml": "services: {a: {image: y}}\n"})
    assert run("inspect", "compose", root / "a.yml", root / "b.yml").json["services"]["a"]["image"] == "y"
    assert run("inspect", "compose", root / "b.yml", root / "a.yml").json["services"]["a"]["image"] == "x:1"


def test_compose_in_a_batch(run: Run) -> None:
    requests = [
        {"id": "a", "files": {"compose.yml": COMPOSE}, "main": ["compose.yml"], "env": {"TAG": "3"}},
        {"id": "b", "files": {"compose.yml": "services: [\n"}, "main": ["compose.yml"], "env": {}},
        {"id": "c"},
        {"id": "d", "files": {"compose.yml": COMPOSE}, "env": {}},
    ]
    answer = run("inspect", "compose", "--batch", "-", requests=requests)
    assert answer.status == 0
    a, b, c, d = answer.lines
    assert [row["id"] for row in (a, b, c, d)] == ["a", "b", "c", "d"]
    assert a["services"]["a"]["image"] == "x:3"
    assert (b["services"], b["errors"][0]["line"]) == ({}, 2)
    assert "error" in c
    assert d["services"]["a"]["image"] == "x:1"


# shell ----------------------------------------------------------------------------------------------------------------


def test_shell_of_one_script(run: Run, folder: Folder) -> None:
    script = folder({"e.sh": 'export B=2\nexec vllm serve "$@" ${A:-a}\n'}) / "e.sh"
    answer = run("inspect", "shell", script, "--env", "A=1", "--", "m", "--seed", "3")
    (outcome,) = answer.json["outcomes"]
    assert (outcome["program"], outcome["argv"]) == ("vllm", ["serve", "m", "--seed", "3", "1"])
    assert (outcome["env"], answer.json["unresolved"]) == ({"B": "2"}, [])


def test_shell_in_a_batch(run: Run) -> None:
    requests = [
        {"id": 1, "script": "exit 3", "args": [], "env": {}},
        {"id": 2, "script": ". ./f.sh; exec vllm $X", "args": [], "env": {}, "files": {"f.sh": "X=1"}},
        {"id": 3, "script": "exec vllm $(date)", "args": [], "env": {}},
        {"id": 4},
    ]
    rows = run("inspect", "shell", "--batch", "-", requests=requests).lines
    assert [row["id"] for row in rows] == [1, 2, 3, 4]
    assert rows[0]["outcomes"][0]["exit"] == 3
    assert rows[1]["outcomes"][0]["argv"] == ["1"]
    assert rows[2]["unresolved"] != []
    assert "error" in rows[3]


# engine ---------------------------------------------------------------------------------------------------------------


def test_engine_of_one_command_line(run: Run) -> None:
    answer = run(
        *("inspect", "engine", "--release", "0.28.0", "--model-kind", "hybrid", "--sm", "120"),
        *("--", "serve", "m", "--speculative-config", '{"method":"mtp","num_speculative_tokens":2}'),
    )
    assert answer.status == 0
    shown = {name: found.get("value") for name, found in answer.json["properties"].items()}
    assert (shown["prefix_caching"], shown["spec_decode.method"]) == (True, "mtp")
    assert answer.json["errors"] == []


def test_engine_in_a_batch(run: Run) -> None:
    requests = [
        {"id": 1, "release": "0.25.1", "argv": ["serve", "m"], "env": {}, "model_kind": "hybrid"},
        {"id": 2, "release": "0.25.1", "argv": ["serve", "m", "--nope"], "env": {}},
        {"id": 3, "release": "0.25.1", "argv": "serve m"},
        {"id": 4, "release": "0.0.1", "argv": ["serve", "m"]},
    ]
    rows = run("inspect", "engine", "--batch", "-", requests=requests).lines
    assert [row["id"] for row in rows] == [1, 2, 3, 4]
    assert rows[0]["properties"]["prefix_caching"]["value"] is False
    assert [error["kind"] for error in rows[1]["errors"]] == ["unknown-flag"]
    assert "error" in rows[2]
    assert "internal error" not in rows[2]["error"]
    # a release without facts is answered by all that have some
    assert (rows[3]["release"], rows[3]["releases"] == rows[0]["releases"]) == ("0.0.1", False)


# hazards --------------------------------------------------------------------------------------------------------------


def test_hazards_in_a_batch(run: Run) -> None:
    pair = {"spec_decode.method": "mtp", "prefix_caching": True, "model.recurrent": "gdn"}
    requests = [
        {"id": 1, "release": "0.25.1", "properties": pair},
        {"id": 2, "release": "0.25.1", "properties": {**pair, "prefix_caching": False}},
        {"id": 3, "properties": "x"},
    ]
    rows = run("inspect", "hazards", "--batch", "-", requests=requests).lines
    assert [row["id"] for row in rows] == [1, 2, 3]
    active = [{f["rule"] for f in row.get("findings", []) if f["status"] == "active"} for row in rows]
    assert "mtp-prefix-cache-hybrid" in active[0]
    assert "mtp-prefix-cache-hybrid" not in active[1]
    assert "error" in rows[2]
    assert "internal error" not in rows[2]["error"]


# What cannot be asked -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compose"], "FILE is missing"),
        (["shell"], "SCRIPT is missing"),
        (["shell", "/no/such/script.sh"], "/no/such/script.sh"),
        (["shell", "/bin"], "/bin"),
        (["hazards"], "--batch"),
        (["engine", "--sm", "blackwell"], "blackwell"),
        (["engine", "--model-kind", "sparse"], "sparse"),
        (["nonsense"], "nonsense"),
    ],
)
def test_what_cannot_be_asked_ends_with_status_2_and_a_sentence(run: Run, arguments: list[str], words: str) -> None:
    answer = run("inspect", *arguments)
    assert (answer.status, answer.out) == (2, "")
    assert words in answer.err
    assert "Traceback" not in answer.err


def test_a_script_that_is_no_text_is_unreadable(run: Run, folder: Folder) -> None:
    answer = run("inspect", "shell", folder({"e.sh": b"\xff\xfe\x00"}) / "e.sh")
    assert answer.status == 2
    assert "cannot be read" in answer.err
