"""What changed between two revisions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bot.repositories import git

Status = Literal["added", "modified", "removed", "renamed"]

_RENAMES = ("-M", "-l1000")
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
    output = _diff_tree(repository, base, head, "-r", "-z", "--name-status", *_RENAMES)
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
    form = ("-p", "--text", "-U3", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/")
    return _diff_tree(repository, base, head, "-r", *form, *_RENAMES, paths=paths).decode("utf-8", "replace")


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
