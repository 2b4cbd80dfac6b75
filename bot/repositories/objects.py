"""Objects of a git repository, read through one long-lived process."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from bot.repositories import git
from bot.tree import UnreadableFile

MAX_CACHED_CHARACTERS = 64 * 1024 * 1024
"""What a `BlobCache` holds: all composes and profiles of a large repository, in several revisions."""


class BlobCache:
    """Texts of blobs by their id, or why they have none; oldest out first. Two trees of one repository may share it."""

    def __init__(self, limit: int = MAX_CACHED_CHARACTERS) -> None:
        self._limit = limit
        self._size = 0
        self._texts: dict[str, str | UnreadableFile] = {}
        self._lock = threading.Lock()

    def get(self, blob: str) -> str | UnreadableFile | None:
        """The text, the reason for having none, or None for a blob that is not held."""
        return self._texts.get(blob)

    def put(self, blob: str, text: str | UnreadableFile) -> None:
        """Remember what a blob is."""
        with self._lock:
            if blob in self._texts:
                return
            self._texts[blob] = text
            self._size += _weight(text)
            while self._size > self._limit:
                self._size -= _weight(self._texts.pop(next(iter(self._texts))))


def _weight(text: str | UnreadableFile) -> int:
    return len(text) if isinstance(text, str) else 0


@dataclass(frozen=True, slots=True)
class GitObject:
    """An object by its full id. `content` is None when it is over the limit that was asked for."""

    id: str
    kind: str
    content: bytes | None


class ObjectReader:
    """`git cat-file --batch`: started when first asked, usable from several threads, one question at a time."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def read(self, name: str, limit: int) -> GitObject | None:
        """The object that git finds under `name`; None when there is none.

        Raises `RepositoryError` when git does not answer.
        """
        with self._lock:
            if self._process is None:
                self._process = git.start(self._repository, "cat-file", "--batch")
            return self._ask(self._process, name, limit)

    def close(self) -> None:
        """End the process. A later `read` starts it again."""
        with self._lock:
            self._stop()

    def _ask(self, process: subprocess.Popen[bytes], name: str, limit: int) -> GitObject | None:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # the process has ended: the empty answer says so below
            process.stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
            process.stdin.flush()
        header = process.stdout.readline()
        if not header:
            self._stop()
            git.run(self._repository, "rev-parse", "--git-dir")  # explains what git.start could not see
            raise git.RepositoryError(f"{self._repository}: git cat-file ended early, the repository may be damaged")
        fields = header.split()
        if len(fields) != 3 or not fields[2].isdigit():
            return None
        identity, kind, size = fields[0].decode("ascii"), fields[1].decode("ascii"), int(fields[2])
        if size > limit:
            self._stop()  # cheaper than reading past an object of any size
            return GitObject(identity, kind, None)
        content = process.stdout.read(size + 1)
        if len(content) != size + 1:
            self._stop()
            raise git.RepositoryError(f"{self._repository}: object {identity} is damaged")
        return GitObject(identity, kind, content[:-1])

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        with process, contextlib.suppress(BrokenPipeError):
            pass
