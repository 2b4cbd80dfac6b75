"""The source of a release as a package index has it: its sdist, else the Python of a wheel."""

from __future__ import annotations

import io

from bot.learn.fetch import TIMEOUT, Listing, fetched, fetched_wheel, wheel_address
from bot.learn.files import open_source
from bot.learn.ranges import NoRangesError, RangedFile
from bot.learn.source import SourceTree
from bot.learn.wheels import read_wheel

BUFFER = 1 << 16
"""Bytes that are taken from a fetched block at once."""


def published(version: str, known: Listing, *, whole: bool = True, patience: float = TIMEOUT) -> SourceTree:
    """The source tree of a release.

    Only the parts of a wheel that hold Python are fetched, so that the index's SHA-256 of the whole says nothing of
    them. From a server that gives no parts it is fetched `whole` and checked, or that raises `NoRangesError`. Raises
    `SourceError`, `UnreadableError` where what is there is no release, and `NoSuchReleaseError` where nothing is.
    """
    if known.sdist(version) is not None:
        with fetched(version, known=known) as path:
            return open_source(path)
    name, address = wheel_address(version, known)
    try:
        with RangedFile(name, address, patience) as raw, io.BufferedReader(raw, BUFFER) as file:
            return read_wheel(name, file)
    except NoRangesError:
        if not whole:
            raise
    with fetched_wheel(version, known) as path:
        return open_source(path)
