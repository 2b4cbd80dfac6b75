"""A file on a server, of which only the parts that are read are fetched."""

from __future__ import annotations

import io
import re
import time
from collections import OrderedDict
from http.client import HTTPException
from typing import Final

from bot.learn.fetch import MAX_SECONDS, TIMEOUT, failed, opened
from bot.learn.source import SourceError

BLOCK = 1 << 20
"""Bytes of one request. What is wanted lies close together: more and smaller ones only take longer."""

KEPT = 8
"""Blocks that are kept in memory."""

MAX_FETCHED = 96 * 1024 * 1024
"""Bytes that are fetched of one file; the Python of a wheel has 5 MB."""

PARTIAL: Final = 206

_CONTENT_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")


class NoRangesError(SourceError):
    """The server gives the file only whole."""


class RangedFile(io.RawIOBase):
    """Reads a file by HTTP ranges, block by block. Its length is known after the first block, which opening it reads.

    Raises `SourceError` where the server fails, takes too long, or gives something else than was asked for.
    """

    def __init__(self, name: str, address: str, patience: float = TIMEOUT) -> None:
        super().__init__()
        self._name, self._address, self._patience = name, address, patience
        self._end = time.monotonic() + MAX_SECONDS
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        self._place = self._fetched = 0
        self._size: int | None = None
        self._block(0)

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Where the next byte is read."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place, of which nothing is fetched before it is read."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._length}[whence]
        if base + offset < 0:
            raise OSError(f"{self._name}: a place before its beginning")
        self._place = base + offset
        return self._place

    def readinto(self, buffer: object) -> int:
        """Fill a buffer as far as the block that holds the place does."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        if self._place >= self._length or not view:
            return 0
        number, start = divmod(self._place, BLOCK)
        part = self._block(number)[start : start + len(view)]
        view[: len(part)] = part
        self._place += len(part)
        return len(part)

    @property
    def _length(self) -> int:
        return self._size or 0

    def _block(self, number: int) -> bytes:
        found = self._blocks.get(number)
        if found is None:
            found = self._blocks[number] = self._fetch(number * BLOCK)
            if len(self._blocks) > KEPT:
                self._blocks.popitem(last=False)
        else:
            self._blocks.move_to_end(number)
        return found

    def _fetch(self, start: int) -> bytes:
        """The block at a place; it is shorter at the end of the file."""
        if self._fetched > MAX_FETCHED:
            raise SourceError(f"{self._name}: more than {MAX_FETCHED >> 20} MB of it are wanted")
        if time.monotonic() > self._end:
            raise SourceError(f"{self._name}: the download took more than {MAX_SECONDS} s")
        asked = f"bytes={start}-{start + BLOCK - 1}"
        try:
            with opened(self._address, patience=self._patience, headers={"Range": asked}) as answer:
                if answer.status != PARTIAL:
                    raise NoRangesError(f"{self._name}: the server gives no parts of it")
                first, last = self._range(str(answer.headers.get("Content-Range", "")))
                data: bytes = answer.read(BLOCK + 1)
        except (OSError, HTTPException) as error:
            failed(self._name, error)
        wanted = min(BLOCK, self._length - start)
        if first != start or last - first + 1 != wanted or len(data) != wanted:
            raise SourceError(f"{self._name}: the server gives another part than was asked for")
        self._fetched += len(data)
        return data

    def _range(self, text: str) -> tuple[int, int]:
        """The first and last byte of an answer; the length of the file, which does not change, is kept."""
        match = _CONTENT_RANGE.fullmatch(text)
        if match is None:
            raise NoRangesError(f"{self._name}: the server does not say which part it gives")
        first, last, size = map(int, match.groups())
        if self._size not in (None, size):
            raise SourceError(f"{self._name}: it changed while it was read")
        self._size = size
        return first, last
