"""The command line, against answers that the releases' own parsers gave (see `tests/differential`)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.engine.commandline import parse
from bot.engine.facts import load
from bot.provenance import Word
from tests.corpus import CORPUS, needs_corpus
from tests.engine.parser_answers import difference, read

ANSWERS = [
    json.loads(line) for line in Path(__file__).with_name("vllm_answers.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("release", sorted({row["release"] for row in ANSWERS}))
def test_reads_as_the_release_does(release: str) -> None:
    rows = [row for row in ANSWERS if row["release"] == release]
    differing = {f"{row['argv']} {row['files'] or ''}": difference(row, row["answer"]) for row in rows}
    assert {question: text for question, text in differing.items() if text is not None} == {}


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
