"""The index: what the next commit will hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.repositories import Change, IndexTree, NotARepository, last_commit, staged_diff, staged_paths
from bot.tree import UnreadableFile
from tests.repositories.conftest import Repository, created


def test_only_what_is_staged_is_there(repository: Repository) -> None:
    repository.commit({"a.yml": "old", "b.yml": "b", "gone.yml": "x"})
    repository.write({"a.yml": "staged", "new.yml": "new"})
    repository.git("add", "a.yml", "new.yml")
    repository.git("rm", "-q", "gone.yml")
    repository.write({"a.yml": "later", "untracked.yml": "u"})
    with IndexTree(repository.path) as tree:
        assert list(tree.paths()) == ["a.yml", "b.yml", "new.yml"]
        assert (tree.read("a.yml"), tree.read("new.yml"), tree.read("untracked.yml")) == ("staged", "new", None)
    assert staged_paths(repository.path) == (
        Change("a.yml", "modified"),
        Change("gone.yml", "removed"),
        Change("new.yml", "added"),
    )
    shown = staged_diff(repository.path, ["a.yml"])
    assert "-old" in shown
    assert "+staged" in shown
    assert "later" not in shown


def test_a_rename_is_recognised(repository: Repository) -> None:
    repository.commit({"a.yml": "one\ntwo\nthree\n"})
    repository.git("mv", "a.yml", "b.yml")
    assert staged_paths(repository.path) == (Change("b.yml", "renamed", "a.yml"),)


def test_before_the_first_commit_all_is_new(repository: Repository) -> None:
    repository.write({"a.yml": "x\n"})
    repository.git("add", "-A")
    assert last_commit(repository.path) is None
    assert staged_paths(repository.path) == (Change("a.yml", "added"),)
    assert "+x" in staged_diff(repository.path)


def test_a_folder_of_the_checkout_means_all_of_it(repository: Repository) -> None:
    repository.commit({"deploy/a.yml": "a", "b.yml": "b"})
    repository.write({"b.yml": "B"})
    repository.git("add", "-A")
    with IndexTree(repository.path / "deploy") as tree:
        assert list(tree.paths()) == ["b.yml", "deploy/a.yml"]
        assert tree.read("b.yml") == "B"
    assert staged_paths(repository.path / "deploy") == (Change("b.yml", "modified"),)


def test_links_submodules_and_conflicts(repository: Repository, tmp_path: Path) -> None:
    other = created(tmp_path / "other")
    other.commit({"x": "x"})
    first = repository.commit({"a.yml": "one\n", "c.yml": "c"})
    repository.git("checkout", "-q", "-b", "side")
    repository.commit({"a.yml": "two\n"})
    repository.git("checkout", "-q", "main")
    repository.commit({"a.yml": "three\n"})
    (repository.path / "link.yml").symlink_to("c.yml")
    (repository.path / "out.yml").symlink_to("/etc/passwd")
    repository.git("add", "-A")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{first},module")
    repository.git("commit", "-q", "-m", "links")
    with pytest.raises(Exception, match="merge"):
        repository.git("merge", "side")
    with IndexTree(repository.path) as tree:
        assert "module" not in tree.paths()
        assert tree.read("link.yml") == "c"
        with pytest.raises(UnreadableFile):
            tree.read("out.yml")
        assert tree.read("a.yml") in ("one\n", "two\n", "three\n")


def test_the_index_of_a_running_commit_is_the_one_that_counts(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"a.yml": "a"})
    (repository.path / ".git" / "other-index").write_bytes((repository.path / ".git" / "index").read_bytes())
    repository.write({"a.yml": "b"})
    repository.git("add", "-A")
    monkeypatch.chdir(repository.path)
    assert staged_paths(repository.path) == (Change("a.yml", "modified"),)
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/other-index")
    assert staged_paths(repository.path) == ()
    with IndexTree(repository.path) as tree:
        assert tree.read("a.yml") == "a"
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert staged_paths(repository.path) == (Change("a.yml", "modified"),)


def test_no_program_of_the_repository_is_started(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.yml": "a\n"})
    started = tmp_path / "started"
    for name in ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv"):
        repository.git("config", name, f"touch {started}; cat")
    repository.git("config", "diff.evil.command", f"touch {started}")
    repository.write({"a.yml": "b\n"})
    repository.git("add", "-A")
    repository.git("config", "core.fsmonitor", f"touch {started} #")
    repository.write({".gitattributes": "*.yml filter=evil diff=evil\n", "a.yml": "c\n"})
    os.utime(repository.path / "a.yml", (1, 1))
    started.unlink(missing_ok=True)
    assert staged_paths(repository.path) == (Change("a.yml", "modified"),)
    assert "+b" in staged_diff(repository.path)
    with IndexTree(repository.path) as tree:
        assert tree.read("a.yml") == "b\n"
    assert not started.exists()


def test_a_plain_folder_has_no_index(tmp_path: Path) -> None:
    for question in (IndexTree, staged_paths, staged_diff):
        with pytest.raises(NotARepository):
            question(tmp_path)
