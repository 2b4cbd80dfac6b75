from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.repositories import DirectoryTree, RepositoryError, directory
from bot.tree import UnreadableFile
from tests.repositories.conftest import Repository


def test_lists_tracked_and_new_files_and_reads_ignored_ones(repository: Repository) -> None:
    repository.commit({"tracked.yml": "1", "gone.yml": "1", ".gitignore": ".env\nbuild/\n"})
    repository.write({"new.yml": "1", ".env": "A=1\n", "build/x.yml": "1"})
    (repository.path / "gone.yml").unlink()
    tree = DirectoryTree(repository.path)
    assert list(tree.paths()) == [".gitignore", "new.yml", "tracked.yml"]
    assert tree.read(".env") == "A=1\n"
    assert tree.read("gone.yml") is None


def test_a_folder_of_a_checkout_is_its_own_root(repository: Repository) -> None:
    repository.commit({"above.yml": "1", "sub/below.yml": "2"})
    tree = DirectoryTree(repository.path / "sub")
    assert list(tree.paths()) == ["below.yml"]
    assert tree.read("../above.yml") is None


def test_a_folder_that_git_ignores_is_walked(repository: Repository) -> None:
    repository.commit({".gitignore": "scratch/\n"})
    repository.write({"scratch/compose.yml": "1"})
    assert list(DirectoryTree(repository.path / "scratch").paths()) == ["compose.yml"]


def test_a_plain_folder_skips_what_others_installed(tmp_path: Path) -> None:
    for name in ("a.yml", ".git/b.yml", "node_modules/c.yml", "x/.venv/d.yml", "env/pyvenv.cfg", "env/lib/e.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    assert list(DirectoryTree(tmp_path).paths()) == ["a.yml"]


def test_variables_of_a_hook_do_not_redirect(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit({"a.yml": "1"})
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    repository.write({"b.yml": "2"})
    assert list(DirectoryTree(repository.path).paths()) == ["a.yml", "b.yml"]


def test_a_pipe_does_not_stop_the_reader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yml")
    tree = DirectoryTree(tmp_path)
    assert list(tree.paths()) == []
    with pytest.raises(UnreadableFile, match="regular"):
        tree.read("pipe.yml")


def test_links_into_gits_own_data_are_refused(repository: Repository) -> None:
    (repository.path / "config.yml").symlink_to(".git/config")
    with pytest.raises(UnreadableFile, match="leaves"):
        DirectoryTree(repository.path).read("config.yml")


def test_too_many_files_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory, "MAX_FILES", 2)
    for name in "abc":
        (tmp_path / name).write_text("")
    with pytest.raises(RepositoryError, match="more than 2 files"):
        list(DirectoryTree(tmp_path).paths())


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="no such directory"):
        DirectoryTree(tmp_path / "nothing")


def test_names_that_cannot_be_printed_are_left_out(tmp_path: Path) -> None:
    for name in (b"good.yml", b"bad\xff.yml", b"two\nlines.yml"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("")
    assert list(DirectoryTree(tmp_path).paths()) == ["good.yml"]
