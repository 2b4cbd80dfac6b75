"""Fetching a release's source archive: from a package index (the "simple" API in its JSON form), or its tag by GitHub's
API. Both give an archive that `files.sdist` reads.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn
from urllib.parse import urljoin, urlsplit

from packaging.version import InvalidVersion, Version

from bot.learn.source import SourceError

PACKAGE = "vllm"
INDEX_VARIABLE = "PIP_INDEX_URL"
"""The variable that names another index, the one that pip itself reads."""

REPOSITORY = "vllm-project/vllm"
GITHUB_API = "https://api.github.com"

JSON_FORM = "application/vnd.pypi.simple.v1+json"
MAX_LISTING_BYTES = 32 * 1024 * 1024
"""Of the index's answer; it is below 1 MB today."""

MAX_ARCHIVE_BYTES = 256 * 1024 * 1024
"""Of an sdist; the largest so far has 40 MB."""

MAX_SECONDS = 300
"""For a download; a usual one takes three."""

TIMEOUT = 15
"""Seconds that a server may be silent."""

CHUNK = 1 << 20
GONE = 404


class NoSuchReleaseError(SourceError):
    """Whoever was asked was there, and has no such release."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of the package on an index: `address` is that of the list, `files` are its entries by file name."""

    address: str
    files: Mapping[str, Mapping[str, Any]]

    def sdist(self, version: str) -> Mapping[str, Any] | None:
        """The entry of a release's sdist; None when there is none."""
        spellings = (version, normal(version))
        return next(filter(None, (self.files.get(f"{PACKAGE}-{spelling}.tar.gz") for spelling in spellings)), None)


def normal(version: str) -> str:
    """A release in normal form: `v0.25.1` is `0.25.1`. Raises `SourceError`."""
    try:
        return str(Version(version))
    except InvalidVersion:
        raise SourceError(f"{version!r} is not a version") from None


def _public_index() -> str:
    """The index that pip asks when nobody names one. Raises `SourceError` where pip is not installed."""
    try:
        return str(import_module("pip._internal.models.index").PyPI.simple_url)
    except (ImportError, AttributeError):
        raise SourceError(f"no package index is known: name one with --index URL, or set {INDEX_VARIABLE}") from None


@contextmanager
def fetched(version: str, index: str | None = None, known: Listing | None = None) -> Iterator[Path]:
    """The release's sdist as a temporary file, its hash checked. `known` is the index's list, if it was asked before.

    Raises `SourceError`, and `NoSuchReleaseError` where the list has no such release.
    """
    name, address, expected = _entry(version, known or listing(index))
    with tempfile.NamedTemporaryFile(prefix="seamguard-", suffix=".tar.gz") as file:
        found = _download(name, address, file)
        if found != expected:
            raise SourceError(f"{name}: its SHA-256 is {found}, and the index says {expected}")
        file.flush()
        yield Path(file.name)


@contextmanager
def tagged(version: str, api: str = GITHUB_API, patience: float = TIMEOUT) -> Iterator[Path]:
    """The source at the release's tag as a temporary archive; a tag has no hash to check. Raises `SourceError`."""
    name = f"{REPOSITORY} at v{normal(version)}"
    address = f"{api.rstrip('/')}/repos/{REPOSITORY}/tarball/refs/tags/v{normal(version)}"
    with tempfile.NamedTemporaryFile(prefix="seamguard-", suffix=".tar.gz") as file:
        _download(name, address, file, patience)
        file.flush()
        yield Path(file.name)


def read_api(
    what: str, form: str, most: int, api: str = GITHUB_API, token: str = "", patience: float = TIMEOUT
) -> bytes:
    """What GitHub says about its repository of vLLM, at most so many bytes. Raises `SourceError`, and
    `NoSuchReleaseError` where it has no such thing.
    """
    try:
        address = f"{api.rstrip('/')}/repos/{REPOSITORY}/{what}"
        with _opened(address, form, patience, token) as answer:
            content: bytes = answer.read(most + 1)
    except (OSError, HTTPException) as error:
        _failed(f"{REPOSITORY}: {what.partition('?')[0]}", error)
    if len(content) > most:
        raise SourceError(f"{REPOSITORY}: {what.partition('?')[0]}: more than {most} bytes")
    return content


def listing(index: str | None = None, patience: float = TIMEOUT) -> Listing:
    """What an index has, by default the one that pip would ask; `patience` is in seconds. Raises `SourceError`."""
    address = f"{(index or os.environ.get(INDEX_VARIABLE) or _public_index()).rstrip('/')}/{PACKAGE}/"
    try:
        with _opened(address, JSON_FORM, patience) as answer:
            text = answer.read(MAX_LISTING_BYTES + 1)
        files = json.loads(text)["files"] if len(text) <= MAX_LISTING_BYTES else None
    except (OSError, HTTPException, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SourceError(f"the package index gives no list of {PACKAGE}'s files ({error})") from error
    if not isinstance(files, list):
        raise SourceError(f"the package index gives no list of {PACKAGE}'s files")
    return Listing(address, {str(file.get("filename")): file for file in files if isinstance(file, dict)})


def _entry(version: str, known: Listing) -> tuple[str, str, str]:
    """The name, the address and the SHA-256 of a release's sdist."""
    file = known.sdist(version)
    if file is None:
        raise NoSuchReleaseError(
            f"the package index has no sdist of {PACKAGE} {version}; name a source tree with --source"
        )
    return _checked(file, known.address)


def _checked(file: Mapping[str, Any], listed: str) -> tuple[str, str, str]:
    name, address, hashes = file["filename"], file.get("url"), file.get("hashes")
    expected = hashes.get("sha256") if isinstance(hashes, dict) else None
    if not isinstance(address, str) or not isinstance(expected, str):
        raise SourceError(f"{name}: the package index gives no address or no SHA-256")
    return name, urljoin(listed, address), expected.lower()


def _download(name: str, address: str, file: IO[bytes], patience: float = TIMEOUT) -> str:
    """Write a file chunk by chunk, and return its SHA-256."""
    digest, size, end = hashlib.sha256(), 0, time.monotonic() + MAX_SECONDS
    try:
        with _opened(address, patience=patience) as answer:
            while chunk := answer.read(CHUNK):
                size += len(chunk)
                if size > MAX_ARCHIVE_BYTES:
                    raise SourceError(f"{name}: more than {MAX_ARCHIVE_BYTES >> 20} MB")
                if time.monotonic() > end:
                    raise SourceError(f"{name}: the download took more than {MAX_SECONDS} s")
                digest.update(chunk)
                file.write(chunk)
    except (OSError, HTTPException) as error:
        _failed(name, error)
    return digest.hexdigest()


def _failed(name: str, error: Exception) -> NoReturn:
    gone = isinstance(error, urllib.error.HTTPError) and error.code == GONE
    kind = NoSuchReleaseError if gone else SourceError
    raise kind(f"{name}: the download failed ({error})") from error


def _opened(address: str, form: str = "*/*", patience: float = TIMEOUT, token: str = "") -> Any:
    """An answer over HTTP; no other scheme, so that an index cannot name a file of this machine."""
    if urlsplit(address).scheme not in ("https", "http"):
        raise SourceError(f"{address[:100]}: not an address of the web")
    headers = {"Accept": form, "User-Agent": "seamguard"}
    request = urllib.request.Request(address, headers=headers)  # noqa: S310
    if token:
        request.add_unredirected_header("Authorization", f"Bearer {token}")  # for GitHub, not for where it leads
    return urllib.request.urlopen(request, timeout=patience)  # noqa: S310
