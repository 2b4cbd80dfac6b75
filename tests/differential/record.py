"""Keep the questions and answers that say most: a script for developers, not run by the tests.

    python -m tests.differential.record COUNT REQUESTS ANSWERS [REQUESTS ANSWERS]... > tests/engine/vllm_answers.jsonl

Left out are answers that come from the stand-ins of `vllm_parser.py`, and those of checks which are no part of the
parser or of a field's type.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

STAND_INS = ("lora-dtype", "lora_dtype", "chat-template-content", "chat_template_content", "otlp", "opentelemetry",
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
    """Print a sample, errors and odd spellings first, as JSON lines."""
    count, names = int(sys.argv[1]), sys.argv[2:]
    kept: list[dict[str, Any]] = []
    for requests, answers in zip(names[::2], names[1::2], strict=True):
        with open(requests) as questions, open(answers) as replies:
            for question, reply in zip(questions, replies, strict=True):
                request, answer = json.loads(question), json.loads(reply)
                if telling(request, answer) and len(request["argv"]) <= 12:
                    request.pop("fields")
                    kept.append({**request, "answer": answer})
    random.Random(0).shuffle(kept)
    kept.sort(key=lambda row: len(json.dumps(row)))
    step = max(1, len(kept) // count)
    for row in kept[::step][:count]:
        print(json.dumps(row, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()
