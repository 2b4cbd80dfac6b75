"""Fetching a release's source archive: from a package index (the "simple" API in its JSON form), or its tag by GitHub's
API. All give a file that `files.open_source` reads.
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

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
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

MAX_WHEEL_BYTES = 1024 * 1024 * 1024
"""Of a wheel, which is fetched whole only from a server that gives no parts; the largest so far has half of it."""

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

    def wheel(self, version: str) -> Mapping[str, Any] | None:
        """The entry of one of a release's wheels, of which all have the same Python: one for the usual machines, else
        the first by name. None when there is none.
        """
        named = sorted(name for name in self.files if _is_wheel_of(name, version))
        usual = [name for name in named if "manylinux" in name and name.endswith("x86_64.whl")]
        return next((self.files[name] for name in (*usual, *named)), None)

    def has(self, version: str) -> bool:
        """Whether there is a file to learn a release from."""
        return self.sdist(version) is not None or self.wheel(version) is not None


def _is_wheel_of(name: str, version: str) -> bool:
    """Whether a file is a wheel of exactly this release: not of a build of its own, such as `0.33.0+cu129`."""
    if not name.endswith(".whl"):
        return False
    try:
        package, found, _, _ = parse_wheel_filename(name)
        return package == PACKAGE and found == Version(version)
    except (InvalidWheelFilename, InvalidVersion):
        return False


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
    known = known or listing(index)
    file = known.sdist(version)
    if file is None:
        raise NoSuchReleaseError(
            f"the package index has no sdist of {PACKAGE} {version}; name a source tree with --source"
        )
    with _whole(file, known, ".tar.gz", MAX_ARCHIVE_BYTES) as path:
        yield path


@contextmanager
def fetched_wheel(version: str, known: Listing) -> Iterator[Path]:
    """One of the release's wheels as a temporary file, its hash checked. Raises `SourceError`."""
    with _whole(_wheel_entry(version, known), known, ".whl", MAX_WHEEL_BYTES) as path:
        yield path


def wheel_address(version: str, known: Listing) -> tuple[str, str]:
    """The name and the address of one of the release's wheels. Raises `SourceError`."""
    name, address, _ = _checked(_wheel_entry(version, known), known.address)
    return name, address


def _wheel_entry(version: str, known: Listing) -> Mapping[str, Any]:
    file = known.wheel(version)
    if file is None:
        raise NoSuchReleaseError(
            f"the package index has no sdist and no wheel of {PACKAGE} {version}; name a source tree with --source"
        )
    return file


@contextmanager
def _whole(entry: Mapping[str, Any], known: Listing, ending: str, limit: int) -> Iterator[Path]:
    """A file of the index as a temporary one."""
    name, address, expected = _checked(entry, known.address)
    with tempfile.NamedTemporaryFile(prefix="seamguard-", suffix=ending) as file:
        found = _download(name, address, file, limit=limit)
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
        with opened(address, form, patience, token) as answer:
            content: bytes = answer.read(most + 1)
    except (OSError, HTTPException) as error:
        failed(f"{REPOSITORY}: {what.partition('?')[0]}", error)
    if len(content) > most:
        raise SourceError(f"{REPOSITORY}: {what.partition('?')[0]}: more than {most} bytes")
    return content


def listing(index: str | None = None, patience: float = TIMEOUT) -> Listing:
    """What an index has, by default the one that pip would ask; `patience` is in seconds. Raises `SourceError`."""
    address = f"{(index or os.environ.get(INDEX_VARIABLE) or _public_index()).rstrip('/')}/{PACKAGE}/"
    try:
        with opened(address, JSON_FORM, patience) as answer:
            text = answer.read(MAX_LISTING_BYTES + 1)
        files = json.loads(text)["files"] if len(text) <= MAX_LISTING_BYTES else None
    except (OSError, HTTPException, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SourceError(f"the package index gives no list of {PACKAGE}'s files ({error})") from error
    if not isinstance(files, list):
        raise SourceError(f"the package index gives no list of {PACKAGE}'s files")
    return Listing(address, {str(file.get("filename")): file for file in files if isinstance(file, dict)})


def _checked(file: Mapping[str, Any], listed: str) -> tuple[str, str, str]:
    name, address, hashes = file["filename"], file.get("url"), file.get("hashes")
    expected = hashes.get("sha256") if isinstance(hashes, dict) else None
    if not isinstance(address, str) or not isinstance(expected, str):
        raise SourceError(f"{name}: the package index gives no address or no SHA-256")
    return name, urljoin(listed, address), expected.lower()


def _download(
    name: str, address: str, file: IO[bytes], patience: float = TIMEOUT, limit: int = MAX_ARCHIVE_BYTES
) -> str:
    """Write a file chunk by chunk, and return its SHA-256."""
    digest, size, end = hashlib.sha256(), 0, time.monotonic() + MAX_SECONDS
    try:
        with opened(address, patience=patience) as answer:
            while chunk := answer.read(CHUNK):
                size += len(chunk)
                if size > limit:
                    raise SourceError(f"{name}: more than {limit >> 20} MB")
                if time.monotonic() > end:
                    raise SourceError(f"{name}: the download took more than {MAX_SECONDS} s")
                digest.update(chunk)
                file.write(chunk)
    except (OSError, HTTPException) as error:
        failed(name, error)
    return digest.hexdigest()


def failed(name: str, error: Exception) -> NoReturn:
    """Raise what a failed download is: `NoSuchReleaseError` where the server has no such file, else `SourceError`."""
    gone = isinstance(error, urllib.error.HTTPError) and error.code == GONE
    kind = NoSuchReleaseError if gone else SourceError
    raise kind(f"{name}: the download failed ({error})") from error


def opened(
    address: str,
    form: str = "*/*",
    patience: float = TIMEOUT,
    token: str = "",
    headers: Mapping[str, str] | None = None,
) -> Any:
    """An answer over HTTP; no other scheme, so that an index cannot name a file of this machine."""
    if urlsplit(address).scheme not in ("https", "http"):
        raise SourceError(f"{address[:100]}: not an address of the web")
    told = {"Accept": form, "User-Agent": "seamguard", **(headers or {})}
    request = urllib.request.Request(address, headers=told)  # noqa: S310
    if token:
        request.add_unredirected_header("Authorization", f"Bearer {token}")  # for GitHub, not for where it leads
    return urllib.request.urlopen(request, timeout=patience)  # noqa: S310
