import json
from collections.abc import Mapping
from typing import Any

from bot.cli.batch import BadRequest, answers


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
