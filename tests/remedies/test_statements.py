"""A comment that states another value than what runs is put right where it states nothing else."""

from __future__ import annotations

import pytest

from bot.claims import claims_of_comments, respelt
from tests.remedies.repositories import PATH, edited, findings, offer, refusal

SERVICE = """\
services:
  engine:
    image: ${IMAGE:-vllm/vllm-openai:v0.25.1}
    command:
      - --model
      - /models/llama
      - --max-model-len
      - "131072"
      - --max-num-seqs
      - "4"
      - --tensor-parallel-size
      - "2"
      - --kv-cache-dtype
      - fp8_e4m3
      - --enable-prefix-caching
      - --speculative-config
      - '{"method":"ngram","num_speculative_tokens":4}'
"""


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("Drafter: n-gram, n=3 (no weights)", "Drafter: n-gram, n=4 (no weights)"),
        ("Max ctx:   64K (mem-util 0.95)", "Max ctx:   128K (mem-util 0.95)"),
        ("Max ctx: 262K", "Max ctx: 131K"),
        ("Max ctx: 262,144", "Max ctx: 131,072"),
        ("max_model_len=262144", "max_model_len=131072"),
        ("Max ctx: ~64k", "Max ctx: ~128k"),
        ("Engine: vLLM v0.24.0 (stable)", "Engine: vLLM v0.25.1 (stable)"),
        ("Pinned to vLLM STABLE v0.24 (immutable)", "Pinned to vLLM STABLE v0.25 (immutable)"),
        ("Engine: vllm/vllm-openai:v0.24.0", "Engine: vllm/vllm-openai:v0.25.1"),
        ("Topology: Two cards (TP=4, no NVLink)", "Topology: Two cards (TP=2, no NVLink)"),
        ("Streams: 8", "Streams: 4"),
        ("KV: fp8_e5m2", "KV: fp8_e4m3"),
        (
            "IMAGE   engine image   (default: vllm/vllm-openai:v0.22.0)",
            "IMAGE   engine image   (default: vllm/vllm-openai:v0.25.1)",
        ),
    ],
)
def test_the_value_is_written_as_the_other_was(said: str, right: str) -> None:
    assert edited({PATH: f"# {said}\n{SERVICE}"}, "stale-claim")[PATH] == f"# {right}\n{SERVICE}"


@pytest.mark.parametrize(
    "said",
    [
        "The overlay is inert under the prefix-off default",
        "Drafter: none",
        "Max ctx: 64K (8.9 GB are left)",
        "Max ctx: 64K — measured on two cards",
        "Status: runs on stock vLLM v0.24.0",
        "Engine: vLLM v0.24.0 (stable), which includes the fix",
        "Engine: vLLM v0.24.0 (the tag is v0.24.0 too)",
        "MTP n=3 — the knee",
    ],
)
def test_a_sentence_that_says_more_is_left_to_its_author(said: str) -> None:
    text = SERVICE.replace("ngram", "mtp") if "MTP" in said else SERVICE
    assert "for a person to say" in refusal({PATH: f"# {said}\n{text}"}, "stale-claim")


def test_every_place_that_says_so_is_put_right() -> None:
    text = f"# Streams: 8\n#\n# max_num_seqs=8 → eight at once\n{SERVICE}"
    found = edited({PATH: text}, "stale-claim")[PATH]
    assert found == text.replace("Streams: 8", "Streams: 4").replace("seqs=8", "seqs=4")
    assert findings({PATH: found}, "stale-claim") == ()


def test_one_place_that_says_more_keeps_all_of_them() -> None:
    text = f"# Streams: 8\n#\n# max_num_seqs=8 → half the room each\n{SERVICE}"
    assert "for a person to say" in refusal({PATH: text}, "stale-claim")


def test_what_was_done_is_said() -> None:
    found = offer({PATH: f"# Streams: 8\n{SERVICE}"}, "stale-claim")
    assert found.does == "Says `4` instead of `8`, as engine runs it by default"


@pytest.mark.parametrize(
    ("said", "actual", "right"),
    [
        ("Max ctx: 65K", 32768, "32K"),
        ("Max ctx: 65K", 131072, "131K"),
        ("Max ctx: 64K", 131072, "128K"),
        ("Max ctx: 64K", 200000, "200K"),
        ("Max ctx: 100K", 120000, "120K"),
        ("Max ctx: 1M", 262144, None),
        ("Max ctx: 2M", 1048576, "1M"),
        ("Engine: vLLM v0.24.0", "0.26.0rc1", None),
        ("KV: fp8", "auto", None),
    ],
)
def test_numbers_are_spelt_as_people_do(said: str, actual: object, right: str | None) -> None:
    (claim, *_) = claims_of_comments("a.yml", f"# {said}\n")
    assert claim.spelt is not None
    old = f"# {said}"[claim.spelt[0] - 1 : claim.spelt[1] - 1]
    assert respelt(claim, old, actual) == right
