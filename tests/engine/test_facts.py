"""The release files: that they are there, small, quick to read, and say what the releases' sources say."""

from __future__ import annotations

import difflib
import json
import time

import pytest

from bot.engine.facts import RELEASES, UnknownReleaseError, from_text, load, releases
from bot.learn.files import dump

MAX_BYTES = 150_000
MAX_SECONDS = 0.02
"""To load one release; the quickest of a few tries, since a machine may be busy."""


def test_releases_are_in_order() -> None:
    found = releases()
    assert {"0.25.1", "0.27.1", "0.28.0"} <= set(found)
    assert list(found) == sorted(found, key=lambda version: [int(part) for part in version.split(".")])


@pytest.mark.parametrize("version", releases())
def test_a_release_file_is_small_and_complete(version: str) -> None:
    text = (RELEASES / f"{version}.json").read_text(encoding="utf-8")
    raw = json.loads(text)
    assert len(text.encode()) < MAX_BYTES
    assert raw["release"] == version
    assert raw["gaps"] == [], "statements of the registration code that could not be followed"
    assert max(map(len, text.splitlines())) < 4000, "a change of one fact should be a change of one short line"


def test_the_largest_release_is_quick_to_load() -> None:
    text = max((path.read_text(encoding="utf-8") for path in RELEASES.glob("*.json")), key=len)

    def once() -> float:
        began = time.process_time()
        assert from_text(text).flag("--kv-cache-dtype") is not None
        return time.process_time() - began

    assert min(once() for _ in range(5)) < MAX_SECONDS


def test_a_diff_of_neighbours_shows_what_they_say() -> None:
    """Lines that moved are in one part, so that the rest of a diff is a changelog."""

    def said(version: str) -> list[str]:
        raw = json.loads((RELEASES / f"{version}.json").read_text(encoding="utf-8"))
        del raw["places"]
        return dump(raw).splitlines()

    difference = difflib.unified_diff(said("0.27.0"), said("0.27.1"), n=0, lineterm="")
    changed = [line for line in difference if line.startswith("+ ")]
    assert len(changed) < 10, changed


@pytest.mark.parametrize("version", releases())
def test_a_release_file_has_every_anchor(version: str) -> None:
    """After a change of the list of anchors, the release files are to be made anew (`bot learn`)."""
    wanted = json.loads((RELEASES.parent / "anchors.json").read_text(encoding="utf-8"))
    assert set(load(version).anchors) == set(wanted)


@pytest.mark.parametrize("version", releases())
def test_every_fact_has_a_place(version: str) -> None:
    facts = load(version)
    for flag in facts.flags.values():
        assert flag.path.startswith("vllm/"), flag
        assert flag.line > 0, flag
        assert flag.default.path.startswith("vllm/"), flag
        assert flag.default.line > 0, flag
        if flag.field and facts.field(flag.field) is not None:
            assert facts.field(flag.field) is not None


@pytest.mark.parametrize(
    ("dest", "value", "path"),
    [
        ("kv_cache_dtype", "auto", "vllm/config/cache.py"),
        ("enable_prefix_caching", None, "vllm/engine/arg_utils.py"),
        ("gpu_memory_utilization", 0.92, "vllm/config/cache.py"),
        ("mamba_cache_mode", "none", "vllm/config/cache.py"),
        ("optimization_level", "O2", "vllm/config/vllm.py"),
        ("enforce_eager", False, "vllm/config/model.py"),
        ("disable_log_stats", False, "vllm/engine/arg_utils.py"),
        ("model", "Qwen/Qwen3-0.6B", "vllm/config/model.py"),
    ],
)
def test_a_default(dest: str, value: object, path: str) -> None:
    fact = load("0.25.1").default(dest)
    assert fact is not None
    assert (fact.value, fact.path) == (value, path)


def test_what_a_release_does_not_have() -> None:
    facts = load("0.25.1")
    assert facts.default("nope") is None
    assert facts.flag("--nope") is None
    assert facts.config("Nope") is None
    assert facts.field("CacheConfig.nope") is None
    assert facts.choices("Nope") == ()
    assert facts.level_table(9) == {}
    with pytest.raises(UnknownReleaseError):
        load("0.0.1")


def test_levels() -> None:
    modes = [load("0.25.1").level_table(level)["compilation_config.cudagraph_mode"].value for level in range(4)]
    assert modes == ["NONE", "PIECEWISE", "FULL_AND_PIECEWISE", "FULL_AND_PIECEWISE"]
    fusion = load("0.25.1").level_table(2)["compilation_config.pass_config.fuse_norm_quant"]
    assert (fusion.known, fusion.computed) == (False, "enable_norm_fusion")


def test_choices_of_nested_lists_are_resolved() -> None:
    methods = load("0.25.1").choices("EagleModelTypes")
    assert {"eagle", "eagle3", "mtp", "qwen3_5_mtp", "dflash"} <= set(methods)
    assert "nvfp4_4over6" in load("0.28.0").choices("CacheDType")
    assert "nvfp4_4over6" not in load("0.25.1").choices("CacheDType")


def test_options_of_a_two_way_flag() -> None:
    flag = load("0.25.1").flag("--no-enable-prefix-caching")
    assert flag is not None
    assert (flag.name, flag.inverses) == ("--enable-prefix-caching", ("--no-enable-prefix-caching",))


def test_a_source_link() -> None:
    facts = load("0.25.1")
    assert facts.source_link("vllm/envs.py", 7) == "https://github.com/vllm-project/vllm/blob/v0.25.1/vllm/envs.py#L7"
    assert facts.source_link("vllm/envs.py", None).endswith("vllm/envs.py")


def test_the_entrypoint_and_the_environment() -> None:
    facts = load("0.28.0")
    assert facts.entrypoint == ("vllm", "serve")
    assert "VLLM_USE_V2_MODEL_RUNNER" in facts.environment
    assert "VLLM_USE_V1" not in facts.environment


def test_a_file_of_another_schema_is_not_read() -> None:
    with pytest.raises(UnknownReleaseError, match="schema 0"):
        from_text('{"schema": 0, "release": "1.0"}')
