"""Reads many files of a repository with few requests."""

from __future__ import annotations

import asyncio
import gzip
import io
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO

import aiohttp

from bot.github import graphql
from bot.github.blobcache import BlobCache
from bot.github.errors import NotFound, TooLarge, Unavailable
from bot.github.model import Blob, RepositoryName
from bot.github.objects import BINARY, TOO_LARGE, blob_id, blob_of, is_blob_id
from bot.github.requests import RAW, Request, Requests, download
from bot.tree import MAX_FILE_BYTES

BATCH = 100
"""Blobs in one GraphQL request: composes and scripts are a few kB each, and GitHub gives a query ten seconds."""

BATCHES_WORTH = 1
"""More batches than this are dearer than one tarball, in requests: the download itself is none of the API's."""

MAX_BATCHES = 12
"""Where the tarball fails, this many batches are tried before the review is given up."""

MAX_TARBALL_BYTES = 256 * 1024 * 1024
"""Compressed. A repository with its weights in git is not downloaded to the end."""

MAX_READ_BYTES = 96 * 1024 * 1024
"""Of all files of a repository that are read for one question. Composes and scripts of 1,300 engines have 5 MB."""

MAX_UNPACKED_BYTES = 1024 * 1024 * 1024
_SPOOL_BYTES = 8 * 1024 * 1024

_FIELDS = "... on Blob { oid text isBinary isTruncated byteSize }"


async def fetch(
    requests: Requests, cache: BlobCache, repository: RepositoryName, shas: Mapping[str, str], ref: str
) -> Mapping[str, Blob]:
    """Blobs by their id. `shas` gives the id of each wanted path at `ref`. What isn't there is left out.

    Raises a `GitHubError`, `TooLarge` among them.
    """
    wanted = set(shas.values())
    found = await asyncio.to_thread(cache.take, wanted)
    missing = wanted - found.keys()
    if len(missing) > BATCH * BATCHES_WORTH:
        paths = {path: sha for path, sha in shas.items() if sha in missing}
        try:
            unpacked = await _from_tarball(requests, repository, paths, ref)
        except (TooLarge, NotFound, Unavailable):
            unpacked = {}
        await asyncio.to_thread(cache.put_all, unpacked.values())
        found |= unpacked
        missing -= found.keys()
        if len(missing) > BATCH * MAX_BATCHES:
            raise TooLarge(f"{repository} has {len(missing)} files to read, and its archive can't be used")
    left = sorted(missing)
    for start in range(0, len(left), BATCH):
        _check_size(found.values())
        batch = await by_id(requests, repository, left[start : start + BATCH])
        await asyncio.to_thread(cache.put_all, batch.values())
        found |= batch
    _check_size(found.values())
    return found


def _check_size(blobs: Iterable[Blob]) -> None:
    """Raises `TooLarge` when the blobs hold more than a server can be made to keep by a stranger's repository."""
    if sum(len(blob.text or "") for blob in blobs) > MAX_READ_BYTES:
        raise TooLarge(f"the files to read are larger than {MAX_READ_BYTES // 1024**2} MiB together")


async def by_id(requests: Requests, repository: RepositoryName, shas: Sequence[str]) -> dict[str, Blob]:
    """Up to `BATCH` blobs with one request, and one more for each that is too long for GraphQL."""
    document = (
        "query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { " + selection(shas) + " } }"
    )
    result = await graphql.run(requests, document, {"owner": repository.owner, "name": repository.name})
    if result.data.get("repository") is None:
        raise graphql.error_of(result.problems)
    return await blobs_of(requests, repository, result.data["repository"], len(shas))


def selection(shas: Sequence[str]) -> str:
    """The part of a query that asks a repository for blobs. Raises `ValueError` for what is no id."""
    if not all(map(is_blob_id, shas)):
        raise ValueError("not the id of a blob")
    return " ".join(f'b{index}: object(oid: "{sha}") {{ {_FIELDS} }}' for index, sha in enumerate(shas))


async def blobs_of(
    requests: Requests, repository: RepositoryName, answer: Mapping[str, object], count: int
) -> dict[str, Blob]:
    """The blobs of the answer to a `selection` of `count` ids."""
    found: dict[str, Blob] = {}
    for index in range(count):
        node = answer.get(f"b{index}")
        if not isinstance(node, Mapping) or not node.get("oid"):
            continue
        blob = _from_graphql(node)
        found[str(node["oid"])] = blob if blob is not None else await single(requests, repository, str(node["oid"]))
    return found


def _from_graphql(node: Mapping[str, object]) -> Blob | None:
    """A blob as GraphQL shows it; None where its text is not the whole content."""
    sha = str(node["oid"])
    size, text = node.get("byteSize"), node.get("text")
    if isinstance(size, int) and size > MAX_FILE_BYTES:
        return Blob(sha, None, TOO_LARGE)
    if node.get("isBinary"):
        return Blob(sha, None, BINARY)
    if node.get("isTruncated") or not isinstance(text, str):
        return None
    content = text.encode("utf-8", "surrogatepass")
    return Blob(sha, text) if blob_id(content, sha) == sha else None


async def single(requests: Requests, repository: RepositoryName, sha: str) -> Blob:
    """One blob, byte by byte."""
    answer = await requests.send(
        Request(
            "GET",
            "/repos/{owner}/{name}/git/blobs/{sha}",
            {"owner": repository.owner, "name": repository.name, "sha": sha},
            accept=RAW,
        )
    )
    content = answer.data if isinstance(answer.data, bytes) else b""
    if blob_id(content, sha) != sha:
        raise Unavailable(f"GitHub answers something else than blob {sha}")
    return blob_of(sha, content)


async def _from_tarball(
    requests: Requests, repository: RepositoryName, shas: Mapping[str, str], ref: str
) -> dict[str, Blob]:
    variables = {"owner": repository.owner, "name": repository.name, "ref": ref}
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES) as archive:
        try:
            async with download(requests, "/repos/{owner}/{name}/tarball/{ref}", variables) as response:
                await _store(response, archive)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unavailable(f"the download of {repository} ended early ({type(error).__name__})") from error
        archive.seek(0)
        return await asyncio.to_thread(lambda: dict(_wanted(archive, shas)))


async def _store(response: aiohttp.ClientResponse, archive: IO[bytes]) -> None:
    size = 0
    async for chunk in response.content.iter_chunked(1 << 16):
        size += len(chunk)
        if size > MAX_TARBALL_BYTES:
            raise TooLarge(f"the archive is larger than {MAX_TARBALL_BYTES} bytes")
        archive.write(chunk)


def _wanted(archive: IO[bytes], shas: Mapping[str, str]) -> Iterator[tuple[str, Blob]]:
    """The wanted files of an archive. Nothing is unpacked to disk; a member is compared by its name, and taken
    only when its content is the wanted one: an archive may differ from the tree (`export-subst`, `export-ignore`).
    """
    left, size = dict(shas), 0
    try:
        unpacked = _Bounded(gzip.GzipFile(fileobj=archive, mode="rb"), MAX_UNPACKED_BYTES)
        with tarfile.open(fileobj=unpacked, mode="r|") as members:
            for member in members:
                path = member.name.partition("/")[2]
                sha = left.pop(path, None)
                if sha is None:
                    continue
                content = _content(members, member)
                if content is not None and blob_id(content, sha) == sha:
                    size += len(content)
                    if size > MAX_READ_BYTES:
                        return
                    yield sha, blob_of(sha, content)
                if not left:
                    return
    except (tarfile.TarError, EOFError, OSError, ValueError, OverflowError, zlib.error) as error:
        raise Unavailable("the archive is damaged") from error


def _content(members: tarfile.TarFile, member: tarfile.TarInfo) -> bytes | None:
    """What git holds for a member: a link's content is its target."""
    if member.issym():
        return member.linkname.encode("utf-8", "surrogateescape")
    if not member.isreg() or member.size > MAX_FILE_BYTES:
        return None
    file = members.extractfile(member)
    return None if file is None else file.read()


class _Bounded(io.RawIOBase):
    """A file that may not go on for ever."""

    def __init__(self, inner: IO[bytes] | gzip.GzipFile, limit: int) -> None:
        self._inner = inner
        self._left = limit

    def read(self, size: int = -1) -> bytes:
        """As of a file. Raises `OSError` behind the limit."""
        chunk = self._inner.read(size)
        self._left -= len(chunk)
        if self._left < 0:
            raise OSError("the archive is too long")
        return chunk
