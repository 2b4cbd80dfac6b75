"""When a value is the one that is claimed."""

from __future__ import annotations

import pytest

from bot.claims import same_cache, same_count, same_release


@pytest.mark.parametrize(
    ("words", "claimed", "value", "same"),
    [
        ("131072 ctx", 131072, 131072, True),
        ("131072 ctx", 131072, 131071, False),
        ("128K ctx", 128_000, 131_072, True),
        ("128K ctx", 128_000, 128_000, True),
        ("131K ctx", 131_000, 131_072, True),
        ("262K ctx", 262_000, 262_144, True),
        ("256K ctx", 256_000, 262_144, True),
        ("1M ctx", 1_000_000, 1_048_576, True),
        ("32K ctx", 32_000, 131_072, False),
        ("65K ctx", 65_000, 32_768, False),
        ("3", 3, 4, False),
        ("3", 3, "3", None),
        ("1", 1, True, None),
    ],
)
def test_numbers(words: str, claimed: int, value: object, same: bool | None) -> None:
    assert same_count(claimed, value, words, approximate=False) is same


def test_about_a_number_is_within_a_tenth() -> None:
    assert same_count(120_000, 131_072, "~120K", approximate=True)
    assert not same_count(120_000, 262_144, "~120K", approximate=True)


@pytest.mark.parametrize(
    ("claimed", "value", "same"),
    [
        ("fp8", "fp8_e4m3", True),
        ("fp8_e4m3", "fp8", True),
        ("fp8_e5m2", "fp8", False),
        ("fp8_e4m3", "fp8_e5m2", False),
        ("16 bits", "auto", True),
        ("16 bits", "fp8", False),
        ("int8", "int8_per_token_head", True),
        ("turboquant", "turboquant_4bit_nc", True),
        ("nvfp4", "fp8", False),
        ("fp8", "something_new", None),
        ("fp8", None, None),
    ],
)
def test_cache_formats(claimed: str, value: object, same: bool | None) -> None:
    assert same_cache(claimed, value) is same


@pytest.mark.parametrize(
    ("claimed", "release", "same"),
    [("0.25.1", "0.25.1", True), ("0.25", "0.25.1", True), ("0.2", "0.25.1", False), ("0.25.1", "0.25.10", False)],
)
def test_releases(claimed: str, release: str, same: bool) -> None:
    assert same_release(claimed, release) is same
