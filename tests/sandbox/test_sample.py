"""The sample history that the demo reviews."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bot.cli.review import review_revisions
from bot.hazards import load_rules
from bot.sandbox import sample_repository


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True).stdout


def test_it_has_two_states_and_is_gone_afterwards() -> None:
    with sample_repository() as root:
        assert _git(root, "tag", "--list").split() == ["after", "before"]
        assert _git(root, "log", "--format=%s", "after").split() == ["after", "before"]
        assert _git(root, "status", "--porcelain") == ""
    assert not root.exists()


def test_it_does_not_depend_on_the_users_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)
    settings = f"[core]\n\thooksPath = {hooks}\n[commit]\n\tgpgSign = true\n[user]\n\tname = Nobody\n"
    (tmp_path / ".gitconfig").write_text(settings)
    monkeypatch.setenv("HOME", str(tmp_path))
    with sample_repository() as root:
        assert set(_git(root, "log", "--all", "--format=%an <%ae>").splitlines()) == {"sample <sample@example.invalid>"}


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_INDEX_FILE"])
def test_it_never_touches_the_repository_in_whose_hook_it_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    monkeypatch.setenv(name, str(tmp_path / ".git" / ("index" if name.endswith("FILE") else "")))
    with sample_repository() as root:
        monkeypatch.delenv(name)
        assert _git(root, "log", "--format=%s").split() == ["after", "before"]
        assert (_git(root, "status", "--porcelain"), _git(tmp_path, "tag", "--list")) == ("", "")


def test_its_change_has_everything_that_a_review_can_tell() -> None:
    with sample_repository() as root:
        outcome = review_revisions(root, "before", "after", load_rules())
    assert outcome.conclusion == "failure"
    worse = {(finding.rule, finding.status, finding.level) for finding in outcome.introduced_or_worsened}
    assert worse == {
        ("mtp-prefix-cache-hybrid", "active", "error"),
        ("default-flip", "active", "error"),
        ("stale-claim", "active", "warning"),
    }
    told = {finding.rule for comment in outcome.comments for finding in (comment.finding, *comment.beside)}
    assert told == {"mtp-prefix-cache-hybrid", "default-flip", "stale-claim"}
    assert outcome.unchanged
    assert {change.property for change in outcome.property_changes} >= {"prefix_caching"}


@pytest.mark.parametrize("side", ["before", "after"])
def test_it_is_read_without_a_problem(side: str) -> None:
    with sample_repository() as root:
        outcome = review_revisions(root, side, side, load_rules())
    assert (outcome.conclusion, outcome.introduced, outcome.fixed) == ("success", (), ())
