"""A release whose sdist is not on the index: the Python of its wheel, in parts from a server on this machine."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bot.cli.learn import learn_command
from bot.engine import cache, facts
from bot.learn import SourceError, fetch, learn, ranges, wheels
from bot.learn.fetch import NoSuchReleaseError, listing
from bot.learn.files import open_source
from bot.learn.provision import Provision
from bot.learn.published import published
from bot.learn.ranges import NoRangesError, RangedFile
from bot.learn.source import UnreadableError
from bot.learn.wheels import read_wheel
from tests.learn.server import Index, publish, publish_wheel
from tests.learn.source_tree import FILES, tree
from tests.learn.test_provision import Said, no_tag, pins

X86 = "vllm-1.2.3-cp38-abi3-manylinux_2_31_x86_64.whl"
ARM = "vllm-1.2.3-cp38-abi3-manylinux_2_31_aarch64.whl"
COMPILED = os.urandom(5 << 20)
"""What is not Python in a wheel."""


def packed(files: dict[str, Any], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def release(**more: Any) -> bytes:
    modules = {name: text for name, text in FILES.items() if name.endswith(".py")}
    return packed({"vllm/_C.abi3.so": COMPILED, **modules, **more, "vllm-1.2.3.dist-info/RECORD": "x"})


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder for what is learnt, and nothing left in memory."""
    monkeypatch.setenv("SEAMGUARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_held", {})
    facts.load.cache_clear()
    yield
    facts.load.cache_clear()


@pytest.fixture(scope="module")
def wheel() -> bytes:
    return release()


def test_only_the_parts_with_python_are_fetched(index: str, wheel: bytes) -> None:
    path = publish_wheel(X86, wheel)
    found = published("1.2.3", listing(index), whole=False)
    assert Index.asked.count(path) <= 3, "the compiled part is five blocks long"
    here = learn(tree(), "1.2.3")
    assert {**learn(found, "1.2.3"), "entrypoint": 0} == {**here, "entrypoint": 0}


def test_a_server_without_parts_gives_the_whole(index: str, wheel: bytes) -> None:
    publish_wheel(X86, wheel, parts=False)
    with pytest.raises(NoRangesError):
        published("1.2.3", listing(index), whole=False)
    assert "vllm/envs.py" in published("1.2.3", listing(index)).paths


def test_the_whole_is_checked_and_bounded(index: str, wheel: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    publish_wheel(X86, wheel, parts=False, sha="0" * 64)
    with pytest.raises(SourceError, match="and the index says 0000"):
        published("1.2.3", listing(index))
    monkeypatch.setattr(fetch, "MAX_WHEEL_BYTES", 1 << 20)
    with pytest.raises(SourceError, match="more than 1 MB"):
        published("1.2.3", listing(index))


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        ([ARM, X86], X86),
        ([ARM], ARM),
        (["vllm-1.2.3-cp39-abi3-win_amd64.whl", ARM], ARM),
        (["vllm-1.2.3+cu129-cp38-abi3-manylinux_2_31_x86_64.whl"], None),
        (["vllm-1.2.30-cp38-abi3-manylinux_2_31_x86_64.whl", "other-1.2.3-py3-none-any.whl", "vllm-1.2.3.whl"], None),
    ],
)
def test_the_wheel_that_is_read(index: str, names: list[str], chosen: str | None) -> None:
    for name in names:
        publish_wheel(name, b"")
    found = listing(index).wheel("1.2.3")
    assert (found and found["filename"]) == chosen


def test_the_sdist_comes_first(index: str) -> None:
    publish(_1_2_3=b"an archive")
    publish_wheel(X86, b"")
    with pytest.raises(SourceError, match="not a readable archive"):
        published("1.2.3", listing(index))


def test_a_release_that_is_not_there(index: str) -> None:
    publish_wheel(X86, b"")
    with pytest.raises(NoSuchReleaseError, match=r"no sdist and no wheel of vllm 1\.2\.4"):
        published("1.2.4", listing(index))


def test_a_wheel_on_disk(tmp_path: Path, wheel: bytes) -> None:
    file = tmp_path / X86
    file.write_bytes(wheel)
    assert open_source(file).paths == tuple(sorted(name for name in FILES if name.endswith(".py")))


def _broken(data: bytes) -> bytes:
    at = data.index(b"vllm/a.py") + len("vllm/a.py")
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


def _of_another_size(data: bytes) -> bytes:
    at = data.rindex(b"PK\x01\x02") + 24
    return data[:at] + struct.pack("<L", 3) + data[at + 4 :]


def _huge_directory(data: bytes) -> bytes:
    return data[:-10] + struct.pack("<L", 1 << 30) + data[-6:]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "too short"),
        (b"x" * 1000, "does not end as one"),
        (packed({"vllm/a.py": "A"}) + b"more", "does not end as one"),
        (packed({"vllm/../../a.py": "A"}), "not a wheel as installers take it"),
        (packed({"/vllm/a.py": "A"}), "not a wheel as installers take it"),
        (packed({"vllm\\..\\a.py": "A"}), "not a wheel as installers take it"),
        (packed({"vllm/a.py": "A"}, zipfile.ZIP_BZIP2), "packed in another way"),
        (packed({"vllm/a.py": "A"}, zipfile.ZIP_LZMA), "packed in another way"),
        (_broken(packed({"vllm/a.py": "A" * 100})), "not a readable wheel"),
        (_of_another_size(packed({"vllm/a.py": "A" * 100})), "not a readable wheel|another size"),
        (_huge_directory(packed({"vllm/a.py": "A"})), "more files"),
    ],
)
def test_what_is_no_wheel(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableError, match=message):
        read_wheel("x.whl", io.BytesIO(data))


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = packed({f"vllm/{number}.py": "A" * (3 << 20) for number in range(3)})
    assert len(bomb) < 1 << 16
    monkeypatch.setattr(wheels, "MAX_TOTAL_BYTES", 8 << 20)
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("it was opened"))
    with pytest.raises(UnreadableError, match="more Python, than a release has"):
        read_wheel("x.whl", io.BytesIO(bomb))


def test_a_module_that_is_too_large_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "MAX_FILE_BYTES", 10)
    assert read_wheel("x.whl", io.BytesIO(packed({"vllm/a.py": "A" * 11, "vllm/b.py": "B"}))).paths == ("vllm/b.py",)


@pytest.mark.parametrize(
    ("says", "kind", "message"),
    [
        ("bytes 0-9/*", NoRangesError, "does not say which part"),
        ("bytes 5-14/20", SourceError, "another part than was asked for"),
        ("bytes 0-9/9999999", SourceError, "another part than was asked for"),
        ("bytes 0-9/999999999999999999", NoRangesError, "does not say which part"),
    ],
)
def test_a_server_that_gives_another_part(index: str, says: str, kind: type[SourceError], message: str) -> None:
    publish_wheel(X86, b"0123456789", says=says)
    _, address = fetch.wheel_address("1.2.3", listing(index))
    with pytest.raises(kind, match=message):
        RangedFile("x", address)


def test_parts_are_bounded(index: str, wheel: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    publish_wheel(X86, wheel)
    monkeypatch.setattr(ranges, "MAX_FETCHED", 1 << 19)
    with pytest.raises(SourceError, match="of it are wanted"):
        published("1.2.3", listing(index))
    monkeypatch.setattr(ranges, "MAX_SECONDS", -1)
    with pytest.raises(SourceError, match="took more than"):
        published("1.2.3", listing(index))


def test_reading_goes_where_a_file_does(index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "BLOCK", 4)
    monkeypatch.setattr(ranges, "KEPT", 2)
    publish_wheel(X86, b"0123456789")
    with RangedFile("x", fetch.wheel_address("1.2.3", listing(index))[1]) as file:
        assert (file.seek(-3, io.SEEK_END), file.read(), file.read()) == (7, b"789", b"")
        assert (file.seek(2), file.read(5), file.tell()) == (2, b"23", 4), "a block at once"
        assert (file.seek(1, io.SEEK_CUR), io.BufferedReader(file, 1).read(4)) == (5, b"5678")
        with pytest.raises(OSError, match="before its beginning"):
            file.seek(-1)


@pytest.mark.usefixtures("own_cache")
def test_a_pin_is_learnt_from_a_wheel(index: str, wheel: bytes) -> None:
    publish_wheel(X86, wheel)
    assert Provision(Said().append, False, lambda: listing(index), no_tag).provide(pins("1.2.3")) == ("1.2.3",)
    publish_wheel("vllm-1.2.4-py3-none-any.whl", wheel, parts=False)
    said = Said()
    assert Provision(said.append, False, lambda: listing(index), no_tag).provide(pins("1.2.4")) == ()
    assert "404" in said.about("1.2.4") or "no such release" in said.about("1.2.4"), "the tag was asked"


def test_one_command_learns_from_a_wheel(index: str, wheel: bytes, tmp_path: Path) -> None:
    publish_wheel(X86, wheel)
    result = CliRunner().invoke(learn_command, ["1.2.3", "--index", index, "--output", str(tmp_path)])
    assert (result.exit_code, (tmp_path / "1.2.3.json").is_file()) == (0, True), result.output
    assert "the image's entrypoint" not in result.output, "a wheel does not say it, which is no change"
