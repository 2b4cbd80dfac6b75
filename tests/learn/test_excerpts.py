"""A few modules of a release: fetched from a server of our own, kept on disk, held against their hashes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.learn import excerpts
from bot.learn.excerpts import Excerpts, blob_hash
from bot.learn.fetch import NoSuchReleaseError
from bot.learn.source import SourceError, SourceTree

FILES = {"vllm/__init__.py": "", "vllm/a.py": "a = 1\n", "vllm/v1/b.py": "b = 2\n", "vllm/unread.py": "c = 3\n"}
COMMIT = "bf610c2f56764e1b30bc6065f4ceace3d6e59036"


class Hub:
    """Answers as GitHub's API does, and counts."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files
        self.asked: list[str] = []
        self.broken: Exception | None = None
        self.lies = False

    def __call__(self, what: str, _form: str, _most: int, *_: Any) -> bytes:
        self.asked.append(what)
        if self.broken:
            raise self.broken
        if what.startswith("git/trees/"):
            if what not in ("git/trees/v0.34.0?recursive=1", f"git/trees/{COMMIT}?recursive=1"):
                raise NoSuchReleaseError("gone")
            tree = [
                {"path": path, "type": "blob", "sha": blob_hash(text.encode())} for path, text in self.files.items()
            ]
            return json.dumps({"tree": [*tree, {"path": "vllm", "type": "tree", "sha": "0" * 40}]}).encode()
        found = next(text for text in self.files.values() if blob_hash(text.encode()) == what.rpartition("/")[2])
        return b"something else" if self.lies else found.encode()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Hub:
    monkeypatch.setenv("SEAMGUARD_CACHE", str(tmp_path))
    monkeypatch.setattr(excerpts, "read_api", found := Hub(dict(FILES)))
    monkeypatch.setattr(excerpts, "fetched", _no_index)
    return found


def _no_index(*_: Any) -> Any:
    raise SourceError("no index")


def online() -> Excerpts:
    return Excerpts(offline=False)


def tree(found: SourceTree | str) -> SourceTree:
    assert isinstance(found, SourceTree), found
    return found


def test_the_modules_that_are_asked_for_and_no_others(hub: Hub) -> None:
    source = tree(online().source("0.34.0", ["vllm/a.py", "vllm/v1/b.py", "vllm/nowhere.py", "../etc/passwd", "a.py"]))
    assert [source.read(path) for path in ("vllm/a.py", "vllm/v1/b.py", "vllm/nowhere.py")] == [
        "a = 1\n",
        "b = 2\n",
        None,
    ]
    assert (source.paths, len(hub.asked)) == (("vllm/a.py", "vllm/v1/b.py"), 3)


def test_what_was_fetched_is_kept_for_the_next_run(hub: Hub) -> None:
    online().source("0.34.0", ["vllm/a.py"])
    asked = len(hub.asked)
    offline = Excerpts(offline=True)
    assert tree(offline.source("0.34.0", ["vllm/a.py", "vllm/nowhere.py"])).read("vllm/a.py") == "a = 1\n"
    assert offline.source("0.34.0", ["vllm/v1/b.py"]) == "its source is not at hand"
    assert offline.lacking == {"0.34.0": {"vllm/v1/b.py"}}
    assert len(hub.asked) == asked
    tree(online().source("0.34.0", ["vllm/v1/b.py"]))
    assert len(hub.asked) == asked + 1


def test_a_module_that_did_not_change_is_not_fetched_again(hub: Hub) -> None:
    online().source("0.34.0", ["vllm/a.py"])
    tree(online().source(COMMIT, ["vllm/a.py"]))
    assert [what for what in hub.asked if "blobs" in what] == [f"git/blobs/{blob_hash(FILES['vllm/a.py'].encode())}"]


@pytest.mark.parametrize("release", ["", "latest", "0.34.0/..", "v0.34.0", "bf610c2f", "0.34.0;x"])
def test_what_is_no_release_is_not_asked_for(hub: Hub, release: str) -> None:
    assert online().source(release, ["vllm/a.py"]) == "no release"
    assert hub.asked == []


def test_a_release_that_is_not_there(hub: Hub) -> None:
    found = online()
    assert found.source("0.99.0", ["vllm/a.py"]) == "no such release is published"
    assert found.source("0.99.0", ["vllm/a.py"]) == "no such release is published"
    assert len(hub.asked) == 1
    tree(found.source("0.34.0", ["vllm/a.py"]))


def test_a_server_that_does_not_answer_is_left_alone(hub: Hub) -> None:
    hub.broken = SourceError("down")
    told: list[str] = []
    found = Excerpts(offline=False, say=told.append)
    assert {found.source(release, ["vllm/a.py"]) for release in ("0.34.0", "0.35.0")} == {
        "its source could not be fetched"
    }
    assert (len(hub.asked), len(told)) == (1, 1)


def test_content_is_held_against_its_hash(hub: Hub) -> None:
    hub.lies = True
    assert online().source("0.34.0", ["vllm/a.py"]) == "its source could not be fetched"


def test_a_tree_without_vllm_is_none(hub: Hub) -> None:
    del hub.files["vllm/__init__.py"]
    assert online().source("0.34.0", ["vllm/a.py"]) == "its source could not be fetched"


def test_too_many_modules_are_refused(hub: Hub) -> None:
    assert isinstance(online().source("0.34.0", [f"vllm/m{n}.py" for n in range(65)]), str)
    assert hub.asked == []


def test_the_sdist_where_the_tag_cannot_be_read(hub: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Archive:
        def __enter__(self) -> Path:
            return tmp_path

        def __exit__(self, *_: object) -> None: ...

    hub.broken = SourceError("rate limit")
    monkeypatch.setattr(excerpts, "fetched", lambda *_: Archive())
    monkeypatch.setattr(excerpts, "sdist", lambda _: SourceTree(FILES.get, sorted(FILES)))
    source = tree(online().source("0.34.0", ["vllm/a.py", "vllm/nowhere.py"]))
    assert (source.read("vllm/a.py"), source.paths) == ("a = 1\n", ("vllm/a.py",))
    assert tree(Excerpts(offline=True).source("0.34.0", ["vllm/a.py"])).read("vllm/a.py") == "a = 1\n"


def test_a_broken_cache_is_no_cache(hub: Hub, tmp_path: Path) -> None:
    online().source("0.34.0", ["vllm/a.py"])
    (tmp_path / "sources" / "0.34.0.json").write_text("[1", encoding="utf-8")
    tree(online().source("0.34.0", ["vllm/a.py"]))


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("SEAMGUARD_CACHE", str(tmp_path / "file"))
    found = online()
    assert tree(found.source("0.34.0", ["vllm/a.py"])).read("vllm/a.py") == "a = 1\n"
    tree(found.source("0.34.0", ["vllm/a.py"]))
    assert len(hub.asked) == 2
