"""A review that lacks a release says so, and is repeated when it has been learnt."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.engine import Pin, facts
from bot.github.model import ChangedFile
from bot.hazards import load_rules
from bot.jobs import learning
from bot.jobs.analysis import analyse
from bot.learn.fetch import Listing
from bot.learn.provision import Provision
from bot.tree import MemoryTree
from tests.learn.source_tree import FILES

COMPOSE = "services:\n  a:\n    image: vllm/vllm-openai:v{}\n    command: [Qwen/Qwen3.5-27B]\n"


def lacking(base: str, head: str) -> list[str | None]:
    before, after = (MemoryTree({"compose.yml": COMPOSE.format(release)}) for release in (base, head))
    change = ChangedFile("compose.yml", "modified", "")
    return [pin.release for pin in analyse(before, after, [change], load_rules()).lacking]


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ("0.27.1", "0.28.0", []),
        ("0.28.0", "1.2.3", ["1.2.3"]),
        ("1.2.3", "0.28.0", ["1.2.3"]),
        ("1.2.3", "1.2.3", ["1.2.3"]),
        ("0.28.0", "1.2.3rc1", []),
    ],
)
def test_what_a_review_lacks(base: str, head: str, expected: list[str]) -> None:
    assert lacking(base, head) == expected


async def test_it_is_learnt_in_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAMGUARD_CACHE", str(tmp_path))
    facts.load.cache_clear()
    for name, text in FILES.items():
        file = tmp_path / "source" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    @contextlib.contextmanager
    def tag(release: str) -> Iterator[Path]:
        yield tmp_path / "source"

    def provision(say: Any) -> Provision:
        return Provision(say, offline=False, ask=lambda: Listing("", {}), tag=tag)

    monkeypatch.setattr(learning, "Provision", provision)
    assert await learning.learnt([Pin("x", "1.2.3")])
    assert lacking("0.28.0", "1.2.3") == []
    assert not await learning.learnt([Pin("x", "1.2.3")]), "once"
    facts.load.cache_clear()


async def test_nothing_is_fetched_where_the_network_is_forbidden() -> None:
    assert not await learning.learnt([Pin("x", "1.2.3")])
    assert not await learning.learnt([])
