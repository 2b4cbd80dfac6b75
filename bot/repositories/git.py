"""Running git on a repository that is not trusted.

Only commands that read objects or list files are run, never one that needs hooks, filters or the network, and every
setting by which a repository's own configuration could make these commands start a program is overruled.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

MAX_OUTPUT_BYTES = 64 * 1024 * 1024
"""What one command may print: the listing of some 600,000 files. A larger answer is refused rather than held."""

TIMEOUT_SECONDS = 60.0
"""For a command that prints nothing more: reading local objects takes milliseconds."""

_CHUNK_BYTES = 1024 * 1024

_OVERRULED = (
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "core.quotePath=false",
    # Git refuses a repository of another user because its configuration could start programs. Nothing here lets it,
    # and checkouts in CI containers often belong to another user.
    "-c",
    "safe.directory=*",
)

_INDEX = "GIT_INDEX_FILE"

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    # A partial clone would fetch what is missing, by a program that its configuration names.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}


class RepositoryError(Exception):
    """The repository cannot answer. The message says why, and what to do about it."""


class NotARepository(RepositoryError):
    """The path is not inside a git repository."""

    def __init__(self, path: Path, why: str = "not a git repository") -> None:
        super().__init__(f"{path}: {why}; revisions are read from a clone, so give the path of one")
        self.path = path


class UnknownRevision(RepositoryError):
    """The revision names no commit of this repository."""

    def __init__(self, revision: str) -> None:
        super().__init__(
            f"{revision!r} names no commit of this repository; is it fetched (`git fetch origin {revision}`), "
            "or cut off by a shallow clone (`git fetch --unshallow`)?"
        )
        self.revision = revision


class InvalidRevision(UnknownRevision):
    """The revision is no name at all: empty, with control characters, or with a dash at its start."""

    def __init__(self, revision: str) -> None:
        RepositoryError.__init__(self, f"{revision!r} is not the name of a revision; give a branch, a tag or a commit")
        self.revision = revision


def command(repository: Path, *arguments: str) -> list[str]:
    """The command line for `git <arguments>` in `repository`."""
    return ["git", "-C", str(repository), *_OVERRULED, *arguments]


def environment(*, index: bool = False) -> dict[str, str]:
    """The process environment for git: the caller's, without variables that redirect git (as hooks have them).

    `index` keeps the one that names another index: in a hook, what is about to be committed stands there.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    named = os.environ.get(_INDEX, "") if index else ""
    if named and os.path.isfile(named):
        inherited[_INDEX] = os.path.abspath(named)
    return inherited | _ENVIRONMENT


def run(repository: Path, *arguments: str, statuses: Sequence[int] = (0,), index: bool = False) -> tuple[int, bytes]:
    """Exit status and output of `git <arguments>`. `index` is that of `environment`.

    Raises `NotARepository`, and `RepositoryError` for a status not in `statuses`, an answer over `MAX_OUTPUT_BYTES` or
    a command that does not end.
    """
    with tempfile.TemporaryFile() as complaints:
        with start(repository, *arguments, complaints=complaints, index=index) as process:
            alarm = threading.Timer(TIMEOUT_SECONDS, process.kill)
            alarm.start()
            try:
                output = _read_bounded(process)
            finally:
                alarm.cancel()
        if process.returncode in statuses:
            return process.returncode, output
        complaints.seek(0)
        message = complaints.read(_CHUNK_BYTES).decode("utf-8", "replace").strip()
    if "not a git repository" in message:
        raise NotARepository(repository)
    why = message or f"it ended with status {process.returncode}"
    raise RepositoryError(f"{repository}: git {arguments[0]} failed: {why}")


def start(
    repository: Path, *arguments: str, complaints: IO[bytes] | None = None, index: bool = False
) -> subprocess.Popen[bytes]:
    """A running `git <arguments>` with a pipe at its output, and one at its input when `complaints` are not kept.

    Raises `RepositoryError`.
    """
    if not repository.is_dir():
        raise NotARepository(repository, "no such directory")
    try:
        return subprocess.Popen(
            command(repository, *arguments),
            stdin=subprocess.PIPE if complaints is None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if complaints is None else complaints,
            env=environment(index=index),
        )
    except FileNotFoundError:
        raise RepositoryError("git is not installed, or not on PATH") from None


def checked(revision: str) -> str:
    """`revision`, when it may stand in a command line. Raises `InvalidRevision`."""
    if not revision or revision.startswith("-") or any(ord(character) < 32 for character in revision):
        raise InvalidRevision(revision)
    return revision


def commit(repository: Path, revision: str) -> str:
    """The full id of the commit that `revision` names. Raises `UnknownRevision`, `NotARepository`."""
    name = f"{checked(revision)}^{{commit}}"
    status, output = run(repository, "rev-parse", "--verify", "--quiet", name, statuses=(0, 1, 128))
    if status == 0:
        return output.decode("ascii").strip()
    run(repository, "rev-parse", "--git-dir")
    raise UnknownRevision(revision)


def work_tree(path: Path) -> Path | None:
    """The top folder of the checkout that `path` lies in; None outside of one and in a bare repository."""
    try:
        _, output = run(path, "rev-parse", "--show-toplevel")
    except RepositoryError:
        return None
    return Path(os.fsdecode(output.rstrip(b"\n")))


def _read_bounded(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    chunks: list[bytes] = []
    room = MAX_OUTPUT_BYTES
    while chunk := process.stdout.read(_CHUNK_BYTES):
        room -= len(chunk)
        if room < 0:
            process.kill()
            raise RepositoryError(f"git answers with more than {MAX_OUTPUT_BYTES} bytes")
        chunks.append(chunk)
    return b"".join(chunks)
