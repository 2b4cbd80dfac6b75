"""Refusals are remembered for words that come again; they must not hold on to whoever asked."""

from __future__ import annotations

import gc
import weakref

import pytest

from bot.engine import Launch, Model, Pin, resolve
from bot.provenance import Word


@pytest.mark.parametrize(
    "words",
    [
        ("serve", "m", "--max-model-len", "many"),
        ("serve", "m", "--dtype", "float3"),
        ("serve", "m", "--compilation-config", '{"nonsense": 1}'),
        ("serve", "m", "--gpu-memory-utilization", "7"),
    ],
)
def test_a_refusal_lets_go_of_the_launch(words: tuple[str, ...]) -> None:
    def ask() -> tuple[weakref.ref[_Asker], int]:
        asker = _Asker()
        return weakref.ref(asker), asker.ask(words)

    for _ in range(2):  # found, and remembered
        asker, errors = ask()
        gc.collect()
        assert errors
        assert asker() is None


class _Asker:
    """Somebody whose frame is alive while the launch is resolved."""

    def ask(self, words: tuple[str, ...]) -> int:
        launch = Launch(tuple(map(Word, words)), {}, Pin("x", "0.25.1"), Model())
        return len(resolve(launch).errors)
