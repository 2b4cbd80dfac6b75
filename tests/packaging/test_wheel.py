"""The installed wheel carries what it needs and works from any folder."""

from __future__ import annotations

import os
import subprocess
import sys
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

from bot import __version__
from bot.hazards import load_rules

ROOT = Path(__file__).parent.parent.parent
MAX_BYTES = 3_000_000


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by hatchling as pip would, without a network or an environment of its own."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    with ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def _metadata(unpacked: Path, file: str) -> str:
    (found,) = unpacked.glob(f"*.dist-info/{file}")
    return found.read_text()


def _below(folder: str) -> set[str]:
    files = (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT / folder).as_posix() for path in files}


def test_it_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size < MAX_BYTES


def test_it_holds_the_package_the_rules_and_the_sample(names: set[str]) -> None:
    assert {f"bot/_rules/{name}" for name in _below("rules")} <= names
    assert {f"bot/{name}" for name in _below("bot")} <= names


def test_it_holds_nothing_else(names: set[str]) -> None:
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"bot"}
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".orig", ".rej", "~"))]


def test_it_says_what_it_is(unpacked: Path) -> None:
    metadata = Parser().parsestr(_metadata(unpacked, "METADATA"))
    assert (metadata["Name"], metadata["Version"], metadata["License-Expression"]) == (
        "seamguard",
        __version__,
        "Apache-2.0",
    )
    assert "seamguard = bot.cli:main" in _metadata(unpacked, "entry_points.txt")
    assert _metadata(unpacked, "licenses/LICENSE") == (ROOT / "LICENSE").read_text()


def _run(unpacked: Path, where: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(unpacked), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=where, env=environment, check=False, capture_output=True, text=True, encoding="utf-8", timeout=60
    )


def test_it_is_itself_that_runs(unpacked: Path, tmp_path: Path) -> None:
    done = _run(unpacked, tmp_path, "-c", "import bot, bot.rules; print(bot.__file__); print(bot.rules.RULES)")
    assert done.stdout.splitlines() == [str(unpacked / "bot" / "__init__.py"), str(unpacked / "bot" / "_rules")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--help"], "Commands:"),
        (["--version"], __version__),
        (["explain", "mtp-prefix-cache-hybrid"], "# "),
        (["demo"], "mtp-prefix-cache-hybrid"),
        (["audit"], "No findings"),
        (["inspect", "engine", "--release", "0.28.0", "--", "serve", "m"], '"release": "0.28.0"'),
    ],
)
def test_it_works_from_another_folder(unpacked: Path, tmp_path: Path, arguments: list[str], words: str) -> None:
    (tmp_path / "compose.yml").write_text("services: {e: {image: 'vllm/vllm-openai:v0.25.1', command: [--model, m]}}\n")
    done = _run(unpacked, tmp_path, "-m", "bot", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert words in done.stdout


def test_it_has_every_rule_and_release(unpacked: Path, tmp_path: Path) -> None:
    program = (
        "from bot.hazards import load_rules; from bot.engine import facts;"
        "print(*sorted(load_rules().ids)); print(*facts.releases())"
    )
    rules, releases = _run(unpacked, tmp_path, "-c", program).stdout.splitlines()
    assert rules.split() == sorted(load_rules().ids)
    assert {"0.25.1", "0.27.1", "0.28.0"} <= set(releases.split())


def test_it_reads_its_rules_where_nothing_can_be_written(unpacked: Path, tmp_path: Path) -> None:
    """Installed files belong to somebody else: no command may need to write beside them."""
    before = {path: path.stat().st_mtime_ns for path in unpacked.rglob("*")}
    assert _run(unpacked, tmp_path, "-m", "bot", "demo").returncode == 0
    assert {path: path.stat().st_mtime_ns for path in unpacked.rglob("*")} == before
    assert list(tmp_path.iterdir()) == []
