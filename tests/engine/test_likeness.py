"""One command line asked of all releases: those that read it alike are read once, and nothing changes by it."""

from __future__ import annotations

import pytest

from bot.engine.commandline import parse
from bot.engine.facts import load, releases
from bot.engine.likeness import asked
from bot.provenance import Word
from tests.differential.vllm_requests import FILES, TRAPS

QUESTIONS: list[tuple[list[str], dict[str, str]]] = [([*words], {}) for words in TRAPS] + [
    (["--config", "f.yaml"], {"f.yaml": text}) for text in FILES
]


@pytest.mark.parametrize(("words", "files"), QUESTIONS, ids=str)
def test_sharing_changes_no_answer(words: list[str], files: dict[str, str]) -> None:
    argv = [Word(text) for text in ("serve", "m", *words)]
    together = tuple(argv)
    for version in releases():
        facts = load(version)
        assert parse(together, facts, files) == parse(argv.copy(), facts, files), version


def test_releases_that_read_a_line_alike_share_its_reading() -> None:
    argv = tuple(Word(text) for text in ("serve", "m", "--max-model-len", "4096", "--enforce-eager"))
    readings = [id(parse(argv, load(version))) for version in releases()]
    assert len(set(readings)) < len(readings) / 2


def test_the_next_command_line_is_another_question() -> None:
    first, second = ((Word("serve"),) for _ in range(2))
    assert asked(first, {}, False) is asked(first, {}, False)
    assert asked(first, {}, False) is not asked(first, {"f.yaml": ""}, False)
    assert asked(first, {}, False) is not asked(first, {}, True)
    assert asked(first, {}, False) is not asked(second, {}, False)
    mutable = [Word("serve")]
    assert asked(mutable, {}, False) is not asked(mutable, {}, False)
