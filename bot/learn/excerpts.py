"""The few files of a release that a question needs: by GitHub's API at its tag, else out of its sdist; kept on disk.

A release is looked at in two steps: which modules it has, with their git hashes, and the text of those that are asked
for. Both are kept: what a release has never changes, and a module that did not change is the same in the next one.
Nothing here is run; what GitHub sends is held against its hash.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.engine import cache
from bot.learn.fetch import GITHUB_API, NoSuchReleaseError, fetched, read_api
from bot.learn.files import sdist
from bot.learn.limits import MAX_FILE_BYTES
from bot.learn.source import SourceError, SourceTree

MAX_ASKED = 64
"""Modules of one release that a question may ask for: all probes need 22, an overlay one or two."""

MAX_FETCHED = 192
"""Modules that one run fetches. Without credentials GitHub answers 60 requests an hour; then the sdist is asked."""

MAX_SDISTS = 2
"""Archives that one run downloads, where GitHub does not answer."""

MAX_LISTING_BYTES = 16 * 1024 * 1024
"""Of GitHub's list of a tag's files; it has about 2 MB."""

MAX_RELEASES = 32
"""Lists that are kept; each has about 300 kB."""

MAX_KEPT = 2000
"""Modules that are kept, those that were written first go first: about 60 MB."""

FAILED_SECONDS = 600
"""How long a release that could not be fetched is not asked for again."""

PATIENCE = 5.0
"""Seconds that GitHub may be silent, while someone waits for an answer that does not need it."""

_RELEASE = re.compile(r"\d{1,3}(?:\.\d{1,4}){1,3}(?:(?:a|b|rc)\d{1,3})?(?:\.post\d{1,3})?(?:\.dev\d{1,4})?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_MODULE = re.compile(r"vllm/(?:[\w-]{1,100}/){0,12}[\w-]{1,100}\.py")
_HASH = re.compile(r"[0-9a-f]{40}")

Listing = Mapping[str, str]
"""The modules of a release, and the git hash of each."""


def blob_hash(content: bytes) -> str:
    """The hash by which git knows a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@dataclass(eq=False)
class Excerpts:
    """Sources of releases, as far as they are asked for; one for each run, or one for a server.

    `api` is GitHub's, `token` raises its limit, `say` is told why a release could not be fetched. With `offline` only
    what is kept on this machine is given. `lacking` says what would have been needed.
    """

    offline: bool = field(default_factory=lambda: bool(os.environ.get(cache.OFFLINE_VARIABLE)))
    api: str = GITHUB_API
    token: str = ""
    index: str | None = None
    say: Callable[[str], None] = lambda _: None
    lacking: dict[str, frozenset[str]] = field(default_factory=dict)
    _listings: dict[str, Listing] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)
    _refused: dict[str, tuple[float, str]] = field(default_factory=dict)
    _fetched: int = 0
    _archives: int = 0

    def source(self, release: str, paths: Iterable[str]) -> SourceTree | str:
        """The release (`0.34.0`, or a whole commit) with these modules at hand; or why there is none.

        A module that the tree then does not have is not in the release. The tree has no others.
        """
        wanted = frozenset(path for path in paths if _MODULE.fullmatch(path))
        if len(wanted) > MAX_ASKED:
            return "more of its files are asked for than are looked at"
        if not (_RELEASE.fullmatch(release) or _COMMIT.fullmatch(release)):
            return "no release"
        listing, texts = self._kept(release, wanted)
        missing = frozenset(path for path in wanted if path not in texts and (listing is None or path in listing))
        if listing is None or missing:
            why = self._why_not(release)
            if not why:
                try:
                    listing = self._provide(release, listing, missing, texts)
                except SourceError as error:
                    self.say(f"the source of vLLM {release} cannot be had: {error}")
                    absent = isinstance(error, NoSuchReleaseError)
                    why = "no such release is published" if absent else "its source could not be fetched"
                    self._refused[release if absent else ""] = (time.monotonic() + FAILED_SECONDS, why)
            if why:
                self.lacking[release] = self.lacking.get(release, frozenset()) | wanted
                return why
        return SourceTree(texts.get, sorted(texts))

    def _why_not(self, release: str) -> str:
        if self.offline:
            return "its source is not at hand"
        kept = (self._refused.get(key, (0.0, "")) for key in ("", release))  # "": whoever was asked does not answer
        return next((why for until, why in kept if time.monotonic() < until), "")

    def _kept(self, release: str, wanted: Iterable[str]) -> tuple[Listing | None, dict[str, str]]:
        """What this machine has of a release."""
        listing = self._listings.get(release)
        if listing is None:
            listing = _read_listing(release)
            if listing is None:
                return None, {}
            self._listings[release] = listing
        hashes = {path: listing[path] for path in wanted if path in listing}
        found = {path: text for path, sha in hashes.items() if (text := self._text(sha)) is not None}
        return listing, found

    def _text(self, sha: str) -> str | None:
        if sha not in self._texts:
            text = _read_blob(sha)
            if text is None:
                return None
            self._texts[sha] = text
        return self._texts[sha]

    def _provide(self, release: str, listing: Listing | None, wanted: frozenset[str], texts: dict[str, str]) -> Listing:
        """Fetch what is missing into `texts`. Raises `SourceError`."""
        try:
            listing = listing or self._listed(release)
            for path in sorted(wanted & listing.keys()):
                texts[path] = self._blob(path, listing[path])
        except NoSuchReleaseError:
            raise
        except SourceError:
            if not _RELEASE.fullmatch(release) or self._archives >= MAX_SDISTS:
                raise
            self._archives += 1
            listing, found = _of_sdist(release, wanted, self.index)
            texts.update(found)
            for path, text in found.items():
                self._keep(listing[path], text)
        self._listings[release] = listing
        with suppress(OSError):  # a folder that cannot be written: this run has it all the same
            _write(_folder() / f"{release}.json", json.dumps(listing), MAX_RELEASES)
        return listing

    def _listed(self, release: str) -> Listing:
        """The modules at a tag or at a commit."""
        ref = release if _COMMIT.fullmatch(release) else f"v{release}"
        answer = self._asked(f"git/trees/{ref}?recursive=1", "application/vnd.github+json", MAX_LISTING_BYTES)
        try:
            data = json.loads(answer)
            entries = data["tree"]
            if data.get("truncated"):
                raise SourceError("GitHub does not list all files of the release")
            listing = {entry["path"]: entry["sha"] for entry in entries if entry.get("type") == "blob"}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise SourceError(f"GitHub gives no list of the files of {ref}") from error
        return _checked(listing)

    def _blob(self, path: str, sha: str) -> str:
        kept = self._text(sha)
        if kept is not None:
            return kept
        if self._fetched >= MAX_FETCHED:
            raise SourceError("enough other files were fetched")
        self._fetched += 1
        content = self._asked(f"git/blobs/{sha}", "application/vnd.github.raw+json", MAX_FILE_BYTES)
        if blob_hash(content) != sha:
            raise SourceError(f"{path}: what GitHub sends is not what it lists")
        text = content.decode("utf-8", errors="replace")
        self._keep(sha, text)
        return text

    def _keep(self, sha: str, text: str) -> None:
        self._texts[sha] = text
        with suppress(OSError):
            _write(_folder() / "modules" / f"{sha}.py", text, MAX_KEPT)

    def _asked(self, what: str, form: str, most: int) -> bytes:
        return read_api(what, form, most, self.api, self.token, PATIENCE)


def _of_sdist(release: str, wanted: frozenset[str], index: str | None) -> tuple[Listing, dict[str, str]]:
    """The modules of an archive with their hashes, and the text of those that are wanted."""
    with fetched(release, index) as path:
        tree = sdist(path)
    read: Callable[[str], str] = lambda name: tree.read(name) or ""  # noqa: E731 - of what it lists
    listing = {name: blob_hash(read(name).encode("utf-8", "replace")) for name in tree.paths}
    return _checked(listing), {name: read(name) for name in wanted if name in listing}


def _checked(listing: Mapping[str, Any]) -> Listing:
    """The modules of a list that is what it should be. Raises `SourceError` for a tree without vLLM."""
    found = {
        path: sha
        for path, sha in listing.items()
        if isinstance(path, str) and isinstance(sha, str) and _MODULE.fullmatch(path) and _HASH.fullmatch(sha)
    }
    if "vllm/__init__.py" not in found:
        raise SourceError("the source has no vllm/__init__.py")
    return found


def _folder() -> Path:
    return cache.base() / "sources"


def _read_listing(release: str) -> Listing | None:
    try:
        data = json.loads(_read(_folder() / f"{release}.json", MAX_LISTING_BYTES) or "null")
        return _checked(data) if isinstance(data, dict) else None
    except (ValueError, RecursionError, SourceError):
        return None


def _read_blob(sha: str) -> str | None:
    return _read(_folder() / "modules" / f"{sha}.py", MAX_FILE_BYTES)


def _read(file: Path, most: int) -> str | None:
    with suppress(OSError, UnicodeDecodeError):
        if file.stat().st_size <= most:
            return file.read_bytes().decode("utf-8")
    return None


def _write(file: Path, text: str, most: int) -> None:
    """Keep a file, as a whole or not at all, and let go of the oldest. Raises `OSError`."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(prefix=".part-", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8"))
        Path(part).replace(file)
    except OSError:
        Path(part).unlink(missing_ok=True)
        raise
    cache.let_go(file.parent, f"*{file.suffix}", most)
