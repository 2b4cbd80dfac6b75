"""Blobs by their content: what one is called, and what of it can be used."""

from __future__ import annotations

import hashlib

from bot.github.model import Blob
from bot.tree import MAX_FILE_BYTES

TOO_LARGE = f"the file is larger than {MAX_FILE_BYTES // (1024 * 1024)} MiB"
BINARY = "the file is binary"
NOT_UTF8 = "the file is not UTF-8"


def blob_id(content: bytes, like: str) -> str:
    """Git's name for a content, in the hash that `like`, a name, is made with."""
    algorithm = hashlib.sha256 if len(like) == 64 else hashlib.sha1
    digest = algorithm(b"blob %d\0" % len(content), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest()


def is_blob_id(name: str) -> bool:
    """Whether a name is one of git's: it is used in a path of the cache."""
    return len(name) in (40, 64) and all(character in "0123456789abcdef" for character in name)


def blob_of(sha: str, content: bytes) -> Blob:
    """The blob with its text, or why it has none."""
    if len(content) > MAX_FILE_BYTES:
        return Blob(sha, None, TOO_LARGE)
    if b"\0" in content:
        return Blob(sha, None, BINARY)
    try:
        return Blob(sha, content.decode("utf-8"))
    except UnicodeDecodeError:
        return Blob(sha, None, NOT_UTF8)
