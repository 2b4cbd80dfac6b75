"""What changed between two revisions."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bot.repositories import git

Status = Literal["added", "modified", "removed", "renamed"]

_RENAMES = ("-M", "-l1000")
_PATCH = ("-p", "--text", "-U3", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/")
_STATUSES: dict[str, Status] = {"A": "added", "D": "removed", "R": "renamed", "C": "added"}


@dataclass(frozen=True, slots=True)
class Change:
    """A file that differs. Statuses are GitHub's words. "renamed" has the `old_path`; its content may differ too."""

    path: str
    status: Status
    old_path: str | None = None


def changed_paths(repository: Path, base: str, head: str) -> tuple[Change, ...]:
    """The files that differ between two commits, sorted, renames recognised.

    Raises `UnknownRevision`, `NotARepository`.
    """
    return _changes(_diff_tree(repository, base, head, "-r", "-z", "--name-status", *_RENAMES))


def _changes(output: bytes) -> tuple[Change, ...]:
    fields = iter(output.decode("utf-8", "replace").split("\0"))
    changes: list[Change] = []
    for code in fields:
        if not code:
            continue
        path = next(fields)
        old_path = None
        if code[0] in "RC":
            old_path, path = path, next(fields)
        changes.append(Change(path, _STATUSES.get(code[0], "modified"), old_path if code[0] == "R" else None))
    return tuple(sorted(changes, key=lambda change: change.path))


def diff(repository: Path, base: str, head: str, paths: Iterable[str] = ()) -> str:
    """The unified diff between two commits, of `paths` (both names of a renamed file) or of everything.

    Always as text, whatever the repository's attributes say. Raises `UnknownRevision`, `NotARepository`.
    """
    return _diff_tree(repository, base, head, "-r", *_PATCH, *_RENAMES, paths=paths).decode("utf-8", "replace")


def staged_paths(repository: Path) -> tuple[Change, ...]:
    """The files that the next commit changes, sorted, renames recognised. Raises `NotARepository`."""
    return _changes(_diff_index(repository, "-z", "--name-status", *_RENAMES))


def staged_diff(repository: Path, paths: Iterable[str] = ()) -> str:
    """The unified diff of the next commit, in the form of `diff`. Raises `NotARepository`."""
    return _diff_index(repository, *_PATCH, *_RENAMES, paths=paths).decode("utf-8", "replace")


def _diff_index(repository: Path, *options: str, paths: Iterable[str] = ()) -> bytes:
    """Of the index alone: files of the checkout, which filters may have to convert, are not read."""
    top = git.work_tree(repository)
    if top is None:
        raise git.NotARepository(repository, "not a checkout of a git repository")
    _, output = git.run(
        top, "diff-index", "--cached", *options, last_commit(top) or _nothing(top), "--", *paths, index=True
    )
    return output


def last_commit(repository: Path) -> str | None:
    """The commit that is checked out; None before the first one. Raises `NotARepository`."""
    try:
        return git.commit(repository, "HEAD")
    except git.UnknownRevision:
        return None


def _nothing(repository: Path) -> str:
    """The id of the empty tree, which git knows without having it."""
    return git.run(repository, "hash-object", "-t", "tree", os.devnull)[1].decode("ascii").strip()


def merge_base(repository: Path, base: str, head: str) -> str | None:
    """The id of the best common ancestor; None when the histories are unrelated.

    Raises `UnknownRevision`, `NotARepository`.
    """
    commits = (git.commit(repository, base), git.commit(repository, head))
    status, output = git.run(repository, "merge-base", *commits, statuses=(0, 1))
    return output.decode("ascii").split("\n", 1)[0] if status == 0 else None


def _diff_tree(repository: Path, base: str, head: str, *options: str, paths: Iterable[str] = ()) -> bytes:
    names = [f"{git.checked(revision)}^{{commit}}" for revision in (base, head)]
    status, output = git.run(repository, "diff-tree", *options, *names, "--", *paths, statuses=(0, 128))
    if status:
        commits = (git.commit(repository, base), git.commit(repository, head))  # says which one is unknown
        _, output = git.run(repository, "diff-tree", *options, *commits, "--", *paths)
    return output
