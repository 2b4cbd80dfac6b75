"""Edits of arguments that a release refuses or does not heed."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from bot.engine.facts import load, releases
from bot.engine.successors import moved, successor
from tests.remedies.repositories import PATH, answers, edited, findings, offer, refusal

HEAD = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    command:
      - --model
      - /models/llama
"""


def items(*words: str) -> str:
    """A service whose arguments are items of a list, as they are given."""
    return HEAD + "".join(f"      - {word}\n" for word in words)


def script(line: str) -> str:
    return HEAD.partition("    command:")[0] + f"    entrypoint: [bash, -c]\n    command:\n      - |\n        {line}\n"


MOVED: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "another name": (["--cuda-graph-sizes", '"1"'], ["--cudagraph-capture-sizes", '"1"']),
    "a key of a configuration": (
        ["--guided-decoding-backend=xgrammar"],
        ["--structured-outputs-config.backend=xgrammar"],
    ),
    "the opposite of the opposite": (["'--disable-log-requests'"], ["'--no-enable-log-requests'"]),
    "a switch that became a value": (["--disable-mm-preprocessor-cache"], ["--mm-processor-cache-gb=0"]),
}


@pytest.mark.parametrize("form", MOVED)
def test_a_flag_that_a_release_moved(form: str) -> None:
    before, after = (items(*words) for words in MOVED[form])
    assert edited({PATH: before}, "unknown-flag") == {PATH: after}
    assert findings({PATH: after}) == ()


def test_the_remedy_names_the_successor() -> None:
    (found,) = findings({PATH: items("--eplb-window-size", '"100"')}, "unknown-flag")
    assert found.remedy == "Write `--eplb-config.window_size`, which does what `--eplb-window-size` did."


def test_a_flag_that_is_gone_for_good_gets_no_edit() -> None:
    assert "no small edit" in refusal({PATH: items("--swap-space", '"4"')}, "unknown-flag")


@pytest.mark.parametrize("flag", moved())
def test_a_successor_takes_over_where_the_flag_ends(flag: str) -> None:
    entry = moved()[flag]
    following = releases()[releases().index(entry.last) + 1]
    assert load(entry.last).flag(flag) is not None
    assert load(following).flag(flag) is None
    assert all(successor(flag, release) for release in releases()[releases().index(following) :])


def test_a_field_that_another_flag_writes_on_has_a_successor() -> None:
    """A flag that went while its configuration field kept another one is in the table."""
    lost = set()
    for before, after in zip(releases(), releases()[1:], strict=False):
        here, there = load(before), load(after)
        fields = {flag.field for name in there.spellings.values() if (flag := there.flag(name)) and flag.field}
        gone = (here.flag(name) for name in here.spellings if name.startswith("--") and name not in there.spellings)
        lost |= {flag.name for flag in gone if flag is not None and flag.field in fields}
    assert lost <= moved().keys()


VALUES: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "spelt wrong": (["--kv-cache-dtype", "fp8_e4m4  # why"], ["--kv-cache-dtype", "fp8_e4m3  # why"]),
    "capitals": (["--kv-cache-dtype=FP8"], ["--kv-cache-dtype=fp8"]),
    "short for a type": (["--dtype", "bf16"], ["--dtype", "bfloat16"]),
    "a switch with a value": (["--enforce-eager", '"true"', "--port", '"1"'], ["--enforce-eager", "--port", '"1"']),
    "a leading zero": (
        ["--speculative-config", """'{"method":"ngram","num_speculative_tokens":03}'"""],
        ["--speculative-config", """'{"method":"ngram","num_speculative_tokens":3}'"""],
    ),
    "a comma too many": (
        ["--compilation-config", json.dumps('{"cudagraph_mode":"NONE",}')],
        ["--compilation-config", json.dumps('{"cudagraph_mode":"NONE"}')],
    ),
    "words of Python": (
        ["--hf-overrides", """'{"a": True, "b": None}'"""],
        ["--hf-overrides", """'{"a": true, "b": null}'"""],
    ),
}


@pytest.mark.parametrize("form", VALUES)
def test_a_value_that_can_only_mean_one_thing(form: str) -> None:
    before, after = (items(*words) for words in VALUES[form])
    assert edited({PATH: before}, "engine-refuses") == {PATH: after}


@pytest.mark.parametrize(
    "words",
    [
        ["--max-model-len", "abc"],
        ["--gpu-memory-utilization", '"90"'],
        ["--kv-cache-dtype", "fast"],
        ["--enforce-eager", '"false"'],
        ["--speculative-config", "'{method: ngram}'"],
    ],
)
def test_a_value_that_could_mean_anything_gets_no_edit(words: Sequence[str]) -> None:
    assert refusal({PATH: items(*words)}, "engine-refuses")


LATER = ("--max-num-seqs", '"16"')
DEAD = {
    "items": (items("--max-num-seqs", '"8"', "--port", '"1"', *LATER), items("--port", '"1"', *LATER)),
    "one item": (items("--max-num-seqs=8  # few", *LATER), items(*LATER)),
    "on one line": (
        script("exec vllm serve /m --max-num-seqs 8 --port 1 --max-num-seqs 16"),
        script("exec vllm serve /m --port 1 --max-num-seqs 16"),
    ),
    "at the end of a line": (
        script("exec vllm serve /m --max-num-seqs 8 \\\n          --max-num-seqs 16"),
        script("exec vllm serve /m \\\n          --max-num-seqs 16"),
    ),
    "a line of its own": (
        script("exec vllm serve /m \\\n          --max-num-seqs 8 \\\n          --max-num-seqs 16"),
        script("exec vllm serve /m \\\n          --max-num-seqs 16"),
    ),
    "in brackets": (
        HEAD.partition("    command:")[0] + '    command: ["--max-num-seqs", "8", --model, /m, --max-num-seqs, "16"]\n',
        HEAD.partition("    command:")[0] + '    command: [--model, /m, --max-num-seqs, "16"]\n',
    ),
}


@pytest.mark.parametrize("form", DEAD)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_argument_that_a_later_one_overrides(form: str, end: str) -> None:
    before, after = (text.replace("\n", end) for text in DEAD[form])
    if end == "\r\n" and "|" in before:
        pytest.skip("a shell takes the carriage return for a part of the word")
    assert edited({PATH: before}, "flag-without-effect") == {PATH: after}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["# eight of them", "--max-num-seqs", '"8"', *LATER], "taken out alone"),
        (["--max-num-seqs", '"8"', "--max-num-seqs", '"8"', *LATER], "still be there"),
        (
            ["--compilation-config", """'{"mode":0}'""", "--compilation-config", """'{"cudagraph_mode":"NONE"}'"""],
            "put together",
        ),
    ],
)
def test_what_may_be_meant_otherwise_stays(words: Sequence[str], why: str) -> None:
    text = items(*words).replace("- # eight", "# eight")
    assert why in refusal({PATH: text}, "flag-without-effect")


def test_which_of_two_settings_is_meant_is_no_edit_where_a_hazard_hangs_on_it() -> None:
    words = ["--speculative-config", """'{"method":"mtp","num_speculative_tokens":3}'"""]
    text = items(*words, "--no-enable-prefix-caching", "--enable-prefix-caching")
    found = answers({PATH: text.replace("/models/llama", "nvidia/Qwen3.6-27B-NVFP4")}, "flag-without-effect")
    assert "no small edit" in str(found[0])


def test_what_an_edit_does_is_said() -> None:
    found = offer({PATH: items("--max-num-seqs", '"8"', *LATER)}, "flag-without-effect")
    assert found.does == "Takes `--max-num-seqs 8` out, which a later argument overrides"
    assert "no property of an engine changes." in found.proved
