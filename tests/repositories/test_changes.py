from __future__ import annotations

from pathlib import Path

import pytest
from unidiff.patch import PatchSet

from bot.repositories import Change, NotARepository, UnknownRevision, changed_paths, diff, merge_base
from tests.repositories.conftest import Repository

LONG = "".join(f"line {number}\n" for number in range(40))


@pytest.fixture
def history(repository: Repository) -> tuple[Repository, str, str]:
    base = repository.commit(
        {"same.yml": "1", "edited.yml": "1\n", "gone.yml": "1\n", "old/name ä.yml": LONG, "kind": "x"}
    )
    (repository.path / "old" / "name ä.yml").rename(repository.path / "renamed.yml")
    (repository.path / "gone.yml").unlink()
    (repository.path / "kind").unlink()
    (repository.path / "kind").symlink_to("same.yml")
    head = repository.commit({"edited.yml": "2\n", "new.yml": "something else\n", "renamed.yml": LONG + "more\n"})
    return repository, base, head


def test_changes_with_renames(history: tuple[Repository, str, str]) -> None:
    repository, base, head = history
    assert changed_paths(repository.path, base, head) == (
        Change("edited.yml", "modified"),
        Change("gone.yml", "removed"),
        Change("kind", "modified"),
        Change("new.yml", "added"),
        Change("renamed.yml", "renamed", "old/name ä.yml"),
    )
    assert changed_paths(repository.path, head, head) == ()


def test_diff_is_unified_and_limited_to_paths(history: tuple[Repository, str, str]) -> None:
    repository, base, head = history
    repository.git("config", "diff.noprefix", "true")
    whole = PatchSet(diff(repository.path, base, head))
    assert {file.path for file in whole} == {"edited.yml", "gone.yml", "kind", "new.yml", "renamed.yml"}
    part = PatchSet(diff(repository.path, base, head, ["renamed.yml", "old/name ä.yml"]))
    assert [(file.path, file.is_rename, file.added, file.removed) for file in part] == [("renamed.yml", True, 1, 0)]


def test_attributes_cannot_hide_a_diff(repository: Repository) -> None:
    base = repository.commit({".gitattributes": "*.yml -diff\n", "a.yml": "1\n"})
    head = repository.commit({"a.yml": "2\n"})
    assert "-1\n+2\n" in diff(repository.path, base, head)


def test_paths_are_literal(repository: Repository) -> None:
    base = repository.commit({"a.yml": "1\n", "*.yml": "1\n"})
    head = repository.commit({"a.yml": "2\n", "*.yml": "2\n"})
    assert [file.path for file in PatchSet(diff(repository.path, base, head, ["*.yml"]))] == ["*.yml"]


def test_merge_base(repository: Repository) -> None:
    fork = repository.commit({"a": "1"})
    ours = repository.commit({"a": "2"})
    repository.git("checkout", "-qb", "topic", fork)
    theirs = repository.commit({"b": "1"})
    assert merge_base(repository.path, ours, theirs) == fork
    assert merge_base(repository.path, "main", "topic") == fork
    repository.git("checkout", "-q", "--orphan", "unrelated")
    repository.commit({"c": "1"})
    assert merge_base(repository.path, "main", "unrelated") is None


@pytest.mark.parametrize("pair", [("main", "nothing"), ("nothing", "main"), ("-p", "main"), ("main", "--output=x")])
def test_unknown_revisions(repository: Repository, pair: tuple[str, str]) -> None:
    repository.commit({"a": "1"})
    for question in (changed_paths, diff, merge_base):
        with pytest.raises(UnknownRevision):
            question(repository.path, *pair)


def test_not_a_repository(tmp_path: Path) -> None:
    for question in (changed_paths, diff, merge_base):
        with pytest.raises(NotARepository):
            question(tmp_path, "a", "b")
