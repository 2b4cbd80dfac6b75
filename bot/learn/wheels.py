"""Reading a release's Python from its wheel, which has the compiled parts besides.

All wheels of a release have the same Python. It is a small part of them and lies together, so that from a server which
gives parts only some megabytes of half a gigabyte are fetched. Nothing is unpacked to disk: a name leads nowhere.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from bot.learn.limits import MAX_FILE_BYTES, MAX_TOTAL_BYTES, TOO_MUCH
from bot.learn.source import SourceTree, UnreadableError

ENDING = ".whl"

MAX_DIRECTORY_BYTES = 4 * 1024 * 1024
"""Of an archive's list of its files, which is read whole; that of a wheel has 200 kB."""

METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""Those that wheels have. Others may want any amount of memory."""

_END = struct.Struct("<4s4H2LH")
_END_MARK, _LOCATOR_MARK = b"PK\x05\x06", b"PK\x06\x07"
_LOCATOR_BYTES = 20


def wheel(path: Path) -> SourceTree:
    """The source tree in a wheel on disk. Raises `UnreadableError`."""
    try:
        with path.open("rb") as file:
            return read_wheel(path.name, file)
    except OSError as error:
        raise UnreadableError(f"{path}: {error}") from error


def read_wheel(name: str, file: IO[bytes]) -> SourceTree:
    """The source tree in an open wheel, its files checked against their checksums.

    Raises `UnreadableError`, and what reading `file` raises.
    """
    try:
        _check_directory(name, file)
        with zipfile.ZipFile(file) as archive:
            members = sorted(_wanted(name, archive), key=lambda member: member.header_offset)
            texts = {member.filename: _text(name, archive, member) for member in members}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise UnreadableError(f"{name}: not a readable wheel ({error})") from error
    return SourceTree(texts.get, sorted(texts))


def _check_directory(name: str, file: IO[bytes]) -> None:
    """Refuse a list of files that no wheel has before it is read: it may claim to be of any size."""
    size = file.seek(0, io.SEEK_END)
    tail = _END.size + _LOCATOR_BYTES
    if size < tail:
        raise UnreadableError(f"{name}: not a readable wheel (it is too short)")
    file.seek(size - tail)
    data = file.read(tail)
    mark, *_, length, _, comment = _END.unpack(data[_LOCATOR_BYTES:])
    if mark != _END_MARK or comment:
        raise UnreadableError(f"{name}: not a readable wheel (it does not end as one)")
    if data.startswith(_LOCATOR_MARK) or length > MAX_DIRECTORY_BYTES:
        raise UnreadableError(f"{name}: {TOO_MUCH}")


def _wanted(name: str, archive: zipfile.ZipFile) -> Iterator[zipfile.ZipInfo]:
    """The modules of the release."""
    total, seen = 0, set()
    for member in archive.infolist():
        where = member.filename
        if where.startswith("/") or "\\" in where or ".." in where.split("/") or where in seen:
            raise UnreadableError(f"{name}: not a wheel as installers take it ({where[:100]!r})")
        seen.add(where)
        if not (where.startswith("vllm/") and where.endswith(".py")) or member.file_size > MAX_FILE_BYTES:
            continue
        total += member.file_size
        if total > MAX_TOTAL_BYTES:
            raise UnreadableError(f"{name}: {TOO_MUCH}")
        if member.compress_type not in METHODS or member.flag_bits & 1:
            raise UnreadableError(f"{name}: {where[:100]!r} is packed in another way than wheels are")
        yield member


def _text(name: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> str:
    with archive.open(member) as stream:
        data = stream.read(member.file_size + 1)
        if len(data) != member.file_size or stream.read(1):
            raise UnreadableError(f"{name}: {member.filename[:100]!r} has another size than it says")
    return data.decode("utf-8", errors="replace")
