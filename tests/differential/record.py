"""Keep the questions and answers that say most: a script for developers, not run by the tests.

    python -m tests.differential.record COUNT RECORD... > tests/engine/vllm_answers.jsonl

A RECORD is what `compare.py` wrote for a release.
Left out are answers that come from the stand-ins of `vllm_parser.py`, and those of checks which are no part of the
parser or of a field's type.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.differential.vllm_requests import traps

STAND_INS = ("standin", "/tmp/", "=--\"",
             "lora-dtype", "lora_dtype", "chat-template-content", "chat_template_content", "otlp", "opentelemetry",
             "device-ids", "device_ids", "show-hidden", "show_hidden", "numa-bind", "numa_bind",
             "engine_id", "torch_profiler_dir", "fuse_act_padding", "pooler", "<function")  # fmt: skip
OWN_CHECKS = ("validation error for", "invalid parse_dataclass", "invalid _optional_type")


def telling(request: dict[str, Any], answer: dict[str, Any]) -> bool:
    """Whether a pair belongs into the record."""
    text = json.dumps([request["argv"], request["files"], answer]).lower()
    if any(name in text for name in STAND_INS):
        return False
    error = answer.get("error", "")
    return not any(check in error for check in OWN_CHECKS) or "unexpected keyword" in error.lower()


def main() -> None:
    """Print the trap questions of each release and a sample of the others, short ones first, as JSON lines."""
    count, names = int(sys.argv[1]), sys.argv[2:]
    special = [request["argv"] for request in traps()]
    for name in names:
        rows = [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]
        kept = [row for row in rows if row["argv"] in special]
        others = [row for row in rows if row not in kept and len(row["argv"]) <= 12]
        others.sort(key=lambda row: len(json.dumps(row)))
        for row in (*kept, *others[:: max(1, len(others) // count)][:count]):
            print(json.dumps(row, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()
