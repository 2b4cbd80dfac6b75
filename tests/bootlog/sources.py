"""Where a release's source has the messages of `rules/bootlog.yml`: a script for developers.

    python -m tests.bootlog.sources VERSION SOURCE

Prints a place for each message, and what is not there. SOURCE is an unpacked sdist; nothing of it is run.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bot.rules import RULES

ROOMS = ("config", "engine", "entrypoints", "platforms", "model_executor/models/config.py", "utils.py", "v1")
"""Below `vllm/`: where messages of the boot are written."""


def spoken() -> Mapping[str, Mapping[str, Any]]:
    """The messages, by name."""
    found: Mapping[str, Mapping[str, Any]] = yaml.safe_load((RULES / "bootlog.yml").read_text("utf-8"))["messages"]
    return found


def needle(message: Mapping[str, Any]) -> str:
    """What must stand in the source."""
    return str(message.get("needle", message["message"]))


@cache
def texts(file: Path) -> tuple[tuple[str, int], ...]:
    """Every text in a module, and its line; pieces that Python joins are one."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return ()
    return tuple(
        (node.value, node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 2_000
    )


@cache
def modules(source: Path) -> tuple[Path, ...]:
    """The modules that speak while an engine boots."""
    return tuple(sorted(file for room in ROOMS for file in _python(source / "vllm" / room)))


def _python(path: Path) -> Iterator[Path]:
    return path.rglob("*.py") if path.is_dir() else iter([path] if path.exists() else [])


def places(message: Mapping[str, Any], source: Path) -> list[str]:
    """`file:line` of each place in a release's source that writes a message."""
    files = (source / message["in"],) if "in" in message else modules(source)
    wanted = needle(message)
    return [
        f"{file.relative_to(source).as_posix()}:{line}"
        for file in files
        if not re.search(r"/(cpu|xpu|tpu|rocm)\w*\.py$|/entrypoints/api_server\.py$", file.as_posix())
        for text, line in texts(file)
        if wanted in text
    ]


def main() -> None:
    """Prints them."""
    version, source = sys.argv[1], Path(sys.argv[2])
    for name, message in spoken().items():
        found = places(message, source)
        print(f'{name}: "{version}": {found[0] if found else "-"}', *found[1:])


if __name__ == "__main__":
    main()
