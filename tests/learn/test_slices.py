"""The part of a function that decides one field."""

from __future__ import annotations

import pytest

from bot.learn.anchors import fingerprint
from bot.learn.source import SourceTree

BASE = """
class Config:
    def __post_init__(self):
        self.prepare()
        kind = self.model.kind
        if self.model.broken:
            raise ValueError("no")
        if kind == "hybrid":
            self.cache.enable = False
        elif self.mode == "x":
            self.cache.size = 3
        self.scheduler.mode = "y"

    def prepare(self):
        self.other = 1
"""


def hashed(text: str, field: str = "enable") -> str:
    source = SourceTree({"vllm/config/vllm.py": text}.get)
    return fingerprint(source, f"vllm/config/vllm.py:Config.__post_init__#{field}")[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('raise ValueError("no")', 'raise ValueError("never")'),
        ("self.cache.size = 3", "self.cache.size = 4"),
        ('self.scheduler.mode = "y"', 'self.scheduler.mode = "z"'),
        ("self.other = 1", "self.other = 2"),
        ("if self.model.broken:", "if self.model.very_broken:"),
    ],
)
def test_what_does_not_bear_on_the_field(old: str, new: str) -> None:
    assert hashed(BASE.replace(old, new)) == hashed(BASE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.cache.enable = False", "self.cache.enable = None"),
        ('kind == "hybrid"', 'kind == "mamba"'),
        ("self.model.kind", "self.model.sort"),
        ("self.other = 1", "self.cache.enable = True"),
        ("self.other = 1", "setattr(self.cache, name, True)"),
        ('raise ValueError("no")', "return"),
        ('self.scheduler.mode = "y"', "platform.update(self)"),
        ('self.scheduler.mode = "y"', "self.cache.reset_all()"),
        ('self.scheduler.mode = "y"', "self.cache = Cache(enable=True, size=3)"),
    ],
)
def test_what_bears_on_the_field(old: str, new: str) -> None:
    assert hashed(BASE.replace(old, new)) != hashed(BASE)


def test_each_field_has_a_slice_of_its_own() -> None:
    assert hashed(BASE, "size") != hashed(BASE, "enable")
    moved = BASE.replace("self.cache.size = 3", "self.cache.size = 4")
    assert hashed(moved, "size") != hashed(BASE, "size")
