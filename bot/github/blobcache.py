"""Blobs that were read before, in memory and on disk.

A blob's name is the hash of its content, so nothing here ever grows stale, and what is read back is checked: a damaged
or forged file is no hit. Several processes may share the folder: files appear whole, and may go at any time.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path

from cachetools import LRUCache

from bot.github.model import Blob
from bot.github.objects import blob_id, blob_of, is_blob_id

MEMORY_BYTES = 24 * 1024 * 1024
DISK_BYTES = 512 * 1024 * 1024
SWEEP_EVERY = 500
"""Writes between two looks at the size of the folder: each look lists it."""

_OVERHEAD = 200


class BlobCache:
    """Usable from several threads. `folder` None keeps it in memory alone."""

    def __init__(
        self, folder: Path | None = None, memory_bytes: int = MEMORY_BYTES, disk_bytes: int = DISK_BYTES
    ) -> None:
        self._memory: LRUCache[str, Blob] = LRUCache(memory_bytes, getsizeof=_size)
        self._lock = threading.Lock()
        self._folder = folder
        self._disk_bytes = disk_bytes
        self._writes = 0
        if folder is not None:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def get(self, sha: str) -> Blob | None:
        """The blob, when it is here."""
        with self._lock:
            found = self._memory.get(sha)
        if found is None and (found := self._read(sha)) is not None:
            self._remember(found)
        return found

    def take(self, shas: Iterable[str]) -> dict[str, Blob]:
        """Those of the blobs that are here."""
        return {sha: blob for sha in shas if (blob := self.get(sha)) is not None}

    def put(self, blob: Blob) -> None:
        """Keep a blob. One without text is kept in memory alone: it is small, and rare."""
        self._remember(blob)
        if self._folder is not None and blob.text is not None and is_blob_id(blob.sha):
            # A full or read-only disk costs requests later, never the review.
            with contextlib.suppress(OSError):
                self._write(self._folder, blob.sha, blob.text.encode())

    def put_all(self, blobs: Iterable[Blob]) -> None:
        """Keep several. It writes files: not for the event loop."""
        for blob in blobs:
            self.put(blob)

    def _remember(self, blob: Blob) -> None:
        with self._lock:
            if _size(blob) <= self._memory.maxsize:
                self._memory[blob.sha] = blob

    def _read(self, sha: str) -> Blob | None:
        if self._folder is None or not is_blob_id(sha):
            return None
        path = self._path(self._folder, sha)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if blob_id(content, sha) != sha:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return blob_of(sha, content)

    def _write(self, folder: Path, sha: str, content: bytes) -> None:
        path = self._path(folder, sha)
        if path.exists():
            return
        path.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            os.replace(temporary, path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        self._writes += 1
        if self._writes % SWEEP_EVERY == 0:
            self.sweep()

    def sweep(self) -> None:
        """Bring the folder below its limit: what was used longest ago goes first."""
        if self._folder is None:
            return
        files = []
        for path in self._folder.glob("??/*"):
            with contextlib.suppress(OSError):
                status = path.stat()
                files.append((status.st_mtime, status.st_size, path))
        excess = sum(size for _, size, _ in files) - self._disk_bytes
        for _, size, path in sorted(files):
            if excess <= 0:
                return
            with contextlib.suppress(OSError):
                path.unlink()
                excess -= size

    @staticmethod
    def _path(folder: Path, sha: str) -> Path:
        return folder / sha[:2] / sha[2:]


def _size(blob: Blob) -> int:
    return _OVERHEAD + len(blob.text or "")
