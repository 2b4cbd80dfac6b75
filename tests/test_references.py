from __future__ import annotations

import pytest

from bot.references import normalise, references_in

FIX = "vllm-project/vllm#46324"


@pytest.mark.parametrize(
    "text",
    [
        "vllm#46324",
        "#46324",
        46324,
        "46324",
        "PR 46324",
        "PR #46324",
        "pr-46324",
        FIX,
        "VLLM-Project/vLLM#46324",
        " vllm#46324 ",
        "https://github.com/vllm-project/vllm/pull/46324",
        "https://github.com/vllm-project/vllm/pull/46324/files#diff-1",
        "http://www.github.com/vllm-project/vllm/issues/46324?x=1",
        "github.com/vllm-project/vllm/pull/46324",
    ],
)
def test_every_usual_form(text: str | int) -> None:
    assert normalise(text) == FIX


@pytest.mark.parametrize(
    "text", ["", "latest", "#", "#0", "vllm", "0.25.1", "other#1", "a/b/c#1", "vllm#46324 and more", "٤٦"]
)
def test_what_is_none(text: str) -> None:
    assert normalise(text) is None


def test_other_repositories_keep_their_name() -> None:
    assert normalise("NVIDIA/TensorRT-LLM#10241") == "NVIDIA/TensorRT-LLM#10241"
    assert normalise("#7", "owner/name") == "owner/name#7"


def test_all_in_a_text() -> None:
    text = "vllm#43559 (bug) / vllm-project/vllm#48375 (fix), [#1](https://github.com/o/r/issues/2), vllm#43559; 0.25.1"
    assert references_in(text) == ("vllm-project/vllm#43559", "vllm-project/vllm#48375", "vllm-project/vllm#1", "o/r#2")


def test_a_long_hostile_text_is_read_in_no_time() -> None:
    assert references_in("a/" * 200_000 + "#") == ()
