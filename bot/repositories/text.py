"""From the bytes of a file to its text."""

from __future__ import annotations

from bot.tree import MAX_FILE_BYTES, UnreadableFile

TOO_LARGE = f"the file is larger than {MAX_FILE_BYTES // (1024 * 1024)} MiB"


def decode(content: bytes) -> str:
    """The text of a file, line ends as they are.

    Raises `UnreadableFile`, with no path, for binary content and other encodings.
    """
    if b"\0" in content:
        raise UnreadableFile("", "the file is binary")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableFile("", f"the file is not UTF-8 (byte {error.start})") from None
