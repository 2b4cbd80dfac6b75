"""Compare our answers with those of a release's own configuration: a script for developers.

    python -m tests.differential.compare_engine VERSION SOURCE [KIND...] [--count N] [--seed N] [--sm N] [--record FILE]

SOURCE is an unpacked sdist, see `vllm_engine.py`, which runs in the Python that the variable VLLM_PYTHON names. KIND
is a function of `engine_requests.py`; `pairs` makes COUNT random ones. Prints what differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from bot.cli.inspect_engine import answer
from tests.differential import engine_requests

SCRIPT = Path(__file__).with_name("vllm_engine.py")
NAMES = {
    "enable_prefix_caching": "prefix_caching",
    "enable_chunked_prefill": "chunked_prefill",
    "use_v2_model_runner": "v2_model_runner",
    "spec_method": "spec_decode.method",
    "num_speculative_tokens": "spec_decode.num_speculative_tokens",
}
BY_STAND_IN = ("max_model_len", "max_num_seqs")
KEYS = ("argv", "env", "files", "architecture", "model_kind", "sm")


def ask(source: str, sm: int, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The release's answers."""
    python = os.environ.get("VLLM_PYTHON", sys.executable)
    text = "".join(f"{json.dumps(request)}\n" for request in requests)
    command = [python, "-W", "ignore", str(SCRIPT), source, str(sm)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    return [json.loads(line) for line in done.stdout.splitlines()]


def difference(request: dict[str, Any], theirs: dict[str, Any]) -> tuple[list[str], int, int]:
    """What differs, and how many properties were resolved of how many that were asked."""
    mine = answer(request)
    if "error" in theirs:
        error = theirs["error"]
        return ([] if mine["errors"] else [f"accepted, there {error['kind']}: {error['text']}"]), 0, 0
    if mine["errors"]:
        return [f"refused: {mine['errors'][0]['message']}"], 0, 0
    wrong, asked, resolved = [], 0, 0
    for name, value in theirs["resolved"].items():
        held = mine["properties"].get(NAMES.get(name, name))
        if held is None:
            continue
        if name == "optimization_level":
            value = None if value is None else int(str(value).lstrip("O"))
        known = "value" in held
        if known or name not in BY_STAND_IN:
            asked, resolved = asked + 1, resolved + known
        if known and held["value"] != value:
            wrong.append(f"{name} is {held['value']!r}, there {value!r}")
    return wrong, asked, resolved


def silent(request: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """The properties that are asked and not resolved."""
    if "error" in theirs:
        return []
    held = answer(request)["properties"]
    names = [NAMES.get(name, name) for name in theirs["resolved"] if name not in BY_STAND_IN]
    return [name for name in names if name in held and "value" not in held[name]]


def main() -> None:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("version")
    parser.add_argument("source")
    parser.add_argument("kinds", nargs="*", default=["singles"])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sm", type=int, default=120)
    parser.add_argument("--record")
    parser.add_argument("--recorded", help="Compare with these answers, and ask nothing.")
    options = parser.parse_args()
    if options.recorded:
        rows = [json.loads(line) for line in Path(options.recorded).read_text(encoding="utf-8").splitlines()]
        report(rows, [row["answer"] for row in rows], options.version)
        return
    requests: list[dict[str, Any]] = []
    for kind in options.kinds:
        make = getattr(engine_requests, kind)
        requests += make(options.version, options.count, options.seed) if kind == "pairs" else make(options.version)
    requests = [{"release": options.version, "sm": options.sm, **request} for request in requests]
    answers = ask(options.source, options.sm, requests)
    if options.record:
        kept = zip(requests, answers, strict=True)
        lines = [json.dumps({**request, "answer": theirs}) for request, theirs in kept]
        Path(options.record).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    report(requests, answers, options.version)


def report(requests: list[dict[str, Any]], answers: list[dict[str, Any]], version: str) -> None:
    """Print what differs, and what is not resolved."""
    wrong = asked = resolved = 0
    unknown: Counter[str] = Counter()
    for request, theirs in zip(requests, answers, strict=True):
        found, some, known = difference(request, theirs)
        asked, resolved = asked + some, resolved + known
        unknown.update(silent(request, theirs))
        for text in found:
            wrong += 1
            print(version, request["argv"][1:], request["env"] or "", request["files"] or "")
            print(f"    {text[:300]!r}", theirs.get("error", {}).get("at", ""))
    print(f"{version}: {wrong} of {len(requests)} differ; {resolved} of {asked} properties resolved")
    print("    unknown:", dict(unknown.most_common()))


if __name__ == "__main__":
    main()
