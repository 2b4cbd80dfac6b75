"""Releases that are learnt on the spot, because a pin names them: from an index on this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli import cli
from bot.engine import Pin, cache, facts
from bot.engine.missing import missing
from bot.learn import provision
from bot.learn.fetch import NoSuchReleaseError, listing
from bot.learn.provision import Provision
from bot.learn.source import SourceError
from tests.learn.server import Index, archive_of, publish
from tests.learn.source_tree import FILES


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAMGUARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_held", {})
    facts.load.cache_clear()


def sdist(tmp_path: Path, **changed: str) -> bytes:
    files = {**FILES, **changed}
    members = [(f"vllm-1.0/{name}", text.encode()) for name, text in files.items()]
    return archive_of(tmp_path / "sdist.tar.gz", *members).read_bytes()


def pins(*releases: str) -> list[Pin]:
    return [Pin(f"vllm/vllm-openai:v{release}", release) for release in releases]


class Fails(AbstractContextManager[Path]):
    """A source that cannot be opened."""

    def __init__(self, error: SourceError) -> None:
        self.error = error

    def __enter__(self) -> Path:
        raise self.error

    def __exit__(self, *_: object) -> None:
        return None


def no_tag(release: str) -> Fails:
    return Fails(NoSuchReleaseError(f"{release}: 404"))


class Said(list[str]):
    """What a person is told."""

    def about(self, release: str) -> str:
        return next(text for text in reversed(self) if f"vLLM {release} " in text)


def provider(index: str, said: Said, offline: bool = False) -> Provision:
    return Provision(said.append, offline, lambda: listing(index), no_tag)


def test_a_release_is_learnt_once(index: str, tmp_path: Path) -> None:
    publish(_1_2_3=sdist(tmp_path))
    said = Said()
    assert provider(index, said).provide(pins("1.2.3", "0.28.0", "1.2.3")) == ("1.2.3",)
    assert said == ["vLLM 1.2.3 has no facts yet: learning it from its source"]
    assert facts.load("1.2.3").flag("--share") is not None
    asked = list(Index.asked)
    assert provider(index, said).provide(pins("1.2.3")) == ()
    assert Index.asked == asked, "what is on disk is not fetched again"
    facts.load.cache_clear()
    assert facts.is_known("1.2.3")


@pytest.mark.parametrize(
    "release",
    ["1.2.3rc1", "1.2.3.dev4", "1.2.3+cu129", "1.2", "../1.2.3", "1.2.3.4.5", "0.10.2", "9" * 30 + ".0.0", "", "x"],
)
def test_only_releases_are_looked_up(index: str, release: str) -> None:
    assert missing([Pin("x", release)]) == ()
    assert provider(index, Said()).provide([Pin("x", release), Pin("x", None)]) == ()
    assert Index.asked == []


def test_what_is_no_release_is_not_asked_again(index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(_1_2_3=sdist(tmp_path))
    for _ in range(2):
        said = Said()
        assert provider(index, said).provide(pins("9.9.9")) == ()
        assert "no such release is published" in said.about("9.9.9")
    assert Index.asked == ["/simple/vllm/"]
    monkeypatch.setattr("bot.engine.cache.time.time", lambda: 4e9)
    provider(index, Said()).provide(pins("9.9.9"))
    assert len(Index.asked) == 2, "after some time it may have been published"


def test_a_source_of_another_form_is_not_fetched_again(index: str, tmp_path: Path) -> None:
    publish(_1_2_3=sdist(tmp_path, **{"vllm/envs.py": "x = 1\n"}))
    for _ in range(2):
        said = Said()
        assert provider(index, said).provide(pins("1.2.3")) == ()
        assert "of a form that is not known" in said.about("1.2.3")
    assert len(Index.asked) == 2


def test_facts_with_gaps_are_not_believed(index: str, tmp_path: Path) -> None:
    text = FILES["vllm/config/cache.py"].replace("class CacheConfig", "class OtherConfig")
    publish(_1_2_3=sdist(tmp_path, **{"vllm/config/cache.py": text}))
    said = Said()
    assert provider(index, said).provide(pins("1.2.3")) == ()
    assert "could not be followed at vllm/engine/arg_utils.py:" in said.about("1.2.3")
    assert not facts.is_known("1.2.3")


def test_a_fault_of_ours_takes_no_answer_with_it(index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(_1_2_3=sdist(tmp_path))
    monkeypatch.setattr(provision, "learn", lambda *_: dict[str, str]()["none"])
    said = Said()
    assert provider(index, said).provide(pins("1.2.3")) == ()
    assert "KeyError: 'none'" in said.about("1.2.3")


def test_the_tag_where_the_index_has_no_sdist(index: str, tmp_path: Path) -> None:
    publish(_1_2_3=b"x")
    archive = tmp_path / "sdist.tar.gz"
    sdist(tmp_path)

    @contextmanager
    def tag(release: str) -> Iterator[Path]:
        yield archive

    assert Provision(Said().append, False, lambda: listing(index), tag).provide(pins("1.2.4")) == ("1.2.4",)


def test_a_network_that_fails_is_asked_once_in_a_while(index: str) -> None:
    tags: list[str] = []

    def tag(release: str) -> Fails:
        tags.append(release)
        return Fails(SourceError("no route"))

    for _ in range(2):
        said = Said()
        assert Provision(said.append, False, lambda: listing(index), tag).provide(pins("1.2.3", "1.2.4")) == ()
        assert "no route" in said.about("1.2.4")
        assert "no route" in said.about("1.2.3"), "what one failure says of the network counts for all"
    assert tags == ["1.2.4"]


def test_without_a_list_a_tag_that_is_not_there_proves_nothing(index: str) -> None:
    said = Said()
    Provision(said.append, False, lambda: listing(index), no_tag).provide(pins("1.2.3"))
    assert "404" in said.about("1.2.3")


def test_offline_nothing_is_asked(index: str) -> None:
    said = Said()
    asking = provider(index, said, offline=True)
    asking.provide(pins("1.2.3"))
    asking.provide(pins("1.2.3"))
    assert said == ["vLLM 1.2.3 could not be learnt: the network is not to be used"]
    assert Index.asked == []


def test_a_run_is_bounded(index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provision, "MAX_LEARNT", 2)
    monkeypatch.setattr(provision, "MAX_ASKED", 5)
    archive = sdist(tmp_path)
    publish(_1_0_0=archive, _1_0_1=archive, _1_0_2=archive)
    said = Said()
    asking = provider(index, said)
    many = pins(*(f"99.0.{number}" for number in range(200)), "1.0.0", "1.0.1", "1.0.2")
    assert asking.provide(many) == ("1.0.2", "1.0.1"), "those first that the index has, however many it has not"
    assert "enough others" in said.about("1.0.0")
    assert len([path for path in Index.asked if path.startswith("/files/")]) == 2
    assert asking.provide(pins("88.0.0")) == ()


def test_a_folder_that_cannot_be_written(index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SEAMGUARD_CACHE", str(tmp_path / "file"))
    publish(_1_2_3=sdist(tmp_path))
    assert provider(index, Said()).provide(pins("1.2.3", "9.9.9")) == ("1.2.3",)
    facts.load.cache_clear()
    assert facts.is_known("1.2.3"), "for as long as the process lives"


@pytest.fixture
def compose(tmp_path: Path) -> Path:
    file = tmp_path / "repo" / "compose.yml"
    file.parent.mkdir()
    file.write_text(
        """services:
  a:
    image: vllm/vllm-openai:v1.2.3
    command: ["Qwen/Qwen3.5-27B", "--kv-cache-dtype", "fp8"]
"""
    )
    return file


def told(*arguments: str) -> tuple[dict[str, dict[str, object]], str]:
    done = CliRunner().invoke(cli, ["resolve", *arguments, "--format", "json"], catch_exceptions=False)
    return json.loads(done.stdout)["services"][0]["worlds"][0]["properties"], done.stderr


def test_a_question_about_an_unknown_release(
    index: str, compose: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """End to end: what the deployment sets is read as the release reads it, and no derivation is applied to code that
    nobody has read.
    """
    publish(_1_2_3=sdist(tmp_path))
    monkeypatch.setenv("PIP_INDEX_URL", index)
    found, note = told(str(compose))
    assert "the network is not to be used" in note
    assert found["optimization_level"]["certainty"] == "unknown"

    monkeypatch.delenv("SEAMGUARD_OFFLINE")
    found, note = told(str(compose))
    assert "learning it from its source" in note
    assert found["kv_cache_dtype"]["value"] == "fp8"
    assert found["prefix_caching"]["certainty"] == "unknown"
    assert "unverified in 1.2.3" in str(found["prefix_caching"]["because"])
    assert told(str(compose))[1] == "", "known from now on"


@pytest.mark.parametrize("command", ["audit", "explain", "resolve", "flips"])
def test_every_face_learns(
    command: str, index: str, compose: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(_1_2_3=sdist(tmp_path))
    monkeypatch.setenv("PIP_INDEX_URL", index)
    monkeypatch.delenv("SEAMGUARD_OFFLINE")
    arguments = {"audit": [str(compose.parent)], "flips": ["0.33.0", "1.2.3", "--repo", str(compose.parent)]}
    done = CliRunner().invoke(cli, [command, *arguments.get(command, [str(compose)])], catch_exceptions=False)
    assert "learning it from its source" in done.stderr
    assert os.listdir(cache.folder()) == ["1.2.3.json"]
