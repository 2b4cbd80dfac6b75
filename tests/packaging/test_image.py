"""The Dockerfile, read: no daemon is at hand where the tests run."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
STAGES = re.split(r"(?m)^(?=FROM )", (PROJECT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " "))[1:]
IGNORED = [line for line in (PROJECT / ".dockerignore").read_text(encoding="utf-8").split() if not line.startswith("#")]
SOURCES = [
    source
    for stage in STAGES
    for copied in re.findall(r"(?m)^COPY (?!--from)(.*)$", stage)
    for source in copied.split()[:-1]
]


def _sent(path: str) -> bool:
    """Whether a file is in what a build is given: the last pattern that fits decides."""
    fitting = [line for line in IGNORED if fnmatch(path, line.removeprefix("!"))]
    return not fitting or fitting[-1].startswith("!")


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_copied_is_there_and_not_ignored(source: str) -> None:
    assert (PROJECT / source).exists()
    assert _sent(source)


@pytest.mark.parametrize("path", [".env", ".git", "tests", ".data"])
def test_what_is_private_is_not_sent(path: str) -> None:
    assert not _sent(path)


def test_what_runs_has_nothing_of_development_and_is_not_root() -> None:
    last = STAGES[-1]
    assert re.findall(r"(?m)^USER (.*)$", last) == ["seamguard"]
    assert "HEALTHCHECK" in last
    assert re.findall(r"--from=(\w+)", last) == ["install"]
    (installing,) = (stage for stage in STAGES if " AS install" in stage)
    assert re.findall(r"-r (\S+)", installing) == ["/src/runtime.lock"]
