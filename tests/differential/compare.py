"""Compare our reading of a release's command line with its own parser: a script for developers.

    python -m tests.differential.compare VERSION SOURCE COUNT SEED [RECORD]

SOURCE is an unpacked sdist, see `vllm_parser.py`; its parser runs in the Python that the variable VLLM_PYTHON names
(one with pydantic and regex). Prints the flags that differ, then the command lines; RECORD is a file for the answers,
as `record.py` takes them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bot.engine.facts import Facts, Flag, load
from tests.differential.record import telling
from tests.differential.vllm_requests import Maker, traps
from tests.engine.parser_answers import difference

PARSER = Path(__file__).with_name("vllm_parser.py")
CONVERTERS = {
    "human_int": "human_readable_int",
    "human_int_or_auto": "human_readable_int_or_auto",
    "json": "loads",
    "dict": "_parse_type",
    "dict_or_str": "union_dict_and_str",
    "lower_underscore": "<lambda>",
    "none_is_empty": "parse_reasoning_parser",
}


def ask(source: str, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The release's answers."""
    python = os.environ.get("VLLM_PYTHON", sys.executable)
    text = "".join(f"{json.dumps(request)}\n" for request in requests)
    done = subprocess.run([python, str(PARSER), source], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return [json.loads(line) for line in done.stdout.splitlines()]


def flags(facts: Facts, real: list[dict[str, Any]]) -> list[str]:
    """What differs between the flags that were learnt and those that the parser has."""
    theirs = {(flag["options"] or [flag["dest"]])[0]: flag for flag in real}
    theirs.pop("-h", None)
    found = [f"{name}: not learnt" for name in theirs if name not in facts.flags]
    found += [f"{name}: not in the release" for name in facts.flags if name not in theirs]
    for name, flag in facts.flags.items():
        if name in theirs:
            found += [f"{name}: {text}" for text in _flag(flag, theirs[name])]
    return found


def _flag(flag: Flag, real: dict[str, Any]) -> list[str]:
    options = {*flag.options, *flag.inverses} if flag.name.startswith("-") else set()
    converter = "_optional_type" if flag.optional else CONVERTERS.get(flag.converter, flag.converter)
    without_words = flag.action in ("boolean", "store_true", "store_false")
    pairs: list[tuple[str, Any, Any]] = [
        ("options", sorted(options), sorted(real["options"])),
        ("dest", flag.dest, real["dest"]),
    ]
    if not without_words:
        pairs.append(("nargs", flag.nargs, real["nargs"]))
    if flag.choices is not None and real["choices"] is not None:
        pairs.append(("choices", list(flag.choices), real["choices"]))
    if flag.default.known:
        pairs.append(("default", flag.default.value, real["default"]))
    if not without_words and not flag.converter.startswith("config:") and flag.converter != "opaque":
        pairs.append(("converter", converter, (real["type"] or "str").rpartition(".")[2]))
    return [f"{what} {mine!r}, there {there!r}" for what, mine, there in pairs if mine != there]


def main() -> None:
    """Compare, and print what differs."""
    version, source, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    facts = load(version)
    fields = {flag.dest: flag.field for flag in facts.flags.values() if flag.field and facts.field(flag.field)}
    maker = Maker(facts, seed)
    requests = [{"release": version, **request} for request in (*traps(), *(maker.request() for _ in range(count)))]
    described, *answers = ask(source, [{"describe": True}, *({**request, "fields": fields} for request in requests)])
    for text in flags(facts, described["flags"]):
        print(f"{version} flag {text}")
    wrong = 0
    kept = []
    for request, answer in zip(requests, answers, strict=True):
        if not telling(request, answer):
            continue
        differing = difference(request, answer)
        if differing is not None:
            wrong += 1
            print(f"{version} {request['argv']} {request['files'] or ''}\n    {differing[:400]}")
        else:
            kept.append({**request, "answer": answer})
    print(f"{version}: {wrong} of {len(kept) + wrong} command lines differ")
    if len(sys.argv) > 5:
        Path(sys.argv[5]).write_text("".join(f"{json.dumps(row)}\n" for row in kept), encoding="utf-8")


if __name__ == "__main__":
    main()
