"""Fetching an sdist from an index, which here is a server on this machine."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from bot.learn import SourceError, fetch, files
from tests.learn.server import Index, archive_of

ARCHIVE = b"an archive" * 1000
SHA = hashlib.sha256(ARCHIVE).hexdigest()


@pytest.fixture(autouse=True)
def _an_archive(index: str) -> None:
    Index.pages["/files/vllm-1.2.3.tar.gz"] = ARCHIVE


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


def test_the_tag_of_a_release_is_fetched_by_githubs_api(index: str) -> None:
    Index.pages["/repos/vllm-project/vllm/tarball/refs/tags/v1.2.3rc1"] = ARCHIVE
    api = index.removesuffix("/simple")
    with fetch.tagged("v1.2.3-rc1", api) as path:
        assert path.read_bytes() == ARCHIVE
    assert not path.exists()
    with pytest.raises(SourceError, match=r"at v9\.9\.9: the download failed"), fetch.tagged("9.9.9", api):
        pass


def test_without_a_network_it_is_said() -> None:
    with pytest.raises(SourceError, match="the download failed"), fetch.tagged("1.2.3", "http://127.0.0.1:9"):
        pass


@pytest.mark.parametrize(
    ("written", "expected"), [("v0.25.1", "0.25.1"), ("0.25.1", "0.25.1"), ("0.28.0rc1", "0.28.0rc1")]
)
def test_versions_in_normal_form(written: str, expected: str) -> None:
    assert fetch.normal(written) == expected


def test_a_version_that_is_none() -> None:
    with pytest.raises(SourceError, match="is not a version"):
        fetch.normal("../x")


def test_an_archive_leads_nowhere(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "a.tar.gz", ("top/vllm/a.py", b"A = 1"), ("top/vllm/b.py", None), ("../../x.py", b"B"))
    tree = files.open_source(path)
    assert tree.paths == ("vllm/a.py",)
    assert [tree.read(name) for name in ("vllm/a.py", "vllm/b.py", "../x.py")] == ["A = 1", None, None]
    assert [found.name for found in tmp_path.iterdir()] == ["a.tar.gz"]


def test_the_members_of_an_archive_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_MEMBERS", 1)
    path = archive_of(tmp_path / "a.tar.gz", ("top/vllm/a.py", b""), ("top/vllm/b.py", b""))
    with pytest.raises(SourceError, match="more files, or more Python, than a release has"):
        files.open_source(path)
