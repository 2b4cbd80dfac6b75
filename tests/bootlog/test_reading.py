"""Boot logs as people have them: real ones, wrapped, prefixed, cut, and text that only looks like one."""

from __future__ import annotations

import json
import os
import re
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.bootlog import BootLog, read
from tests.bootlog.sources import places, spoken

LOGS = Path(__file__).parent / "logs"
NAMES = ("0.11.0-ngram", "0.25.1-mtp", "0.28.0-mtp", "0.33.0-eager")
LOWERED = (
    "WARNING 12-01 00:29:26 [compilation.py:1410] CUDAGraphMode.FULL_AND_PIECEWISE is not supported with spec-decode "
    "for attention backend FlashInferBackend (support: AttentionCGSupport.UNIFORM_SINGLE_TOKEN_DECODE); "
    "setting cudagraph_mode=PIECEWISE\n"
)
BEGIN = "Initializing a V1 LLM engine"
OTHERS = "INFO 12-01 00:00:00 [logger.py:40]"
DONE = "INFO 12-01 00:30:00 [gpu_model_runner.py:6708] Graph capturing finished in 5 secs, took 0.44 GiB\n"


def text(name: str) -> str:
    """A log that a release wrote: its own parser and configuration ran, on a processor with a made-up card."""
    return (LOGS / f"{name}.log").read_text(encoding="utf-8")


def said(log: str) -> dict[str, object]:
    """What the only engine of a log said."""
    boots = read(log)
    assert len(boots) <= 1
    return {name: found.value for boot in boots for name, found in boot.said.items()}


def bar(kinds: str) -> str:
    return f"Capturing CUDA graphs ({kinds}):   0%|          | 0/5\rCapturing CUDA graphs ({kinds}): 100%|███| 5/5\n"


def test_what_0_11_0_wrote() -> None:
    assert said(text("0.11.0-ngram")) == {
        "release": "0.11.0",
        "model.architecture": "LlamaForCausalLM",
        "spec_decode.method": "ngram",
        "spec_decode.num_speculative_tokens": 3,
        "max_model_len": 16384,
        "tensor_parallel_size": 2,
        "pipeline_parallel_size": 1,
        "quantization": "fp8",
        "enforce_eager": False,
        "kv_cache_dtype": "auto",
        "prefix_caching": True,
        "chunked_prefill": True,
        "cudagraph_mode": "FULL_AND_PIECEWISE",
    }


def test_what_0_25_1_wrote() -> None:
    (boot,) = read(text("0.25.1-mtp"))
    assert boot.served == ("next",)
    assert boot.model == "Qwen/Qwen3-Next-80B-A3B-Instruct"
    found = {name: one.value for name, one in boot.said.items()}
    assert found["spec_decode.method"] == "mtp"
    assert found["max_num_seqs"] == 8
    assert found["mamba_cache_mode"] == "align"
    assert found["async_scheduling"] is True
    assert found["model.architecture"] == "Qwen3NextForCausalLM"
    assert "sk-not-a-real-key" not in repr(boot)


def test_what_0_33_0_wrote_of_an_eager_engine() -> None:
    found = said(text("0.33.0-eager"))
    assert (found["enforce_eager"], found["cudagraph_mode"], found["cudagraph_mode_effective"]) == (
        True,
        "NONE",
        "NONE",
    )
    assert "model.architecture" not in found  # the log does not begin where the boot does: it may be the drafter's


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "change",
    [
        lambda log: log.replace("\n", "\r\n"),
        lambda log: "".join(f"vllm-1  | {line}\n" for line in log.splitlines()),
        lambda log: "".join(f"(EngineCore_DP0 pid=312) {line}\n" for line in log.splitlines()),
        lambda log: "".join(f"\x1b[1;36m(APIServer pid=1)\x1b[0;0m {line}\n" for line in log.splitlines()),
        lambda log: "".join(f"2026-11-30T12:00:00.123456789Z {line}\n" for line in log.splitlines()),
        lambda log: "".join(f"> {line}\n" for line in log.splitlines()),
        lambda log: "".join(f"{log[i : i + 60]}\n" for log in log.splitlines() for i in range(0, len(log), 60)),
        lambda log: "".join(
            f"{part}\n" for line in log.splitlines() for part in textwrap.wrap(line, 78, break_on_hyphens=False)
        ),
    ],
    ids=["crlf", "compose", "process", "colour", "stamps", "quoted", "cut at 60", "wrapped at words"],
)
def test_what_stands_around_a_line_changes_nothing(name: str, change: object) -> None:
    assert callable(change)
    assert said(change(text(name))) == said(text(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_log_says_less_and_nothing_else(name: str) -> None:
    whole, log = said(text(name)), text(name)
    for end in range(0, len(log), 7):
        assert said(log[:end]).items() <= whole.items()
        assert said(log[end:]).items() <= {**whole}.items()


def as_json(log: str) -> str:
    """As the logger writes it with `--logging-config.formatter json`."""
    found = re.findall(r"^(.*?)(INFO|WARNING) (\S+ \S+) \[(\w+)\.py:\d+\] ?(.*)$", log, re.MULTILINE)
    lines = [
        (
            before,
            {"asctime": at, "levelname": level, "name": f"vllm.somewhere.{name}", "process": 9, "message": message},
        )
        for before, level, at, name, message in found
    ]
    return "".join(f"{before}{json.dumps(line)}\n" for before, line in lines)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_as_json_is_read_alike(name: str) -> None:
    assert said(as_json(text(name))) == said(text(name))
    assert said(as_json(text(name))[:-40]).items() <= said(text(name)).items()


@pytest.mark.parametrize("name", ["vllm.entrypoints.logger", "core", "somebody.core", None])
def test_json_of_another_module_counts_for_nothing(name: str | None) -> None:
    message = "hello\nInitializing a V1 LLM engine (v9.9.9) with config: model='x', enable_prefix_caching=False, seed=0"
    assert said(json.dumps({"name": name, "message": message})) == {}
    assert said('{"message":' + "[" * 100_000) == {}


def test_the_worker_lowers_the_mode() -> None:
    found = said(text("0.25.1-mtp") + LOWERED)
    assert (found["cudagraph_mode"], found["cudagraph_mode_effective"]) == ("FULL_AND_PIECEWISE", "PIECEWISE")


@pytest.mark.parametrize(
    ("kinds", "mode"),
    [
        (("mixed prefill-decode, PIECEWISE",), "PIECEWISE"),
        (("mixed prefill-decode, PIECEWISE", "decode, FULL"), "FULL_AND_PIECEWISE"),
        (("decode, FULL",), "FULL_DECODE_ONLY"),
        (("mixed prefill-decode, FULL",), "FULL"),
        (("PIECEWISE", "FULL"), "FULL_AND_PIECEWISE"),
        (("FULL",), None),
    ],
)
def test_captured_graphs_tell_the_mode(kinds: tuple[str, ...], mode: str | None) -> None:
    bars = "".join(map(bar, kinds))
    assert said(bars + DONE).get("cudagraph_mode_effective") == mode
    assert "cudagraph_mode_effective" not in said(bars)  # more may have been captured


def test_the_module_that_writes_tells_the_runner() -> None:
    assert said(DONE)["v2_model_runner"] is False
    assert said(DONE.replace("gpu_model_runner", "model_runner"))["v2_model_runner"] is True


def test_only_the_last_boot_counts() -> None:
    again = text("0.25.1-mtp").replace("enable_prefix_caching=True", "enable_prefix_caching=False")
    assert said(text("0.25.1-mtp") + again)["prefix_caching"] is False


def test_two_engines_are_two() -> None:
    log = "".join(f"{name} | {line}\n" for name in ("a-1", "b-1") for line in text("0.28.0-mtp").splitlines())
    assert [boot.container for boot in read(log)] == ["a-1", "b-1"]


@pytest.mark.parametrize(
    "line",
    [
        "enable_prefix_caching=False, enforce_eager=True",
        "Initializing a V1 LLM engine (v0.11.0) with config: model='x', enable_prefix_caching=False, seed=0",
        f"{OTHERS} Received: {BEGIN} (v0.11.0) with config: a=1, b=2",
        f"{OTHERS} {BEGIN} (v9.9.9) with config: enable_prefix_caching=False, a=1",
        "INFO 12-01 00:00:00 [core.py:99] hello: Initializing a V1 LLM engine (v9.9.9) with config: a=1, b=2",
        "INFO 12-01 00:00:00 [nvfp4.py:9] Using FLASHINFER backend.",
        "app-1 said cudagraph_mode_effective=NONE; setting cudagraph_mode=NONE",
    ],
)
def test_what_the_engine_did_not_say_counts_for_nothing(line: str) -> None:
    log = text("0.25.1-mtp")
    assert said(f"{line}\n") == {}
    assert said(f"{log}{line}\n") == said(log)


def test_a_key_that_stands_twice_is_not_said() -> None:
    log = text("0.25.1-mtp").replace("served_model_name=next", "served_model_name=next, enable_prefix_caching=False")
    assert "prefix_caching" not in said(log)


@given(st.text() | st.text(alphabet="(){}[]'\",=\\<>|%:\r\n INFOabc[core.py:1]"))
def test_anything_may_be_pasted(garbage: str) -> None:
    read(garbage)
    assert (
        said(f"INFO 12-01 00:00:00 [core.py:99] Initializing a V1 LLM engine (v0.25.1) with config: {garbage}")
        is not None
    )


@pytest.mark.parametrize("piece", ["(", "'\\", "a=", "\r", "x | ", ": 1%|", "\x1b[", "a=b, ", " "])
def test_a_large_paste_is_read_soon(piece: str) -> None:
    begin = "INFO 12-01 00:00:00 [core.py:99] Initializing a V1 LLM engine (v0.25.1) with config: a='"
    read(begin + piece * (1_100_000 // len(piece)))
    read(piece * (1_100_000 // len(piece)))


SOURCES = Path(os.environ.get("SEAMGUARD_VLLM_SOURCES", "/nonexistent"))


@pytest.mark.parametrize("name", sorted(spoken()))
def test_each_message_stands_where_it_is_said_to(name: str) -> None:
    message = spoken()[name]
    assert message["source"]
    for release, place in message["source"].items():
        source = SOURCES / f"vllm-{release}"
        if source.is_dir():
            assert place in places(message, source)


def test_nothing_of_a_log_is_kept_but_values() -> None:
    (boot,) = read(text("0.25.1-mtp"))
    assert isinstance(boot, BootLog)
    assert all(len(str(found.value)) < 100 for found in boot.said.values())
