"""The command line, against answers that the releases' own parsers gave (see `tests/differential`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.engine.commandline import CommandLine, parse
from bot.engine.conversion import holds_unknown
from bot.engine.facts import Facts, load
from bot.provenance import Word
from tests.corpus import CORPUS, needs_corpus

ANSWERS = [
    json.loads(line) for line in Path(__file__).with_name("vllm_answers.jsonl").read_text(encoding="utf-8").splitlines()
]

ENGINE_STAGE = ("speculative_config", "diffusion_config")
"""Settings that the parser takes as they are; the engine refuses them later, which the recorded answers leave out."""


def read(row: dict[str, Any]) -> CommandLine:
    return parse([Word(text) for text in row["argv"]], load(row["release"]), row["files"], all_files=True)


def refusals(line: CommandLine) -> list[str]:
    """The errors of the parser and of fields, without those of later stages."""
    return [
        error.message
        for error in line.errors
        if not error.message.startswith(ENGINE_STAGE)
        and "mutually exclusive" not in error.message
        and "requires" not in error.message
    ]


def usual(facts: Facts, dest: str, key: str) -> Any:
    config = facts.config(facts.dests[dest].converter.removeprefix("config:"))
    return config.fields[key].default.value if config and key in config.fields else None


def same(mine: Any, real: Any, facts: Facts, dest: str) -> bool:
    """Whether two values mean the same: members of enums by name, JSON by the keys that were given."""
    if holds_unknown(mine):
        return True
    if isinstance(mine, dict) and isinstance(real, dict) and facts.dests[dest].converter.startswith("config:"):
        return all(same(value, real.get(key, usual(facts, dest, key)), facts, dest) for key, value in mine.items())
    if isinstance(real, str) and (real.startswith("PosixPath(") or (mine is None and real.lower() == "auto")):
        return True
    return bool(mine == real) or str(mine).lower().lstrip("o") == str(real).lower().lstrip("o")


@pytest.mark.parametrize("row", ANSWERS, ids=lambda row: f"{row['release']}-{' '.join(row['argv'])[:60]}")
def test_reads_as_the_release_does(row: dict[str, Any]) -> None:
    line, answer, facts = read(row), row["answer"], load(row["release"])
    refused = {dest: text for dest, text in answer.get("refused", {}).items() if dest not in ENGINE_STAGE}
    if "error" in answer or refused:
        assert refusals(line), answer
        return
    assert refusals(line) == []
    given = dict(answer["set"])
    tag = given.pop("model_tag", None)
    if tag is not None and row["argv"][:1] == ["serve"]:
        given["model"] = tag
    given.pop("config", None)
    for dest, real in given.items():
        if dest in ENGINE_STAGE:
            assert dest in line.settings
            continue
        assert same(line.settings[dest].value, real, facts, dest), dest


@needs_corpus
def test_sees_the_errors_of_the_corpus() -> None:
    """Real vLLM's errors, but those that only the model or the whole configuration decides."""
    later = ("Unsupported speculative method", "provided but without speculative model")
    for text in (CORPUS / "engine_cases.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(text)
        expected = row["expect"].get("error")
        if expected and any(part in expected["text"] for part in later):
            continue
        assert bool(read(row).errors) == bool(expected), row["id"]


@needs_corpus
def test_reads_the_argvs_of_a_real_repository() -> None:
    """Every argument that its composes give to 0.25.1 exists; what is refused are the seams' deliberate bad values."""
    facts = load("0.25.1")
    rows = map(json.loads, (CORPUS / "argv_oracle.jsonl").read_text(encoding="utf-8").splitlines())
    argvs = {tuple(row["argv"][1:]) for row in rows if row["argv"] and row["image"].endswith("v0.25.1")}
    assert argvs
    for argv in argvs:
        line = parse([Word(text) for text in argv], facts)
        for error in line.errors:
            assert error.kind == "invalid-value", error
            assert "num_spec" in error.argument, error
