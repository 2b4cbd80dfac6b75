"""`bot learn`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli.failure import Failure
from bot.cli.learn import learn_command
from bot.engine import facts
from tests.learn.source_tree import FILES


@pytest.fixture
def source(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def run(*arguments: str) -> str:
    result = CliRunner().invoke(learn_command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_release_is_learnt_and_compared(source: Path, tmp_path: Path) -> None:
    output = run("v1.2.3", "--source", str(source), "--output", str(tmp_path / "out"))
    written = json.loads((tmp_path / "out" / "1.2.3.json").read_text(encoding="utf-8"))
    assert written["release"] == "1.2.3"
    first, *rest = output.splitlines()
    assert first.startswith(f"vLLM 1.2.3: {len(written['flags'])} flags, ")
    assert f"Since {facts.releases()[-1]}:" in rest
    assert any(line.startswith("  + --share") for line in rest)
    assert any(line.startswith("  - --max-model-len") for line in rest)
    assert any(line.startswith("  prefix_caching: ") for line in rest), "its definitions are not there"
    assert any(line == "  parse_args" for line in rest), "its parser is not one that was compared"


def test_an_installed_copy_learns_into_the_cache(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAMGUARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("bot.cli.learn.INSTALLED", True)
    run("1.2.4", "--source", str(source))
    assert facts.load("1.2.4").flag("--share") is not None


def test_an_installed_copy_keeps_no_facts_with_gaps(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEAMGUARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("bot.cli.learn.INSTALLED", True)
    (source / "vllm/config/cache.py").unlink()
    with pytest.raises(Failure, match="could not be followed at vllm/"):
        run("1.2.5", "--source", str(source))
    assert not facts.is_known("1.2.5")
    assert "could not be followed" in run("1.2.5", "--source", str(source), "--output", str(tmp_path))


def test_a_folder_that_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="no such file in the source tree"):
        run("1.2.3", "--source", str(tmp_path), "--output", str(tmp_path))


def test_a_version_that_is_none() -> None:
    with pytest.raises(Failure, match="is not a version"):
        run("newest")
