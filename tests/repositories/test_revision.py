from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.repositories import BlobCache, NotARepository, RepositoryError, RevisionTree, UnknownRevision, git, work_tree
from tests.repositories.conftest import Repository


@pytest.mark.parametrize("name", ["main", "HEAD", "v1", "annotated", "main~0"])
def test_any_name_of_a_commit_will_do(repository: Repository, name: str) -> None:
    commit = repository.commit({"a.yml": "1"})
    repository.git("tag", "v1")
    repository.git("tag", "-a", "annotated", "-m", "note")
    for revision in (name, commit, commit[:10]):
        with RevisionTree(repository.path, revision) as tree:
            assert (tree.commit, tree.read("a.yml")) == (commit, "1")


@pytest.mark.parametrize(
    "revision",
    ["nothing", "", "-x", "--output=x", "main:a.yml", "main\nHEAD", "\0", "HEAD~9", "f" * 40, "a..b", "main "],
)
def test_unknown_revisions_say_what_to_do(repository: Repository, revision: str) -> None:
    repository.commit({"a.yml": "1"})
    with pytest.raises(UnknownRevision, match=r"git fetch|give a branch"):
        RevisionTree(repository.path, revision)


def test_a_repository_without_commits(repository: Repository) -> None:
    with pytest.raises(UnknownRevision):
        RevisionTree(repository.path, "HEAD")


@pytest.mark.parametrize("name", ["", "nothing", "file"])
def test_not_a_repository(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotARepository, match="give the path of one"):
        RevisionTree(tmp_path / name, "HEAD")


def test_git_is_missing(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(RepositoryError, match="not installed"):
        RevisionTree(repository.path, "HEAD")


def test_a_folder_of_a_clone_reads_from_the_root(repository: Repository) -> None:
    repository.commit({"a.yml": "1", "sub/b.yml": "2"})
    with RevisionTree(repository.path / "sub", "HEAD") as tree:
        assert list(tree.paths()) == ["a.yml", "sub/b.yml"]
    assert work_tree(repository.path / "sub") == repository.path


def test_the_checkout_does_not_matter(repository: Repository) -> None:
    repository.commit({"a.yml": "1"})
    repository.write({"a.yml": "2", "b.yml": "3"})
    with RevisionTree(repository.path, "HEAD") as tree:
        assert (tree.read("a.yml"), tree.read("b.yml")) == ("1", None)


def test_unchanged_files_are_read_once(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    base = repository.commit({"same.yml": "1", "other.yml": "1", "changed.yml": "old"})
    head = repository.commit({"changed.yml": "new"})
    cache = BlobCache()
    with RevisionTree(repository.path, base, cache) as before, RevisionTree(repository.path, head, cache) as after:
        assert before.read("same.yml") == "1"
        with monkeypatch.context() as patch:
            patch.setattr("bot.repositories.objects.ObjectReader.read", None)
            assert after.read("same.yml") == after.read("other.yml") == "1"
        assert (before.read("changed.yml"), after.read("changed.yml")) == ("old", "new")
        assert before.identity("same.yml") == after.identity("other.yml") is not None
        assert before.identity("changed.yml") != after.identity("changed.yml")
        assert before.identity("missing.yml") is None


def test_the_cache_forgets_the_oldest() -> None:
    cache = BlobCache(limit=10)
    for blob in ("a", "b", "c"):
        cache.put(blob, "12345")
    assert [cache.get(blob) for blob in ("a", "b", "c")] == [None, "12345", "12345"]


def test_submodules_are_left_out(repository: Repository) -> None:
    head = repository.commit({"a.yml": "1"})
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{head},module")
    repository.git("commit", "-qm", "module")
    with RevisionTree(repository.path, "HEAD") as tree:
        assert list(tree.paths()) == ["a.yml"]
        assert tree.read("module") is None
        assert not tree.is_directory("module")


def test_a_closed_tree_has_no_process_and_can_go_on(repository: Repository) -> None:
    repository.commit({"a.yml": "1", "b.yml": "2"})
    with RevisionTree(repository.path, "HEAD") as tree:
        tree.read("a.yml")
        process = tree._objects._process
        assert process is not None
    assert process.returncode is not None
    assert tree.read("b.yml") == "2"
    tree.close()


def test_a_damaged_repository_is_an_error(repository: Repository) -> None:
    repository.commit({"a.yml": "content that is damaged later"})
    with RevisionTree(repository.path, "HEAD") as tree:
        blob = tree.identity("a.yml")
        assert blob is not None
        file = repository.path / ".git" / "objects" / blob[:2] / blob[2:]
        file.chmod(0o600)
        file.write_bytes(b"nonsense")
        with pytest.raises(Exception, match=r"damaged|does not hold"):
            tree.read("a.yml")


def test_replacement_objects_are_not_followed(repository: Repository) -> None:
    true = repository.commit({"a.yml": "true"})
    false = repository.commit({"a.yml": "false"})
    repository.git("replace", true, false)
    with RevisionTree(repository.path, true) as tree:
        assert tree.read("a.yml") == "true"


def test_the_repositorys_configuration_starts_nothing(repository: Repository, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> {trace}\ncat\n')
    program.chmod(0o700)
    base = repository.commit({"a.yml": "1", ".gitattributes": "*.yml diff=spy filter=spy\n"})
    head = repository.commit({"a.yml": "2"})
    for key in ("core.fsmonitor", "diff.external", "diff.spy.command", "diff.spy.textconv", "filter.spy.smudge",
                "filter.spy.clean", "core.pager", "core.sshCommand", "core.editor"):  # fmt: skip
        repository.git("config", key, str(program))
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout"):
        os.symlink(program, hooks / name)
    repository.git("config", "core.hooksPath", str(hooks))
    trace.unlink(missing_ok=True)

    from bot.repositories import DirectoryTree, changed_paths, diff

    assert list(DirectoryTree(repository.path).paths())
    with RevisionTree(repository.path, head) as tree:
        assert tree.read("a.yml") == "2"
    assert changed_paths(repository.path, base, head)
    assert "+2" in diff(repository.path, base, head, ["a.yml"])
    assert not trace.exists()


def test_an_endless_answer_is_refused(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit({f"{number}.yml": "" for number in range(50)})
    monkeypatch.setattr(git, "MAX_OUTPUT_BYTES", 1000)
    with pytest.raises(RepositoryError, match="more than 1000 bytes"):
        RevisionTree(repository.path, "HEAD")
