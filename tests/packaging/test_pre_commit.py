"""The hooks of `.pre-commit-hooks.yaml`, run by real commits as pre-commit runs them: the entry and its arguments, at
the top of the checkout, without names of files.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.repositories import git
from tests.cli.conftest import CORRUPT, PROFILE

ROOT = Path(__file__).parents[2]
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
PAIR = "mtp-prefix-cache-hybrid"
SAFE = CORRUPT.replace("--enable-prefix-caching", "--no-enable-prefix-caching")
UNKNOWN = "services: {e: {image: 'vllm/vllm-openai:v0.25.1', command: [--model, m, --nope]}}\n"
WARNING = "services: {e: {image: 'vllm/vllm-openai:v0.25.1', command: [m, --seed, '1', --seed, '2']}}\n"
SCRIPTED = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    volumes: [./start:/start]
    entrypoint: [bash, /start]
"""
START = "exec vllm serve m {}\n"


class Checkout:
    """A checkout whose commits run a hook first."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "-q", "-b", "main")

    def hook(self, name: str = "seamguard", *arguments: str) -> None:
        file = self.root / ".git" / "hooks" / "pre-commit"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\nexec {shlex.join(self.command(name, *arguments))}\n")
        file.chmod(0o755)

    def command(self, name: str, *arguments: str) -> list[str]:
        """The command line, with the program that an installed package has in place of its name."""
        (hook,) = (hook for hook in HOOKS if hook["id"] == name)
        assert hook["pass_filenames"] is False
        program, *rest = shlex.split(hook["entry"])
        scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
        assert scripts[program] == "bot.cli:main"
        return [sys.executable, "-P", "-m", "bot", *rest, *arguments]

    def run(self, name: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return self._do(self.command(name, *arguments), variables)

    def write(self, files: Mapping[str, str | None]) -> None:
        for name, content in files.items():
            file = self.root / name
            if content is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(content)

    def commit(self, files: Mapping[str, str | None], *options: str) -> subprocess.CompletedProcess[str]:
        self.write(files)
        if not options:
            self.git("add", "-A")
        return self._do(["git", *_NAMED, "commit", "-m", "state", *options], {})

    def git(self, *arguments: str) -> str:
        done = self._do(["git", *_NAMED, *arguments], {})
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def _do(self, command: list[str], variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        environment = {**git.environment(), "PYTHONPATH": str(ROOT), **variables}
        return subprocess.run(
            command, cwd=self.root, env=environment, check=False, capture_output=True, text=True, timeout=60
        )


_NAMED = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.invalid")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """One with a hazard that was always there."""
    found = Checkout(tmp_path / "checkout")
    first = {"models/hare.yml": PROFILE, "compose.yml": SAFE, "old.yml": UNKNOWN, "scripted.yml": SCRIPTED}
    assert found.commit({**first, "start": START.format("")}).returncode == 0
    found.hook()
    return found


def test_what_was_there_before_stops_no_commit(checkout: Checkout) -> None:
    done = checkout.commit({"compose.yml": f"# {SAFE}", "old.yml": f"# a word\n{UNKNOWN}", "README.md": "x"})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"compose.yml": CORRUPT}, f"{PAIR}  compose.yml:9"),
        ({"deploy/new.yml": UNKNOWN}, "deploy/new.yml"),
        ({"start": START.format("--nope")}, "--nope"),
    ],
    ids=["a compose", "a new compose", "a script without an ending"],
)
def test_what_a_commit_brings_stops_it(checkout: Checkout, files: dict[str, str | None], words: str) -> None:
    before = checkout.git("rev-parse", "HEAD")
    done = checkout.commit(files)
    assert done.returncode == 1
    assert words in done.stdout + done.stderr
    assert checkout.git("rev-parse", "HEAD") == before


def test_a_commit_that_only_deletes_is_looked_at(checkout: Checkout) -> None:
    added = checkout.commit({"profiles.env": "MODE=1\n", "scripted.yml": SCRIPTED + "    env_file: [profiles.env]\n"})
    assert added.returncode == 0
    done = checkout.commit({"profiles.env": None})
    assert "scripted.yml" in done.stdout + done.stderr


def test_only_what_is_staged_counts(checkout: Checkout) -> None:
    checkout.write({"compose.yml": CORRUPT, "untracked.yml": UNKNOWN, "README.md": "x"})
    checkout.git("add", "README.md")
    assert checkout.commit({}, "--no-edit").returncode == 0


@pytest.mark.parametrize("options", [["-a"], ["--only", "compose.yml"], ["--include", "compose.yml"]])
def test_a_commit_that_stages_by_itself(checkout: Checkout, options: list[str]) -> None:
    """Git then has the hook look at an index of another name."""
    done = checkout.commit({"compose.yml": CORRUPT}, *options)
    assert done.returncode == 1
    assert PAIR in done.stdout + done.stderr


def test_a_commit_of_other_files_only(checkout: Checkout) -> None:
    checkout.write({"compose.yml": CORRUPT, "old.yml": f"# x\n{UNKNOWN}"})
    checkout.git("add", "-A")
    assert checkout.commit({}, "--only", "old.yml").returncode == 0


def test_the_first_commit(tmp_path: Path) -> None:
    fresh = Checkout(tmp_path / "fresh")
    fresh.hook()
    assert fresh.commit({"compose.yml": CORRUPT, "models/hare.yml": PROFILE}).returncode == 1
    assert fresh.commit({"compose.yml": SAFE}).returncode == 0


def test_arguments_of_the_configuration(checkout: Checkout) -> None:
    checkout.write({"seed.yml": WARNING})
    checkout.git("add", "-A")
    assert checkout.run("seamguard").returncode == 0
    assert checkout.run("seamguard", "--fail-on", "warning").returncode == 1


def test_a_run_between_two_revisions(checkout: Checkout) -> None:
    checkout.git("checkout", "-q", "-b", "topic")
    checkout.commit({"compose.yml": CORRUPT}, "-a", "--no-verify")
    checkout.git("checkout", "-q", "main")
    checkout.commit({"README.md": "x"})
    for new, status in (("topic", 1), ("main", 0)):
        done = checkout.run("seamguard", PRE_COMMIT_FROM_REF="main", PRE_COMMIT_TO_REF=new)
        assert (done.returncode, done.stderr) == (status, "")


def test_the_audit_looks_at_everything(checkout: Checkout) -> None:
    done = checkout.run("seamguard-audit")
    assert (done.returncode, done.stderr) == (1, "")
    assert "old.yml:1" in done.stdout


@pytest.mark.parametrize("options", [[], ["--staged", "--base", "HEAD"], ["--base", "HEAD"], ["--head", "HEAD"]])
def test_one_question_at_a_time(checkout: Checkout, options: list[str]) -> None:
    command = [sys.executable, "-m", "bot", "review", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=checkout.root, env=environment, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")


def test_the_manifest_is_as_pre_commit_wants_it() -> None:
    for hook in HOOKS:
        assert set(hook) <= {
            "id",
            "name",
            "description",
            "entry",
            "language",
            "always_run",
            "pass_filenames",
            "require_serial",
        }
        assert (hook["language"], hook["always_run"], hook["require_serial"]) == ("python", True, True)
        assert f"`{hook['id']}`" in (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
