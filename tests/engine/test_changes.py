"""The changelog between two releases' facts."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bot.engine.changes import changelog
from bot.engine.facts import load, releases


@pytest.mark.parametrize("version", ["0.11.0", "0.25.1", "0.33.0"])
def test_a_release_does_not_differ_from_itself(version: str) -> None:
    assert changelog(load(version), load(version)) == ()


@pytest.mark.parametrize(
    ("old", "new", "kind", "subject", "text"),
    [
        ("0.19.1", "0.20.0", "changed", "--gpu-memory-utilization", "default 0.9 → 0.92"),
        ("0.27.1", "0.28.0", "changed", "--kv-cache-dtype", "choices: +nvfp4_4over6"),
        ("0.27.1", "0.28.0", "removed", "--calculate-kv-scales", ""),
        ("0.27.1", "0.28.0", "changed", "command line, config_false", '"dropped" → "negated"'),
        ("0.28.0", "0.27.1", "added", "--calculate-kv-scales", ""),
        ("0.32.0", "0.33.0", "changed", "--mamba-cache-mode", 'default "none" → null'),
        ("0.32.0", "0.33.0", "changed", "VLLM_ROCM_USE_AITER_FP8BMM", "default true → false"),
        ("0.11.0", "0.11.1", "changed", "command line, level", '"-O.level" → "-O.mode"'),
        ("0.11.2", "0.12.0", "added", "-O2 compilation_config.cudagraph_mode", ""),
    ],
)
def test_a_change(old: str, new: str, kind: str, subject: str, text: str) -> None:
    found = [change for change in changelog(load(old), load(new)) if change.subject == subject]
    assert (kind, text) in [(change.kind, change.text) for change in found]


def test_a_change_of_a_flag_is_told_once() -> None:
    subjects = [change.subject for change in changelog(load("0.27.1"), load("0.28.0"))]
    assert "CacheConfig.calculate_kv_scales" not in subjects


def test_every_step_between_releases_has_places() -> None:
    known = releases()
    for old, new in pairwise(known):
        for change in changelog(load(old), load(new)):
            assert change.path.startswith(("vllm/", "docker/")), change
            assert change.line is None or change.line > 0, change
