"""Facts that were learnt on this machine."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.engine import cache, facts


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAMGUARD_CACHE", str(tmp_path))
    facts.load.cache_clear()


def text(version: str) -> str:
    return (facts.RELEASES / "0.28.0.json").read_text(encoding="utf-8").replace('"0.28.0"', f'"{version}"', 1)


def test_a_learnt_release_has_facts() -> None:
    assert not facts.is_known("0.99.1")
    path = cache.write("0.99.1", text("0.99.1"))
    assert path.parent == cache.folder()
    assert facts.is_known("0.99.1")
    assert facts.load("0.99.1").version == "0.99.1"
    assert "0.99.1" not in facts.releases(), "what a pin without a release is asked of is the same on every machine"


def test_the_rules_come_first() -> None:
    cache.write("0.28.0", "nonsense")
    assert facts.load("0.28.0").version == "0.28.0"


@pytest.mark.parametrize("content", ["nonsense", "[]", '{"schema": 99, "release": "0.99.2"}', "{}", '{"schema": 1}'])
def test_a_file_that_is_no_release_file_is_not_known(content: str) -> None:
    cache.write("0.99.2", content)
    assert not facts.is_known("0.99.2")


@pytest.mark.parametrize("version", ["../0.28.0", "", ".x", "0/1", "x", "0" * 80])
def test_names_that_are_no_versions(version: str) -> None:
    assert cache.read(version) is None
    assert not facts.is_known(version)
    with pytest.raises(ValueError, match="is not a version"):
        cache.write(version, "")


def test_the_folder_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_FILES", 2)
    for number in range(4):
        os.utime(cache.write(f"0.90.{number}", "x"), (number, number))
    assert {path.stem for path in cache.folder().iterdir()} == {"0.90.2", "0.90.3"}


def test_what_another_version_learnt_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write("0.99.4", text("0.99.4"))
    monkeypatch.setattr(cache, "_form", lambda: "0-0.0.0-none")
    assert not facts.is_known("0.99.4")
    monkeypatch.setattr(cache, "MAX_FILES", 1)
    cache.write("0.99.5", text("0.99.5"))
    assert [path.name for path in cache.folder().parent.glob("*/*.json")] == ["0.99.5.json"], "nor kept for ever"


def test_processes_that_write_at_once(tmp_path: Path) -> None:
    """A reader finds a whole file, whichever, and nothing is left over."""
    texts = [text("0.99.6"), text("0.99.6") + " "]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: cache.write("0.99.6", texts[number % 2]), range(20)))
        assert cache.read("0.99.6") in texts
    assert [path.name for path in cache.folder().iterdir()] == ["0.99.6.json"]


@pytest.mark.parametrize("content", ["nonsense", "[]", "{}", '{"why": "x"}', '{"until": "soon", "why": "x"}'])
def test_a_note_that_is_none(content: str) -> None:
    cache.refuse("0.99.7", "no such release", 60)
    assert cache.refusal("0.99.7") == "no such release"
    (cache.folder() / "0.99.7.none").write_text(content)
    assert cache.refusal("0.99.7") is None


def test_a_note_is_forgotten() -> None:
    cache.refuse("0.99.8", "no such release", -1)
    assert cache.refusal("0.99.8") is None


def test_a_file_that_is_too_big_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write("0.99.3", text("0.99.3"))
    monkeypatch.setattr(cache, "MAX_FILE_BYTES", 100)
    assert cache.read("0.99.3") is None


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "seamguard/releases"),
        ("win32", "LOCALAPPDATA", "seamguard/releases"),
        ("darwin", "HOME", "Library/Caches/seamguard/releases"),
    ],
)
def test_the_folder_of_the_platform(
    platform: str, variable: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SEAMGUARD_CACHE")
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert cache.folder().parent == tmp_path / expected
