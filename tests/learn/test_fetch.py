"""Fetching an sdist from an index, which here is a server on this machine."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from bot.learn import SourceError, fetch

ARCHIVE = b"an archive" * 1000
SHA = hashlib.sha256(ARCHIVE).hexdigest()


class Index(BaseHTTPRequestHandler):
    """Answers with the pages that a test puts here."""

    pages: ClassVar[dict[str, bytes]] = {}

    def do_GET(self) -> None:
        body = self.pages.get(self.path)
        self.send_response(200 if body is not None else 404)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def index() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    Index.pages = {"/files/vllm-1.2.3.tar.gz": ARCHIVE}
    yield f"http://127.0.0.1:{server.server_port}/simple"
    server.shutdown()
    server.server_close()
    thread.join()


def listed(**entry: Any) -> None:
    file = {
        "filename": "vllm-1.2.3.tar.gz",
        "url": "../../files/vllm-1.2.3.tar.gz",
        "hashes": {"sha256": SHA},
        **entry,
    }
    wheel = {"filename": "vllm-1.2.3-py3-none-any.whl", "url": "/x", "hashes": {}}
    Index.pages["/simple/vllm/"] = json.dumps({"files": [wheel, file]}).encode()


@pytest.mark.parametrize("url", ["../../files/vllm-1.2.3.tar.gz", "/files/vllm-1.2.3.tar.gz"])
def test_an_sdist_is_fetched_and_gone_afterwards(index: str, url: str) -> None:
    listed(url=url)
    with fetch.fetched("1.2.3", index) as path:
        assert path.read_bytes() == ARCHIVE
    assert not path.exists()


def test_the_index_is_named_by_pips_own_variable(index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listed()
    monkeypatch.setenv("PIP_INDEX_URL", f"{index}/")
    with fetch.fetched("1.2.3") as path:
        assert path.stat().st_size == len(ARCHIVE)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"hashes": {"sha256": "0" * 64}}, "and the index says 0000"),
        ({"hashes": {}}, "no address or no SHA-256"),
        ({"hashes": None}, "no address or no SHA-256"),
        ({"url": 3}, "no address or no SHA-256"),
        ({"url": "file:///etc/passwd"}, "not an address of the web"),
        ({"url": "/nowhere.tar.gz"}, "the download failed"),
        ({"filename": "vllm-1.2.4.tar.gz"}, "has no sdist of vllm 1.2.3; name a source tree with --source"),
    ],
)
def test_what_cannot_be_fetched(index: str, entry: dict[str, Any], message: str) -> None:
    listed(**entry)
    with pytest.raises(SourceError, match=message), fetch.fetched("1.2.3", index):
        pass


@pytest.mark.parametrize("page", [None, b"<html>", b"[]", b"{}", b'{"files": 3}', b'{"files": [1]}'])
def test_an_index_that_gives_no_list(index: str, page: bytes | None) -> None:
    if page is not None:
        Index.pages["/simple/vllm/"] = page
    with pytest.raises(SourceError, match="package index"), fetch.fetched("1.2.3", index):
        pass


def test_sizes_are_bounded(index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listed()
    monkeypatch.setattr(fetch, "MAX_ARCHIVE_BYTES", 5000)
    with pytest.raises(SourceError, match="more than 0 MB"), fetch.fetched("1.2.3", index):
        pass
    monkeypatch.setattr(fetch, "MAX_LISTING_BYTES", 50)
    with pytest.raises(SourceError, match="no list"), fetch.fetched("1.2.3", index):
        pass


@pytest.mark.parametrize(
    ("written", "expected"), [("v0.25.1", "0.25.1"), ("0.25.1", "0.25.1"), ("0.28.0rc1", "0.28.0rc1")]
)
def test_versions_in_normal_form(written: str, expected: str) -> None:
    assert fetch.normal(written) == expected


def test_a_version_that_is_none() -> None:
    with pytest.raises(SourceError, match="is not a version"):
        fetch.normal("../x")
