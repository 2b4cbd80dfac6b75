"""Edits in lists that are written in brackets: an item put in, replaced and taken out, and nothing else moved."""

from __future__ import annotations

import pytest

from tests.remedies.repositories import PATH, edited, findings, refusal
from tests.remedies.test_mounts import COMPOSE, FILES

HEAD = """\
services:
  engine:
    image: vllm/vllm-openai:v0.28.0
"""
MTP = """'{"method":"mtp","num_speculative_tokens":2}'"""
MODEL = "nvidia/Qwen3.6-27B-NVFP4"

PUT_IN: dict[str, tuple[str, str]] = {
    "one line": (
        f"""    command: ["--model", "{MODEL}", "--speculative-config", {MTP}] # a\n""",
        f"""    command: ["--model", "{MODEL}", "--no-enable-prefix-caching", "--speculative-config", {MTP}] # a\n""",
    ),
    "the first": (
        f"""    command: [ --speculative-config, {MTP},   '--model',"{MODEL}" ]\n""",
        f"""    command: [ --speculative-config, {MTP},   '--no-enable-prefix-caching', '--model',"{MODEL}" ]\n""",
    ),
    "with its value": (
        f"""    command: ["--model={MODEL}", '--speculative-config={MTP[1:-1]}']\n""",
        f"""    command: ["--model={MODEL}", '--no-enable-prefix-caching', '--speculative-config={MTP[1:-1]}']\n""",
    ),
    "an item on each line": (
        f"""    command: [\n      "--model",\n      "{MODEL}",\n      "--speculative-config",  # it\n"""
        f"""      {MTP},\n    ]\n""",
        f"""    command: [\n      "--model",\n      "{MODEL}",\n      "--no-enable-prefix-caching",\n"""
        f"""      "--speculative-config",  # it\n      {MTP},\n    ]\n""",
    ),
    "an option on each line": (
        f"""    command: ["--model", "{MODEL}",\n              "--speculative-config", {MTP}]\n""",
        f"""    command: ["--model", "{MODEL}",\n              "--no-enable-prefix-caching",\n"""
        f"""              "--speculative-config", {MTP}]\n""",
    ),
    "instead of its opposite": (
        f"""    command: ["--model", "{MODEL}", "--speculative-config", {MTP}, "--enable-prefix-caching"]\n""",
        f"""    command: ["--model", "{MODEL}", "--speculative-config", {MTP}, "--no-enable-prefix-caching"]\n""",
    ),
    "named in a comment too": (
        f"""    command: [{MODEL},--speculative-config,{MTP},--enable-prefix-caching] # --enable-prefix-caching\n""",
        f"""    command: [{MODEL},--speculative-config,{MTP},--no-enable-prefix-caching] # --enable-prefix-caching\n""",
    ),
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("form", PUT_IN)
def test_an_argument_is_put_in(form: str, end: str) -> None:
    before, after = (f"{HEAD}{text}    # the end".replace("\n", end) for text in PUT_IN[form])
    assert edited({PATH: before}, "mtp-prefix-cache-hybrid") == {PATH: after}
    assert findings({PATH: after}, "mtp-prefix-cache-hybrid") == ()


REPLACED: dict[str, tuple[str, str, str]] = {
    "a flag": ("unknown-flag", "[--model, /m, --max-model-length, '8']", "[--model, /m, --max-model-len, '8']"),
    "a value": ("engine-refuses", '["--model","/m","--dtype", "bf16"]', '["--model","/m","--dtype", "bfloat16"]'),
    "the same value of another": (
        "engine-refuses",
        '["--model", "/m", "--served-model-name", "a/FP8", "--kv-cache-dtype", "FP8"]',
        '["--model", "/m", "--served-model-name", "a/FP8", "--kv-cache-dtype", "fp8"]',
    ),
    "JSON": (
        "engine-refuses",
        """["--model", "/m", "--compilation-config", "{\\"cudagraph_mode\\":\\"NONE\\",}"]""",
        """["--model", "/m", "--compilation-config", "{\\"cudagraph_mode\\":\\"NONE\\"}"]""",
    ),
}


@pytest.mark.parametrize("form", REPLACED)
def test_an_item_is_replaced(form: str) -> None:
    rule, before, after = REPLACED[form]
    assert edited({PATH: f"{HEAD}    command: {before}\n"}, rule) == {PATH: f"{HEAD}    command: {after}\n"}


TAKEN_OUT: dict[str, tuple[str, str]] = {
    "the first": ('["--max-num-seqs", "8", --model, /m, --max-num-seqs, "6"]', '[--model, /m, --max-num-seqs, "6"]'),
    "in the middle": (
        '[--model, /m , "--max-num-seqs" , "8", --max-num-seqs=6]',
        "[--model, /m , --max-num-seqs=6]",
    ),
    "on a line of its own": (
        '[\n      --model, /m,\n      --max-num-seqs, "8",\n      --max-num-seqs, "6",\n    ]',
        '[\n      --model, /m,\n      --max-num-seqs, "6",\n    ]',
    ),
    "on two lines": (
        '[\n      /m,  # a\n      --max-num-seqs,\n      "8",\n      --max-num-seqs,\n      "6"\n    ]',
        '[\n      /m,  # a\n      --max-num-seqs,\n      "6"\n    ]',
    ),
}


@pytest.mark.parametrize("form", TAKEN_OUT)
def test_items_are_taken_out(form: str) -> None:
    before, after = TAKEN_OUT[form]
    found = edited({PATH: f"{HEAD}    command: {before}\n"}, "flag-without-effect")
    assert found == {PATH: f"{HEAD}    command: {after}\n"}


def test_the_last_item_is_taken_out() -> None:
    """The comma before it goes with it."""
    before, after = (f'{HEAD}    command: ["--model", "/m", "--enforce-eager"{last}]\n' for last in (', "true"', ""))
    assert edited({PATH: before}, "engine-refuses") == {PATH: after}


@pytest.mark.parametrize(
    "text",
    [
        '[--model, /m, --max-num-seqs,  # eight\n      "8", --max-num-seqs, "6"]',
        '[--model, /m,\n      # eight of them\n      --max-num-seqs, "8",\n      --max-num-seqs, "6"]',
        '[--model, /m, &n --max-num-seqs, "8", *n , "6"]',
    ],
)
def test_what_comments_and_anchors_hang_on_stays(text: str) -> None:
    assert refusal({PATH: f"{HEAD}    command: {text}\n"}, "flag-without-effect")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('["A=1", "B=2"]', '["A=1", "B=2", "VLLM_EAGER"]'),
        ("['A=1',\n        'B=2',\n      ]", "['A=1',\n        'B=2',\n        'VLLM_EAGER',\n      ]"),
        ("[\n      A=1,\n      B=2  # two\n      ]", "[\n      A=1,\n      B=2,  # two\n      VLLM_EAGER\n      ]"),
        ("{A: 1, B: 2}", "{A: 1, B: 2, VLLM_EAGER: null}"),
        ("{\n      A: 1,\n      B: 2\n    }", "{\n      A: 1,\n      B: 2,\n      VLLM_EAGER: null\n    }"),
    ],
)
def test_a_variable_is_named(before: str, after: str) -> None:
    end = """    entrypoint: [bash, -c, 'exec vllm serve --served-model-name $${VLLM_EAGER:-llama} "$$@"', --]
    command: ["--model", "/models/llama"]
"""
    here, there = (f"{HEAD}    environment: {text}\n{end}" for text in (before, after))
    assert edited({PATH: here}, "dead-seam") == {PATH: there}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('["A=1", "VLLM_ENFORCE_EAGER=1", "B=2"]', '["A=1", "B=2"]'),
        ("{VLLM_ENFORCE_EAGER: 1, B: 2}", "{B: 2}"),
        ("{\n      A: 1,\n      VLLM_ENFORCE_EAGER: 1\n    }", "{\n      A: 1\n    }"),
    ],
)
def test_a_variable_is_taken_out(before: str, after: str) -> None:
    here, there = (f"{HEAD}    environment: {text}\n    command: [/m, --enforce-eager]\n" for text in (before, after))
    assert edited({PATH: here}, "flag-without-effect") == {PATH: there}


def test_a_mount_is_put_in() -> None:
    lines = '      - ./cache:/root/.cache\n      - "./p/other/x.txt:/etc/x.txt:ro"  # why\n      # the end\n'
    written, wanted = (
        COMPOSE.replace(f"    volumes:\n{lines}", f"    volumes: [./cache:/root/.cache, {mounts}]\n")
        for mounts in ('"./p/other/x.txt:/etc/x.txt:ro"', '"./p/other/x.txt:/etc/x.txt:ro", "./p/pr48375:/etc/fix:ro"')
    )
    assert edited({**FILES, PATH: written}, "overlay-not-wired") == {**FILES, PATH: wanted}
