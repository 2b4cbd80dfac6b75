"""`--batch`: one request a line, one answer a line, in one process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from bot.cli.machine import json_line
from bot.cli.request import BadRequest

Answer = Callable[[Mapping[str, Any]], dict[str, Any]]


def answers(lines: Iterable[str], answer: Answer) -> Iterator[str]:
    """The answers as JSON lines, in the order of the requests. A request that fails answers `{"id", "error"}`, and
    the next one is answered all the same.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield json_line(_one(line, number, answer))


def _one(line: str, number: int, answer: Answer) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except ValueError as error:
        return {"id": None, "error": f"line {number} is not JSON: {error}"}
    if not isinstance(request, dict):
        return {"id": None, "error": f"line {number} is not a JSON object"}
    handed = {"id": request["id"]} if "id" in request else {}
    try:
        return {**handed, **answer(request)}
    except BadRequest as error:
        return {**handed, "error": str(error)}
    except Exception as error:  # a fault of ours must not take the other answers with it
        return {**handed, "error": f"internal error: {type(error).__name__}: {error}"}
