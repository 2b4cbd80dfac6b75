"""The interpreter against recorded answers of bash 5.2, and against the bash that is installed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.cli.inspect_shell import answer
from tests.corpus import CORPUS, needs_corpus
from tests.shell.ask import needs_bash
from tests.shell.record import LINES, RECORDED, RECORDED_LINES, SCRIPTS, bash, cases, lines, script_of

ROWS = [json.loads(line) for line in RECORDED.read_text().splitlines()]
UNRESOLVED = {
    *("trap-err", "export-f", "flags-sh-login", "subshell-cd"),
    *("entrypoint-python-piece", "entrypoint-jq-piece", "entrypoint-envsubst"),
}
"""Scripts whose answer depends on what only the machine knows: they must be unresolved, not wrong."""


def told(case: dict[str, Any]) -> dict[str, Any] | None:
    """What the interpreter says, in the form of the records; None when it does not know."""
    result = answer(case)
    if result["unresolved"] or len(result["outcomes"]) != 1:
        return None
    (outcome,) = result["outcomes"]
    argv = None if outcome["program"] is None else [outcome["program"], *outcome["argv"]]
    return {"argv": argv, "exit": outcome["exit"], "env": outcome["env"]}


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case["id"])
def test_agrees_with_recorded_bash(case: dict[str, Any]) -> None:
    assert told(case) == (None if case["id"] in UNRESOLVED else case["expect"])


OPEN_LINES = 60
"""Lines that nobody follows: most are errors which bash itself handles in its own way. None of them may be wrong."""


def test_agrees_with_recorded_lines() -> None:
    rows = [json.loads(line) for line in RECORDED_LINES.read_text().splitlines()]
    assert [row["line"] for row in rows] == lines(LINES.read_text())
    answers = [told({"script": script_of(row["line"])}) for row in rows]
    wrong = [
        (row["line"], answer) for row, answer in zip(rows, answers, strict=True) if answer not in (None, row["expect"])
    ]
    assert wrong == []
    assert answers.count(None) <= OPEN_LINES


def test_every_script_is_recorded() -> None:
    wanted = [(case["id"], case["script"]) for case in cases(SCRIPTS.read_text())]
    assert [(row["id"], row["script"]) for row in ROWS] == wanted


@needs_bash
@pytest.mark.parametrize("case", ROWS[::12], ids=lambda case: case["id"])
def test_records_are_still_true(case: dict[str, Any]) -> None:
    assert bash(case["script"], case["args"], case["env"], case["files"]) == case["expect"]


@needs_corpus
def test_agrees_with_the_cases_of_the_corpus() -> None:
    wrong = []
    for line in (CORPUS / "bash_cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        expect = case["expect"]
        wanted = {"argv": expect.get("argv"), "exit": expect["exit"], "env": expect.get("env", {})}
        if told(case) != wanted:
            wrong.append(case["id"])
    assert wrong == []
