"""Opens what the options name: a folder, a revision, and the files in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.catalog import read_catalog
from bot.cli.failure import Failure
from bot.cli.hints import unread
from bot.compose import Documents, load_project
from bot.memory import Memory
from bot.printable import printable
from bot.repositories import BlobCache, DirectoryTree, IndexTree, RepositoryError, RevisionTree, git, work_tree
from bot.resolution import Repository
from bot.tree import MemoryTree, Tree, UnreadableFile, text_of

if TYPE_CHECKING:
    from bot.review import Links


@dataclass(frozen=True, slots=True)
class Known:
    """What a process has read of a repository and found in it: the next of its revisions need not find it again."""

    blobs: BlobCache = field(default_factory=BlobCache)
    answers: Memory = field(default_factory=Memory)


@contextmanager
def opened(folder: Path, revision: str | None, known: Known | None = None) -> Iterator[Repository]:
    """A state of the repository in `folder`: its working tree, or a revision without a checkout."""
    if not folder.is_dir():
        raise Failure(f"{folder}: no such folder")
    known = known or Known()
    try:
        if revision is None:
            yield repository(DirectoryTree(folder), known.answers)
            return
        with RevisionTree(folder, revision, known.blobs) as tree:
            yield repository(tree, known.answers)
    except RepositoryError as error:
        raise Failure(str(error)) from error


@contextmanager
def opened_index(folder: Path, known: Known | None = None) -> Iterator[Repository]:
    """What the next commit of the repository around `folder` will hold."""
    known = known or Known()
    try:
        with IndexTree(folder, known.blobs) as tree:
            yield repository(tree, known.answers)
    except RepositoryError as error:
        raise Failure(str(error)) from error


@contextmanager
def opened_nothing() -> Iterator[Repository]:
    """A repository before its first commit."""
    yield repository(MemoryTree({}))


def repository(tree: Tree, memory: Memory | None = None) -> Repository:
    """A tree with its catalog read."""
    return Repository(tree, read_catalog(tree, memory), Documents(tree, relative=True, memory=memory))


def readable(repository: Repository) -> Repository:
    """The same. Raises `Failure` for a configuration that cannot be read: what it would say is not known."""
    configuration = repository.catalog.configuration
    if configuration.unreadable:
        problem = configuration.problems[0]
        raise Failure(f"{problem.position}: {problem.message}")
    return repository


def links_to(folder: Path, revision: str | None, url: str) -> Links:
    """The addresses of a revision, or of the commit that is checked out, below the repository's `url` on GitHub; none
    without one. Raises `Failure`.
    """
    from bot.review import OFFLINE, Links

    if not url:
        return OFFLINE
    try:
        return Links(url.rstrip("/"), git.commit(folder, revision or "HEAD"))
    except RepositoryError as error:
        raise Failure(str(error)) from error


def run_together(repository: Repository, path: str) -> tuple[tuple[str, ...], ...]:
    """The ways in which a compose is started, each the files in `-f` order: with every group of `together:` in the
    configuration that has it, or alone where none does. As in an audit, a group counts when all of its files are there.
    """
    groups = repository.catalog.configuration.together
    held = (files for files in groups if path in files)
    there = [files for files in held if all(_exists(repository.tree, file) for file in files)]
    return tuple(there) or ((path,),)


def _exists(tree: Tree, path: str) -> bool:
    try:
        return tree.read(path) is not None
    except UnreadableFile:
        return True


def tell_unread(repository: Repository, path: str, given: Mapping[str, str]) -> None:
    """Says on stderr which of the host variables that are `given` no file of a compose names: they were mistyped."""
    if not given:
        return
    projects = [load_project(repository.documents, files, given) for files in run_together(repository, path)]
    read = (one.name for project in projects for service in project.services.values() for one in service.reads)
    files = dict.fromkeys((path, *(file for project in projects for file in project.files)))
    for sentence in unread(given, read, (text_of(repository.tree, file) for file in files)):
        click.echo(printable(f"{path}: {sentence}"), err=True)


def around(path: Path) -> tuple[Path, str]:
    """The repository around a path, and the path in it; empty for all of it. Raises `Failure`.

    Without a git work tree, the folder itself is the repository.
    """
    if not path.exists():
        raise Failure(f"{path}: no such file or folder")
    folder = path if path.is_dir() else path.parent
    root = work_tree(folder) or folder
    inside = path.resolve().relative_to(root.resolve()).as_posix()
    return root, "" if inside == "." else inside


def lies(path: str, inside: str) -> bool:
    """Whether a path of a repository is `inside` or below it; an empty `inside` is the whole repository."""
    return not inside or path == inside or path.startswith(f"{inside}/")


def no_compose(path: Path) -> str:
    """That nothing was done, since nothing is there."""
    return (
        f"{path}: no compose is there, so nothing was done (looked for are *.yml and *.yaml files with services, or "
        "those that `composes` in .github/seamguard.yml names)"
    )


def locate(file: str, repo: Path | None) -> tuple[Path, str]:
    """The repository and the path inside it that `file` means.

    With a repository, `file` is a path inside it, or a path on disk that lies inside it. Without, the repository is
    the git work tree around the file, or else the file's folder.
    """
    on_disk = Path(file)
    if repo is None:
        folder = on_disk.resolve().parent
        if not folder.is_dir():
            raise Failure(f"{file}: no such file; name it relative to a repository with --repo DIR")
        root = work_tree(folder) or folder
        return root, on_disk.resolve().relative_to(root.resolve()).as_posix()
    if not on_disk.is_absolute():
        return repo, on_disk.as_posix()
    try:
        return repo, on_disk.resolve().relative_to(repo.resolve()).as_posix()
    except ValueError:
        raise Failure(f"{file}: not inside the repository {repo}") from None
