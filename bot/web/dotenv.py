"""`.env`: variables in a file, for whoever does not set them otherwise."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

_LINE = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"', "$": "$"}


class NotDotenv(Exception):
    """A line that sets no variable. The message names it by its number, and does not show it."""


def read_dotenv(text: str) -> dict[str, str]:
    """The variables of a file: `NAME=value`, one a line; in double quotes with escapes, in single quotes as it stands.

    Raises `NotDotenv`.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise NotDotenv(f"line {number} is not NAME=value")
        found[match["name"]] = _value(match["value"].strip(), number)
    return found


def _value(text: str, number: int) -> str:
    if text[:1] in ("'", '"'):
        quote = text[0]
        body = re.fullmatch(rf"{quote}((?:[^{quote}\\]|\\.)*){quote}\s*(?:#.*)?", text)
        if body is None:
            raise NotDotenv(f"line {number} opens a quote and does not close it")
        if quote == "'":
            return body[1]
        return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[0]), body[1])
    return re.split(r"\s+#", text, maxsplit=1)[0]


def write_dotenv(path: Path, variables: Mapping[str, str]) -> None:
    """Set variables in a file, keeping its other lines. Only its owner may read it, from the first byte on."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        lines = []
    kept = [line for line in lines if (match := _LINE.fullmatch(line)) is None or match["name"] not in variables]
    text = "\n".join([*kept, *(f"{name}={_quoted(value)}" for name, value in variables.items())]) + "\n"
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")  # made with mode 600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r").replace("\n", "\\n")
    return f'"{escaped}"'
