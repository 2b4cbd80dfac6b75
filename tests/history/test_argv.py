"""Every service of the real repository in many host environments, against the argv that real tools gave.

The rows were made with Docker Compose and bash: `argv` with the program name, null when the script ends before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from bot.cli.opening import opened
from bot.cli.resolve import _Opened
from bot.resolution import EngineWorld, resolve_service
from tests.corpus import CORPUS, needs_corpus
from tests.history.conftest import History

pytestmark = needs_corpus

REVISION = "74e63db8"
SAMPLE = 15
"""Every how many rows the normal run looks at."""

EXACT = 0.98
"""The least part of the rows that must be resolved to the last argument."""

SET_BY_BASH = {"PWD", "OLDPWD", "SHLVL", "_"}

Row = Mapping[str, Any]


def _rows(step: int) -> list[Row]:
    lines = (CORPUS / "argv_oracle.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[::step]]


def _symbols(row: Row) -> dict[str, str]:
    return {"_NVLINK_ENABLED": str(row["nvlink"])}


def _name(row: Row) -> str:
    host = " ".join(f"{name}={value}" for name, value in row["host_env"].items())
    return f"{row['file']} [{host}] nvlink={row['nvlink']}"


def _verdict(row: Row, answer: Mapping[str, Any]) -> str:
    """ "exact", "unknown", or what is wrong."""
    if "error" in answer:
        return f"error: {answer['error']}"
    worlds = [world for service in answer["services"] for world in service["worlds"]]
    if len(worlds) != 1 or (worlds[0]["argv"] is None and worlds[0]["exit"] is None):
        return "unknown"
    (world,) = worlds
    if row["argv"] is None:
        right = world["argv"] is None and world["exit"] == row["exit_code"]
    else:
        right = world["argv"] == row["argv"][1:]
    return "exact" if right else f"exit {world['exit']}, argv {world['argv']}, not {row['exit_code']} {row['argv']}"


def _judged(history: History, rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
    revision = history.commit(REVISION)
    with _Opened() as states:
        for row in rows:
            request = {
                "file": row["file"],
                "repo": str(history.root),
                "rev": revision,
                "service": row["service"],
                "env": row["host_env"],
                "symbols": _symbols(row),
            }
            yield row, _verdict(row, states.answer(request))


def _check_argv(history: History, step: int) -> None:
    judged = list(_judged(history, _rows(step)))
    wrong = [f"{_name(row)}: {verdict}" for row, verdict in judged if verdict not in ("exact", "unknown")]
    unknown = [_name(row) for row, verdict in judged if verdict == "unknown"]
    assert not wrong, "\n".join(wrong)
    assert len(unknown) <= (1 - EXACT) * len(judged), "\n".join(unknown)


def test_argv_of_a_sample(history: History) -> None:
    _check_argv(history, SAMPLE)


@pytest.mark.soak
def test_argv_of_every_row(history: History) -> None:
    _check_argv(history, 1)


def _worlds(history: History, rows: Iterable[Row]) -> Iterator[tuple[Row, EngineWorld]]:
    """The one way through each row's world in which a process starts."""
    with opened(history.root, history.commit(REVISION)) as repository:
        for row in rows:
            service = resolve_service(
                repository, (row["file"],), row["service"], environment=row["host_env"], symbols=_symbols(row)
            )
            (world,) = service.worlds
            if world.outcome is not None and world.outcome.argv is not None and row["argv"] is not None:
                yield row, world


def _check_environment(history: History, step: int) -> None:
    """The container's variables as Compose declares them, and what the entrypoint adds where the row says that."""
    seen = 0
    for row, world in _worlds(history, _rows(step)):
        assert world.outcome is not None
        exported = world.outcome.exported
        got = {name: word.text for name, word in world.outcome.environment.items() if name not in exported}
        declared = {name: value for name, value in row["container_env"].items() if name not in exported}
        assert {name: value for name, value in got.items() if name not in SET_BY_BASH} == declared, _name(row)
        if "exec_env_delta" in row:
            assert {name: word.text for name, word in exported.items()} == row["exec_env_delta"], _name(row)
        seen += 1
    assert seen > 0.8 * len(_rows(step))


def test_environment_of_a_sample(history: History) -> None:
    _check_environment(history, SAMPLE)


@pytest.mark.soak
def test_environment_of_every_row(history: History) -> None:
    _check_environment(history, 1)


def test_scripts_that_ran_before_the_engine_are_steps(history: History) -> None:
    """What real bash was seen to source and to run, in its order."""
    seen = 0
    for row, world in _worlds(history, _rows(SAMPLE)):
        assert world.outcome is not None
        ran = [" ".join(call) for call in row["calls"] if call[0].split()[0] in ("source", "bash")]
        steps = [" ".join(word.text for word in step.run) for step in world.outcome.steps]
        assert [step for step in steps if step in ran] == ran, _name(row)
        seen += len(ran)
    assert seen > 50


def test_dead_seams_of_every_service(history: History) -> None:
    records = [one for one in json.loads((CORPUS / "argv_services.json").read_text()) if "dead_seams" in one]
    assert len(records) > 50
    with opened(history.root, history.commit(REVISION)) as repository:
        for record in records:
            service = resolve_service(repository, (record["file"],), record["service"])
            dead = {seam.name for seam in service.survey.seams if not seam.forwarded}
            assert dead == set(record["dead_seams"]), record["file"]
