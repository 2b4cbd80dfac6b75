"""Keep the answers of releases' own configurations that a test can rest on: a script for developers.

    python -m tests.differential.record_engine COUNT RECORD... > tests/engine/vllm_configurations.jsonl

A RECORD is what `compare_engine.py` wrote for a release. Left out are answers that come from the made-up card, the
stand-ins for missing packages, or the small configurations of the models. Of the others, COUNT of each record are kept.
The first line of a release has its usual answers, the others only what is not usual: see `usual_and_rows`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LIMITED = (
    "ray", "Arctic", "flashinfer", "Cannot find the config file", "derived max_model_len", "attention heads",
    "divisible by 3", "vocabulary size", "per-layer attribute", "Whisper", "libcudart", "flash_mla",
    "could not locate think",
    "larger than the number of available GPUs", "my.Proposer", "kv heads", "KV heads", "rope_",
    "num_attention_heads", "not supported for now", "max_num_batched_tokens (2048)", "No module named",
    "failed to be inspected", "tokenize reasoning", "backend tokenizer",
)  # fmt: skip
"""Words of errors that another machine, image or checkpoint would not have."""

BY_STAND_IN = ("max_model_len", "max_num_seqs", "architecture")
"""Answers that the small configurations and the made-up card decide."""


def telling(row: dict[str, Any]) -> bool:
    """Whether a pair says something about the release."""
    error = row["answer"].get("error")
    own = "VLLM_ATTENTION_BACKEND" in row["env"] or "VLLM_USE_V2_MODEL_RUNNER" in row["env"]
    if own or "--enable-auto-tool-choice" in row["argv"] or "nosuch" in row["argv"]:
        return False
    if error is not None and row["architecture"] == "NemotronHForCausalLM" and "mtp" in error["text"]:
        return False  # some of these checkpoints have prediction layers
    return error is None or (error["stage"] != "script" and not any(word in error["text"] for word in LIMITED))


def short(row: dict[str, Any]) -> dict[str, Any]:
    """A pair with what a test compares; an error as its kind and where it was raised."""
    answer = row["answer"]
    kept = {name: row[name] for name in ("release", "sm", "argv", "env", "files", "architecture", "model_kind")}
    kept = {name: value for name, value in kept.items() if value}
    if "error" in answer:
        return {**kept, "error": {"stage": answer["error"]["stage"], "kind": answer["error"]["kind"]}}
    resolved = {name: value for name, value in answer["resolved"].items() if name not in BY_STAND_IN}
    return {**kept, "resolved": resolved}


def usual_and_rows(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows of one release in short: the most frequent answers once, and for each pair those that differ."""
    answers = [row["resolved"] for row in rows if "resolved" in row]
    usual = {}
    for name in dict.fromkeys(name for found in answers for name in found):
        counted = Counter(json.dumps(found.get(name)) for found in answers)
        usual[name] = json.loads(counted.most_common(1)[0][0])
    yield {"release": rows[0]["release"], "usual": usual}
    for row in rows:
        if "resolved" in row:
            differing = {name: value for name, value in row["resolved"].items() if value != usual[name]}
            row = {**row, "resolved": differing}
        yield {name: value for name, value in row.items() if name != "release"}


def main() -> None:
    """Print an even sample of the records, as JSON lines."""
    count = int(sys.argv[1])
    kept: dict[str, list[dict[str, Any]]] = {}
    for name in sys.argv[2:]:
        rows = [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]
        rows = [row for row in rows if telling(row)]
        errors = [row for row in rows if "error" in row["answer"]]
        others = [row for row in rows if "error" not in row["answer"]]
        for some in (errors, others):
            for row in some[:: max(1, 2 * len(some) // count)]:
                kept.setdefault(row["release"], []).append(short(row))
    for rows in kept.values():
        for row in usual_and_rows(rows):
            print(json.dumps(row, separators=(",", ":")))


if __name__ == "__main__":
    main()
