import json
from collections.abc import Mapping
from typing import Any

import pytest

from bot.cli.batch import answers
from bot.cli.request import BadRequest
from tests.cli.conftest import Run


def _answer(request: Mapping[str, Any]) -> dict[str, Any]:
    if request["n"] < 0:
        raise BadRequest("n is negative")
    return {"root": 10 // request["n"]}


def test_one_answer_a_line_in_order_whatever_fails() -> None:
    lines = ['{"id": "a", "n": 5}\n', "\n", '{"id": "b", "n": 0}', "nonsense", "[1]", '{"n": -1}', '{"id": 7, "n": 2}']
    got = [json.loads(line) for line in answers(lines, _answer)]
    assert [row.get("id") for row in got] == ["a", "b", None, None, None, 7]
    assert [row.get("root") for row in got] == [2, None, None, None, None, 5]
    assert "ZeroDivisionError" in got[1]["error"]
    assert "line 4 is not JSON" in got[2]["error"]
    assert got[3]["error"] == "line 5 is not a JSON object"
    assert got[4]["error"] == "n is negative"


@pytest.mark.parametrize(
    ("stage", "request_", "words"),
    [
        ("compose", {}, "no `files`"),
        ("compose", {"files": ["x"]}, "`files` is an object of texts"),
        ("compose", {"files": {}, "main": "x"}, "`main` is a list of texts"),
        ("compose", {"files": {}, "env": {"X": 1}}, "`env` is an object of texts"),
        ("shell", {}, "no `script`"),
        ("shell", {"script": "x", "args": [1]}, "`args` is a list of texts"),
        ("shell", {"script": "x", "files": {"a": None}}, "`files` is an object of texts"),
        ("engine", {"release": "0.25.1"}, "no `argv`"),
        ("engine", {"argv": "serve"}, "`argv` is a list of texts"),
        ("engine", {"argv": ["serve"], "release": 1}, "`release` is a text"),
        ("hazards", {"properties": 1}, "`properties` is an object"),
    ],
)
def test_a_request_of_another_shape_says_what_is_wrong(
    run: Run, stage: str, request_: dict[str, Any], words: str
) -> None:
    (row,) = run("inspect", stage, "--batch", "-", requests=[{"id": 1, **request_}]).lines
    assert row["id"] == 1
    assert words in row["error"]
    assert "internal" not in row["error"]


def test_an_id_is_handed_back_and_never_made_up(run: Run) -> None:
    rows = run("inspect", "hazards", "--batch", "-", requests=[{}, {"id": "a"}]).lines
    assert ["id" in row for row in rows] == [False, True]
