"""Which composes a change can touch."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.catalog import read_catalog
from bot.compose import Documents
from bot.resolution import Repository
from bot.review import affected
from bot.tree import MemoryTree

A = "services:\n  a:\n    image: vllm/vllm-openai:v0.25.1\n    volumes: ['./patches:/patches']\n"
B = "services:\n  b:\n    extends: {file: base/common.yml, service: common}\n"
COMMON = "services:\n  common:\n    image: vllm/vllm-openai:v0.25.1\n"
BEFORE = {"a.yml": A, "b.yml": B, "base/common.yml": COMMON, "patches/fix.py": "1", "README.md": "x"}


def _repository(files: Mapping[str, str]) -> Repository:
    tree = MemoryTree(files)
    return Repository(tree, read_catalog(tree), Documents(tree))


@pytest.mark.parametrize(
    ("changes", "touched"),
    [
        ({"README.md": "y"}, set()),
        ({"a.yml": f"{A}# edited\n"}, {"a.yml"}),
        ({"patches/fix.py": "2"}, {"a.yml"}),
        ({"patches/new.py": "2"}, {"a.yml"}),
        ({"base/common.yml": f"{COMMON}# edited\n"}, {"b.yml", "base/common.yml"}),
        ({".env": "A=1"}, {"a.yml", "b.yml"}),
        ({"b.yml": B.replace("base/", "other/"), "other/common.yml": COMMON}, {"b.yml", "other/common.yml"}),
    ],
    ids=lambda value: " ".join(sorted(value)),
)
def test_a_compose_is_touched_by_the_files_that_it_uses(changes: dict[str, str], touched: set[str]) -> None:
    found = affected(_repository(BEFORE), _repository({**BEFORE, **changes}), changes)
    assert {unit.path for unit in found.base | found.head} == touched


def test_a_file_that_was_missing_touches_the_compose_that_extends_it() -> None:
    before = {name: text for name, text in BEFORE.items() if name != "base/common.yml"}
    found = affected(_repository(before), _repository(BEFORE), ["base/common.yml"])
    assert {unit.path for unit in found.head} == {"b.yml", "base/common.yml"}
